"""What a run of dynamic scenarios says: tables, the verdict, Dynamic Robustness Curves and ranks."""

from collections.abc import Iterator, Mapping

from openworld.evaluations.dynamic.figures import curve_figure, parts_figure, rank_figure
from openworld.evaluations.dynamic.results import DynamicFacts, read_results
from openworld.evaluations.dynamic.tables import LEGEND, level_table, overview_table, robustness_table
from openworld.evaluations.dynamic.verdict import verdict
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.provenance import spent
from openworld.report.report import Report
from openworld.report.sentences import counted, listed
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.table import Table
from openworld.results import Results, RunFolder

MANY = 4  # scenario runs; of more, a terminal shows one table per scenario


def story(run: RunFolder) -> Report:
    """Return the story of a run."""
    results, facts = read_results(run)
    styles = series_styles(facts.learners, [facts.baseline])
    means, many = [mean for mean in facts.scenarios if mean.runs > 1], len(facts.runs) > MANY
    whole = [
        robustness_table(results, average, facts.baseline, f"table-{place}")
        for place, average in enumerate((*means, *facts.runs), 1)
    ]
    brief = [
        robustness_table(results, average, facts.baseline, f"brief-{place}", brief=True)
        for place, average in enumerate(facts.scenarios if many else facts.runs, 1)
    ]
    sentences, seeds = verdict(results, facts), " ".join(map(str, facts.seeds))
    page = Page(
        title=f"{listed(facts.datasets)} while the world changes",
        subtitle=(
            counted(len(facts.runs), "scenario run"),
            *_left_out(run),
            counted(len(facts.learners), "learner"),
            f"seed{'s' * (len(facts.seeds) > 1)} {seeds}",
        ),
        verdict=sentences,
        sections=(_numbers(results, facts, whole), *_figures(results, facts, styles)),
        styles=styles,
        facts=(("seeds", seeds), ("records", str(len(run.records))), *_durations(run, facts)),
    )
    further = (f"Every one of the {len(facts.runs)} scenario runs is in the report.",) * many
    return Report(
        results,
        tuple(brief),
        page,
        (*sentences, LEGEND.format(facts.baseline), *further)[1:],
        papers=tuple(whole),
        run_folder=run,
    )


def _left_out(run: RunFolder) -> Iterator[str]:
    """How many classes of which data set are neither base nor new."""
    found = {record.metrics["dataset"]: record.metrics.get("left_out", ()) for record in run.records}
    for dataset, names in found.items():
        if names:
            yield f"{len(names)} class{'es' * (len(names) > 1)} of {dataset} left out"


def _numbers(results: Results, facts: DynamicFacts, whole: list[Table]) -> Section:
    """The overview and every table behind it; of a single scenario run its table."""
    by_level = tuple(level_table(results, run, f"levels-{place}") for place, run in enumerate(facts.runs, 1))
    levels = Section("Accuracy by level", tables=by_level)
    if len(facts.runs) == 1:
        return Section("The numbers", tables=tuple(whole), folded=(levels,))
    folded = (Section(table.title, tables=(table,)) for table in whole)
    return Section("The numbers", tables=(overview_table(results, facts),), folded=(*folded, levels))


def _figures(results: Results, facts: DynamicFacts, styles: Mapping[str, SeriesStyle]) -> Iterator[Section]:
    for mean in facts.scenarios:
        runs = [run for run in facts.runs if run.scenario == mean.scenario]
        yield _section(curve_figure(results, runs, facts.baseline, styles))
    parts = parts_figure(results, facts, styles)
    if parts is not None:
        yield _section(parts)
    yield _section(rank_figure(results, facts, styles))


def _section(figure: Figure) -> Section:
    return Section(figure.title, figures=(figure,))


def _durations(run: RunFolder, facts: DynamicFacts) -> Iterator[tuple[str, str]]:
    for learner in facts.learners:
        records = [record for record in run.records if record.metrics["learner"] == learner]
        words = spent([record.metrics.get("epochs") for record in records], [record.seconds for record in records])
        if words:
            yield learner, words
