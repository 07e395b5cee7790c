"""Incremental shift: does a detector see what is out of distribution, and how far off must that be?

The benchmark of "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024:
IS-OOD). A pool of images is cut into cells by measured semantic and covariate shift from the training images, and
every detector tells in-distribution test images from those of each cell. Every (model, seed) is one unit; before the
units, stages train classifiers, embed images, fit the decomposition, and measure the degrees.
"""

from dataclasses import dataclass, field, fields
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError, unknown_name
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.shift_cells import Division
from openworld.evaluations.shift_entries import CellsSpec, DecompositionSpec, JudgedSpec, PoolSpec, place_of
from openworld.evaluations.shift_images import ShiftGround
from openworld.shift import HALVES, PUBLISHED_QUANTILES


@dataclass(frozen=True)
class IncrementalShiftSpec:
    """Judge detectors over cells of semantic and covariate shift (IS-OOD, section 3).

    Args:
        models: what is judged, each with its detectors; classifiers over all seeds.
        sources: data sets whose images are in distribution, pooled; the class names are those of the first.
        classes: which of their classes are in distribution: the "base" half, or "all".
        train_part, shots: what models, detectors and degrees know of; shots per class of each source, 0 or None for
            all images.
        id_part: the in-distribution images that detectors are tested on.
        pool: images that are cut into cells; those of in-distribution classes may be among them.
        cells: a division that is given, instead of a pool; see `CellsSpec`. Nothing is measured then.
        images: so many images of each entry of the pool, classes in their shares; None for all.
        decomposition: what splits features into meaning and look.
        k: shift degrees are distances to the k-th nearest training image, at least 1.
        levels: of each axis, at least 3; cut in equal widths between the `quantiles` of the pool's degrees.
        quantiles: by "semantic" and "covariate": shares of the pool in the first level, and in all but the last.
        cuts: by "semantic" and "covariate": where levels 1, 2, ... begin, instead.
        least: cells with fewer images are N/A, at least 1.
        id_kept: whether the main tables count pool images of in-distribution classes, as published; the record holds
            the tables with and without them either way.
        seeds: of training, not negative.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no model, seed, source or pool; repeated ones; a pool and given cells; a pool entry that shows
            training or test images; a number outside its range.
    """

    models: tuple[JudgedSpec, ...]
    sources: tuple[DatasetSpec, ...]
    protocol: Literal["incremental-shift", "ood-detection"] = "incremental-shift"
    classes: Literal["base", "all"] = "base"
    train_part: str = "train"
    shots: int | None = 16
    id_part: str = "test"
    pool: tuple[PoolSpec, ...] = ()
    cells: CellsSpec | None = None
    images: int | None = None
    decomposition: DecompositionSpec = DecompositionSpec()
    k: int = 10
    levels: int = 8
    quantiles: dict[str, tuple[float, float]] = field(default_factory=lambda: dict(PUBLISHED_QUANTILES))
    cuts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    least: int = 10
    id_kept: bool = True
    seeds: tuple[int, ...] = (0, 1, 2)
    threads: int = 1

    def __post_init__(self):
        object.__setattr__(self, "protocol", "incremental-shift")  # what finished runs and records say
        require_at_least(1, threads=self.threads, k=self.k, pictures_in_a_cell=self.least, images=self.images or 1)
        require_at_least(0, shots=self.shots or 0)
        require_at_least(3, levels=self.levels)
        object.__setattr__(self, "shots", self.shots or None)
        require_seeds(self.seeds)
        labels = [one.label for one in self.models]
        for name, entries in {"seeds": self.seeds, "sources": self.sources, "models": labels}.items():
            if not entries or len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} are {list(map(str, entries))}; give one at least, each once.")
        if bool(self.pool) == (self.cells is not None):
            raise OpenworldError("give a pool that is to be divided, or cells, a division that is given: one of them.")
        object.__setattr__(self, "quantiles", PUBLISHED_QUANTILES | self.quantiles)
        for name in (*self.quantiles, *self.cuts):
            if name not in HALVES:
                raise unknown_name("axis", name, HALVES)
        if self.train_part == self.id_part:
            raise OpenworldError(
                f"train_part and id_part are both {self.id_part!r}; test on pictures that nothing learned from."
            )
        self._require_fresh_pool()

    @property
    def ground(self) -> ShiftGround:
        """The images of the run."""
        return ShiftGround(**{one.name: getattr(self, one.name) for one in fields(ShiftGround)})

    @property
    def division(self) -> Division:
        """How the pool is cut into cells."""
        return Division(**{one.name: getattr(self, one.name) for one in fields(Division)})

    def _require_fresh_pool(self) -> None:
        """Refuse a pool that shows images of the in-distribution sets as they are, or images twice."""
        parts = (self.train_part, self.id_part)
        taken = {(place_of(one.dataset), one.domain, part, None, None) for one in self.sources for part in parts}
        seen = set()
        for one in self.pool:
            shown = (place_of(one.dataset), one.domain, one.part, one.corruption, one.severity)
            told = f"the pool shows {one.dataset}, {one.domain or 'its only domain'}, part {one.part!r}"
            if shown in taken:
                raise OpenworldError(
                    f"{told}, whose pictures are the in-distribution ones; give id_part or the entry another part."
                )
            if shown in seen:
                raise OpenworldError(f"{told}, twice; a picture has one cell, so list each entry once.")
            seen.add(shown)
