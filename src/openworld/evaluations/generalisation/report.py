"""What a run of generalisation says: learners by targets (OpenworldAUC's Tables 4 and 13), then all of recognition."""

from collections.abc import Sequence
from dataclasses import replace

from openworld.evaluations.generalisation.target_means import TargetAverage, target_averages
from openworld.evaluations.recognition import report as recognition
from openworld.evaluations.recognition.outcome import Outcome, outcomes
from openworld.evaluations.recognition.results import AUC, HM, RecognitionResults, SettingResults, join
from openworld.evaluations.recognition.verdict import against_baseline, evidence_of_many, leader, points
from openworld.report.page import Section
from openworld.report.sentences import counted, listed
from openworld.report.story import Story
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import METRICS, TEXT, Results, RunFolder

compare = recognition.compare

EVALUATION = "generalisation"
NAMED = 6  # beyond so many classes left out, their number is given


def story(run: RunFolder) -> Story:
    """The story of a run; recognition's own where learners lack targets."""
    return story_of(run, outcomes(run))


def story_of(run: RunFolder, found: Sequence[Outcome]) -> Story:
    """The story of the outcomes of a run."""
    results = join(found)
    averages, plain = target_averages(results), recognition.story(run, found)
    if not averages:
        return replace(plain, results=replace(plain.results, evaluation=EVALUATION))
    tables = tuple(target_table(one) for one in averages)
    numbers, *others = plain.page.sections
    targets = [Section(table.title, tables=(table,)) for table in recognition.main_tables(results)]
    further = [part for part in numbers.folded if part.heading not in {one.heading for one in targets}]
    page = replace(
        plain.page,
        title=f"From {averages[0].source.title} to {listed([one.counted for one in averages])}",
        verdict=verdict(results, averages),
        sections=(Section("The numbers", tables=tables, folded=(*targets, *further)), *others),
    )
    return Story(run, all_results(results, averages), (*tables, *recognition.main_tables(results)), page)


def all_results(results: RecognitionResults, averages: Sequence[TargetAverage]) -> Results:
    """Every number at the source and at every target, and the means over several targets, with all tests."""
    means = [one.mean for one in averages if len(one.targets) > 1]
    rows = [row for one in (*results.settings, *means) for row in one.rows]
    return Results(
        EVALUATION, tuple(rows), tuple(test for one in (*results.settings, *means) for test in one.comparisons)
    )


def target_table(one: TargetAverage) -> Table:
    """OpenworldAUC at the source, at each target and on average, and the tests of the average."""
    settings = (one.source, *one.targets, one.mean)
    titles = (*(setting.title for setting in settings[:-1]), "mean over targets")
    columns = [
        Column(AUC, title, priority=4 if setting is one.mean else 3, headline=setting is one.mean)
        for setting, title in zip(settings, titles, strict=True)
    ]
    columns.append(Column(AUC, "mean, 95 % over seeds", show="interval", over="seeds"))
    columns += [Column(TEXT, f"mean against {name}", priority=2 - at) for at, name in enumerate(one.mean.opponents)]
    rows = []
    for learner in one.mean.learners:
        cells = [Cell(setting.value(learner, AUC.key), note=_parts(setting, learner)) for setting in settings]
        tests = (one.mean.compare(learner, other) for other in one.mean.opponents)
        rows.append(Row(learner, (*cells, one.mean.value(learner, AUC.key), *tests), learner))
    title = f"OpenworldAUC in {one.heading}"
    return Table(f"targets-{one.kind}", title, caption(one), "learner", tuple(columns), tuple(rows))


def caption(one: TargetAverage) -> str:
    """What the numbers, intervals and tests are about, and which classes were left out."""
    counts, source = one.source.counts, one.source
    seeds = "1 seed" if counts.seeds == 1 else f"means of {counts.seeds} seeds"
    given = "the seed" if counts.seeds == 1 else "the seeds"
    clustered = f", clustered by {source.group_name} (n = {counts.groups})," if source.group_name else ""
    corrected = f"; p of the mean after Holm over {one.mean.tested} pairs" if one.mean.tested > 1 else ""
    shared = " Base images are the source's everywhere and count once." if one.kind == "other" else ""
    fewer = f" Trained on {source.shots}." if "asked" in source.shots else ""
    spread = f" Over seeds: Student's t, n = {counts.seeds}." if counts.seeds > 1 else ""
    return (
        f"{_capital(one.heading)}. OpenworldAUC, percent; {seeds}; [95 % over images{clustered} given {given}]"
        f"{corrected}. The mean is over {counted(len(one.targets), 'target')}, each counting the same, without the "
        f"source.{shared} {_images(one)}{_left_out(one)}{fewer}{spread}"
    )


def verdict(results: RecognitionResults, averages: Sequence[TargetAverage]) -> tuple[str, ...]:
    """Sentences made from the tests: for each kind of target who leads and what tuning brought; last, the evidence."""
    sentences = []
    for one in averages:
        sentences.append(f"{_capital(one.heading)}: {leader(one.mean)}")
        sentences.append(f"{against_baseline(one.mean)} {_from_the_source(one)}".rstrip())
    return (*sentences, evidence_of_many(results.settings))


def _from_the_source(one: TargetAverage) -> str:
    """How the leader's mean over the targets differs from its number on the source."""
    best = one.mean.best
    here, there = one.source.auc(best), one.mean.auc(best)
    if here is None or there is None:
        return ""
    moved = METRICS["delta_auc"].write(there - here)
    home = points(one.source, best)
    return f"On the source itself {best} has {home}: on the way to the targets its mean moves by {moved}."


def _parts(one: SettingResults, learner: str) -> str:
    """The parts of a number, shown as a tooltip."""
    keys = {"HM": HM.key, "AUROC": "auroc", "base": "base_accuracy", "new": "new_accuracy"}
    return " · ".join(f"{name} {AUC.write(one.value(learner, key).value)}" for name, key in keys.items())


def _images(one: TargetAverage) -> str:
    """How many base and new images there are, once where that is the same everywhere."""
    counts = {setting.title: setting.counts for setting in (one.source, *one.targets)}
    texts = {title: f"{count.base_images} + {count.new_images}" for title, count in counts.items()}
    if len(set(texts.values())) == 1:
        return f"Base + new images: {next(iter(texts.values()))} in every column."
    return f"Base + new images: {'; '.join(f'{title} {text}' for title, text in texts.items())}."


def _left_out(one: TargetAverage) -> str:
    """Which classes are not new at the targets, and by what they were found."""
    if one.kind != "other":
        return ""
    rule = "by name and by WordNet's names" if one.by_wordnet else "by name"
    if not one.left_out:
        return f" No class of theirs is a base class of the source ({rule})."
    found = [
        f"{title} {', '.join(names) if len(names) <= NAMED else f'{len(names)} classes, listed in the records'}"
        for title, names in one.left_out.items()
    ]
    return f" Left out as base classes of the source ({rule}): {'; '.join(found)}."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
