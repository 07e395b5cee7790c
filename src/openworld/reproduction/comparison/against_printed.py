"""Our numbers against the printed ones, one dot per method: do both put the methods into the same order?"""

from collections.abc import Sequence

from openworld.papers import METRICS
from openworld.report.charts import Cloud, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.reproduction.comparison.cells import RANKS
from openworld.reproduction.comparison.compare import PaperComparison
from openworld.reproduction.comparison.rank_agreement import Agreement, both_sides
from openworld.reproduction.comparison.table import SHORT

DRAWN = ("percent", "fraction")  # units of what is drawn, where either way is better
CHARTS = 12  # beyond, the numbers are in the tables


def against_printed(tables: Sequence[PaperComparison], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart per table and metric with at least three methods on both sides; None where there is none."""
    found = [
        (table, one, both_sides(one, table.ours, table.printed))
        for table in tables
        for one in table.agreements
        if one.tau is not None and METRICS[one.metric].unit in DRAWN and METRICS[one.metric].better
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


def _chart(
    table: PaperComparison, one: Agreement, numbers: dict[str, tuple[float, float]], *, several: bool
) -> ScatterChart:
    metric = METRICS[one.metric]
    name, unit, digits = (metric.title, "number", 3) if one.metric in RANKS else (f"{metric.title}, %", "percent", 1)
    x, y = (Quantity(side, f"{side} {name}", unit, digits) for side in ("printed", "ours"))
    series = {
        method: Cloud(((printed, ours),), text=f"printed {x.write(printed)}, ours {x.write(ours)}")
        for method, (ours, printed) in numbers.items()
    }
    named = " ".join(filter(None, (metric.title, SHORT.get(one.column, one.column))))
    title = f"{named}, Kendall's tau {one.tau:.2f}"
    return ScatterChart(f"Table {table.table.number}, {title}" if several else title, x, y, series, "equal", named=True)
