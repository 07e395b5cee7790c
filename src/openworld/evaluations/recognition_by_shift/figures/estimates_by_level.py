"""Accuracy estimated without labels over the levels of measured shift, beside what is true."""

from collections.abc import Iterator

import numpy as np

from openworld.evaluations.recognition_by_shift.numbers import mean_of
from openworld.evaluations.recognition_by_shift.run import OpenWorldShiftRun
from openworld.report.level_lines import Line, level_panel, range_of
from openworld.report.panels import Figure, Panel
from openworld.report.series_style import Look
from openworld.report.shift_axes import AXES

TRUTH = "true accuracy"
HEADER = ("learner", "axis", "level", "line", "accuracy")


def estimates_by_level(run: OpenWorldShiftRun, looks: dict[str, Look]) -> Figure:
    """A panel per learner and axis."""
    lines = {(name, axis): _lines(run, name, axis) for name in run.learners for axis in AXES}
    y = range_of("accuracy, %", [line for one in lines.values() for line in one.values()])
    panels = tuple(
        Panel(f"{name}, by {AXES[axis]}", level_panel(axis, y, drawn, looks)) for (name, axis), drawn in lines.items()
    )
    caption = (
        "Accuracy among all names, of all pictures, base and new: the mean of the cells at each level, what is true "
        "and what estimators say that see no label there.",
        "Estimators were fitted on labelled pictures of base classes in the training looks. An estimate that holds "
        "stays on the line of the truth.",
    )
    rows = tuple(_rows(lines))
    return Figure("estimates-by-level", "Does the estimate hold?", caption, panels, HEADER, rows)


def _lines(run: OpenWorldShiftRun, learner: str, axis: str) -> dict[str, Line]:
    told = {TRUTH: run.truth(learner)} | {name: run.estimated(learner, name) for name in run.estimators}
    return {name: Line(_by_level(values, axis)) for name, values in told.items()}


def _by_level(values: np.ndarray, axis: str) -> list[float | None]:
    count = values.shape[-1 if axis == "semantic" else -2]
    return [mean_of(values, axis, level) for level in range(count)]


def _rows(lines) -> Iterator[tuple]:
    for (learner, axis), drawn in lines.items():
        for name, line in drawn.items():
            for level, value in enumerate(line.values):
                yield learner, axis, level, name, value
