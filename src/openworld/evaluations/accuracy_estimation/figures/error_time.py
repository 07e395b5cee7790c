"""Mean error against the time of one estimate."""

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.times import spent
from openworld.report.axes import Axis, LogAxis
from openworld.report.panels import Figure, Panel, frame
from openworld.report.scatter import Cloud, scatter
from openworld.report.series_style import Look
from openworld.report.text import milliseconds, percent

HEADER = ("method", "seconds_per_condition", "mean_absolute_error", "low", "high")


def error_time(table: ErrorTable, looks: dict[str, Look]) -> Figure | None:
    """One dot per method; None where fewer than two have a time and an error."""
    times = {label: one.estimate for label, one in spent(table.run).items()}
    cells = {label: table.cells[AVERAGE][label] for label in times}
    drawn = [label for label, one in cells.items() if one.mean is not None and times[label] > 0]
    if len(drawn) < 2:
        return None
    rows = tuple((label, times[label], cells[label].mean, *(cells[label].interval or (None, None))) for label in drawn)
    x = LogAxis.around("milliseconds for one condition", [1000 * times[label] for label in drawn])
    ends = [100 * end for label in drawn for end in (cells[label].mean, *(cells[label].interval or ()))]
    plot = frame(x, Axis.around("mean absolute error, points", ends), alone=True, names=len(drawn))
    clouds = [_cloud(label, 1000 * times[label], cells[label]) for label in drawn]
    told = f"Mean absolute error against the time of an estimate, logarithmic, {len(drawn)} methods."
    panel = Panel("", scatter(plot, clouds, looks, told, named=True))
    caption = (
        "Mean absolute error, average of the lines, against the time that a method takes to estimate one condition, "
        "images and models being read already, on a logarithmic scale; thin lines are 95 % intervals of the mean.",
        "Lower left is better: little time, little error.",
    )
    return Figure("error-time", "What does a smaller error cost?", caption, (panel,), HEADER, rows)


def _cloud(label: str, time: float, errors) -> Cloud:
    ends = [(time, 100 * end) for end in errors.interval or ()]
    told = f"off by {percent(errors.mean)} in {milliseconds(time / 1000)} ms"
    return Cloud(label, ((time, 100 * errors.mean),), told, tuple(ends))
