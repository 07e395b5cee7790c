"""The tasks of OOD detection: which model is tested, on which images, in which cells; and what must be there before."""

from dataclasses import dataclass

from openworld.evaluations.artifacts import Stage
from openworld.evaluations.entries import part_of
from openworld.evaluations.images_to_score import ImagesToScore
from openworld.evaluations.judged_models import SeededModel, scoring_of, trainings
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.ood_detection.spec import OODDetectionSpec
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.score_shards import ClassifierScoring, scoring_stages
from openworld.evaluations.shift_cells import Division, ShiftPlan
from openworld.evaluations.shift_images import ShiftGround
from openworld.features import Encoding
from openworld.runs import digest


@dataclass(frozen=True)
class DetectionTask:
    """One model, by its place in `models`, and a seed of its training."""

    model: int
    seed: int
    models: tuple[JudgedSpec, ...]
    ground: ShiftGround
    division: Division
    id_kept: bool
    threads: int

    @property
    def judged_model(self) -> JudgedSpec:
        """The model."""
        return self.models[self.model]

    @property
    def seeded(self) -> SeededModel:
        """The model with its seed."""
        return SeededModel(self.judged_model, self.seed, self.ground, self.threads)

    @property
    def name(self) -> str:
        """What people call the unit."""
        return self.seeded.name

    @property
    def training(self) -> ImagesToScore:
        """What models and detectors learn from."""
        return ImagesToScore("training images", (self.ground.training,), encoded_by=self._encoded_by)

    @property
    def test(self) -> ImagesToScore:
        """In-distribution images that nobody learned from."""
        return ImagesToScore("test images", (self.ground.test,), encoded_by=self._encoded_by)

    @property
    def pool(self) -> ImagesToScore:
        """The images that are cut into cells."""
        if self.ground.cells:
            return ImagesToScore("pool", cells=self.ground.cells)
        return ImagesToScore("pool", self.ground.tested, encoded_by=self._encoded_by)

    @property
    def scoring(self) -> ClassifierScoring | None:
        """What the detectors of a classifier score; None for any other model."""
        return scoring_of(self.seeded, self.training, (self.test, self.pool))

    @property
    def _encoded_by(self) -> tuple[str, ...]:
        how = self.division.decomposition
        return () if self.ground.cells else (how.backbone, how.taught_by)

    @property
    def shift(self) -> ShiftPlan:
        """What measures the degrees and cuts the pool; models that look at nothing but embeddings join in."""
        names = [model.backbone for model in self.models if model.backbone and model.encoding == Encoding()]
        return ShiftPlan(self.ground, self.division, self.threads, tuple(dict.fromkeys(names)))


def tasks(spec: OODDetectionSpec) -> list[DetectionTask]:
    """Every model with every seed, models in the order of the spec; what is not trained here once, unless by seed."""
    division = part_of(spec, Division)
    models = tuple(model.resolved(spec.sources[0].dataset) for model in spec.models)
    return [
        part_of(spec, DetectionTask, models=models, model=number, seed=seed, division=division)
        for number, model in enumerate(spec.models)
        for seed in (spec.seeds if model.has_seeds else spec.seeds[:1])
    ]


def preparations(spec: OODDetectionSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages: training, running models, the decomposition, the degrees, and scoring by classifiers."""
    planned = tasks(spec)
    first = planned[0]
    stages = trainings([task.seeded for task in planned], machine)
    stages += first.shift.stages(machine, lambda: first.shift.outputs)
    return (*stages, *scoring_stages([task.scoring for task in planned if task.scoring], machine))


def inputs(task: DetectionTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    ground = task.ground
    hashes = {"training pictures": ground.training.load().fingerprint, "test pictures": ground.test.load().fingerprint}
    tested = [part.load().fingerprint for part in ground.tested]
    hashes["pool"] = digest(tested or ground.load_pool().images.fingerprint)
    names = {task.judged_model.backbone, "" if ground.cells else task.division.decomposition.backbone} - {""}
    hashes |= {f"weights of {name}": backbone(name, machine.device).fingerprint for name in sorted(names)}
    if not ground.cells:
        hashes["decomposition"] = task.shift.split.key
    return hashes | task.seeded.inputs | (task.scoring.inputs(machine) if task.scoring else {})
