"""The tasks of a spec: one learner and seed each, its images, and the cells in which they are scored."""

from dataclasses import dataclass, replace

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets import ClassSplit
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.answer_slices import numbers_among
from openworld.evaluations.encoding import EncodingStage, inputs_of
from openworld.evaluations.entries import EstimatorSpec, LearnerSpec, ReferenceSpec, part_of
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.learning import Learning, encoding_of, resolved
from openworld.evaluations.model_outputs import ModelOutputs
from openworld.evaluations.recognition_by_shift.spec import RecognitionByShiftSpec
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_cells import Division, ShiftPlan
from openworld.evaluations.shift_images import Pool, ShiftGround


@dataclass(frozen=True)
class ShiftTask(Learning):
    """One unit's share of a spec: one learner, its settings resolved, and one seed."""

    learner: LearnerSpec
    seed: int
    ground: ShiftGround
    division: Division
    validation_part: str  # of the sources, what estimators are fitted on
    references: tuple[ReferenceSpec, ...]
    estimators: tuple[EstimatorSpec, ...]  # with their references named
    open_world_estimators: tuple[str, ...]
    first: bool  # it is the run's first unit, which keeps images of the cells
    encoding = encoding_of

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.learner.label}, seed {self.seed}"

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the learner sees: shots, base test images, validation images, and the pool's."""
        sets = {"train": self.ground.training, "base": self.ground.test}
        if self.estimators:
            sets["validation"] = self.validation
        return sets | {f"pool {place}": images for place, images in enumerate(self.ground.tested, 1)}

    @property
    def whole_sources(self) -> tuple:
        """None: `require_sound` looks for classes without an image."""
        return ()

    @property
    def validation(self) -> ImageSelection:
        """Labelled images of base classes in the training appearance that nobody learned from."""
        return replace(self.ground, id_part=self.validation_part).test

    @property
    def shift(self) -> ShiftPlan:
        """What measures the degrees and divides the pool; references look at all of it."""
        return ShiftPlan(self.ground, self.division, self.threads, self._reference_backbones)

    @property
    def outputs(self) -> tuple[ModelOutputs, ...]:
        """What is embedded for the degrees and for the references."""
        names = self._reference_backbones
        if not (self.estimators and names):
            return self.shift.outputs
        validation = ModelOutputs("validation images", self.validation, (), names, self.threads)
        return (*self.shift.outputs, validation)

    @property
    def _reference_backbones(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(reference.backbone for reference in self.references))

    def weights(self, machine: Machine) -> dict[str, str]:
        """Fingerprints of the models beside the learner's own: for the degrees, and as references."""
        names = {self.division.decomposition.backbone, *(reference.backbone for reference in self.references)}
        return {f"weights of {name}": backbone(name, machine.device).fingerprint for name in sorted(names)}


def names_of(ground: ShiftGround, pool: Pool | None = None) -> ClassSplit:
    """Return all names of a run, base names first; a pool that is given spares reading it again."""
    pool, base = pool or ground.load_pool(), ground.names
    known = {normalise_class_name(name) for name in base}
    split = ClassSplit.joined(
        base, [name for name in pool.images.classnames if normalise_class_name(name) not in known]
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


def require_sound(task: ShiftTask) -> None:
    """Refuse a base class without an image to learn from or to test on, and what `names_of` refuses."""
    for part in ("train", "base"):
        images = task.sources[part].load()
        without = np.setdiff1d(np.arange(len(images.classnames)), images.labels)
        if without.size:
            raise OpenworldError(
                f"{without.size} base class(es) have no {part} image, first {images.classnames[without[0]]!r}; add "
                "images or leave the class out."
            )
    names_of(task.ground)


def tasks(spec: RecognitionByShiftSpec) -> list[ShiftTask]:
    """Every (learner, seed), learners in the order of the spec."""
    shared = {"division": part_of(spec, Division), "references": spec.references if spec.estimators else ()}
    pairs = [(learner, seed) for learner in resolved(spec, spec.sources[0].dataset) for seed in spec.seeds]
    return [
        part_of(spec, ShiftTask, learner=learner, seed=seed, first=not place, **shared)
        for place, (learner, seed) in enumerate(pairs)
    ]


def preparations(spec: RecognitionByShiftSpec, machine: Machine) -> tuple:
    """Return the stages: encoding, running models, fitting the decomposition, and measuring the degrees."""
    planned = tasks(spec)
    first = planned[0]
    return EncodingStage(planned, machine), *first.shift.stages(machine, lambda: first.outputs)


def summary(spec: RecognitionByShiftSpec) -> list[str]:
    """What is run on what, in a few words each."""
    sides = []
    if spec.says_classes:
        split, left_out = names_of(spec.ground), len(spec.ground.left_out)
        sides.append(f"{len(split.base)} base + {len(split.new)} new classes")
        sides[0] += f", {left_out} left out" if left_out else ""
    return [
        f"{' + '.join(map(str, spec.sources))} against {len(spec.pool)} image set(s)",
        *sides,
        f"{len(spec.learners)} learner(s)",
        f"{len(spec.estimators)} estimator(s)",
    ]


def fingerprints(spec: RecognitionByShiftSpec) -> dict[str, str]:
    """What images the run reads: a hash per image set."""
    return {part: images.fingerprint for part, images in tasks(spec)[0].sources.items()}


def inputs(task: ShiftTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    return inputs_of(task, machine) | task.weights(machine) | {"decomposition": task.shift.split.key}
