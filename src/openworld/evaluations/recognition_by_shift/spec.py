"""Recognition by measured shift: how far off may new images be before a learner fails at them?

Joins OpenworldAUC (Hua et al., 2025), the shift grid of IS-OOD (Long et al., 2024) and accuracy without labels (FRAP).
A pool of base and new classes in many styles is cut into cells by measured shift from the images that were tuned on.
OpenworldAUC and its parts compare base test images with the new images of every cell and level; estimators, fitted on
validation images, say how accurate the learner is in every cell. Every (learner, seed) is one unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets import ClassSplit
from openworld.datasets.names.forms import normalise_class_name
from openworld.estimators.open_world import OPEN_WORLD_ESTIMATORS
from openworld.evaluations.entries import EstimatorSpec, ReferenceSpec, part_of, require_distinct, settle
from openworld.evaluations.evaluation import ClassList
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.learning import Learning, require_learners
from openworld.evaluations.model_outputs import ModelOutputs
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_cells import ShiftSpec
from openworld.evaluations.shift_images import Pool, ShiftGround
from openworld.evaluations.views import numbers_among
from openworld.features.encoding import usual_crop_scale

USUAL_OPEN_WORLD = ("hybrid", "positive-unlabelled")
USUAL = tuple(map(EstimatorSpec, ("AC", "DoC", "ATC-MC", "COT", "FRAP")))


@dataclass(frozen=True, kw_only=True)
class RecognitionByShiftSpec(ShiftSpec, Learning):
    """OpenworldAUC, its parts, and label-free accuracy by semantic and covariate shift.

    Args:
        base_part: the sources' base images that new ones are compared with.
        validation_part: the sources' labelled base images that estimators are fitted on.
        references: two-tower models that FRAP and its kin compare with.
        estimators: of accuracy without labels; an empty list for none, and no validation images then.
        open_world_estimators: names of those of OpenworldAUC and its parts without labels, by level of appearance; none
            where there are no `estimators`.

    Raises:
        OpenworldError: no learner, seed, source or pool; repeated ones; a pool entry that shows training or validation
            images; an estimator that needs what there is not; a setting under `choose`; a number outside its range.
    """

    protocol: Literal["recognition-by-shift"] = "recognition-by-shift"
    base_part: str = "test"
    validation_part: str = "validation"
    references: tuple[ReferenceSpec, ...] = (ReferenceSpec("CLIP", backbone="embedded"),)
    estimators: tuple[EstimatorSpec, ...] = USUAL
    open_world_estimators: tuple[str, ...] = USUAL_OPEN_WORLD

    def __post_init__(self):
        require_learners(self)
        if self.draw != "coop":
            raise OpenworldError(
                f"draw is {self.draw!r}, which recognition and generalisation have; here it is 'coop'."
            )
        self.settle_shift()
        require_distinct({"pool": self.pool})
        names = {"names of references": [reference.name for reference in self.references]}
        names["labels of estimators"] = [estimator.label for estimator in self.estimators]
        require_distinct(names, least=0)
        for reference in self.references:
            if not reference.backbone:
                raise OpenworldError(
                    f"reference {reference.name!r} has no backbone, and must read all names; give one."
                )
        self._require_fresh_pool()
        settle(self, crop_scale=self.crop_scale or usual_crop_scale(self.sources[0].dataset))
        settle(self, estimators=tuple(map(self._with_reference, self.estimators)))
        for name in self.open_world_estimators:
            if name not in OPEN_WORLD_ESTIMATORS:
                raise unknown_name("open-world estimator", name, OPEN_WORLD_ESTIMATORS)
        if not self.estimators:
            settle(self, references=(), open_world_estimators=())

    @cached_property
    def ground(self) -> ShiftGround:
        return part_of(self, ShiftGround, id_part=self.base_part, cells=None)

    def _require_fresh_pool(self) -> None:
        """Refuse to judge on the very images that learners or estimators were fitted on."""
        parts = (self.train_part, *((self.validation_part,) if self.estimators else ()))
        if len({*parts, self.base_part}) < len(parts) + 1:
            raise OpenworldError(
                f"base_part is {self.base_part!r}, and fitted on are the parts {list(parts)}; give each another one."
            )
        taken = {(source.dataset, source.domain, part) for source in self.sources for part in parts}
        for entry in self.pool:
            if entry.corruption is None and (entry.dataset, entry.domain, entry.part) in taken:
                raise OpenworldError(
                    f"the pool shows {entry.dataset}, {entry.domain or 'its only domain'}, part {entry.part!r}, on "
                    "which learners or estimators are fitted; give the entry another part."
                )

    def _with_reference(self, estimator: EstimatorSpec) -> EstimatorSpec:
        """Return it with the name of its reference ("" where it needs none) and its settings written out."""
        for need in ("partners", "slices"):
            if need in estimator.needs:
                raise OpenworldError(f"{estimator.label} needs {need}, which there are none of here; leave it out.")
        if estimator.is_score:
            raise OpenworldError(f"{estimator.label} needs labelled sets under many shifts; here is one. Leave it out.")
        if "reference" not in estimator.needs:
            return estimator.resolved("")
        names = [reference.name for reference in self.references]
        if not names or (estimator.reference and estimator.reference not in names):
            raise OpenworldError(f"{estimator.label} needs a reference of {names}; name one of them, or list it.")
        return estimator.resolved(estimator.reference or names[0])

    @property
    def image_sets(self) -> dict[str, ImageSelection]:
        """The image sets that the learner sees: shots, base test images, validation images, and the pool's."""
        sets = {"train": self.ground.training, "base": self.ground.test}
        if self.estimators:
            sets["validation"] = self.validation
        return sets | {f"pool {place}": images for place, images in enumerate(self.ground.tested, 1)}

    @property
    def whole_sets(self) -> tuple[ImageSelection, ...]:
        """Base classes need images to learn from and to test on."""
        return self.ground.training, self.ground.test

    @property
    def validation(self) -> ImageSelection:
        """Labelled images of base classes in the training appearance that nobody learned from."""
        return replace(self.ground, id_part=self.validation_part).test

    @property
    def shift_backbones(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(reference.backbone for reference in self.references))

    @property
    def outputs(self) -> tuple[ModelOutputs, ...]:
        if not self.references:
            return self.shift_outputs
        validation = ModelOutputs("validation images", self.validation, (), self.shift_backbones, self.threads)
        return (*self.shift_outputs, validation)

    def weights(self, machine: Machine) -> dict[str, str]:
        """Fingerprints of the models beside the learner's own: for the degrees, and as references."""
        names = {self.decomposition.backbone, *self.shift_backbones}
        return {f"weights of {name}": backbone(name, machine.device).fingerprint for name in sorted(names)}

    def tasks(self) -> list[Self]:
        learners = self.resolved(self.sources[0].dataset)
        return [self.only(learner=learner, seed=seed) for learner in learners for seed in self.seeds]

    def inputs(self, machine: Machine) -> dict[str, str]:
        return super().inputs(machine) | self.weights(machine) | {"decomposition": self.split.key}

    @classmethod
    def require(cls, tasks: Sequence[Self], machine: Machine) -> None:
        """Refuse what `names_of` and what learners refuse."""
        names_of(tasks[0].ground)
        super().require(tasks, machine)

    def artifacts(self, machine: Machine) -> tuple:
        first = self.tasks()[0]
        return (*super().artifacts(machine), *first.shift_stages(machine, lambda: first.outputs))

    def summary(self) -> list[str]:
        sides = []
        if self.says_classes:
            split, left_out = names_of(self.ground), len(self.ground.left_out)
            sides.append(f"{len(split.base)} base + {len(split.new)} new classes")
            sides[0] += f", {left_out} left out" if left_out else ""
        return [
            f"{' + '.join(map(str, self.sources))} against {len(self.pool)} image set(s)",
            *sides,
            f"{len(self.learners)} learner(s)",
            f"{len(self.estimators)} estimator(s)",
        ]

    def class_lists(self) -> tuple[ClassList]:
        split, first = names_of(self.ground), self.sources[0]
        return (ClassList(f"{first} and the pool", first.dataset, split.names, len(split.base)),)

    def backbones(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([self.backbone, self.decomposition.backbone, *self.shift_backbones]))


def names_of(ground: ShiftGround, pool: Pool | None = None) -> ClassSplit:
    """Return all names of a run, base names first; a pool that is given spares reading it again."""
    pool, base = pool or ground.load_pool(), ground.names
    names = {normalise_class_name(name) for name in base}
    split = ClassSplit.joined(
        base, [name for name in pool.images.classnames if normalise_class_name(name) not in names]
    )
    is_base = np.isin(numbers_among(split.names, pool.images.classnames), split.base)[pool.images.labels]
    if not np.array_equal(is_base, pool.known):
        number = int(np.flatnonzero(is_base != pool.known)[0])
        raise OpenworldError(
            f"the pool calls a base class {pool.images.classnames[pool.images.labels[number]]!r}, which no learner can "
            "read; name its folders by class names, not by WordNet ids."
        )
    if is_base.all():
        raise OpenworldError("the pool shows base classes alone; add images of other classes, which are new.")
    return split
