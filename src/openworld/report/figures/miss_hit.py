"""Miss/Hit curves: how many new images are caught and named at each share of base images missed.

MissRate(t) is the share of base images rejected or misnamed at threshold t, HitRate(t) the share of new images
flagged and named right; the area under the curve is OpenworldAUC (Hua et al., 2025, Section 4.2). One curve per
learner: the mean of its seeds' curves at equal miss rates, so its area is the mean of their OpenworldAUC.
"""

from collections.abc import Mapping

from markupsafe import Markup

from openworld.report.axes import Axis
from openworld.report.figures.figure import Figure, Panel, belongs, frame, percent
from openworld.report.figures.names import beside, margin
from openworld.report.palette import Look
from openworld.report.summary import MISS_GRID, Row, Table
from openworld.report.svg import Frame, drawing, element

TICKS = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)


def miss_hit(
    tables: tuple[Table, ...], looks: dict[str, Look], operating: Mapping[str, tuple[float, float]] | None = None
) -> Figure | None:
    """The figure over all tables: one panel each, one curve per learner; `None` where no curve is defined.

    `operating` has the (miss rate, hit rate) in [0, 1] at which a learner is run; marked where there is one table, the
    setting that these rates are of.
    """
    if not any(row.hit_rates for table in tables for row in table.rows):
        return None
    alone = len(tables) == 1
    run_at = operating if alone and operating else {}
    panels = tuple(Panel("" if alone else table.title, _panel(table, looks, run_at, alone=alone)) for table in tables)
    caption = (
        "Moving the threshold trades base images missed (rejected or misnamed) against new images hit (flagged and "
        "named right); each curve is the mean of a learner's seeds.",
        "Higher and further left is better: the area under a curve is its OpenworldAUC, and the marked corner, few "
        "misses and many hits, is where a system would be run" + ("; a ring marks where one is." if run_at else "."),
    )
    curves = [(table.title, row.learner, row.hit_rates) for table in tables for row in table.rows if row.hit_rates]
    header = (
        "miss_rate",
        *(f"{learner} ({title})" if not alone else learner for title, learner, _ in curves),
    )
    rows = tuple(
        (float(miss), *(round(hits[place], 4) for _, _, hits in curves)) for place, miss in enumerate(MISS_GRID)
    )
    return Figure("miss-hit", "Few misses, many hits?", caption, panels, header, rows)


def _panel(table: Table, looks: dict[str, Look], operating: Mapping, *, alone: bool) -> Markup:
    axes = (Axis("base images missed, %", 0, 100, TICKS), Axis("new images hit, %", 0, 100, TICKS))
    drawn = [row for row in table.rows if row.hit_rates]
    named = drawn if alone else []
    plot = frame(*axes, alone=alone, names=len(named), right=margin(row.learner for row in named))
    curves = []
    for place, row in enumerate(drawn):
        look = looks[row.learner]
        marks = _marks(plot, row, look.marker, place, 5 if alone else 2)
        ring = _ring(plot, *operating[row.learner]) if row.learner in operating else ""
        curves.append(element("g", *_curve(plot, row, look), *marks, ring, **belongs(row, table, looks)))
    ends = {row.learner: (plot.across(100), plot.up(100 * row.hit_rates[-1])) for row in named}
    told = f"Hit rate of new images against miss rate of base images, {len(drawn)} learners; both axes 0 to 100 %."
    return drawing(plot.width, plot.height, told, [_corner(plot), plot.axes(), *curves, *beside(plot, ends, looks)])


def _corner(plot: Frame) -> Markup:
    """The quarter of the plot that matters: at most half missed, at least half hit."""
    left, right, top, low = plot.across(0), plot.across(50), plot.up(100), plot.up(50)
    box = element("rect", x=left, y=top, width=right - left, height=low - top, class_="corner")
    return box + element("text", "few misses, many hits", x=left + 8, y=top + 16, class_="corner-name")


def _curve(plot: Frame, row: Row, look: Look) -> list[Markup]:
    misses, hits = [100 * miss for miss in MISS_GRID], [100 * hit for hit in row.hit_rates]
    title = element("title", f"{row.learner}: area {percent(row.openworld_auc)}")
    return [title, plot.line(misses, hits, class_="line", stroke_dasharray=look.dash or None)]


def _ring(plot: Frame, miss: float, hit: float) -> Markup:
    """A ring around an operating point."""
    title = element("title", f"run at {percent(miss)} % missed, {percent(hit)} % hit")
    return element("circle", title, cx=plot.across(100 * miss), cy=plot.up(100 * hit), r=9.0, class_="ring")


def _marks(plot: Frame, row: Row, shape: str, place: int, count: int) -> list[Markup]:
    """A few markers along the curve, shifted from learner to learner so that they do not fall together."""
    first = next((i for i, hit in enumerate(row.hit_rates) if hit > 0), len(MISS_GRID) - 1)
    spacing = max(1, (len(MISS_GRID) - first) // count)
    spaced = range(first + 3 + spacing * (place % 5) // 5, len(MISS_GRID), spacing)
    return [plot.mark(100 * MISS_GRID[i], 100 * row.hit_rates[i], shape) for i in spaced]
