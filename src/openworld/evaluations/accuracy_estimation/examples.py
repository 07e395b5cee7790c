"""What the references of a run say of a few images, before and after calibration (FRAP, Figure 2).

The images are of the first condition, each of another class, and the first reference names them right: even then the
softmax of bare similarities is nearly uniform.
"""

from collections.abc import Iterator

import numpy as np

from openworld.estimators.engine.temperature import probabilities
from openworld.evaluations.accuracy_estimation.record import EXAMPLES, ReferenceExample
from openworld.evaluations.accuracy_estimation.task import AccuracyTask
from openworld.evaluations.estimates import Answers
from openworld.evaluations.record_images import thumbnail
from openworld.evaluations.references import own_temperature
from openworld.evaluations.runtime import Machine

SHOWN, CLASSES = 8, 5


def reference_examples(
    task: AccuracyTask, target: Answers, scale: float, machine: Machine
) -> tuple[ReferenceExample, ...]:
    """Return what every reference that is a model says of the same images; none without such a reference.

    Args:
        task: whose references they are, and whose first condition.
        target: what is known of that condition.
        scale: the temperature of the judged model.
    """
    models = [reference for reference in task.references if reference.is_model]
    if not models:
        return ()
    images, found = task.ground.conditions[0].images.load(), []
    places = _chosen(target.outputs[models[0].name].reference, target.labels)
    for reference in models:
        similarities = target.outputs[reference.name].reference[places]
        temperatures = (1.0, own_temperature(reference, machine), target.tau(reference.name, scale).value)
        by_temperature = [probabilities(similarities, temperature) for temperature in temperatures]
        for number, place in enumerate(places.tolist()):
            likeliest = np.argsort(-similarities[number], kind="stable")[:CLASSES]
            rows = (tuple(of_all[number, likeliest].tolist()) for of_all in by_temperature)
            names = tuple(images.classnames[name] for name in likeliest.tolist())
            label = images.classnames[target.labels[place]]
            found.append(ReferenceExample(int(target.rows[place]), label, reference.name, names, *rows))
    return tuple(found)


def example_thumbnails(task: AccuracyTask, examples: tuple[ReferenceExample, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield a thumbnail of every image, once."""
    images = task.ground.conditions[0].images.load()
    for number in sorted({example.id for example in examples}):
        yield f"{EXAMPLES}/{number}.png", thumbnail(images.image(number))


def _chosen(similarities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """int64[n], the first image of each class that is named right, of classes spread over all; any where none is."""
    right = np.flatnonzero(similarities.argmax(axis=1) == labels)
    known = right if right.size else np.arange(len(labels))
    _, first = np.unique(labels[known], return_index=True)
    spread = np.unique(np.linspace(0, len(first) - 1, min(SHOWN, len(first))).round().astype(int))
    return known[first[spread]]
