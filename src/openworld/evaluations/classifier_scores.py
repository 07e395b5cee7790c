"""Scores of all detectors of a classifier for test images and a pool, joined of the shards that are kept."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from openworld.detectors.engine.fitted import plain_scores
from openworld.evaluations.detector_fits import fit_key, load_fitted, plan_of
from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.model_scores import ModelScores, softmax_of_logits, warnings_of
from openworld.evaluations.runtime import Machine
from openworld.evaluations.score_shards import ClassifierScoring


def classifier_scores(scoring: ClassifierScoring, machine: Machine) -> ModelScores:
    """What a classifier says of test images and pool, from the cache; what that lacks is made here."""
    if not scoring.fit.is_kept(machine):
        scoring.fit.build(machine)
    fitted = dict(load_fitted(fit_key(scoring.fit, machine), machine))
    chosen = scoring.fit.build_detectors()
    (test, prediction), (pool, _) = (scoring.load(images, machine) for images in scoring.scored)
    if apart := [label for label in chosen if label not in fitted]:  # no file can hold them
        own, parts = _scored_here(scoring, apart, machine)
        test, pool = (kept | scores for kept, scores in zip((test, pool), parts, strict=True))
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


def _scored_here(scoring: ClassifierScoring, apart: list[str], machine: Machine) -> tuple[dict, list[dict]]:
    """Fit some detectors in this process; return them, and their scores of test images and pool."""
    chosen = scoring.fit.build_detectors()
    route = plan_of(scoring.classifier.load(machine), {label: chosen[label] for label in apart}, machine.device)
    training, *scored = (_batches(scoring, part.load(machine), machine) for part in (scoring.training, *scoring.scored))
    fitted = route.fit(training)
    return fitted, [plain_scores(route.score(fitted, batches)) for batches in scored]


def _batches(
    scoring: ClassifierScoring, part: ReadableImages, machine: Machine
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    classifier = scoring.classifier.load(machine)
    return classifier.batches(part.images, part.rows, device=machine.device)
