"""The pool of a run in its cells: levels by measured shift degrees, or as they are given."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError, unknown_name
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.entries import DecompositionSpec, part_of, require_distinct, settle
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import RUNNING, ModelOutputs
from openworld.evaluations.own_data import settle_classes
from openworld.evaluations.published_cells import given_cells
from openworld.evaluations.rows import thumbnail
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_degrees import DecompositionFit, DegreeMeasurement, split_of
from openworld.evaluations.shift_images import Pool, ShiftGround, ShiftImages
from openworld.evaluations.shift_levels import PoolLevels, levels_of
from openworld.shifts import HALVES, LOOKS, PUBLISHED_QUANTILES

TEST = "in-distribution test images"

THUMBNAILS = 4  # of every cell


@dataclass(frozen=True, kw_only=True)
class ShiftSpec(ShiftImages):
    """A spec whose pool is cut into cells; it says its `ground`, its seeds and threads, and which models look on.

    Args:
        decomposition: what splits features into meaning and appearance.
        k: shift degrees are distances to the k-th nearest training image, at least 1.
        levels: of each axis, at least 3; cut in equal widths between the `quantiles` of the pool's degrees.
        quantiles: by "semantic" and "covariate": shares of the pool in the first level, and in all but the last.
        cuts: by "semantic" and "covariate": where levels 1, 2, ... begin, instead.
        least: cells and levels with fewer images are N/A, at least 1.
    """

    decomposition: DecompositionSpec = DecompositionSpec()
    k: int = 10
    levels: int = 8
    quantiles: dict[str, tuple[float, float]] = field(default_factory=lambda: dict(PUBLISHED_QUANTILES))
    cuts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    least: int = 10

    shift_backbones = ()
    """Further models that embed all images."""

    if TYPE_CHECKING:  # a field of the specs

        @property
        def threads(self) -> int: ...

    def settle_shift(self) -> None:
        """Complete and check the fields of images and division."""
        settle(self, shots=self.shots or None, quantiles=PUBLISHED_QUANTILES | self.quantiles)
        require_at_least(1, k=self.k, images_in_a_cell=self.least, images=self.images or 1)
        require_at_least(1, shots=self.shots or 1)
        require_at_least(3, levels=self.levels)
        require_distinct({"sources": self.sources})
        settle_classes(self)
        for entry in (*self.sources, *self.pool):
            if entry.says_classes:
                raise OpenworldError(
                    f"{entry} says which classes are base or new; put base and new beside sources and pool."
                )
        if isinstance(self.new, str):
            raise OpenworldError(
                f"new is the folder {self.new}; list the names of its classes, and add it to the pool."
            )
        if self.says_classes and self.classes == "all":
            raise OpenworldError('classes is "all", and base or new says which; leave one of the two out.')
        if self.new and not self.pool:
            raise OpenworldError("new names classes of a pool, and cells are given instead; leave new out.")
        for name in (*self.quantiles, *self.cuts):
            if name not in HALVES:
                raise unknown_name("axis", name, HALVES)

    @cached_property
    def ground(self) -> ShiftGround:
        return part_of(self, ShiftGround)

    @property
    def shift_outputs(self) -> tuple[ModelOutputs, ...]:
        """What is embedded, for the degrees and by the further models."""
        by_texts = not self.ground.cells and self.decomposition.taught_by == "texts"
        names = tuple(dict.fromkeys([self.decomposition.backbone] * by_texts + [*self.shift_backbones]))
        sets = {"training images": self.ground.training, TEST: self.ground.test} | dict(self._pool_images)
        return tuple(ModelOutputs(name, images, (), names, self.threads) for name, images in sets.items() if names)

    @cached_property
    def split(self) -> DecompositionFit:
        """The decomposition of the run, by the names of all its images, or by the training images."""
        how, ground = self.decomposition, self.ground
        if how.taught_by == "images":
            return DecompositionFit(how, (), LOOKS, self.threads, ground.training)
        every = {entry.dataset: None for entry in (*ground.sources, *ground.pool)}
        names = [name for images in (ground.training, *ground.tested) for name in images.load().classnames]
        return split_of(how, every, names, self.threads)

    @property
    def measures(self) -> tuple[DegreeMeasurement, ...]:
        """The degrees of the test images, then those of the pool; none where cells are given."""
        sets = () if self.ground.cells else ((TEST, self.ground.test), *self._pool_images)
        return tuple(DegreeMeasurement(name, self.split, self.ground.training, images, self.k) for name, images in sets)

    def shift_stages(self, machine: Machine, outputs: Callable[[], Iterable[ModelOutputs]]) -> tuple[Stage, ...]:
        """Return the stages; `outputs` finds what models are run for: `self.shift_outputs`, and perhaps more."""
        done, counted = self.decomposition.learning
        return (
            Stage(*RUNNING, machine, outputs),
            Stage("splitting", done, counted, machine, lambda: () if self.ground.cells else (self.split,)),
            Stage("measuring", "measured", "images", machine, lambda: self.measures),
        )

    @property
    def _pool_images(self) -> list[tuple[str, ImageSelection]]:
        entries = enumerate(zip(self.ground.pool, self.ground.tested, strict=True), 1)
        return [(f"pool {number}: {entry.style}", images) for number, (entry, images) in entries]


@dataclass(frozen=True, eq=False, kw_only=True)
class DividedPool(PoolLevels):
    """The images of the pool that can be read, and where they stand."""

    pool: Pool
    rows: np.ndarray  # int64[n], places in the pool
    degrees: dict[str, np.ndarray] | None = None  # float64[n] by half; None where cells are given

    @property
    def known(self) -> np.ndarray:
        """bool[n], whether an image's class is in distribution."""
        return self.pool.known[self.rows]

    def thumbnails(self) -> Iterator[tuple[str, bytes]]:
        """Up to four thumbnails of every cell, named by covariate and semantic level; none of embeddings."""
        if self.pool.images.embeddings is not None:
            return
        grid = self.grid(np.arange(len(self.rows)), 1)
        for row, column in np.argwhere(grid.present).tolist():
            there = grid.cell(row, column)
            for place in sorted({turn * len(there) // (THUMBNAILS + 1) for turn in range(1, THUMBNAILS + 1)}):
                number = int(self.rows[there[place]])
                yield f"images/{row}-{column}/{number}.png", thumbnail(self.pool.images.image(number))


def divide_pool(spec: ShiftSpec, machine: Machine) -> DividedPool:
    """Return the pool of a run in levels; cuts are those of the whole pool, in-distribution classes in it."""
    pool = spec.ground.load_pool()
    if spec.ground.cells:
        cells = given_cells(spec.ground.cells)
        levels = {"semantic": cells.semantic, "covariate": cells.covariate}
        counts = {"semantic": cells.shape[1], "covariate": cells.shape[0]}
        return DividedPool(levels, counts, pool=pool, rows=np.arange(len(pool.images)))
    # Degrees lack images that could not be read, so rows are places among all images of the pool.
    sizes = [len(images.load()) for images in spec.ground.tested]
    parts = [degrees.load(machine) for degrees in spec.measures[1:]]
    starts = np.cumsum([0, *sizes[:-1]])
    rows = np.concatenate([start + part["rows"] for start, part in zip(starts, parts, strict=True)])
    degrees = {half: np.concatenate([part[half] for part in parts]) for half in HALVES}
    placed = levels_of(degrees, spec.levels, spec.quantiles, spec.cuts)
    return DividedPool(placed.levels, placed.counts, placed.cuts, pool=pool, rows=rows, degrees=degrees)
