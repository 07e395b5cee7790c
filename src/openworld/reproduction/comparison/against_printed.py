"""Our numbers against the printed ones, one dot per method: do both put the methods into the same order?"""

from collections.abc import Sequence

from openworld.papers import METRICS
from openworld.report.charts import Cloud, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import Look
from openworld.reproduction.comparison.compare import Beside
from openworld.reproduction.comparison.rank_agreement import Agreement, both_sides
from openworld.reproduction.comparison.wording import SHORT

SCALES = {"percent": (0.01, "%"), "fraction": (1.0, "%"), "rank": (1.0, "")}  # printed numbers as ours, and the unit
CHARTS = 12  # beyond, the numbers are in the tables


def against_printed(tables: Sequence[Beside], styles: dict[str, Look]) -> Figure | None:
    """Return one chart per table and metric with at least three methods on both sides; None where there is none."""
    found = [
        (table, one, both_sides(one, table.measured, table.printed))
        for table in tables
        for one in table.agreements
        if one.tau is not None and METRICS[one.metric].unit in SCALES
    ]
    if not found:
        return None
    charts = tuple(_chart(*own, several=len(tables) > 1) for own in found[:CHARTS])
    rows = tuple(
        {"table": table.table.number, "metric": one.metric, "task": one.column, "method": method}
        | {"printed": printed, "ours": ours}
        for table, one, numbers in found
        for method, (ours, printed) in numbers.items()
    )
    left_out = f" Of {len(found)} panels the first {CHARTS} are drawn." if len(found) > CHARTS else ""
    caption = (
        "Each dot is one method: its printed number across, ours upwards, each averaged over its own data sets.",
        "Where the dots rise from left to right, both order the methods alike; the thin line, where it is in sight, is "
        f"where both numbers are equal.{left_out}",
    )
    return Figure("against-printed", "Ours against printed", caption, charts, styles, shared=rows)


def _chart(table: Beside, one: Agreement, numbers: dict[str, tuple[float, float]], *, several: bool) -> ScatterChart:
    metric = METRICS[one.metric]
    scale, unit = SCALES[metric.unit]
    name = ", ".join(filter(None, (metric.symbol, unit)))
    form = ("percent", 1) if unit else ("number", 3)
    x, y = (Quantity(side, f"{side} {name}", *form) for side in ("printed", "ours"))
    series = {method: _cloud(scale * printed, scale * ours, x) for method, (ours, printed) in numbers.items()}
    title = (
        " ".join(filter(None, (metric.symbol, SHORT.get(one.column, one.column)))) + f", Kendall's tau {one.tau:.2f}"
    )
    return ScatterChart(f"Table {table.table.number}, {title}" if several else title, x, y, series, "equal", named=True)


def _cloud(printed: float, ours: float, quantity: Quantity) -> Cloud:
    return Cloud(((printed, ours),), text=f"printed {quantity.write(printed)}, ours {quantity.write(ours)}")
