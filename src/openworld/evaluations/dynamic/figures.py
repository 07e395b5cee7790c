"""The figures of dynamic scenarios: Dynamic Robustness Curves (OpenPL, Figures 1 to 4), their parts, mean ranks."""

from collections.abc import Sequence

import numpy as np

from openworld.evaluations.dynamic.courses import SCENARIOS, CourseTable, Curve, Ranking
from openworld.metrics import seed_spread
from openworld.report.charts import Line, LineChart, Quantity, RankChart
from openworld.report.charts.quantity import CROWDED
from openworld.report.figure import Figure
from openworld.report.sentences import listed
from openworld.report.series_style import Look

CHANGES = {
    "emerging-classes": "new classes join those that were tuned on",
    "varying-ratio": "new classes take the place of those that were tuned on, class by class",
    "distribution-shift": "pictures of another kind take the place of the source's, of the same classes",
    "co-evolution": "classes and pictures of another data set take the place of the source's",
}
PARTS = {"base": "accuracy on base pictures", "new": "accuracy on new pictures", "auroc": "AUROC, base against new"}
SEEDS = ("lowest_seed", "highest_seed")
LEVEL = Quantity("level", "level of change t", "number", 6, ends=(0, 1))


def curves(tables: Sequence[CourseTable], styles: dict[str, Look]) -> Figure:
    """Return one chart per course of a scenario, one line per learner; all on one range of accuracy."""
    scenario, first = tables[0].key.scenario, tables[0]
    means = np.concatenate([table.accuracy.ravel() for table in tables])
    accuracy = Quantity("accuracy", "accuracy, %", covers=(float(means.min()), float(means.max())))
    charts = tuple(
        LineChart(_place(table), LEVEL, accuracy, _lines(table), (table.yardstick, table.best.learner), ends=SEEDS)
        for table in tables
    )
    sources = dict.fromkeys(table.key.source for table in tables if table.key.against)
    tuned = f", {' or '.join(sources)}" if sources else ""
    seeds = len(first.curves[0].seeds)
    band = f"; the band behind a line spans the {seeds} seeds, lowest to highest" * (seeds > 1)
    crowded = ", and shows for a learner that is pointed at or chosen" * bool(band and len(first.curves) > CROWDED)
    caption = (
        f"Accuracy among all names of a view while {CHANGES[scenario]}: from level 0, as tuned{tuned}, to 1, "
        f"mean of {seeds} seed{'s' * (seeds > 1)}{band}{crowded}.",
        f"Tuning pays where a line stays above that of {first.yardstick}, grey and dashed, which was asked about "
        "the very same pictures; whether the area between two lines is more than chance, the table's tests say.",
    )
    heading = SCENARIOS[scenario][0].upper() + SCENARIOS[scenario][1:]
    title = f"How does it age? {heading}"
    return Figure(f"curves-{scenario}", title, caption, charts, styles, names=("course", "learner"))


def _place(table: CourseTable) -> str:
    """The data set whose classes or pictures are new."""
    return f"→ {table.key.against}" if table.key.against else table.key.source


def _lines(table: CourseTable) -> dict[str, Line]:
    return {curve.learner: _line(table, curve) for curve in table.curves}


def _line(table: CourseTable, curve: Curve) -> Line:
    by_seed = np.array([own.accuracy for own in curve.per_seed])
    ends = (by_seed.min(axis=0).tolist(), by_seed.max(axis=0).tolist()) if len(by_seed) > 1 else ((), ())
    spans = [seed_spread(values.tolist()).interval() or (None, None) for values in by_seed.T]
    over_seeds = {"low_over_seeds": [low for low, _ in spans], "high_over_seeds": [high for _, high in spans]}
    return Line(table.levels, curve.robustness.accuracy, *ends, further=over_seeds)


def split(tables: Sequence[CourseTable], styles: dict[str, Look]) -> Figure | None:
    """Return three charts per scenario in which new classes arrive, means over its courses; None where none does."""
    by_scenario = {name: [own for own in tables if own.key.scenario == name and _arrives(own)] for name in SCENARIOS}
    charts = tuple(_part(found, part) for found in by_scenario.values() if found for part in PARTS)
    if not charts:
        return None
    caption = (
        "Accuracy taken apart, among all names of a view: on pictures of classes that were tuned on, on those of "
        "new ones, and the AUROC with which the score of baseness tells the two kinds apart; means over seeds and "
        "courses, at the levels that have both kinds.",
        "A line that falls on the left says that old classes are lost among new names; one that lies low in the "
        "middle, that new ones never were named well; one near 50 on the right, that nobody would notice them.",
    )
    return Figure("split", "What is lost, the old or the new?", caption, charts, styles, names=("scenario", "learner"))


def _arrives(table: CourseTable) -> bool:
    return any(value is not None for curve in table.curves for value in (*curve.auroc, *curve.new))


def _part(tables: Sequence[CourseTable], part: str) -> LineChart:
    """One number by level, means over the courses; none where any course has none."""
    first, lines, areas = tables[0], {}, {}
    for place, curve in enumerate(first.curves):
        each = [getattr(table.curves[place], part) for table in tables]
        means = [None if None in values else float(np.mean(values)) for values in zip(*each, strict=True)]
        lines[curve.learner] = Line(first.levels, means)
        areas[curve.learner] = sum(table.curves[place].robustness.auc for table in tables)
    title = f"{SCENARIOS[first.key.scenario]}: {PARTS[part]}"
    return LineChart(title, LEVEL, Quantity(part, "%"), lines, (first.yardstick, max(areas, key=areas.get)))


def critical_difference(rankings: Sequence[Ranking], styles: dict[str, Look]) -> Figure:
    """Return one chart per scenario that has courses enough, one block per course; why there is none for the others."""
    drawn = [own for own in rankings if own.difference.value is not None]
    refused: dict[str, list[str]] = {}
    for own in rankings:
        if own.difference.value is None:
            refused.setdefault(own.difference.reason, []).append(SCENARIOS[own.scenario])
    reasons = "; ".join(f"{listed(scenarios)} ({reason})" for reason, scenarios in refused.items())
    none = f"No diagram is drawn for {reasons}."
    what = (
        "Mean rank of the area under the curve over the courses of a scenario, 1 = best, one block per course: levels "
        "are nested views of the same pictures and count once"
    )
    if not drawn:
        caption = (none, f"{what}; courses that share a source are not independent.")
    else:
        reading = "A bar joins learners whose mean ranks lie closer than the critical difference CD"
        not_shown = f"{reading}, so that they are not shown to differ at 5 % (Nemenyi)."
        caption = (f"{what}.{' ' + none if refused else ''}", not_shown)
    charts = tuple(map(_ranks, drawn))
    title = "Which ranks differ?"
    return Figure("critical-difference", title, caption, charts, styles, names=("scenario", "learner"))


def _ranks(ranking: Ranking) -> RankChart:
    means = dict(zip(ranking.learners, ranking.difference.mean_ranks, strict=True))
    further = {"friedman_p": ranking.test.p_value, "courses": ranking.courses}
    return RankChart(SCENARIOS[ranking.scenario], means, ranking.difference.value, further)
