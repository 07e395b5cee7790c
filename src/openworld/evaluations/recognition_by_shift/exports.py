"""Numbers of open-world quality by shift as text: CSV and JSON in fractions, Markdown and LaTeX in percent."""

from collections.abc import Iterator

import numpy as np

from openworld._errors import unknown_name
from openworld.evaluations.recognition_by_shift.grids import error_grid, level_grid, trend_grid
from openworld.evaluations.recognition_by_shift.numbers import TOLD, Levels
from openworld.evaluations.recognition_by_shift.run import PARTS, OpenWorldShiftRun, styles
from openworld.report.data_files import csv_text, json_text
from openworld.report.grid import Grid
from openworld.report.shift_axes import AXES
from openworld.report.text_tables import grid_latex, grid_markdown

HEADER = ("learner", "base", "axis", "level", "from", "part", "value", "low", "high", "base_images", "new_images")
CELLS = ("learner", "base", "covariate_level", "semantic_level", "new_pictures", *PARTS)
ESTIMATES = (
    "learner",
    "seed",
    "covariate_level",
    "semantic_level",
    "pictures",
    "true_accuracy",
    "estimator",
    "estimated",
)
FORMS = ("csv", "cells", "estimates", "json", "markdown", "latex")


def export_open_world_shifts(run: OpenWorldShiftRun, form: str) -> str:
    """The tables as text.

    Args:
        run: of `load_open_world_shifts`.
        form: "csv" (a row per learner, level and part), "cells" (a row per learner and cell, CSV), "estimates" (a row
            per learner, seed, cell and estimator, CSV), "json" (all of these), "markdown" or "latex" (the tables of the
            page).

    Raises:
        OpenworldError: for another form.
    """
    if form not in FORMS:
        raise unknown_name("table form", form, FORMS)
    if form in ("markdown", "latex"):
        return "\n".join(map(grid_markdown if form == "markdown" else grid_latex, _grids(Levels(run))))
    tables = {"csv": (HEADER, level_rows), "cells": (CELLS, cell_rows), "estimates": (ESTIMATES, estimate_rows)}
    if form == "json":
        told = {name: [dict(zip(head, row, strict=True)) for row in rows(run)] for name, (head, rows) in tables.items()}
        return json_text({"levels": told.pop("csv"), **told})
    header, rows = tables[form]
    return csv_text(header, list(rows(run)))


def level_rows(run: OpenWorldShiftRun) -> Iterator[tuple]:
    """Every quantity of every learner at every level, with its interval over pictures."""
    levels = Levels(run)
    for name in run.learners:
        for view, axis in TOLD:
            for level, one in enumerate(levels.of(name, view, axis)):
                for part in PARTS if one else ():
                    found, counts = one.estimate(part), (one.results[0].n_base, one.results[0].n_new)
                    ends = found.interval() or (None, None)
                    yield name, view, axis, level, run.starts(axis)[level], part, found.value, *ends, *counts


def cell_rows(run: OpenWorldShiftRun) -> Iterator[tuple]:
    """Every present cell of every learner, means over the seeds."""
    for name in run.learners:
        for view in dict.fromkeys(view for view, _ in TOLD):
            tables = [run.cells(name, view, part) for part in PARTS]
            for cell in map(tuple, np.argwhere(np.isfinite(tables[0])).tolist()):
                yield name, view, *cell, int(run.counts[cell]), *(float(table[cell]) for table in tables)


def estimate_rows(run: OpenWorldShiftRun) -> Iterator[tuple]:
    """Every estimate in every cell, of every seed."""
    for name in run.learners if run.estimators else ():
        truth, said = run.truth(name), {one: run.estimated(name, one) for one in run.estimators}
        for place, record in enumerate(run.records[name]):
            counts = record.metrics["estimation"]["counts"]
            for row, column in np.argwhere(np.isfinite(truth[place])).tolist():
                first = (
                    name,
                    record.metrics["seed"],
                    row,
                    column,
                    counts[row][column],
                    float(truth[place, row, column]),
                )
                for label, values in said.items():
                    value = float(values[place, row, column])
                    yield *first, label, value if np.isfinite(value) else None


def _grids(levels: Levels) -> list[Grid]:
    run, chosen = levels.run, styles(levels.run)
    grids = [level_grid(levels, view, axis, chosen) for view, axis in TOLD] + [trend_grid(run, chosen)]
    return grids + ([error_grid(run, axis) for axis in AXES] if run.estimators else [])
