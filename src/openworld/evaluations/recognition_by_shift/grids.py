"""The tables of the page: learners by levels, their trends, and estimators by levels."""

from collections.abc import Iterator

import numpy as np

from openworld.evaluations.recognition_by_shift.numbers import Levels, Test, estimate_errors, mean_of
from openworld.evaluations.recognition_by_shift.run import PARTS, VIEWS, OpenWorldShiftRun
from openworld.evaluations.recognition_by_shift.wording import spoken_interval, starred, tests_told
from openworld.report.grid import Cell, Column, Grid, Line, swatched
from openworld.report.series_style import Look
from openworld.report.shift_axes import AXES
from openworld.report.text import percent, signed


def level_grid(levels: Levels, view: str, axis: str, looks: dict[str, Look], part: str = "openworld_auc") -> Grid:
    """One quantity of every learner at every level; the highest of each in bold, tests of OpenworldAUC as marks."""
    run = levels.run
    tests = levels.tests(view, axis) if part == "openworld_auc" else {}
    values = {name: levels.values(name, view, axis, part) for name in run.learners}
    best = [_best([values[name][level] for name in run.learners]) for level in range(len(run.level_counts(axis)))]
    columns = (Column("learner", words=True), Column("all"), *_level_columns(run, axis))
    lines = [Line("", (Cell("new pictures"), *_counts(run, axis)))]
    for name in run.learners:
        signs = tests.get(name) or [Test(None, None)] * len(best)
        cells = [swatched(name, looks), _overall(levels, name, view, part)]
        for one, value, most, test in zip(levels.of(name, view, axis), values[name], best, signs, strict=True):
            hint = "" if one is None else spoken_interval(one.estimate(part).interval())
            lead = "leads" if value is not None and value == most and len(run.learners) > 1 else ""
            cells.append(Cell(starred(value, test.sign), "" if value is None else f"{value:.6f}", css=lead, hint=hint))
        lines.append(Line(name, tuple(cells)))
    title = f"{PARTS[part]} by {AXES[axis]}, {VIEWS[view]}"
    told = (
        f"{title}; percent, {_seeds(run)}. Levels of {AXES[axis]} by the degree they begin at.{tests_told(run, tests)}"
    )
    return Grid(f"{view}-{axis}-{part}".replace("_", "-"), title, told, columns, tuple(lines))


def trend_grid(run: OpenWorldShiftRun, looks: dict[str, Look]) -> Grid:
    """By how many points each quantity changes from one level to the next."""
    pairs = [(part, axis) for part in PARTS if part != "base_accuracy" for axis in AXES]
    columns = (Column("learner", words=True), *(Column(f"{PARTS[part]}, {AXES[axis]}") for part, axis in pairs))
    lines = tuple(
        Line(name, (swatched(name, looks), *(_trend(run, name, part, axis) for part, axis in pairs)))
        for name in run.learners
    )
    told = (
        "Points per level: the slope of the line through the means of the cells at each level, base pictures in the "
        "training looks, mean over the seeds."
    )
    return Grid("trends", "Change per level", told, columns, lines)


def error_grid(run: OpenWorldShiftRun, axis: str) -> Grid:
    """Estimators by levels: mean absolute errors over cells and learners, and the mean signed error of all cells."""
    columns = (Column("estimator", words=True), Column("all cells"), Column("bias"), *_level_columns(run, axis))
    off = {name: estimate_errors(run, name) for name in run.estimators}
    lines = tuple(Line(name, tuple(_error_cells(name, off, axis))) for name in run.estimators)
    title = f"Errors of the estimated accuracy by {AXES[axis]}"
    told = (
        f"{title}; absolute, points, means over cells and learners. Bias: the mean signed error, above 0 is too "
        "hopeful. The smallest error of a column in bold."
    )
    return Grid(f"errors-{axis}", title, told, columns, lines)


def home_grid(run: OpenWorldShiftRun, looks: dict[str, Look]) -> Grid:
    """Learners: true accuracy at home and over all cells, and the error of each estimator over all cells."""
    columns = (
        Column("learner", words=True),
        Column("at home"),
        Column("mean of the cells"),
        *map(Column, run.estimators),
    )
    lines = []
    for name in run.learners:
        home = float(np.mean([one.metrics["estimation"]["home"]["accuracy"] for one in run.records[name]]))
        errors = [mean_of(np.abs(estimate_errors(run, estimator, name))) for estimator in run.estimators]
        numbers = [home, mean_of(run.truth(name)), *errors]
        lines.append(Line(name, (swatched(name, looks), *(Cell(percent(one)) for one in numbers))))
    told = (
        "At home: accuracy on the labelled pictures that estimators were fitted on. Then true accuracy, mean of the "
        "cells, and each estimator's mean absolute error over the cells; percent and points, means over the seeds."
    )
    return Grid("home", "Estimates, learner by learner", told, columns, tuple(lines))


def _level_columns(run: OpenWorldShiftRun, axis: str) -> Iterator[Column]:
    for level, start in enumerate(run.starts(axis)):
        yield Column(f"{level}: {start:.2f}" if level else "0")


def _counts(run: OpenWorldShiftRun, axis: str) -> Iterator[Cell]:
    counts = run.level_counts(axis)
    yield from (Cell(f"{count:,}") for count in (sum(counts), *counts))


def _overall(levels: Levels, learner: str, view: str, part: str) -> Cell:
    """Of all new pictures; with base pictures in the same looks there is no such number."""
    if view != "near":
        return Cell("–")
    one = levels.overall[learner].estimate(part)
    return Cell(percent(one.value), hint=spoken_interval(one.interval()), css="headline" * (part == "openworld_auc"))


def _trend(run: OpenWorldShiftRun, learner: str, part: str, axis: str) -> Cell:
    slopes = [one.metrics["near"]["trend"][part][axis]["slope"] for one in run.records[learner]]
    return Cell("–" if None in slopes else signed(float(np.mean(slopes))))


def _error_cells(name: str, off: dict[str, np.ndarray], axis: str) -> Iterator[Cell]:
    yield Cell(name)
    for place in (None, *range(off[name].shape[-1 if axis == "semantic" else -2])):
        where = (None, 0) if place is None else (axis, place)
        errors = {other: mean_of(np.abs(one), *where) for other, one in off.items()}
        known = [value for value in errors.values() if value is not None]
        lead = "leads" if len(off) > 1 and known and errors[name] == min(known) else ""
        yield Cell(percent(errors[name]), css=lead)
        if place is None:
            bias = mean_of(off[name])
            yield Cell("–" if bias is None else signed(bias))


def _best(values: list[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _seeds(run: OpenWorldShiftRun) -> str:
    return f"means over {len(run.seeds)} seeds" if len(run.seeds) > 1 else "one seed"
