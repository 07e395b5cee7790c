"""Scores of all detectors of one model, fitted on the training images, for test images and a pool of others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from openworld import detectors
from openworld.classifiers import Classifier
from openworld.datasets import ImageSet, templates
from openworld.datasets.names.word_lists import word_list
from openworld.evaluations.learner_models import learner_scores
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.runtime import Machine, backbone
from openworld.features import Features
from openworld.learners import FittedLearner

OF_ADJECTIVES = "This is a {} photo"  # of NegLabel's released code


@dataclass(frozen=True, eq=False)
class ReadableImages:
    """Images of an image set, and the places int64[n] of those that can be read."""

    images: ImageSet
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class ModelScores:
    """What a model says.

    Args:
        test, pool: scores float64[n] by the label of the detector, larger = more in-distribution.
        prediction: int64[n], classes of the test images.
        warnings: sentences on detectors that are known to fail on such models.
    """

    test: dict[str, np.ndarray]
    pool: dict[str, np.ndarray]
    prediction: np.ndarray
    warnings: tuple[str, ...]


def classifier_scores(
    model: JudgedSpec,
    classifier: Classifier,
    training: ReadableImages,
    test: ReadableImages,
    pool: ReadableImages,
    device: str,
) -> ModelScores:
    """What a classifier says; every image is read once."""
    module = classifier.module.to(device)
    first = next(_batches(classifier, training, device))[0][:2]
    watched = detectors.watch(module, first, pixel_std=classifier.preprocess.std)
    route = detectors.plan(model.build(), watched)
    fitted = route.fit(_batches(classifier, training, device))
    scores = [_plain(route.score(fitted, _batches(classifier, part, device))) for part in (test, pool)]
    prediction = [watched.see(pixels).predictions.cpu().numpy() for pixels, _ in _batches(classifier, test, device)]
    return ModelScores(*scores, np.concatenate(prediction), (*route.warnings, *_warnings(fitted)))


def two_tower_scores(
    model: JudgedSpec, training: Features, test: Features, pool: Features, dataset: str, machine: Machine
) -> ModelScores:
    """What a two-tower model says of encoded images; classes are those of the training images."""
    clip = backbone(model.backbone, machine.device)
    texts = _texts(model, clip, training.classnames, dataset)
    fitted = detectors.fit_together(model.build(), [detectors.activations_of(clip, training, texts)])
    # Classes of the pool are others, and no score may look at them.
    both = [replace(detectors.activations_of(clip, features, texts), labels=None) for features in (test, pool)]
    # Detectors that remember what they scored get test images and pool as one stream.
    scores = [_plain(of_set) for of_set in detectors.score_stream(fitted, both)]
    return ModelScores(*scores, both[0].predictions.cpu().numpy(), _warnings(fitted))


def tuned_scores(
    model: JudgedSpec, fitted: FittedLearner, training: Features, test: Features, pool: Sequence[Features]
) -> ModelScores:
    """What a learner says of encoded images, among the in-distribution names; the sets of the pool in their order."""
    scores, predictions, warnings = learner_scores(fitted, model.build(), training, [test, *pool])
    joined_pool = {label: np.concatenate([part[label] for part in scores[1:]]) for label in scores[0]}
    return ModelScores(scores[0], joined_pool, predictions[0], warnings)


def joined(parts: list[Features]) -> Features:
    """Encoded image sets one behind the other, `rows` counted through, labels of no meaning."""
    arrays = {
        name: np.concatenate([getattr(part, name)[:] for part in parts])
        for name in ("embeddings", "groups", "patches")
        if getattr(parts[0], name) is not None
    }
    count = sum(map(len, parts))
    return Features(
        **arrays, labels=np.zeros(count, np.int64), rows=np.arange(count), classnames=("any",), fingerprint="joined"
    )


def _texts(model: JudgedSpec, clip, names: tuple[str, ...], dataset: str) -> detectors.Texts:
    template = model.template or templates.TEMPLATES.get(dataset, templates.PHOTO)
    if not model.negatives:
        return detectors.encode_texts(clip, names, template=template)
    words = word_list(model.negatives).without(names)
    wanted = {detector.detector for detector in model.detectors}
    own = detectors.encode_texts(clip, names, template=template).own

    def far(candidates: tuple[str, ...], template: str) -> torch.Tensor:
        encoded = detectors.encode_texts(clip, names, negative=candidates, template=template).negative
        return own[:0] if encoded is None else encoded[detectors.mine_negatives(own, encoded)]

    negative = nouns = far(words.nouns, template)
    conjugated = None
    if wanted & {"NegLabel", "AdaNeg"}:
        negative = torch.cat([nouns, far(words.adjectives, OF_ADJECTIVES)])
    if "CSP" in wanted and words.adjectives:
        conjugated = torch.cat([nouns, far(detectors.conjugated_names(words.adjectives), template)])
    return detectors.Texts(own, negative if len(negative) else None, conjugated)


def _batches(classifier: Classifier, part: ReadableImages, device: str) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    return classifier.batches(part.images, part.rows, device=device)


def _warnings(fitted: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(warning for detector in fitted.values() for warning in detector.warnings)


def _plain(scores: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    return {label: values.double().cpu().numpy() for label, values in scores.items()}
