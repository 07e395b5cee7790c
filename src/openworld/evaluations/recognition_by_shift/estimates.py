"""Accuracy without labels, cell by cell: fitted at home on validation pictures, asked wherever the pool has pictures.

Every picture is named among all names, base and new, as by someone who does not know which pictures are new. Labelled
pictures are of base classes: that is what a learner's owner has.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch.nn.functional import normalize

from openworld.estimators import Outputs
from openworld.evaluations.estimates import Answers, fit_all
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.recognition_by_shift.predictions import Told
from openworld.evaluations.recognition_by_shift.task import Names, Task
from openworld.evaluations.references import class_texts
from openworld.evaluations.runtime import Machine, encoded
from openworld.shift import ShiftGrid


def estimates_told(task: Task, home: Told, pool: Told, grid: ShiftGrid, similar: Mapping) -> dict:
    """True accuracy among all names in every cell, and beside it what each estimator says.

    Args:
        home: of validation pictures. pool: of all pictures of the pool.
        grid: where these stand.
        similar: "home" and "pool" -> reference -> float[n, C], of `similarities_of`.
    Returns:
        "accuracy" and under "estimates" by label "cells", R x C with None for a cell that is N/A or of which nothing
        can be said; errors by level and on the whole, of `errors_of`; "warned", in how many cells, and the first
        "warning".
    """
    fits = fit_all(task.estimators, _answers(home, np.arange(len(home.logits)), similar["home"], labelled=True), {})
    right = pool.table["joint_prediction"] == pool.table["label"]
    truth = np.full(grid.shape, np.nan)
    said = {one.label: np.full(grid.shape, np.nan) for one in task.estimators}
    warnings: dict[str, list[str]] = {label: [] for label in said}
    for row, column in np.argwhere(grid.present).tolist():
        members = grid.cell(row, column)
        truth[row, column] = right[members].mean()
        found = fits.estimates(_answers(pool, members, similar["pool"]), None, 0)
        for label, one in found.items():
            said[label][row, column] = np.nan if one.error is None else 1 - one.error
            warnings[label] += one.warnings[:1]
    told = {
        label: {"cells": nones(one), **errors_of(one - truth), **_warned(warnings[label])}
        for label, one in said.items()
    }
    return {"counts": grid.counts.tolist(), "accuracy": nones(truth), "estimates": told, "home": _home(home)}


def errors_of(off: np.ndarray) -> dict:
    """Mean absolute errors and biases of estimates, cells counting alike.

    Args:
        off: float[R, C], estimated minus true accuracy; NaN where there is none.
    Returns:
        By "all", "semantic" (C levels) and "covariate" (R levels): {"error", "bias"}, None without a cell.

    >>> errors_of(np.array([[0.25, -0.75], [np.nan, 0.5]]))["semantic"]
    ({'error': 0.25, 'bias': 0.25}, {'error': 0.625, 'bias': -0.125})
    """
    return {
        "all": _error(off.ravel()),
        "semantic": tuple(map(_error, off.T)),
        "covariate": tuple(map(_error, off)),
    }


def similarities_of(
    task: Task, names: Names, parts: Mapping[str, tuple[ImageSelection, ...]], machine: Machine
) -> dict:
    """What every reference says of some pictures: part -> reference -> float32[n, C], cosines with all names."""
    dataset, every = task.ground.sources[0].dataset, names.every
    found: dict[str, dict[str, np.ndarray]] = {part: {} for part in parts}
    for one in task.references:
        texts = class_texts(one, every, dataset, machine)
        for part, sets in parts.items():
            seen = [torch.from_numpy(encoded(shown.load(), one.backbone, machine).embeddings[:]) for shown in sets]
            found[part][one.name] = (normalize(torch.cat(seen), dim=-1) @ texts.mT).numpy()
    return found


def nones(values: np.ndarray) -> list:
    """A table as a record holds it: None in the place of NaN.

    >>> nones(np.array([[0.5, np.nan]]))
    [[0.5, None]]
    """
    return [[None if np.isnan(value) else float(value) for value in row] for row in values]


def _answers(told: Told, rows: np.ndarray, similar: Mapping[str, np.ndarray], *, labelled: bool = False) -> Answers:
    labels = told.table["label"][rows]
    known = labels if labelled else None
    outputs = {name: Outputs(told.logits[rows], known, one[rows]) for name, one in similar.items()}
    return Answers(rows, labels, outputs or {"": Outputs(told.logits[rows], known)})


def _home(home: Told) -> dict:
    right = home.table["joint_prediction"] == home.table["label"]
    return {"n": len(right), "accuracy": int(right.sum()) / len(right)}


def _warned(warnings: list[str]) -> dict:
    return {"warned": len(warnings), "warning": warnings[0] if warnings else None}


def _error(off: np.ndarray) -> dict:
    known = off[np.isfinite(off)]
    if not known.size:
        return {"error": None, "bias": None}
    return {"error": float(np.abs(known).mean()), "bias": float(known.mean())}
