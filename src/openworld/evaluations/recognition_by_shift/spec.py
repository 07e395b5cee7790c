"""Recognition by measured shift: how far off may new images be before a learner fails at them?

Joins OpenworldAUC (Hua et al., 2025), the shift grid of IS-OOD (Long et al., 2024) and accuracy without labels (FRAP).
A pool of base and new classes in many styles is cut into cells by measured shift from the images that were tuned on.
OpenworldAUC and its parts compare base test images with the new images of every cell and level; estimators, fitted on
validation images, say how accurate the learner is in every cell. Every (learner, seed) is one unit.
"""

from dataclasses import dataclass
from typing import Literal

from openworld._errors import OpenworldError, unknown_name
from openworld.estimators.open_world import OPEN_WORLD_ESTIMATORS
from openworld.evaluations.entries import EstimatorSpec, LearnerSpec, ReferenceSpec, part_of, require_distinct, settle
from openworld.evaluations.learning import Learning, require_learners
from openworld.evaluations.shift_cells import Division, settle_shift
from openworld.evaluations.shift_images import ShiftGround, ShiftImages
from openworld.features.encoding import usual_crop_scale
from openworld.learners import PublishedSetting

USUAL_OPEN_WORLD = ("hybrid", "positive-unlabelled")
USUAL = tuple(map(EstimatorSpec, ("AC", "DoC", "ATC-MC", "COT", "FRAP")))


@dataclass(frozen=True)
class RecognitionByShiftSpec(ShiftImages, Division, Learning):
    """OpenworldAUC, its parts, and label-free accuracy by semantic and covariate shift.

    Args:
        learners: what is compared; the order is the order of the tables.
        base_part: the sources' base images that new ones are compared with.
        validation_part: the sources' labelled base images that estimators are fitted on.
        seeds: of initial prompts, views and shuffles, not negative; every learner runs once per seed.
        published: whose settings the learners start from.
        references: two-tower models that FRAP and its kin compare with.
        estimators: of accuracy without labels; an empty list for none, and no validation images then.
        open_world_estimators: names of those of OpenworldAUC and its parts without labels, by level of appearance; none
            where there are no `estimators`.

    Raises:
        OpenworldError: no learner, seed, source or pool; repeated ones; a pool entry that shows training or validation
            images; an estimator that needs what there is not; a setting under `choose`; a number outside its range.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["recognition-by-shift"] = "recognition-by-shift"
    base_part: str = "test"
    validation_part: str = "validation"
    seeds: tuple[int, ...] = (1, 2, 3)
    published: PublishedSetting = "base-to-new"
    references: tuple[ReferenceSpec, ...] = (ReferenceSpec("CLIP", backbone="embedded"),)
    estimators: tuple[EstimatorSpec, ...] = USUAL
    open_world_estimators: tuple[str, ...] = USUAL_OPEN_WORLD

    def __post_init__(self):
        require_learners(self)
        if self.draw != "coop":
            raise OpenworldError(
                f"draw is {self.draw!r}, which recognition and generalisation have; here it is 'coop'."
            )
        settle_shift(self)
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
            settle(self, open_world_estimators=())

    @property
    def ground(self) -> ShiftGround:
        """The images of the run."""
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
