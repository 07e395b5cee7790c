"""OOD detection on named sets as an evaluation: its tasks, and what must be there before them."""

from collections.abc import Sequence

from openworld.evaluations.artifacts import Stage
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.held import is_held
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.runtime import Machine, backbone
from openworld.ood.benchmark.spec import OODBenchmarkSpec
from openworld.ood.benchmark.unit import evaluate
from openworld.ood.judged_models import trainings
from openworld.ood.scoring import stages_of


def preparations(spec: OODBenchmarkSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that train classifiers and tune learners, and those in which classifiers score."""
    tasks = spec.tasks
    return (*trainings(tasks, machine), *stages_of([task.scoring for task in tasks], machine))


def inputs(task: OODBenchmarkSpec, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    hashes = fingerprints(task)
    if name := task.model.backbone:
        hashes[f"weights of {name}"] = backbone(name, machine.device).fingerprint
    return hashes | task.scoring.inputs(machine)


def summary(spec: OODBenchmarkSpec) -> list[str]:
    """Return what is run on what, in a few words each."""
    labels = dict.fromkeys(detector.label for model in spec.models for detector in model.detectors)
    return [
        f"{' + '.join(map(str, spec.sources))}, {spec.classes} classes, against {len(spec.sets)} set(s)",
        f"{len(spec.models)} model(s)",
        f"{len(labels)} detector(s)",
        *([f"settings searched on {' + '.join(map(str, spec.validation_sets))}"] if spec.validation_sets else []),
    ]


def fingerprints(spec: OODBenchmarkSpec) -> dict[str, str]:
    """Return a hash of every image set that the run reads."""
    sets = {"training": spec.ground.training, "in-distribution test": spec.ground.test} | spec.sources_of_sets
    if spec.validation:
        sets["in-distribution validation"] = spec.validation
    sets |= {f"validation, {name}": images for name, images in spec.searched.items()}
    return {name: images.load().fingerprint for name, images in sets.items()}


def data(spec: OODBenchmarkSpec) -> tuple[DatasetSpec, ...]:
    """Return the in-distribution data sets, and those that are tested beside them."""
    return tuple(dict.fromkeys(entry.data for entry in (*spec.sources, *spec.sets, *spec.validation_sets)))


def class_lists(spec: OODBenchmarkSpec) -> tuple[ClassList, ...]:
    """Return the in-distribution names."""
    names, first = spec.ground.names, spec.sources[0]
    if is_held(first.dataset):
        return ()
    return (ClassList(str(first), first.dataset, names, len(names)),)


def require(planned: Sequence[OODBenchmarkSpec], machine: Machine) -> None:
    """Refuse detectors that learn from more images than there are, and learners that cannot be served."""
    ground = planned[0].ground
    images = len(ground.training.load())
    for task in planned:
        model = task.model
        task.require_model(machine)
        if not model.own:
            model.candidates(search=bool(task.validation_sets)).require_images(images)


EVALUATION = Evaluation(
    "ood-benchmark",
    OODBenchmarkSpec,
    lambda spec: spec.tasks,
    evaluate,
    3,
    inputs,
    artifacts=preparations,
    require=require,
    summary=summary,
    fingerprints=fingerprints,
    data=data,
    class_lists=class_lists,
    backbones=lambda spec: tuple(dict.fromkeys(model.backbone for model in spec.models if model.backbone)),
)
