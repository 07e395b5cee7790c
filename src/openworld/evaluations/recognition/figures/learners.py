"""Learners side by side: where their points are lost, their Miss/Hit curves, naming against noticing.

OpenworldAUC = a b A splits exactly: wrong base names (1 - a)(1 + b)/2, wrong new names (1 - b)(1 + a)/2, base and
new mixed up a b (1 - A), with a and b the accuracies among the base and new names and A the AUROC among the
correctly named (after OpenworldAUC, Hua et al., 2025, Proposition 4.2).

MissRate(t) is the share of base images rejected or misnamed at threshold t, HitRate(t) the share of new images
flagged and named right; the area under the curve is OpenworldAUC (Section 4.2). A learner's curve is the mean of its
seeds' curves at equal miss rates, so its area is the mean of their OpenworldAUC.
"""

from openworld.evaluations.recognition.operating_summary import all_run_at
from openworld.evaluations.recognition.summary import MISS_GRID, Row, Table
from openworld.report.charts import (
    BarChart,
    Cloud,
    Line,
    LineChart,
    Quantity,
    Reference,
    Region,
    ScatterChart,
    Spot,
)
from openworld.report.charts.bars import bars_key
from openworld.report.figure import Figure
from openworld.report.series_style import Look
from openworld.report.text import percent

LOSSES = {
    "wrong_base": "wrong base names",
    "wrong_new": "wrong new names",
    "mixed_up": "base and new mixed up",
}
PARTS = (Quantity("openworld_auc", "OpenworldAUC"), *(Quantity(key, title) for key, title in LOSSES.items()))
MISSED, HIT = (
    Quantity("miss_rate", "base images missed, %", ends=(0, 1)),
    Quantity("hit_rate", "new images hit, %", ends=(0, 1)),
)
NAMING, NOTICING = (
    Quantity("harmonic_mean", "HM of base and new accuracy, %"),
    Quantity("auroc", "AUROC base against new, %"),
)
CORNER = Region((0, 0.5), (0.5, 1), "few misses, many hits", "corner")
RULES = {"miss_rate": "x", "hit_rate": "y"}
NAMES = ("setting", "learner")


def title_of(table: Table, tables: tuple[Table, ...]) -> str:
    """Return the title of a table's chart; none where it stands alone."""
    return table.title if len(tables) > 1 else ""


def kept(table: Table) -> tuple[str, ...]:
    """Return the learners that stay in front of many: the best, and the one that tunes nothing."""
    return tuple(row.learner for row in (table.yardstick, table.best) if row is not None)


def points_lost(tables: tuple[Table, ...], styles: dict[str, Look]) -> Figure | None:
    """Return one chart per table, one bar per learner; None where no number is defined."""
    if all(row.openworld_auc is None for table in tables for row in table.rows):
        return None
    charts = tuple(
        BarChart(title_of(table, tables), PARTS, {row.learner: _parts(row) for row in table.rows}) for table in tables
    )
    caption = (
        "Each bar splits 100 points into the OpenworldAUC that a learner earned (in its colour) and the three ways it "
        "lost the rest, on average over the seeds.",
        "The longest hatched part is what to work on first: names of base classes, names of new classes, or telling "
        "base from new.",
    )
    return Figure(
        "points-lost", "Where the points are lost", caption, charts, styles, bars_key(PARTS, "learner"), names=NAMES
    )


def _parts(row: Row) -> tuple[float, ...] | None:
    return None if row.openworld_auc is None else (row.openworld_auc, *(row.points_lost[loss] for loss in LOSSES))


def miss_hit(tables: tuple[Table, ...], styles: dict[str, Look]) -> Figure | None:
    """Return one chart per table, one curve per learner; None where no curve is defined.

    Operating points that the run has chosen are ringed; a line shows the rate that was required.
    """
    if not any(row.hit_rates for table in tables for row in table.rows):
        return None
    charts = tuple(_curves(table, title_of(table, tables)) for table in tables)
    ringed = any(line.rings for chart in charts for line in chart.series.values())
    rings = "; a ring marks where one is, on the test images." if ringed else "."
    caption = (
        "Moving the threshold trades base images missed (rejected or misnamed) against new images hit (flagged and "
        "named right); each curve is the mean of a learner's seeds.",
        "Higher and further left is better: the area under a curve is its OpenworldAUC, and the marked corner, few "
        f"misses and many hits, is where a system would be run{rings}",
    )
    return Figure("miss-hit", "Few misses, many hits?", caption, charts, styles, shared=_wide(charts))


def _wide(charts: tuple[LineChart, ...]) -> tuple[dict, ...]:
    """A row per miss rate and a column per learner: a fifth of the length of a row per point."""
    lines = {
        f"{name} ({chart.title})" if chart.title else name: line
        for chart in charts
        for name, line in chart.series.items()
    }
    return tuple(
        {MISSED.key: miss} | {name: round(line.y[place], 4) for name, line in lines.items()}
        for place, miss in enumerate(MISS_GRID)
    )


def _curves(table: Table, title: str) -> LineChart:
    points = {one.learner: one for one in all_run_at(table) if one.joined is not None and one.joined.reason is None}
    rule = next(iter(points.values())).rule if points else {}
    lines = {
        row.learner: Line(MISS_GRID, row.hit_rates, rings=_ring(points.get(row.learner)))
        for row in table.rows
        if row.hit_rates
    }
    references = tuple(Reference(rule[key], "required", axis) for key, axis in RULES.items() if key in rule)
    return LineChart(title, MISSED, HIT, lines, kept(table), references=references, regions=(CORNER,))


def _ring(point) -> tuple[Spot, ...]:
    if point is None:
        return ()
    miss, hit = point.joined.miss.value, point.joined.hit.value
    return (Spot(miss, hit, f"run at {percent(miss)} % missed, {percent(hit)} % hit"),)


def trade_off(tables: tuple[Table, ...], styles: dict[str, Look]) -> Figure | None:
    """Return one chart per table, one dot per learner and seed; None where there is no dot."""
    charts = tuple(
        ScatterChart(
            title_of(table, tables), NAMING, NOTICING, {row.learner: _seeds(row) for row in table.rows}, "products"
        )
        for table in tables
    )
    if not any(chart.clouds for chart in charts):
        return None
    caption = (
        "Each dot is one learner with one seed: how well it names (HM, the harmonic mean of base and new accuracy) and "
        "how well it tells base from new (AUROC).",
        "Up and to the right is better; the thin lines join equal products of the two, so a dot on a higher line does "
        "better at both together.",
    )
    return Figure("trade-off", "Naming against noticing", caption, charts, styles, names=NAMES)


def _seeds(row: Row) -> Cloud:
    found = zip(row.seeds, row.per_seed["harmonic_mean"], row.per_seed["auroc"], strict=True)
    known = [one for one in found if None not in one]
    text = "; ".join(f"seed {seed}: HM {percent(hm)}, AUROC {percent(auroc)}" for seed, hm, auroc in known)
    return Cloud([one[1:] for one in known], text=text, further={"seed": [one[0] for one in known]})
