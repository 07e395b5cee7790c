"""Our numbers against the printed ones, one dot per method: do both put the methods into the same order?"""

from collections.abc import Sequence
from math import inf

from markupsafe import Markup

from openworld.papers import METRICS
from openworld.report.axes import Axis
from openworld.report.panels import Figure, Panel, frame
from openworld.report.scatter import Cloud, scatter
from openworld.report.series_style import Look
from openworld.report.svg import Frame, element
from openworld.reproduction.comparison.compare import Beside
from openworld.reproduction.comparison.rank_agreement import Agreement, both_sides
from openworld.reproduction.comparison.wording import SHORT

SCALES = {"percent": (1.0, "%"), "fraction": (100.0, "%"), "rank": (1.0, "")}  # times the printed number, and the unit
PANELS = 12  # beyond, the numbers are in the tables


def against_printed(tables: Sequence[Beside], looks: dict[str, Look]) -> Figure | None:
    """One panel per table and metric in which at least three methods are on both sides; None where there is none."""
    drawn = [
        (table, one, both_sides(one, table.measured, table.printed))
        for table in tables
        for one in table.agreements
        if one.tau is not None and METRICS[one.metric].unit in SCALES
    ]
    if not drawn:
        return None
    shown = drawn[:PANELS]
    panels = tuple(
        Panel(_title(*told[:2], several=len(tables) > 1), _panel(*told, looks, alone=len(shown) == 1)) for told in shown
    )
    rows = tuple(
        (table.table.number, one.metric, one.column, method, printed, ours)
        for table, one, numbers in drawn
        for method, (ours, printed) in numbers.items()
    )
    left_out = f" Of {len(drawn)} panels the first {PANELS} are drawn." if len(drawn) > PANELS else ""
    caption = (
        "Each dot is one method: its printed number across, ours upwards, each averaged over its own data sets.",
        "Where the dots rise from left to right, both order the methods alike; the thin line, where it is in sight, is "
        f"where both numbers are equal.{left_out}",
    )
    header = ("table", "metric", "task", "method", "printed", "ours")
    return Figure("against-printed", "Ours against printed", caption, panels, header, rows)


def _title(table: Beside, one: Agreement, *, several: bool) -> str:
    name = " ".join(filter(None, (METRICS[one.metric].symbol, SHORT.get(one.column, one.column))))
    return f"Table {table.table.number}, {name}" if several else name


def _panel(table: Beside, one: Agreement, numbers: dict[str, tuple[float, float]], looks, *, alone: bool) -> Markup:
    scale, unit = SCALES[METRICS[one.metric].unit]
    limits = tuple(inf if end is None else scale * end for end in METRICS[one.metric].bounds)
    name = ", ".join(filter(None, (METRICS[one.metric].symbol, unit)))
    dots = {method: (scale * printed, scale * ours) for method, (ours, printed) in numbers.items()}
    x = Axis.around(f"printed {name}", [dot[0] for dot in dots.values()], limits=limits)
    y = Axis.around(f"ours {name}", [dot[1] for dot in dots.values()], limits=limits)
    plot = frame(x, y, alone=alone, names=len(dots))
    clouds = [Cloud(method, (dot,), f"printed {dot[0]:.1f}, ours {dot[1]:.1f}") for method, dot in dots.items()]
    told = f"Ours against printed {name} in {table.table.heading}: {len(dots)} methods, Kendall's tau {one.tau:.2f}."
    return scatter(plot, clouds, looks, told, under=_equal(plot), named=True)


def _equal(plot: Frame) -> list[Markup]:
    """The line on which both numbers are equal, as far as the plot reaches."""
    low, high = max(plot.x.low, plot.y.low), min(plot.x.high, plot.y.high)
    if low >= high:
        return []
    ends = [(plot.across(value), plot.up(value)) for value in (low, high)]
    return [element("line", x1=ends[0][0], y1=ends[0][1], x2=ends[1][0], y2=ends[1][1], class_="contour")]
