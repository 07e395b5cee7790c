"""The Dynamic Robustness Curves of one scenario: accuracy against the level of change (OpenPL, Figures 1 to 4).

Small plots side by side, one per course, on one range of accuracy, so that courses compare at a glance.
"""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from openworld.evaluations.dynamic.courses import SCENARIOS, CourseTable, Curve
from openworld.report.axes import Axis
from openworld.report.label_placement import beside, margin
from openworld.report.panels import NAMED, Figure, Panel, frame
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent

CHANGES = {
    "emerging-classes": "new classes join those that were tuned on",
    "varying-ratio": "new classes take the place of those that were tuned on, class by class",
    "distribution-shift": "pictures of another kind take the place of the source's, of the same classes",
    "co-evolution": "classes and pictures of another data set take the place of the source's",
}
HEADER = ("course", "learner", "level", "accuracy", "lowest_seed", "highest_seed", "seeds_low", "seeds_high")


def curves(tables: Sequence[CourseTable], looks: dict[str, Look]) -> Figure:
    """One panel per course, one line per learner; zero-shot's is grey and dashed.

    Args:
        tables: courses of one scenario.
        looks: of every learner.
    """
    scenario, alone = tables[0].key.scenario, len(tables) == 1
    range_of = Axis.around("accuracy, %", [100 * value for table in tables for value in table.accuracy.ravel()])
    panels = tuple(Panel(_place(table), _panel(table, looks, range_of, alone=alone)) for table in tables)
    sources = dict.fromkeys(table.key.source for table in tables if table.key.against)
    tuned = f", {' or '.join(sources)}" if sources else ""
    seeds = len(tables[0].curves[0].seeds)
    band = f"; the band behind a line spans the {seeds} seeds, lowest to highest" * (seeds > 1)
    crowded = ", and shows for a learner that is pointed at or chosen" * bool(band and len(tables[0].curves) > NAMED)
    caption = (
        f"Accuracy among all names of a view while {CHANGES[scenario]}: from level 0, as tuned{tuned}, to 1, "
        f"mean of {seeds} seed{'s' * (seeds > 1)}{band}{crowded}.",
        f"Tuning pays where a line stays above that of {tables[0].yardstick}, grey and dashed, which was asked about "
        "the very same pictures; whether the area between two lines is more than chance, the table's tests say.",
    )
    rows = tuple(row for table in tables for curve in table.curves for row in _rows(table, curve))
    heading = SCENARIOS[scenario][0].upper() + SCENARIOS[scenario][1:]
    return Figure(f"curves-{scenario}", f"How does it age? {heading}", caption, panels, HEADER, rows)


def _place(table: CourseTable) -> str:
    """The data set whose classes or pictures are new."""
    return f"→ {table.key.against}" if table.key.against else table.key.source


def _rows(table: CourseTable, curve: Curve) -> list[tuple]:
    low, high = _band(curve)
    ends = [_over_seeds(curve, place) for place in range(len(table.levels))]
    points = zip(table.levels, curve.robustness.accuracy, low.tolist(), high.tolist(), ends, strict=True)
    return [
        (table.key.title, curve.learner, level, mean, least, most, *end) for level, mean, least, most, end in points
    ]


def _over_seeds(curve: Curve, place: int) -> tuple[float | None, float | None]:
    from openworld.metrics import seed_spread

    return seed_spread([own.accuracy[place] for own in curve.per_seed]).interval() or (None, None)


def _band(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    by_seed = np.array([own.accuracy for own in curve.per_seed])
    return by_seed.min(axis=0), by_seed.max(axis=0)


def _panel(table: CourseTable, looks: dict[str, Look], y: Axis, *, alone: bool) -> Markup:
    x = Axis("level of change t", 0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1))
    named = table.curves if alone else ()
    plot = frame(x, y, alone=alone, names=len(named), right=margin(curve.learner for curve in named))
    ordered = sorted(table.curves, key=lambda curve: curve.learner in (table.best.learner, table.yardstick))
    lines = [_line(plot, table, curve, looks[curve.learner]) for curve in ordered]
    ends = {curve.learner: _end(plot, table, curve) for curve in named}
    told = f"Accuracy of {len(table.curves)} learners at {len(table.levels)} levels: {table.key.title}."
    return drawing(plot.width, plot.height, told, [plot.axes(), *lines, *beside(plot, ends, looks)])


def _line(plot: Frame, table: CourseTable, curve: Curve, look: Look) -> Markup:
    values = [100 * value for value in curve.robustness.accuracy]
    pairs = zip(curve.robustness.accuracy, table.levels, strict=True)
    told = ", ".join(f"{percent(value)} at {level:g}" for value, level in pairs)
    crowded = len(table.curves) > NAMED
    drawn = [] if len(curve.per_seed) < 2 else [_drawn_band(plot, table.levels, curve)]
    drawn.append(plot.line(table.levels, values, class_="line", stroke_dasharray=look.dash or None))
    levels = list(zip(table.levels, values, strict=True))
    # Among many learners a mark at either end tells lines apart; one at every level would hide them.
    drawn += [
        plot.mark(level, value, look.marker) for level, value in (levels[:: len(levels) - 1] if crowded else levels)
    ]
    behind = crowded and curve.learner not in (table.best.learner, table.yardstick)
    css = look.css_class + " crowded" * crowded + " back" * behind
    return element("g", element("title", f"{curve.learner}: {told}"), *drawn, class_=css, data_learner=curve.learner)


def _drawn_band(plot: Frame, levels: Sequence[float], curve: Curve) -> Markup:
    """The seeds' range, cut at the frame, for the range of accuracy is that of the means."""
    low, high = (100 * edge.clip(plot.y.low / 100, plot.y.high / 100) for edge in _band(curve))
    outline = [*zip(levels, high, strict=True), *reversed(list(zip(levels, low, strict=True)))]
    points = " ".join(f"{plot.across(x):.1f},{plot.up(y):.1f}" for x, y in outline)
    return element("polygon", points=points, class_="band")


def _end(plot: Frame, table: CourseTable, curve: Curve) -> tuple[float, float]:
    return plot.across(table.levels[-1]), plot.up(100 * curve.robustness.accuracy[-1])
