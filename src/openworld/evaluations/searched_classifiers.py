"""Scores of a classifier's detectors, their settings searched on validation images; every image is looked at once."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from openworld.classifiers import Classifier
from openworld.detectors import FittedDetector
from openworld.detectors.engine.fitted import plain_scores
from openworld.evaluations.detector_fits import plan_of
from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.model_scores import ModelScores, warnings_of
from openworld.evaluations.settled_detectors import settled


def searched_classifier_scores(
    model: JudgedSpec,
    classifier: Classifier,
    training: ReadableImages,  # images that detectors learn from
    scored: Sequence[ReadableImages],  # test images, and each set of others
    device: str,
    validation: Sequence[ReadableImages],  # in-distribution images and sets of others on which settings are searched
) -> ModelScores:
    """Return what a classifier says."""

    def batches(part: ReadableImages):
        return classifier.batches(part.images, part.rows, device=device)

    def scores_of(fitted: Mapping[str, FittedDetector], part: ReadableImages) -> dict[str, np.ndarray]:
        # Labels of the sets are no classes of the model, and no score looks at them.
        return plain_scores(route.score(fitted, (pixels for pixels, _ in batches(part))))

    tried = model.candidates(search=True)
    route = plan_of(classifier, tried.detectors, device)
    groups = [part.images.groups[part.rows] for part in validation]
    fitted, searches = settled(tried, route.gather(batches(training)), scores_of, validation, groups)
    answers = list(route.answers(fitted, batches(scored[0])))
    test = plain_scores({label: torch.cat([scores[label] for _, scores in answers]) for label in fitted})
    prediction = torch.cat([predicted for predicted, _ in answers]).numpy()
    sets = tuple(scores_of(fitted, part) for part in scored[1:])
    warnings = (*plan_of(classifier, model.build(), device).warnings, *warnings_of(fitted))
    return ModelScores(test, sets, prediction, warnings, searches=searches)
