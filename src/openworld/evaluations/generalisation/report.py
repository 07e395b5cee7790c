"""What a run of generalisation shows: learners by targets (OpenworldAUC's Tables 4 and 13), as of recognition.

Means are over the targets of one kind, with their tests. The source is no target of its own: it is what the targets are
compared with. Images that targets share, such as the source's base images beside the new classes of several data sets,
count once in the interval of the mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from openworld.evaluations.recognition import report as recognition
from openworld.evaluations.recognition.comparison import AUC, Place, average_over_seeds
from openworld.evaluations.recognition.outcome import outcomes
from openworld.evaluations.recognition.results import RecognitionResults, SettingResults, join
from openworld.metrics import MetricEstimate, mean_over_sets, paired_test
from openworld.report.report import Report
from openworld.report.sentences import counted, listed
from openworld.results import METRICS, Result, Results, RunFolder
from openworld.results.comparison import Comparison, comparison_of, correct_for_many
from openworld.results.join import mean_of
from openworld.results.value import interval_of

compare = recognition.compare

EVALUATION = "generalisation"
NOUNS = {"variant": "variant", "other": "other data set"}  # kind of target -> what targets of it are called
ONCE = ("tuned_parameters", "fit_seconds", "score_seconds")  # what is the same at every target, or nearly
NAMED = 6  # classes left out that are named; of more, their number


Targets = Mapping[str, Sequence[SettingResults]]
"""Kind, a key of NOUNS -> the results on every target of it, in the order of the run."""


def targets_of(results: RecognitionResults) -> tuple[SettingResults | None, Targets]:
    """Return the results of a run on its source, and on its targets; None and {} where learners lack targets."""
    by_kind: dict[str | None, list[SettingResults]] = {}
    for setting in results.settings:
        by_kind.setdefault(setting.first.facts.get("kind"), []).append(setting)
    sources = by_kind.get("source", [])
    targets = {kind: by_kind[kind] for kind in NOUNS if kind in by_kind}
    complete = all(target.learners == results.learners for settings in targets.values() for target in settings)
    return (sources[0], targets) if len(sources) == 1 and complete else (None, {})


def target_means(kind: str, targets: Sequence[SettingResults]) -> Results:
    """Return the means of every number over the targets of a kind, and the tests between them."""
    place = {"setting": f"mean over {counted(len(targets), NOUNS[kind])}"}
    # Groups of images are numbered over all targets; the base images that other data sets share keep theirs.
    pairs = [target.first.test.groups for target in targets]
    beyond = 1 + max(int(side.max(initial=0)) for pair in pairs for side in pair)
    groups = [
        (base if kind == "other" else base + number * beyond, new + number * beyond)
        for number, (base, new) in enumerate(pairs, 1)
    ]
    rows, estimates = [], {}
    for learner in targets[0].learners:
        averages = [average_over_seeds([outcome.test for outcome in target.outcomes[learner]]) for target in targets]
        estimates[learner] = None if None in averages else mean_over_sets(averages, groups)
        rows += _results(targets, learner, estimates[learner], place)

    tests = []
    for pair in combinations(estimates, 2):
        compared = [estimates[name] for name in pair]
        if None in compared:
            reason = "their seeds were not scored on the same images"
            tests.append(Comparison(*pair, AUC, None, None, reason, where=place))
        else:
            tests.append(comparison_of(*pair, AUC, paired_test(*compared), where=place))
    return Results("generalisation", tuple(rows), correct_for_many(tests))


def _results(
    targets: Sequence[SettingResults], learner: str, estimate: MetricEstimate | None, place: Place
) -> Iterator[Result]:
    """The means of every number over the targets; seeds are joined where they are the same at every target."""
    for row in targets[0].results.where(entity=learner):
        key = row.metric.key
        if row.where != targets[0].place or not all(target.find(learner, key) for target in targets):
            continue
        if key in ONCE:
            yield replace(row, where=place)
        else:
            over_images = interval_of(estimate.interval() if estimate else None, "images") if row.metric == AUC else ()
            yield mean_of([target.result(learner, key) for target in targets], place, over_images)


def report(run: RunFolder) -> Report:
    return report_of(run, join(outcomes(run)))


def report_of(run: RunFolder, results: RecognitionResults) -> Report:
    """Return the report of a run by its results; recognition's own where learners lack targets."""
    source, targets = targets_of(results)
    if source is None:
        return recognition.story_of(run, results, numbers=replace(results.results(), evaluation=EVALUATION))
    means = {kind: target_means(kind, each) for kind, each in targets.items()}
    counts = {kind: counted(len(each), NOUNS[kind]) for kind, each in targets.items()}
    parts = [*means.values(), *(setting.results for setting in results.settings)]
    tests = tuple(test for part in parts for test in part.comparisons)
    numbers = Results(EVALUATION, tuple(row for part in parts for row in part), tests)

    grouped = recognition.grouped(results)
    notes = {"settings": " ".join([*_notes(source, targets), grouped]).strip(), "numbers": grouped}
    moves = (_from_the_source(source, means[kind], words) for kind, words in counts.items())
    title = f"From {source.title} to {listed([*counts.values()])}"
    return recognition.story_of(run, results, title, numbers, notes=notes, sentences=tuple(filter(None, moves)))


def _from_the_source(source: SettingResults, means: Results, targets: str) -> str:
    """How the best learner's mean over the targets differs from its number on the source; "" where one lacks."""
    values = {row.entity: row.value.value for row in means.where(metric=AUC.key)}
    defined = {learner: value for learner, value in values.items() if value is not None}
    best = max(defined, key=defined.__getitem__, default="")
    home = source.auc(best)
    if home is None:
        return ""
    moved = METRICS["delta_auc"].write(defined[best] - home)
    return f"On the source {best} has {AUC.write(home)}: on the way to the {targets} it moves by {moved}."


def _notes(source: SettingResults, targets: Targets) -> Iterator[str]:
    """What the means are over, and which classes are not new at the targets, by what they were found."""
    yield "Means are over targets, each counting the same, without the source."
    facts = source.first.facts
    if "other" in targets:
        yield "Base images are the source's beside other data sets, and count once."
    for kind, each in targets.items():
        if kind != "other":
            left = len(facts["left_out"])
            if left:
                yield f"Classes of the source that are left out, being neither base nor new: {left}."
            continue
        rule = "by name and by WordNet's names" if facts["wordnet"] else "by name"
        listings = []
        for target in each:
            if names := target.first.facts["left_out"]:
                words = ", ".join(names) if len(names) <= NAMED else f"{len(names)} classes, listed in the records"
                listings.append(f"{target.title} {words}")
        if listings:
            yield f"Left out as base classes of the source ({rule}): {'; '.join(listings)}."
        else:
            yield f"No class of the other data sets is a base class of the source ({rule})."
