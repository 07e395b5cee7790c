"""The ratio sweep: the same scores at other mixes of base and new images, as Tables 11 and 12 of Hua et al. (2025).

Every mix is drawn several times. The line is the mean; the band is one standard deviation of a single draw, which is
what the paper's tables show, on either side.
"""

from markupsafe import Markup

from openworld.evaluations.recognition.figures.learner_group import belongs
from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.axes import Axis
from openworld.report.label_placement import beside, margin
from openworld.report.panels import Figure, Panel, frame
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent

METRICS = {"openworld_auc": "OpenworldAUC", "overall_accuracy": "overall accuracy"}


def ratio(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """Two panels per table that has a sweep, or `None` when no table has one."""
    swept = [table for table in tables if any(_points(row, "openworld_auc") for row in table.rows)]
    if not swept:
        return None
    panels = tuple(
        Panel(
            f"{table.title}: {METRICS[metric]}" if len(swept) > 1 else METRICS[metric],
            _panel(table, metric, looks, alone=len(swept) == 1),
        )
        for table in swept
        for metric in METRICS
    )
    caption = (
        "The same scores on other mixes: base and new images drawn so that new ones make up the share on the "
        f"horizontal axis, mean over the seeds{_drawn_often(swept)}.",
        "A number that tells learners apart should stay level: where overall accuracy bends with the mix, it measures "
        "the mix and not the learner.",
    )
    header = ("setting", "learner", "share_of_new", *METRICS, *(f"{metric}_deviation" for metric in METRICS))
    rows = tuple(
        (table.title, row.learner, share, *(point[one] for one in METRICS), *(point["spread"][one] for one in METRICS))
        for table in swept
        for row in table.rows
        for share, point in row.ratio_sweep
    )
    return Figure("ratio", "Does the mix matter?", caption, panels, header, rows)


def _drawn_often(tables: list[Table]) -> str:
    """What the bands are over; nothing where there are none."""
    sweeps = [row.outcomes[0].metrics.get("ratio_sweep") or () for table in tables for row in table.rows]
    draws = {point.get("resamples", 1) for sweep in sweeps for point in sweep}
    if max(draws) < 2:
        return ""
    return f" and {' or '.join(map(str, sorted(draws)))} draws; the band is one standard deviation of a single draw"


def _panel(table: Table, metric: str, looks: dict[str, Look], *, alone: bool) -> Markup:
    values = [edge for row in table.rows for _, *edges in _edges(row, metric) for edge in edges]
    shares = tuple(sorted({round(100 * share, 1) for row in table.rows for share, _ in row.ratio_sweep}))
    x = Axis("share of new images, %", 0, 100, (0, 20, 40, 60, 80, 100))
    y = Axis.around(f"{METRICS[metric]}, %", values or [0.0, 100.0])
    drawn = [row for row in table.rows if _points(row, metric)]
    named = drawn if alone else []
    plot = frame(x, y, alone=alone, names=len(named), right=margin(row.learner for row in named))
    lines = [
        element("g", *_line(plot, row, metric, looks[row.learner], alone=alone), **belongs(row, table, looks))
        for row in drawn
    ]
    ends = {row.learner: _end(plot, row, metric) for row in named}
    told = f"{METRICS[metric]} of {len(drawn)} learners at {len(shares)} shares of new images."
    return drawing(plot.width, plot.height, told, [plot.axes(), *lines, *beside(plot, ends, looks)])


def _line(plot: Frame, row: Row, metric: str, look: Look, *, alone: bool) -> list[Markup]:
    points = _points(row, metric)
    told = ", ".join(f"{percent(y / 100)} at {x:.0f} % new" for x, y in points)
    line = plot.line([x for x, _ in points], [y for _, y in points], class_="line", stroke_dasharray=look.dash or None)
    band = plot.band(*zip(*_edges(row, metric), strict=True), class_="band")
    marked = points if alone else points[:: len(points) - 1 or 1]
    marks = [plot.mark(x, y, look.marker) for x, y in marked]
    return [element("title", f"{row.learner}: {told}"), band, line, *marks]


def _end(plot: Frame, row: Row, metric: str) -> tuple[float, float]:
    x, y = _points(row, metric)[-1]
    return plot.across(x), plot.up(y)


def _points(row: Row, metric: str) -> list[tuple[float, float]]:
    """(share of new images, number), both in percent, where the number is defined."""
    return [(100 * share, 100 * point[metric]) for share, point in row.ratio_sweep if point[metric] is not None]


def _edges(row: Row, metric: str) -> list[tuple[float, float, float]]:
    """(share of new images, lower and upper edge of the band), in percent; one line where no spread is known."""
    spread = {100 * share: 100 * (point["spread"][metric] or 0) for share, point in row.ratio_sweep}
    return [(x, y - spread[x], y + spread[x]) for x, y in _points(row, metric)]
