"""Recognition as an evaluation: which parts it has."""

from openworld.evaluations.encoding import learning
from openworld.evaluations.evaluation import ClassList, Evaluation, Tuning
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.evaluations.recognition.task import (
    ALGORITHM_VERSION,
    RecognitionTask,
    evaluate,
    require,
    summary,
    tasks,
    title,
)


def data(spec: RecognitionSpec) -> tuple[DatasetSpec, ...]:
    """Return what is tuned on, and what is tested on."""
    return tuple(dict.fromkeys(place for each in spec.each for place in (each.trained, each.tested)))


def class_lists(spec: RecognitionSpec) -> tuple[ClassList, ...]:
    """Return the names of the test images, base names first."""
    return tuple(ClassList.of(each.tested) for each in spec.each)


def tunings(spec: RecognitionSpec) -> tuple[Tuning, ...]:
    """Return what learners are tuned on and asked about."""
    return tuple(Tuning(each.trained, (each.tested,)) for each in spec.each)


EVALUATION = Evaluation(
    "recognition",
    RecognitionSpec,
    RecognitionTask,
    evaluate=evaluate,
    version=ALGORITHM_VERSION,
    summary=summary,
    data=data,
    class_lists=class_lists,
    tunings=tunings,
    title=title,
    **learning(tasks)
    | {
        "require": require,
        "count": lambda spec: len(spec.each) * len(spec.learners) * len(spec.every_shots) * len(spec.seeds),
    },
)
