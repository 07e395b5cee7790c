"""What a run of generalisation shows: learners by targets (OpenworldAUC's Tables 4 and 13), as of recognition."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from openworld.evaluations.generalisation.target_means import TargetMean, target_means
from openworld.evaluations.recognition import report as recognition
from openworld.evaluations.recognition.outcome import outcomes
from openworld.evaluations.recognition.results import AUC, RecognitionResults, SettingResults, join
from openworld.report.report import Report
from openworld.report.sentences import listed
from openworld.results import METRICS, Results, RunFolder

compare = recognition.compare

EVALUATION = "generalisation"
NAMED = 6
"""Classes left out that are named; of more, their number."""


def report(run: RunFolder) -> Report:
    """Return the report of a run."""
    return report_of(run, join(outcomes(run)))


def report_of(run: RunFolder, results: RecognitionResults) -> Report:
    """Return the report of a run by its results; recognition's own where learners lack targets."""
    means = target_means(results)
    if not means:
        return recognition.story_of(run, results, numbers=replace(results.results(), evaluation=EVALUATION))
    title = f"From {means[0].source.title} to {listed([each.counted for each in means])}"
    grouped = recognition.grouped(results)
    notes = {"settings": " ".join([*_notes(means), grouped]).strip(), "numbers": grouped}
    sentences = tuple(_from_the_source(means))
    numbers = all_results(results, means)
    return recognition.story_of(run, results, title, numbers, notes=notes, sentences=sentences)


def all_results(results: RecognitionResults, means: Sequence[TargetMean]) -> Results:
    """Return every number at the source and at every target, and the means over targets, with all tests."""
    parts = [*(each.results for each in means), *(setting.results for setting in results.settings)]
    rows = tuple(row for part in parts for row in part)
    tests = tuple(test for part in parts for test in part.comparisons)
    return Results(EVALUATION, rows, tests)


def _from_the_source(means: Sequence[TargetMean]) -> Iterator[str]:
    """How the best learner's mean over the targets differs from its number on the source."""
    for each in means:
        values = {row.entity: row.value.value for row in each.results.where(metric=AUC.key)}
        known = {learner: value for learner, value in values.items() if value is not None}
        if not known:
            continue
        best = max(known, key=known.get)
        home = each.source.auc(best)
        if home is not None:
            moved = METRICS["delta_auc"].write(known[best] - home)
            yield f"On the source {best} has {AUC.write(home)}: on the way to the {each.counted} it moves by {moved}."


def _notes(means: Sequence[TargetMean]) -> Iterator[str]:
    """What the means are over, and which classes are not new at the targets, by what they were found."""
    yield "Means are over targets, each counting the same, without the source."
    if any(each.kind == "other" for each in means):
        yield "Base images are the source's beside other data sets, and count once."
    for each in means:
        source = each.source.first.facts
        if each.kind != "other":
            left = len(source["left_out"])
            if left:
                yield f"Classes of the source that are left out, being neither base nor new: {left}."
            continue
        rule = "by name and by WordNet's names" if source["wordnet"] else "by name"
        listings = [_left_out(target) for target in each.targets if target.first.facts["left_out"]]
        if listings:
            yield f"Left out as base classes of the source ({rule}): {'; '.join(listings)}."
        else:
            yield f"No class of the other data sets is a base class of the source ({rule})."


def _left_out(target: SettingResults) -> str:
    names = target.first.facts["left_out"]
    words = ", ".join(names) if len(names) <= NAMED else f"{len(names)} classes, listed in the records"
    return f"{target.title} {words}"
