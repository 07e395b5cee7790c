"""The Dynamic Robustness Curves: accuracy against the level of change, one plot per course (OpenPL, Figures 1 to 4)."""

from collections.abc import Sequence

from markupsafe import Markup

from openworld.report.axes import Axis
from openworld.report.courses import CourseTable, Curve
from openworld.report.figures.figure import NAMED, Figure, Panel, frame, percent
from openworld.report.figures.names import beside, margin
from openworld.report.palette import Look
from openworld.report.svg import Frame, drawing, element


def curves(tables: Sequence[CourseTable], looks: dict[str, Look]) -> Figure:
    """One panel per course, one line per learner; zero-shot's is grey and dashed."""
    alone = len(tables) == 1
    panels = tuple(Panel("" if alone else table.key.title, _panel(table, looks, alone=alone)) for table in tables)
    caption = (
        "Accuracy among all names of a view while its classes or pictures change, from level 0 (as tuned) to 1; mean "
        "over the seeds, which draw other class orders and shots.",
        "Tuning pays where a line stays above that of zero-shot CLIP, which was asked about the very same views.",
    )
    header = ("course", "learner", "level", "accuracy", "lowest_seed", "highest_seed")
    rows = tuple(row for table in tables for curve in table.curves for row in _rows(table, curve))
    return Figure("curves", "How does it age?", caption, panels, header, rows)


def _rows(table: CourseTable, curve: Curve) -> list[tuple]:
    by_seed = [seed.accuracy for seed in curve.robustness.per_seed] or [curve.robustness.accuracy]
    points = zip(table.levels, curve.robustness.accuracy, zip(*by_seed, strict=True), strict=True)
    return [(table.key.title, curve.learner, level, mean, min(values), max(values)) for level, mean, values in points]


def _panel(table: CourseTable, looks: dict[str, Look], *, alone: bool) -> Markup:
    values = [100 * value for curve in table.curves for value in curve.robustness.accuracy]
    x = Axis("level of change t", 0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1))
    y = Axis.around("accuracy, %", values)
    named = table.curves if alone else ()
    plot = frame(x, y, alone=alone, names=len(named), right=margin(curve.learner for curve in named))
    lines = [_line(plot, table, curve, looks[curve.learner]) for curve in table.curves]
    ends = {curve.learner: _end(plot, table, curve) for curve in named}
    told = f"Accuracy of {len(table.curves)} learners at {len(table.levels)} levels: {table.key.title}."
    return drawing(plot.width, plot.height, told, [plot.axes(), *lines, *beside(plot, ends, looks)])


def _line(plot: Frame, table: CourseTable, curve: Curve, look: Look) -> Markup:
    values = [100 * value for value in curve.robustness.accuracy]
    pairs = zip(curve.robustness.accuracy, table.levels, strict=True)
    told = ", ".join(f"{percent(value)} at {level:g}" for value, level in pairs)
    line = plot.line(table.levels, values, class_="line", stroke_dasharray=look.dash or None)
    marks = [plot.mark(level, value, look.marker) for level, value in zip(table.levels, values, strict=True)]
    crowded = len(table.curves) > NAMED and curve.learner not in (table.best.learner, table.yardstick)
    css = look.css_class + " back" * crowded
    return element(
        "g", element("title", f"{curve.learner}: {told}"), line, *marks, class_=css, data_learner=curve.learner
    )


def _end(plot: Frame, table: CourseTable, curve: Curve) -> tuple[float, float]:
    return plot.across(table.levels[-1]), plot.up(100 * curve.robustness.accuracy[-1])
