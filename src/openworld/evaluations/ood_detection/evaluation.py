"""Detection of what is out of distribution as an evaluation: which parts it has."""

from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.ood_detection.spec import OODDetectionSpec
from openworld.evaluations.ood_detection.task import DetectionTask, inputs, preparations, tasks
from openworld.evaluations.ood_detection.unit import evaluate
from openworld.evaluations.ood_detection.validation import require_able

ALGORITHM_VERSION = 6


def summary(spec: OODDetectionSpec) -> list[str]:
    """Return what is run on what, in a few words each."""
    pool = f"{len(spec.pool)} image set(s)" if spec.pool else "given cells"
    detectors = dict.fromkeys(detector.label for model in spec.models for detector in model.detectors)
    classes, left_out = f"{spec.classes} classes", len(spec.ground.left_out)
    if spec.says_classes:
        classes = f"{len(spec.ground.names)} classes" + (f", {left_out} left out" if left_out else "")
    return [
        f"{' + '.join(map(str, spec.sources))}, {classes}, against {pool}",
        f"{len(spec.models)} model(s)",
        f"{len(detectors)} detector(s)",
    ]


def fingerprints(spec: OODDetectionSpec) -> dict[str, str]:
    """Return a hash of every image set that the run reads."""
    ground = spec.ground
    sets = {"training": ground.training, "in-distribution test": ground.test}
    fingerprints = {name: images.load().fingerprint for name, images in sets.items()}
    return fingerprints | {"pool": ground.load_pool().images.fingerprint}


def data(spec: OODDetectionSpec) -> tuple[DatasetSpec, ...]:
    """Return the in-distribution data sets, and those of the pool."""
    return tuple(dict.fromkeys(entry.data for entry in (*spec.sources, *spec.pool)))


def class_lists(spec: OODDetectionSpec) -> tuple[ClassList]:
    """Return the in-distribution names."""
    names, first = spec.ground.names, spec.sources[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


def backbones(spec: OODDetectionSpec) -> tuple[str, ...]:
    """Return the one whose features are split, and the two-tower models."""
    split = (spec.decomposition.backbone,) if spec.pool else ()
    return tuple(dict.fromkeys([*split, *(model.backbone for model in spec.models if model.backbone)]))


EVALUATION = Evaluation(
    "ood-detection",
    OODDetectionSpec,
    DetectionTask,
    tasks,
    evaluate,
    ALGORITHM_VERSION,
    inputs,
    artifacts=preparations,
    require=require_able,
    summary=summary,
    fingerprints=fingerprints,
    data=data,
    class_lists=class_lists,
    backbones=backbones,
)
