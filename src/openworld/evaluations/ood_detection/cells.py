"""The pool of a run in its cells: levels by measured shift degrees, or as they are given."""

from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.pool import Pool
from openworld.evaluations.ood_detection.published_cells import given_cells
from openworld.evaluations.ood_detection.task import Task
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_degrees import Degrees, degrees_of
from openworld.shift import HALVES, Levels, ShiftGrid, equal_width_levels

_LARGEST = 2.0  # of a cosine distance


@dataclass(frozen=True, eq=False)
class Divided:
    """The pictures of the pool that can be read, and where they stand.

    Args:
        pool: all pictures. rows: int64[n], places in it.
        levels: int64[n] from 0 by half; counts: how many levels there are.
        degrees: float64[n] by half, and cuts: where levels begin; None where cells are given.
    """

    pool: Pool
    rows: np.ndarray
    levels: dict[str, np.ndarray]
    counts: dict[str, int]
    degrees: dict[str, np.ndarray] | None = None
    cuts: dict[str, tuple[float, ...]] | None = None

    @property
    def known(self) -> np.ndarray:
        """bool[n], whether a picture's class is in distribution."""
        return self.pool.known[self.rows]

    def grid(self, kept: np.ndarray, least: int) -> ShiftGrid:
        """The grid of some of the pictures, int64 places among the n."""
        semantic, covariate = (self.levels[half][kept] for half in HALVES)
        return ShiftGrid(semantic, covariate, (self.counts["covariate"], self.counts["semantic"]), least)

    def told(self, kept: np.ndarray) -> dict:
        """Per axis: where its levels lie (None where that was given, not measured), and how many pictures each has."""
        return {
            half: {
                "edges": None if self.cuts is None else [0.0, *self.cuts[half], _LARGEST],
                "counts": np.bincount(self.levels[half][kept], minlength=self.counts[half]).tolist(),
            }
            for half in HALVES
        }


def divided(task: Task, machine: Machine) -> Divided:
    """The pool of a task in levels; cuts are those of the whole pool, in-distribution classes in it."""
    pool = task.ground.load_pool()
    if task.ground.cells:
        given = given_cells(task.ground.cells)
        levels = {"semantic": given.semantic, "covariate": given.covariate}
        counts = {"semantic": given.shape[1], "covariate": given.shape[0]}
        return Divided(pool, np.arange(len(pool.images)), levels, counts)
    sizes = [len(one.load()) for one in task.ground.tested]
    parts = [degrees_of(one, machine) for one in task.measures[1:]]
    starts = np.cumsum([0, *sizes[:-1]])
    rows = np.concatenate([start + one.rows for start, one in zip(starts, parts, strict=True)])
    degrees = {half: np.concatenate([getattr(one, half) for one in parts]) for half in HALVES}
    cut = {half: _levels(task, half, degrees[half]) for half in HALVES}
    return Divided(
        pool,
        rows,
        {half: cut[half].of(degrees[half]) for half in HALVES},
        {half: len(cut[half]) for half in HALVES},
        degrees,
        {half: cut[half].cuts for half in HALVES},
    )


def test_degrees(task: Task, machine: Machine) -> Degrees | None:
    """Degrees of the in-distribution test pictures; None where cells are given."""
    return degrees_of(task.measures[0], machine) if task.measures else None


def _levels(task: Task, half: str, degrees: np.ndarray) -> Levels:
    how = task.division
    try:
        if half in how.cuts:
            return Levels(how.cuts[half])
        return equal_width_levels(degrees, how.quantiles[half], how.levels)
    except OpenworldError as error:
        raise OpenworldError(f"{half} levels: {error}") from error
