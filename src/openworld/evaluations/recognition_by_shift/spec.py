"""Recognition by measured shift: how far off may new images be before a learner fails at them?

Joins "OpenworldAUC" (Hua et al., 2025) with the shift grid of IS-OOD ("Rethinking the Evaluation of Out-of-Distribution
Detection: A Sorites Paradox", Long et al., 2024) and with accuracy estimated without labels (FRAP and others). A
learner is tuned on base classes in some styles; a pool of base and new classes in many styles is cut into cells by
measured semantic and covariate shift from the images that were tuned on. OpenworldAUC and its parts compare base test
images with the new images of every cell and level; estimators, fitted on validation images, say how accurate the
learner is in every cell, beside what is true. Every (learner, seed) is one unit.
"""

from dataclasses import dataclass, field, fields
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError, unknown_name
from openworld.backbones import known_name
from openworld.evaluations.entries import LearnerSpec, usual_crop_scale
from openworld.evaluations.estimation_entries import EstimatorSpec, ReferenceSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.shift_cells import Division
from openworld.evaluations.shift_entries import DecompositionSpec, PoolSpec
from openworld.evaluations.shift_images import ShiftGround
from openworld.features import Encoding
from openworld.learners import PublishedSetting as PublishedTask
from openworld.learners import find_learner
from openworld.shift import HALVES, PUBLISHED_QUANTILES

USUAL = tuple(map(EstimatorSpec, ("AC", "DoC", "ATC-MC", "COT", "FRAP")))


@dataclass(frozen=True)
class OpenWorldShiftSpec:
    """OpenworldAUC, its parts, and label-free accuracy by semantic and covariate shift.

    Args:
        learners: what is compared; the order is the order of the tables.
        sources: data sets whose images are tuned on, pooled; the class names are those of the first.
        pool: images that are cut into cells, of base and of new classes, in any style.
        classes: which of the sources' classes are base: the "base" half, or "all".
        train_part, shots: what learners and degrees know of; shots per class of each source, drawn once for all seeds.
        base_part: the sources' base images that new ones are compared with.
        validation_part: the sources' labelled base images that estimators are fitted on.
        images: so many images of each entry of the pool, classes in their shares; None for all.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        seeds: of initial prompts, views and shuffles, not negative; every learner runs once per seed.
        views: augmented views encoded of every training image; at least 1 where a learner trains on them.
        crop_scale: smallest and largest share of the image that a view keeps, in (0, 1]; as for recognition.
        published: whose settings the learners start from.
        decomposition: what splits features into meaning and appearance.
        k: shift degrees are distances to the k-th nearest training image, at least 1.
        levels: of each axis, at least 3; cut in equal widths between the `quantiles` of the pool's degrees.
        quantiles: by "semantic" and "covariate": shares of the pool in the first level, and in all but the last.
        cuts: by "semantic" and "covariate": where levels 1, 2, ... begin, instead.
        least: cells and levels with fewer images are N/A, at least 1.
        references: two-tower models that FRAP and its kin compare with.
        estimators: of accuracy without labels; an empty list for none, and no validation images then.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no learner, seed, source or pool; repeated ones; a pool entry that shows training or validation
            images; an estimator that needs what there is not; a setting under `choose`; a number outside its range.
    """

    learners: tuple[LearnerSpec, ...]
    sources: tuple[DatasetSpec, ...]
    pool: tuple[PoolSpec, ...]
    protocol: Literal["open-world-by-shift", "recognition-by-shift"] = "open-world-by-shift"
    classes: Literal["base", "all"] = "base"
    train_part: str = "train"
    shots: int | None = 16
    base_part: str = "test"
    validation_part: str = "validation"
    images: int | None = None
    backbone: str = "embedded"
    seeds: tuple[int, ...] = (1, 2, 3)
    views: int = 8
    crop_scale: tuple[float, float] | None = None
    published: PublishedTask = "base-to-new"
    decomposition: DecompositionSpec = DecompositionSpec()
    k: int = 10
    levels: int = 8
    quantiles: dict[str, tuple[float, float]] = field(default_factory=lambda: dict(PUBLISHED_QUANTILES))
    cuts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    least: int = 10
    references: tuple[ReferenceSpec, ...] = (ReferenceSpec("CLIP", backbone="embedded"),)
    estimators: tuple[EstimatorSpec, ...] = USUAL
    threads: int = 1

    def __post_init__(self):
        object.__setattr__(self, "protocol", "open-world-by-shift")  # what finished runs and records say
        object.__setattr__(self, "backbone", known_name(self.backbone))
        on_views = any(find_learner(one.learner).consumes != "embeddings" for one in self.learners)
        require_at_least(int(on_views), views=self.views)
        require_at_least(1, threads=self.threads, k=self.k, images_in_a_cell=self.least, images=self.images or 1)
        require_at_least(1, shots=self.shots or 1)
        require_at_least(3, levels=self.levels)
        require_seeds(self.seeds)
        self._require_lists()
        self._require_fresh_pool()
        object.__setattr__(self, "quantiles", PUBLISHED_QUANTILES | self.quantiles)
        for name in (*self.quantiles, *self.cuts):
            if name not in HALVES:
                raise unknown_name("axis", name, HALVES)
        object.__setattr__(self, "crop_scale", self.crop_scale or usual_crop_scale(self.sources[0].dataset))
        Encoding(self.views, self.crop_scale)  # refuses shares that are none
        object.__setattr__(self, "estimators", tuple(map(self._referred, self.estimators)))

    @property
    def ground(self) -> ShiftGround:
        """The images of the run."""
        given = {"id_part": self.base_part, "cells": None}
        return ShiftGround(
            **given, **{one.name: getattr(self, one.name) for one in fields(ShiftGround) if one.name not in given}
        )

    @property
    def division(self) -> Division:
        """How the pool is cut into cells."""
        return Division(**{one.name: getattr(self, one.name) for one in fields(Division)})

    def _require_lists(self) -> None:
        lists = {"learners": [one.label for one in self.learners], "seeds": self.seeds}
        for name, entries in (lists | {"sources": self.sources, "pool": self.pool}).items():
            if not entries or len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} are {list(map(str, entries))}; give one at least, each once.")
        names = {"references": [one.name for one in self.references]}
        for kind, labels in (names | {"estimators": [one.label for one in self.estimators]}).items():
            if len(set(labels)) < len(labels):
                raise OpenworldError(f"{kind} are {labels}; give each a name of its own.")
        for one in self.references:
            if not one.backbone:
                raise OpenworldError(f"reference {one.name!r} has no backbone; it must read all names, so give one.")
        for one in self.learners:
            if one.choose:
                raise OpenworldError(
                    f"{one.label} has settings under choose; decide them in a recognition run, and give them here."
                )

    def _require_fresh_pool(self) -> None:
        """Refuse to judge on the very images that learners or estimators were fitted on."""
        parts = (self.train_part, *((self.validation_part,) if self.estimators else ()))
        if len({*parts, self.base_part}) < len(parts) + 1:
            raise OpenworldError(
                f"base_part is {self.base_part!r}, and fitted on are the parts {list(parts)}; give each another one."
            )
        taken = {(one.dataset, one.domain, part) for one in self.sources for part in parts}
        for one in self.pool:
            if one.corruption is None and (one.dataset, one.domain, one.part) in taken:
                raise OpenworldError(
                    f"the pool shows {one.dataset}, {one.domain or 'its only domain'}, part {one.part!r}, on which "
                    "learners or estimators are fitted; give the entry another part."
                )

    def _referred(self, one: EstimatorSpec) -> EstimatorSpec:
        """With the name of its reference, "" where it needs none, and its settings written out whole."""
        for need in ("partners", "slices"):
            if need in one.needs:
                raise OpenworldError(f"{one.label} needs {need}, which there are none of here; leave it out.")
        if one.is_score:
            raise OpenworldError(f"{one.label} needs labelled sets under many shifts, and there is one; leave it out.")
        if "reference" not in one.needs:
            return one.resolved("")
        names = [reference.name for reference in self.references]
        if not names or (one.reference and one.reference not in names):
            raise OpenworldError(f"{one.label} needs a reference of {names}; name one of them, or list it.")
        return one.resolved(one.reference or names[0])
