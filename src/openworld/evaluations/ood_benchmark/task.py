"""The tasks of an OOD benchmark: which model is tested, on which images; and what must be there before."""

from dataclasses import dataclass, field, replace

from openworld.evaluations.artifacts import Stage
from openworld.evaluations.entries import PoolSpec, part_of
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.images_to_score import ImagesToScore
from openworld.evaluations.judged_models import SeededModel, scoring_of, trainings
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.ood_benchmark.spec import OODBenchmarkSpec, OODSetSpec
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.score_shards import ClassifierScoring, scoring_stages
from openworld.evaluations.shift_images import ShiftGround
from openworld.runs.canonical import SPARSE


@dataclass(frozen=True)
class OODBenchmarkTask:
    """One model and seed.

    Args:
        judged: the model.
        seed: of its training, and of the bootstrap.
        ground: the in-distribution images.
        sets: what is tested beside them.
        replicates, threads, validation_sets, validation_part: as in the spec.
    """

    judged: JudgedSpec
    seed: int
    ground: ShiftGround
    sets: tuple[OODSetSpec, ...]
    replicates: int
    threads: int
    validation_sets: tuple[PoolSpec, ...] = field(default=(), metadata=SPARSE)
    validation_part: str = field(default="validation", metadata=SPARSE)

    @property
    def validation(self) -> tuple[ImageSelection, ...]:
        """In-distribution images and sets of others on which settings are searched; none for no search."""
        if not self.validation_sets:
            return ()
        return (replace(self.ground, id_part=self.validation_part).test, *map(images_of, self.validation_sets))

    @property
    def seeded(self) -> SeededModel:
        """The model with its seed."""
        return SeededModel(self.judged, self.seed, self.ground, self.threads)

    @property
    def name(self) -> str:
        """What people call the unit."""
        return self.seeded.name

    @property
    def scoring(self) -> ClassifierScoring | None:
        """What the detectors of a classifier score: test images and all sets; None for any other model.

        None too where settings are searched: which detectors there are is known in the unit alone.
        """
        if self.validation_sets:
            return None
        training, test = (
            ImagesToScore(title, (images,))
            for title, images in (("training images", self.ground.training), ("test images", self.ground.test))
        )
        return scoring_of(self.seeded, training, (test, ImagesToScore("sets", tuple(map(images_of, self.sets)))))


def tasks(spec: OODBenchmarkSpec) -> list[OODBenchmarkTask]:
    """Every model with every seed, models in the order of the spec; what is not trained here once, unless by seed."""
    ground = part_of(spec, ShiftGround, pool=(), base=(), new=(), images=None, cells=None)
    searched = (spec.validation_sets, spec.validation_part) if spec.validation_sets else ()
    return [
        OODBenchmarkTask(model, seed, ground, spec.sets, spec.replicates, spec.threads, *searched)
        for model in (model.resolved(spec.sources[0].dataset) for model in spec.models)
        for seed in (spec.seeds if model.has_seeds else spec.seeds[:1])
    ]


def preparations(spec: OODBenchmarkSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that train classifiers and tune learners, and those in which classifiers score."""
    planned = tasks(spec)
    scorings = [task.scoring for task in planned if task.scoring]
    return (*trainings([task.seeded for task in planned], machine), *scoring_stages(scorings, machine))


def inputs(task: OODBenchmarkTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    hashes = {
        "training images": task.ground.training.load().fingerprint,
        "test images": task.ground.test.load().fingerprint,
    }
    hashes |= {f"set {each.name}": images_of(each).load().fingerprint for each in task.sets}
    for place, images in enumerate(task.validation):
        hashes[f"validation images {place}"] = images.load().fingerprint
    if task.judged.backbone:
        hashes[f"weights of {task.judged.backbone}"] = backbone(task.judged.backbone, machine.device).fingerprint
    return hashes | task.seeded.inputs | (task.scoring.inputs(machine) if task.scoring else {})


def images_of(entry: PoolSpec) -> ImageSelection:
    """Return the images of a set, in words."""
    return entry.images(entry.part, corruption=entry.corruption, severity=entry.severity)
