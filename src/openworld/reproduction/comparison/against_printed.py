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
    panels = [
        (table, agreement, both_sides(agreement, table.ours, table.printed))
        for table in tables
        for agreement in table.agreements
        if agreement.tau is not None and METRICS[agreement.metric].unit in DRAWN and METRICS[agreement.metric].better
    ]
    if not panels:
        return None
    charts = tuple(_chart(*panel, several=len(tables) > 1) for panel in panels[:CHARTS])
    rows = tuple(
        {"table": table.table.number, "metric": agreement.metric, "task": agreement.column, "method": method}
        | {"printed": printed, "ours": ours}
        for table, agreement, numbers in panels
        for method, (ours, printed) in numbers.items()
    )
    left_out = f" Of {len(panels)} panels the first {CHARTS} are drawn." if len(panels) > CHARTS else ""
    caption = (
        "Each dot is one method: its printed number across, ours upwards, each averaged over its own data sets.",
        "Where the dots rise from left to right, both order the methods alike; the thin line, where it is in sight, is "
        f"where both numbers are equal.{left_out}",
    )
    return Figure("against-printed", "Ours against printed", caption, charts, styles, shared=rows)


def _chart(
    table: PaperComparison, agreement: Agreement, numbers: dict[str, tuple[float, float]], *, several: bool
) -> ScatterChart:
    metric = METRICS[agreement.metric]
    name, unit, digits = (
        (metric.title, "number", 3) if agreement.metric in RANKS else (f"{metric.title}, %", "percent", 1)
    )
    x, y = (Quantity(side, f"{side} {name}", unit, digits) for side in ("printed", "ours"))
    series = {
        method: Cloud(((printed, ours),), text=f"printed {x.write(printed)}, ours {x.write(ours)}")
        for method, (ours, printed) in numbers.items()
    }
    named = " ".join(filter(None, (metric.title, SHORT.get(agreement.column, agreement.column))))
    title = f"{named}, Kendall's tau {agreement.tau:.2f}"
    return ScatterChart(f"Table {table.table.number}, {title}" if several else title, x, y, series, "equal", named=True)
