"""Accuracy taken apart by level: on base pictures, on new pictures, and how well the two kinds are told apart."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from openworld.evaluations.dynamic.courses import SCENARIOS, CourseTable, Curve
from openworld.report.axes import Axis
from openworld.report.panels import NAMED, Figure, Panel, frame
from openworld.report.series_style import Look
from openworld.report.svg import drawing, element
from openworld.report.text import percent

PARTS = {"base": "accuracy on base pictures", "new": "accuracy on new pictures", "auroc": "AUROC, base against new"}


def split(tables: Sequence[CourseTable], looks: dict[str, Look]) -> Figure | None:
    """Three panels per scenario in which new classes arrive, means over its courses; None where none does."""
    by_scenario = {name: [one for one in tables if one.key.scenario == name and _arrives(one)] for name in SCENARIOS}
    played = {name: found for name, found in by_scenario.items() if found}
    if not played:
        return None
    panels = tuple(
        Panel(f"{SCENARIOS[name]}: {PARTS[part]}", _panel(found, part, looks))
        for name, found in played.items()
        for part in PARTS
    )
    caption = (
        "Accuracy taken apart, among all names of a view: on pictures of classes that were tuned on, on those of "
        "new ones, and the AUROC with which the score of baseness tells the two kinds apart; means over seeds and "
        "courses, at the levels that have both kinds.",
        "A line that falls on the left says that old classes are lost among new names; one that lies low in the "
        "middle, that new ones never were named well; one near 50 on the right, that nobody would notice them.",
    )
    header = ("scenario", "learner", "level", *PARTS)
    rows = tuple(row for name, found in played.items() for row in _rows(name, found))
    return Figure("split", "What is lost, the old or the new?", caption, panels, header, rows)


def _arrives(table: CourseTable) -> bool:
    return any(value is not None for curve in table.curves for value in (*curve.auroc, *curve.new))


def _rows(name: str, tables: Sequence[CourseTable]) -> list[tuple]:
    return [
        (SCENARIOS[name], curve.learner, level, *(_mean(tables, place, part)[at] for part in PARTS))
        for place, curve in enumerate(tables[0].curves)
        for at, level in enumerate(tables[0].levels)
    ]


def _mean(tables: Sequence[CourseTable], place: int, part: str) -> list[float | None]:
    """By level the mean over the courses of one learner's number; None where any course has none."""
    each = [getattr(table.curves[place], part) for table in tables]
    return [None if None in values else float(np.mean(values)) for values in zip(*each, strict=True)]


def _panel(tables: Sequence[CourseTable], part: str, looks: dict[str, Look]) -> Markup:
    first = tables[0]
    found = {curve.learner: _mean(tables, place, part) for place, curve in enumerate(first.curves)}
    values = [100 * value for means in found.values() for value in means if value is not None]
    x = Axis("level of change t", 0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1))
    plot = frame(x, Axis.around("%", values or [0.0, 100.0]), alone=False)
    best = max(first.curves, key=lambda curve: _area(tables, curve)).learner
    lines = []
    for learner in sorted(found, key=lambda learner: learner in (best, first.yardstick)):
        points = [
            (at, 100 * value) for at, value in zip(first.levels, found[learner], strict=True) if value is not None
        ]
        if not points:
            continue
        told = ", ".join(f"{percent(value / 100)} at {at:g}" for at, value in points)
        line = plot.line(*zip(*points, strict=True), class_="line", stroke_dasharray=looks[learner].dash or None)
        marks = [plot.mark(*point, looks[learner].marker) for point in (points[0], points[-1])]
        crowded = len(found) > NAMED
        css = looks[learner].css_class + " crowded" * crowded
        css += " back" * (crowded and learner not in (best, first.yardstick))
        lines.append(
            element("g", element("title", f"{learner}: {told}"), line, *marks, class_=css, data_learner=learner)
        )
    told = f"{PARTS[part]} of {len(lines)} learners by level: {SCENARIOS[first.key.scenario]}."
    return drawing(plot.width, plot.height, told, [plot.axes(), *lines])


def _area(tables: Sequence[CourseTable], curve: Curve) -> float:
    place = tables[0].learners.index(curve.learner)
    return sum(table.curves[place].robustness.auc for table in tables)
