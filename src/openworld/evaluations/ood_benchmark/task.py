"""The tasks of an OOD benchmark: which model is tested, on which images; and what must be there before."""

from dataclasses import dataclass, replace

from openworld import datasets
from openworld._errors import OpenworldError
from openworld.datasets.cards import is_folder
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.published.openood import BENCHMARKS
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
from openworld.results.scored_sets import SAME_CLASSES


@dataclass(frozen=True)
class OODBenchmarkTask:
    """One model and seed, of its training and of the bootstrap; all else as in the spec."""

    judged: JudgedSpec
    seed: int
    ground: ShiftGround
    sets: tuple[OODSetSpec, ...]
    replicates: int
    threads: int
    validation_sets: tuple[PoolSpec, ...] = ()
    validation_part: str = "validation"

    def _images(self, entries: tuple[PoolSpec, ...]) -> tuple[ImageSelection, ...]:
        return tuple(images_of(entry, self.ground) for entry in entries)

    @property
    def set_images(self) -> tuple[ImageSelection, ...]:
        """The images of every set, in words."""
        return self._images(self.sets)

    @property
    def validation(self) -> tuple[ImageSelection, ...]:
        """In-distribution images and sets of others on which settings are searched; none for no search."""
        if not self.validation_sets:
            return ()
        return (replace(self.ground, id_part=self.validation_part).test, *self._images(self.validation_sets))

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
        """What the detectors of a classifier score: test images and all sets; None for any other model."""
        # None too where settings are searched: which detectors there are is known in the unit alone.
        if self.validation_sets:
            return None
        training, test = (
            ImagesToScore(title, (images,))
            for title, images in (("training images", self.ground.training), ("test images", self.ground.test))
        )
        return scoring_of(self.seeded, training, (test, ImagesToScore("sets", self.set_images)))


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
    shown = zip(task.sets, task.set_images, strict=True)
    hashes |= {f"set {each.name}": images.load().fingerprint for each, images in shown}
    for place, images in enumerate(task.validation):
        hashes[f"validation images {place}"] = images.load().fingerprint
    if task.judged.backbone:
        hashes[f"weights of {task.judged.backbone}"] = backbone(task.judged.backbone, machine.device).fingerprint
    return hashes | task.seeded.inputs | (task.scoring.inputs(machine) if task.scoring else {})


def images_of(entry: PoolSpec, ground: ShiftGround) -> ImageSelection:
    """Return the images of a set, in words; all of a folder without parts."""
    # Of a data set that is in distribution, too, those of some classes: the in-distribution ones where the set shows
    # the same classes (`SAME_CLASSES`), else the others.
    is_whole = (
        is_folder(entry.dataset)
        and not entry.domain
        and not any(datasets.has_part(entry.dataset, part) for part in PARTS)
    )
    part = "" if is_whole else entry.part
    whole = entry.images(part, corruption=entry.corruption, severity=entry.severity)
    if entry.dataset in BENCHMARKS or entry.dataset not in [source.dataset for source in ground.sources]:
        return whole
    same, names = getattr(entry, "group", "near") in SAME_CLASSES, whole.load().classnames
    known = set(map(normalise_class_name, ground.names))
    kept = tuple(place for place, name in enumerate(names) if (normalise_class_name(name) in known) == same)
    if not kept:
        raise OpenworldError(
            f"{entry} shows {'no class that is' if same else 'only classes that are'} in distribution, and its group "
            f"is {getattr(entry, 'group', 'that of a validation set')}; give another group, or another set."
        )
    return replace(whole, classes=kept) if len(kept) < len(names) else whole
