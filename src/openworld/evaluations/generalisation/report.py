"""What a run of generalisation says: learners by targets (OpenworldAUC's Tables 4 and 13), then all of recognition."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from openworld.evaluations.generalisation.target_means import TargetAverage, target_averages
from openworld.evaluations.recognition import report as recognition
from openworld.evaluations.recognition.outcome import outcomes
from openworld.evaluations.recognition.results import AUC, HM, RecognitionResults, SettingResults, join, join_results
from openworld.evaluations.recognition.tables import clustered, given, means, trained_on
from openworld.evaluations.recognition.verdict import against_baseline, evidence_of_many, leader, points, turned_scores
from openworld.report.page import Section
from openworld.report.report import Report
from openworld.report.sentences import counted, listed
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import METRICS, TEXT, Results, RunFolder

compare = recognition.compare

EVALUATION = "generalisation"
NAMED = 6  # beyond so many classes left out, their number is given


def story(run: RunFolder) -> Report:
    """The story of a run; recognition's own where learners lack targets."""
    return story_of(run, join(outcomes(run)))


def story_of(run: RunFolder, results: RecognitionResults) -> Report:
    """The story of a run by its results."""
    averages, plain = target_averages(results), recognition.story_of(run, results)
    if not averages:
        return replace(plain, results=replace(plain.results, evaluation=EVALUATION))
    tables, by_target = tuple(map(target_table, averages)), (*_mean_tables(averages), *recognition.main_tables(results))
    numbers, *others = plain.page.sections
    targets = [Section(table.title, tables=(table,)) for table in by_target]
    further = [part for part in numbers.folded if part.heading not in {target.heading for target in targets}]
    page = replace(
        plain.page,
        title=f"From {averages[0].source.title} to {listed([average.counted for average in averages])}",
        verdict=verdict(results, averages),
        sections=(Section("The numbers", tables=tables, folded=(*targets, *further)), *others),
    )
    return Report(all_results(results, averages), (*tables, *by_target), page, run_folder=run)


def all_results(results: RecognitionResults, averages: Sequence[TargetAverage]) -> Results:
    """Every number at the source and at every target, and the means over several targets, with all tests."""
    further = (average.mean for average in averages if len(average.targets) > 1)
    return join_results(EVALUATION, (*results.settings, *further))


def target_table(average: TargetAverage) -> Table:
    """OpenworldAUC at the source, at each target and on average, and the tests of the average."""
    mean = average.mean
    settings = {setting.title: setting for setting in (average.source, *average.targets)}
    columns = [*(Column(AUC, title, priority=3) for title in settings)]
    columns.append(Column(AUC, "mean over targets", priority=4, headline=True))
    columns.append(Column(AUC, "mean, 95 % over seeds", show="interval", over="seeds"))
    columns += [Column(TEXT, f"mean against {name}", priority=2 - at) for at, name in enumerate(mean.opponents)]
    rows = []
    for learner in mean.learners:
        cells = [
            Cell(setting.value(learner, AUC.key), note=_parts(setting, learner))
            for setting in (*settings.values(), mean)
        ]
        tests = (mean.compare(learner, other) for other in mean.opponents)
        rows.append(Row(learner, (*cells, mean.value(learner, AUC.key), *tests), learner))
    title = f"OpenworldAUC in {average.heading}"
    return Table(f"targets-{average.kind}", title, caption(average), "learner", tuple(columns), tuple(rows))


def _mean_tables(averages: Sequence[TargetAverage]) -> Iterator[Table]:
    """Yield the parts of each mean over several targets, as for a single one."""
    for average in averages:
        if len(average.targets) > 1:
            yield recognition.main_table(average.mean, f"mean-{average.kind}")


def caption(average: TargetAverage) -> str:
    """What the numbers, intervals and tests are about, and which classes were left out."""
    source, tested, seeds = average.source, average.mean.tested, len(average.source.most_seeds)
    grouped = f"{clustered(source)}," if source.group_name else ""
    corrected = f"; p of the mean after Holm over {tested} pairs" if tested > 1 else ""
    shared = " Base images are the source's everywhere and count once." if average.kind == "other" else ""
    spread = f" Over seeds: Student's t, n = {seeds}." if seeds > 1 else ""
    return (
        f"{_capital(average.heading)}. OpenworldAUC, percent; {means(source)}; [95 % over images{grouped} given "
        f"{given(source)}]{corrected}. The mean is over {counted(len(average.targets), 'target')}, each counting the "
        f"same, without the source.{shared} {_images(average)}{_left_out(average)}{trained_on(source)}{spread}"
    )


def verdict(results: RecognitionResults, averages: Sequence[TargetAverage]) -> tuple[str, ...]:
    """Sentences made from the tests: for each kind of target who leads and what tuning brought; last, the evidence."""
    sentences = []
    for average in averages:
        sentences.append(f"{_capital(average.heading)}: {leader(average.mean)}")
        sentences.append(f"{against_baseline(average.mean)} {_from_the_source(average)}".rstrip())
    return (*sentences, *turned_scores(results.settings), evidence_of_many(results.settings))


def _from_the_source(average: TargetAverage) -> str:
    """How the leader's mean over the targets differs from its number on the source."""
    best = average.mean.best
    here, there = average.source.auc(best), average.mean.auc(best)
    if here is None or there is None:
        return ""
    moved = METRICS["delta_auc"].write(there - here)
    home = points(average.source, best)
    return f"On the source itself {best} has {home}: on the way to the targets its mean moves by {moved}."


def _parts(setting: SettingResults, learner: str) -> str:
    """The parts of a number, shown as a tooltip."""
    keys = {"HM": HM.key, "AUROC": "auroc", "base": "base_accuracy", "new": "new_accuracy"}
    return " · ".join(f"{name} {AUC.write(setting.value(learner, key).value)}" for name, key in keys.items())


def _images(average: TargetAverage) -> str:
    """How many base and new images there are, once where that is the same everywhere."""
    tests = {setting.title: setting.first.test for setting in (average.source, *average.targets)}
    texts = {title: f"{test.n_base} + {test.n_new}" for title, test in tests.items()}
    if len(set(texts.values())) == 1:
        return f"Base + new images: {next(iter(texts.values()))} in every column."
    return f"Base + new images: {'; '.join(f'{title} {text}' for title, text in texts.items())}."


def _left_out(average: TargetAverage) -> str:
    """Which classes are not new at the targets, and by what they were found."""
    if average.kind != "other":
        count = len(average.source.first.record.left_out)
        return f" Of the source, {count} are left out that are neither base nor new." if count else ""
    rule = "by name and by WordNet's names" if average.source.first.record.wordnet else "by name"
    left_out = {target.title: target.first.record.left_out for target in average.targets}
    listings = [
        f"{title} {', '.join(names) if len(names) <= NAMED else f'{len(names)} classes, listed in the records'}"
        for title, names in left_out.items()
        if names
    ]
    if not listings:
        return f" No class of theirs is a base class of the source ({rule})."
    return f" Left out as base classes of the source ({rule}): {'; '.join(listings)}."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
