"""Recognition by measured shift as an evaluation: which parts it has."""

from collections.abc import Sequence

from openworld.evaluations.encoding import learning, require_learnable
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition_by_shift.spec import RecognitionByShiftSpec
from openworld.evaluations.recognition_by_shift.task import (
    ShiftTask,
    fingerprints,
    inputs,
    names_of,
    preparations,
    require_sound,
    summary,
    tasks,
)
from openworld.evaluations.recognition_by_shift.unit import evaluate
from openworld.evaluations.runtime import Machine


def data(spec: RecognitionByShiftSpec) -> tuple[DatasetSpec, ...]:
    """Return what is tuned on, and the pool."""
    return tuple(dict.fromkeys(entry.data for entry in (*spec.sources, *spec.pool)))


def class_lists(spec: RecognitionByShiftSpec) -> tuple[ClassList]:
    """Return base names, then new ones."""
    split, first = names_of(spec.ground), spec.sources[0]
    return (ClassList(f"{first} and the pool", first.dataset, split.names, len(split.base)),)


def backbones(spec: RecognitionByShiftSpec) -> tuple[str, ...]:
    """Return those of the learners, the degrees and the references."""
    references = [reference.backbone for reference in spec.references if reference.backbone] if spec.estimators else []
    return tuple(dict.fromkeys([spec.backbone, spec.decomposition.backbone, *references]))


def require(tasks: Sequence[ShiftTask], machine: Machine) -> None:
    """Refuse base classes without images, a pool without new ones, and what no learner could learn."""
    require_sound(tasks[0])
    require_learnable(tasks, machine)


EVALUATION = Evaluation(
    "recognition-by-shift",
    RecognitionByShiftSpec,
    ShiftTask,
    evaluate=evaluate,
    version=5,
    summary=summary,
    data=data,
    class_lists=class_lists,
    **learning(tasks)
    | {
        "inputs": inputs,
        "require": require,
        "artifacts": preparations,
        "fingerprints": fingerprints,
        "backbones": backbones,
    },
)
