"""Scores of all detectors of a classifier for test images and others, joined of the shards that are kept.

Where settings are searched on validation images nothing is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from openworld.classifiers import Classifier
from openworld.detectors import FittedDetector
from openworld.detectors.engine.fitted import plain_scores
from openworld.evaluations.detector_fits import fit_key, load_fitted, plan_of
from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.model_scores import ModelScores, settled, softmax_of_logits, warnings_of
from openworld.evaluations.runtime import Machine
from openworld.evaluations.score_shards import ClassifierScoring


def classifier_scores(scoring: ClassifierScoring, machine: Machine) -> ModelScores:
    """What a classifier says of test images and pool, from the cache; what that lacks is made here."""
    if not scoring.fit.is_kept(machine):
        scoring.fit.build(machine)
    fitted = dict(load_fitted(fit_key(scoring.fit, machine), machine))
    chosen = scoring.fit.build_detectors()
    (test, prediction), (pool, _) = (scoring.load(images, machine) for images in scoring.scored)
    if apart := [label for label in chosen if label not in fitted]:  # no file can hold them: fitted in this process
        route = plan_of(scoring.classifier.load(machine), {label: chosen[label] for label in apart}, machine.device)
        parts = (scoring.training, *scoring.scored)
        training, *scored = (_batches(scoring, part.load(machine), machine) for part in parts)
        own = route.fit(training)
        of_own = [plain_scores(route.score(own, batches)) for batches in scored]
        test, pool = (kept | scores for kept, scores in zip((test, pool), of_own, strict=True))
        fitted |= own
    test, pool = ({label: scores[label] for label in chosen} for scores in (test, pool))
    route = plan_of(scoring.classifier.load(machine), chosen, machine.device)
    warnings = warnings_of({label: fitted[label] for label in chosen})

    def probabilities(places: np.ndarray) -> np.ndarray:
        shown = scoring.scored[1].load(machine)
        batches = _batches(scoring, replace(shown, rows=shown.rows[places]), machine)
        return np.concatenate([softmax_of_logits(route.model.see(pixels).logits) for pixels, _ in batches])

    warned = (*route.warnings, *warnings)
    return ModelScores(test, (pool,), prediction, warned, probabilities=probabilities)


def _batches(
    scoring: ClassifierScoring, part: ReadableImages, machine: Machine
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    classifier = scoring.classifier.load(machine)
    return classifier.batches(part.images, part.rows, device=machine.device)


def searched_classifier_scores(
    model: JudgedSpec,
    classifier: Classifier,
    training: ReadableImages,  # images that detectors learn from
    scored: Sequence[ReadableImages],  # test images, and each set of others
    device: str,
    validation: Sequence[ReadableImages],  # in-distribution images and sets of others on which settings are searched
) -> ModelScores:
    """Return what a classifier says, settings searched on validation images; every image is looked at once."""

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
