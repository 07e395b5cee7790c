"""The figures of dynamic scenarios: Dynamic Robustness Curves (OpenPL, Figures 1 to 4), their parts, mean ranks."""

from collections.abc import Mapping, Sequence

from openworld.evaluations.dynamic.averages import AREA_RANK, Average
from openworld.evaluations.dynamic.record import SCENARIOS
from openworld.evaluations.dynamic.results import DynamicFacts
from openworld.evaluations.dynamic.verdict import standing_of
from openworld.report.charts import Line, LineChart, Quantity, RankChart
from openworld.report.charts.quantity import CROWDED
from openworld.report.figure import Figure
from openworld.report.sentences import counted, listed
from openworld.report.series_style import SeriesStyle
from openworld.results import Results
from openworld.results.over_datasets import CRITICAL_DIFFERENCE, FRIEDMAN_P

CHANGES = {
    "emerging-classes": "new classes join those that learners were tuned on",
    "varying-ratio": "new classes take the place of those that learners were tuned on, class by class",
    "distribution-shift": "images of another kind take the place of the source's, of the same classes",
    "co-evolution": "classes and images of another data set take the place of the source's",
}
PARTS = {
    "base_accuracy": "accuracy on base images",
    "new_accuracy": "accuracy on new images",
    "auroc": "AUROC, base against new",
}
SEEDS = ("lowest_seed", "highest_seed")
LEVEL = Quantity("level", "level of change t", "number", 6, ends=(0, 1))
Styles = Mapping[str, SeriesStyle]


def curve_figure(results: Results, runs: Sequence[Average], baseline: str, styles: Styles) -> Figure:
    """Return one chart per run of a scenario, one line per learner; all on one range of accuracy."""
    scenario, first = runs[0].scenario, runs[0]
    lines = [{learner: _line(results, run, learner) for learner in run.learners} for run in runs]
    means = [value for by_learner in lines for line in by_learner.values() for value in line.y]
    accuracy = Quantity("accuracy", "accuracy, %", covers=(min(means), max(means)))
    charts = tuple(
        LineChart(
            run.first.key.newcomer,
            LEVEL,
            accuracy,
            by_learner,
            (baseline, standing_of(results, run).names[0]),
            ends=SEEDS,
        )
        for run, by_learner in zip(runs, lines, strict=True)
    )
    sources = dict.fromkeys(run.first.key.source for run in runs if run.first.key.against)
    tuned = f" on {' or '.join(sources)}" if sources else ""
    band = f"; the band behind a line spans the {first.seeds} seeds, lowest to highest" * (first.seeds > 1)
    crowded = ", and shows for a learner that is pointed at or chosen" * bool(band and len(first.learners) > CROWDED)
    caption = (
        f"Accuracy among all names of a view while {CHANGES[scenario]}: from level 0, as learners were tuned{tuned}, "
        f"to 1, mean of {counted(first.seeds, 'seed')}{band}{crowded}.",
        f"Tuning pays where a line stays above that of {baseline}, grey and dashed, which saw the very same images; "
        "whether the area between two lines is more than chance, the table's tests say.",
    )
    heading = SCENARIOS[scenario][0].upper() + SCENARIOS[scenario][1:]
    title = f"How does it age? {heading}"
    return Figure(f"curves-{scenario}", title, caption, charts, styles, names=("scenario_run", "learner"))


def _line(results: Results, run: Average, learner: str) -> Line:
    rows = [results.result(learner, "accuracy", **run.where, level=level) for level in run.levels]
    several = len(rows[0].per_seed) > 1
    ends = [[end(row.per_seed) for row in rows] if several else () for end in (min, max)]
    spans = [row.value.over("seeds") for row in rows]
    further = {f"{end}_over_seeds": [getattr(span, end, None) for span in spans] for end in ("low", "high")}
    return Line(run.levels, [row.value.value for row in rows], *ends, further=further)


def parts_figure(results: Results, facts: DynamicFacts, styles: Styles) -> Figure | None:
    """Return three charts per scenario in which new classes arrive, means over its runs; None where none does."""
    by_scenario = [[_part(results, run, facts.baseline, part) for part in PARTS] for run in facts.scenarios]
    charts = [chart for charts in by_scenario if _has_new(charts) for chart in charts]
    if not charts:
        return None
    caption = (
        "Accuracy taken apart, among all names of a view: on images of classes that learners were tuned on, on those "
        "of new ones, and the AUROC with which the score of baseness tells the two kinds apart; means over seeds and "
        "scenario runs, at the levels that have both kinds.",
        "A line that falls on the left says that old classes are lost among new names; one that lies low in the "
        "middle, that new ones never were named well; one near 50 on the right, that nobody would notice them.",
    )
    title, names = "What is lost, the old or the new?", ("scenario", "learner")
    return Figure("split", title, caption, tuple(charts), styles, names=names)


def _part(results: Results, run: Average, baseline: str, part: str) -> LineChart:
    """A part of accuracy by level; without values where the runs of a mean have other levels."""
    rows = [row for row in results.where(metric=part, **run.where) if row.where.keys() == {*run.where, "level"}]
    values = {name: [row.value.value for row in rows if row.entity == name] for name in run.learners}
    lines = {name: Line(run.levels, by_level) for name, by_level in values.items()}
    title = f"{SCENARIOS[run.scenario]}: {PARTS[part]}"
    return LineChart(title, LEVEL, Quantity(part, "%"), lines, (baseline, standing_of(results, run).names[0]))


def _has_new(charts: Sequence[LineChart]) -> bool:
    """Whether any chart but that of base images has a value."""
    return any(value is not None for chart in charts[1:] for line in chart.series.values() for value in line.y)


def rank_figure(results: Results, facts: DynamicFacts, styles: Styles) -> Figure:
    """Return one chart per scenario that has runs enough, one block per run; why there is none for the others."""
    distances = {run: results.value("", CRITICAL_DIFFERENCE.key, scenario=run.scenario) for run in facts.scenarios}
    refused: dict[str, list[str]] = {}
    for run, distance in distances.items():
        if distance.value is None:
            refused.setdefault(distance.reason, []).append(SCENARIOS[run.scenario])
    reasons = "; ".join(f"{listed(scenarios)} ({reason})" for reason, scenarios in refused.items())
    none = f"No diagram is drawn for {reasons}."
    what = (
        "Mean rank of the area under the curve over the runs of a scenario, 1 = best, one block per run: levels are "
        "nested views of the same images and count once"
    )
    charts = tuple(_ranks(results, run, distance.value) for run, distance in distances.items() if distance.value)
    if charts:
        reading = "A bar joins learners whose mean ranks lie closer than the critical difference CD"
        equal = f"{reading}, so that they are not shown to differ at 5 % (Nemenyi)."
        caption = (f"{what}.{' ' + none if refused else ''}", equal)
    else:
        caption = (none, f"{what}; runs that share a source are not independent.")
    return Figure("critical-difference", "Which ranks differ?", caption, charts, styles, names=("scenario", "learner"))


def _ranks(results: Results, run: Average, distance: float) -> RankChart:
    means = {name: results.value(name, AREA_RANK.key, scenario=run.scenario).value for name in run.learners}
    p = results.value("", FRIEDMAN_P.key, scenario=run.scenario).value
    return RankChart(SCENARIOS[run.scenario], means, distance, {"friedman_p": p, "scenario_runs": run.runs})
