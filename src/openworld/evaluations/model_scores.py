"""Scores of all detectors of one model, fitted on the training images, for test images and a pool of others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.datasets import ImageSet, templates
from openworld.detectors import Activations, FittedDetector
from openworld.detectors.engine.fitted import plain_scores
from openworld.detectors.engine.name_pools import Encode, encoder_of, name_pools
from openworld.detectors.engine.tuned_learners import (
    answers_by_cosine,
    detectors_of_learner,
    encoder_of_learner,
    require_served,
)
from openworld.evaluations.judged_models import SeededModel, require_names
from openworld.evaluations.learner_models import encoding_of_images, training_facts
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.runtime import Machine, backbone, encoded
from openworld.features import Features
from openworld.learners import FittedLearner
from openworld.report.learner_facts import LearnerFacts
from openworld.results.settings_search import SettingsSearch


@dataclass(frozen=True, eq=False)
class ModelScores:
    """What a model says."""

    test: dict[str, np.ndarray]  # float64[n] by the label of the detector, larger = more in-distribution
    sets: tuple[dict[str, np.ndarray], ...]  # the same of every set of others
    prediction: np.ndarray  # int64[n], classes of the test images
    warnings: tuple[str, ...]  # on detectors that are known to fail on such models
    inside: tuple[dict[str, np.ndarray], ...] = ()  # beside every set, scores of the test images in its stream
    learner: LearnerFacts | None = None  # how it came to be
    probabilities: Callable[[np.ndarray], np.ndarray] | None = None  # places int64[k] -> softmax float64[k, C]
    searches: tuple[SettingsSearch, ...] = ()  # of settings, on validation images

    @property
    def pool(self) -> dict[str, np.ndarray]:
        """All sets, one behind the other."""
        return {label: np.concatenate([part[label] for part in self.sets]) for label in self.test}


def encoded_scores(
    seeded: SeededModel,
    known: tuple[ImageSet, ImageSet],  # training and in-distribution test images
    sets: Sequence[ImageSet],  # of others
    machine: Machine,
    *,
    one_stream: bool,  # whether detectors that look at the stream get all sets in one, or each in one of its own
    validation: Sequence[ImageSet] = (),  # on which settings are searched, in-distribution ones first
) -> ModelScores:
    """Return what a two-tower model, or a learner, says of images, which are encoded first."""
    model, encoding = seeded.model, seeded.model.encoding
    fitted = seeded.learner.load(machine) if seeded.learner else None
    if fitted:
        require_names(model, fitted.classnames, known[1].classnames)
        encoding = encoding_of_images(fitted.learner, model.build().values())
    every = (encoded(images, model.backbone, machine, encoding) for images in (*known, *sets, *validation))
    learned, tested, *others = every
    others, held_out = others[: len(sets)], others[len(sets) :]
    if fitted:
        scores = _tuned_scores(model, fitted, learned, tested, others, one_stream=one_stream, validation=held_out)
        return replace(scores, learner=training_facts(fitted, seeded.learner))
    dataset, others = seeded.ground.sources[0].dataset, [_joined(others)] if one_stream else others
    shared = {"one_stream": one_stream, "validation": held_out}
    return _two_tower_scores(model, learned, tested, others, dataset, machine, **shared)


def _two_tower_scores(
    model: JudgedSpec,
    training: Features,
    test: Features,
    sets: Sequence[Features],
    dataset: str,
    machine: Machine,
    *,
    one_stream: bool,
    validation: Sequence[Features] = (),
) -> ModelScores:
    """What a two-tower model says of encoded images; classes are those of the training images."""
    clip = backbone(model.backbone, machine.device)
    template = model.template or templates.TEMPLATES.get(dataset, templates.PHOTO)
    own = detectors.encode_texts(clip, training.classnames, template=template).own
    texts, notes = _with_negatives(model, own, training.classnames, encoder_of(clip, template))

    def see(features: Features) -> Activations:
        return detectors.activations_of(clip, features, texts)

    tried = model.candidates(search=bool(validation))
    statistics = detectors.gather(tried.detectors, [see(training)])
    fitted, searches = _settled_of_features(tried, statistics, see, validation)
    seen = [see(features) for features in (test, *sets)]
    return replace(_scores_of(fitted, seen, one_stream, notes), searches=searches)


@torch.no_grad()
def _tuned_scores(
    model: JudgedSpec,
    fitted: FittedLearner,
    training: Features,
    test: Features,
    sets: Sequence[Features],
    *,
    one_stream: bool,
    validation: Sequence[Features] = (),
) -> ModelScores:
    """What a learner says of encoded images, among the in-distribution names."""
    chosen, tried = model.build(), model.candidates(search=bool(validation))
    require_served(fitted, model.label, chosen)
    bank, texts, notes = fitted.text_bank(fitted.classnames), None, ()
    if answers_by_cosine(fitted.learner):
        texts, notes = _with_negatives(model, bank.text.float(), fitted.classnames, encoder_of_learner(fitted))
    wants_own = any("learner" in detector.needs for detector in chosen.values())

    def see(features: Features, own: bool = wants_own) -> Activations:
        return detectors.activations_of_learner(fitted, features, texts, bank=bank, own=own)

    statistics = detectors.gather(detectors_of_learner(tried.detectors, fitted), [see(training, own=False)])
    known, searches = _settled_of_features(tried, statistics, see, validation)
    seen = [see(features) for features in (test, *sets)]
    return replace(_scores_of(known, seen, one_stream, notes), searches=searches)


def _joined(parts: list[Features]) -> Features:
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


def _with_negatives(model: JudgedSpec, own: torch.Tensor, names: Sequence[str], encode: Encode):
    """Texts, and sentences on words that are left out."""
    if not model.negatives:
        return detectors.Texts(own), ()
    return name_pools(own, model.words.without(names), model.build().values(), encode)


def _scores_of(
    fitted: Mapping[str, Any], seen: Sequence[Activations], one_stream: bool, notes: tuple[str, ...]
) -> ModelScores:
    """Scores of test images, seen first, and of sets of others, whose classes no score may look at."""
    test, *others = (replace(images, labels=None) for images in seen)
    inside: Sequence[Mapping[str, torch.Tensor]] = ()
    if one_stream:
        of_test, *of_sets = detectors.score_stream(fitted, [test, *others])
    else:
        of_test, of_sets, inside = detectors.score_streams(fitted, test, others)
    starts = np.cumsum([0, *map(len, others)])

    def probabilities(places: np.ndarray) -> np.ndarray:
        """The softmax of some images, by their places in all sets one behind the other."""
        parts = np.searchsorted(starts, places, side="right") - 1
        within = zip(parts, places - starts[parts], strict=True)
        return np.concatenate([softmax_of_logits(others[part].logits[[place]]) for part, place in within])

    return ModelScores(
        plain_scores(of_test),
        tuple(map(plain_scores, of_sets)),
        test.predictions.cpu().numpy(),
        (*notes, *warnings_of(fitted)),
        tuple(map(plain_scores, inside)),
        probabilities=probabilities,
    )


def softmax_of_logits(logits: torch.Tensor) -> np.ndarray:
    """Return float64[n, C] of logits [n, C]."""
    return logits.detach().double().softmax(dim=1).cpu().numpy()


def warnings_of(fitted: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what fitted detectors have to say of what they learned from."""
    return tuple(warning for detector in fitted.values() for warning in detector.warnings)


def settled(
    tried: detectors.DetectorCandidates,
    statistics: detectors.FitStatistics,
    scores_of: Callable[[Mapping[str, FittedDetector], Any], dict[str, np.ndarray]],  # of a part of `validation`
    validation: Sequence[Any],
    groups: Sequence[np.ndarray],  # of each part: images that are not independent
) -> tuple[dict[str, FittedDetector], tuple[SettingsSearch, ...]]:
    """Return fitted detectors, with the settings that are worth most on validation images where there are some."""
    if not tried.trials:
        return statistics.fit(), ()
    fitted, refused = statistics.fit_able()
    for label, reason in tried.unable(refused).items():
        raise OpenworldError(f"{label}: {reason}")
    known, *strange = (scores_of(tried.searched(fitted), part) for part in validation)
    # Groups of one set are no groups of another.
    starts = np.cumsum([0, *(int(own.max(initial=-1)) + 1 for own in groups)])
    inside, *outside = (start + own for start, own in zip(starts, groups, strict=False))
    searches = tried.choose(known, strange, refused=refused, groups=(inside, outside))
    return tried.chosen(fitted, searches), searches


def _settled_of_features(
    tried: detectors.DetectorCandidates,
    statistics: detectors.FitStatistics,
    see: Callable[[Features], Activations],
    validation: Sequence[Features],
) -> tuple[dict[str, FittedDetector], tuple[SettingsSearch, ...]]:
    """Return the same of encoded images, which `see` turns into what detectors look at."""

    def scores_of(fitted: Mapping[str, FittedDetector], part: Features) -> dict[str, np.ndarray]:
        return plain_scores(detectors.score_together(fitted, replace(see(part), labels=None)))

    return settled(tried, statistics, scores_of, validation, [part.groups[:] for part in validation])
