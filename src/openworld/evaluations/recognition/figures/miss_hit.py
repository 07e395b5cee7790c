"""Miss/Hit curves: how many new images are caught and named at each share of base images missed.

MissRate(t) is the share of base images rejected or misnamed at threshold t, HitRate(t) the share of new images
flagged and named right; the area under the curve is OpenworldAUC (Hua et al., 2025, Section 4.2). One curve per
learner: the mean of its seeds' curves at equal miss rates, so its area is the mean of their OpenworldAUC. Where the
run has chosen operating points they are ringed, and what was asked of them is drawn as a line.
"""

from markupsafe import Markup

from openworld.evaluations.recognition.figures.learner_group import belongs
from openworld.evaluations.recognition.operating_summary import RunAt, all_run_at
from openworld.evaluations.recognition.summary import MISS_GRID, Row, Table
from openworld.report.axes import Axis
from openworld.report.label_placement import beside, margin
from openworld.report.panels import Figure, Panel, frame
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent

TICKS = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)


def miss_hit(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """The figure over all tables: one panel each, one curve per learner; `None` where no curve is defined."""
    if not any(row.hit_rates for table in tables for row in table.rows):
        return None
    alone = len(tables) == 1
    panels = tuple(Panel("" if alone else table.title, _panel(table, looks, alone=alone)) for table in tables)
    rings = "; a ring marks where one is, on the test pictures." if any(map(_points, tables)) else "."
    caption = (
        "Moving the threshold trades base images missed (rejected or misnamed) against new images hit (flagged and "
        "named right); each curve is the mean of a learner's seeds.",
        "Higher and further left is better: the area under a curve is its OpenworldAUC, and the marked corner, few "
        f"misses and many hits, is where a system would be run{rings}",
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


def _panel(table: Table, looks: dict[str, Look], *, alone: bool) -> Markup:
    axes = (Axis("base images missed, %", 0, 100, TICKS), Axis("new images hit, %", 0, 100, TICKS))
    drawn = [row for row in table.rows if row.hit_rates]
    named = drawn if alone else []
    plot = frame(*axes, alone=alone, names=len(named), right=margin(row.learner for row in named))
    curves, points = [], _points(table)
    for place, row in enumerate(drawn):
        look = looks[row.learner]
        marks = _marks(plot, row, look.marker, place, 5 if alone else 2)
        ring = _ring(plot, points[row.learner]) if row.learner in points else ""
        curves.append(element("g", *_curve(plot, row, look), *marks, ring, **belongs(row, table, looks)))
    ends = {row.learner: (plot.across(100), plot.up(100 * row.hit_rates[-1])) for row in named}
    told = f"Hit rate of new images against miss rate of base images, {len(drawn)} learners; both axes 0 to 100 %."
    ground = [_corner(plot), plot.axes(), _asked(plot, points)]
    return drawing(plot.width, plot.height, told, [*ground, *curves, *beside(plot, ends, looks)])


def _corner(plot: Frame) -> Markup:
    """The quarter of the plot that matters: at most half missed, at least half hit."""
    left, right, top, low = plot.across(0), plot.across(50), plot.up(100), plot.up(50)
    box = element("rect", x=left, y=top, width=right - left, height=low - top, class_="corner")
    return box + element("text", "few misses, many hits", x=left + 8, y=top + 16, class_="corner-name")


def _curve(plot: Frame, row: Row, look: Look) -> list[Markup]:
    misses, hits = [100 * miss for miss in MISS_GRID], [100 * hit for hit in row.hit_rates]
    title = element("title", f"{row.learner}: area {percent(row.openworld_auc)}")
    return [title, plot.line(misses, hits, class_="line", stroke_dasharray=look.dash or None)]


def _points(table: Table) -> dict[str, RunAt]:
    """The operating points that can be drawn, by learner."""
    found = {one.learner: one for one in all_run_at(table) if one.joined is not None}
    return {learner: one for learner, one in found.items() if one.joined.reason is None}


def _ring(plot: Frame, point: RunAt) -> Markup:
    """A ring around an operating point."""
    miss, hit = point.joined.miss.value, point.joined.hit.value
    title = element("title", f"{point.learner} run at {percent(miss)} % missed, {percent(hit)} % hit")
    return element("circle", title, cx=plot.across(100 * miss), cy=plot.up(100 * hit), r=9.0, class_="ring")


def _asked(plot: Frame, points: dict[str, RunAt]) -> Markup:
    """The rate that the rule asked for, as a line across the plot; nothing for costs."""
    rule = next(iter(points.values())).rule if points else {}
    left, high, right, low = plot.box
    if "miss_rate" in rule:
        place = plot.across(100 * rule["miss_rate"])
        ends, name, turned = {"x1": place, "x2": place, "y1": low, "y2": high}, (place - 5, plot.up(55)), -90
    elif "hit_rate" in rule:
        place = plot.up(100 * rule["hit_rate"])
        ends, name, turned = {"x1": left, "x2": right, "y1": place, "y2": place}, (left + 8, place - 5), 0
    else:
        return Markup("")
    turn = f"translate({name[0]:.1f} {name[1]:.1f}) rotate({turned})"
    told = element("text", "asked for", transform=turn, class_="contour-name")
    return element("line", **ends, class_="asked") + told


def _marks(plot: Frame, row: Row, shape: str, place: int, count: int) -> list[Markup]:
    """A few markers along the curve, shifted from learner to learner so that they do not fall together."""
    first = next((i for i, hit in enumerate(row.hit_rates) if hit > 0), len(MISS_GRID) - 1)
    spacing = max(1, (len(MISS_GRID) - first) // count)
    spaced = range(first + 3 + spacing * (place % 5) // 5, len(MISS_GRID), spacing)
    return [plot.mark(100 * MISS_GRID[i], 100 * row.hit_rates[i], shape) for i in spaced]
