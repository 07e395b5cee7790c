"""Scores of all detectors of one model, fitted on the training images, for test images and sets of others.

Settings of detectors are searched where there are validation images out of distribution. The detectors of a classifier
score in shards, which are kept, unless settings are searched; all else is made here, in one pass over every set.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from openworld import detectors
from openworld.core.errors import present
from openworld.detectors import Activations, DetectorCandidates, FittedDetector
from openworld.detectors.engine.fitted import plain_scores
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.runtime import Machine
from openworld.ood.classifier_shards import fitted_of
from openworld.ood.judged_models import ModelsSpec
from openworld.ood.models import ImageAnswers, ImagesToScore, JudgedModel
from openworld.results.settings_search import SettingsSearch
from openworld.runs import to_json

Scores = dict[str, np.ndarray]
"""float64[n] by the label of the detector, larger = more in-distribution."""


@dataclass(frozen=True, eq=False)
class ModelScores:
    """What a model says of test images, every set, and validation images, with scores of all detectors."""

    model: JudgedModel
    fitted: Mapping[str, FittedDetector]
    test: ImageAnswers
    sets: tuple[ImageAnswers, ...]
    inside: tuple[Scores, ...]  # beside every set, scores of the test images in its stream
    validation: ImageAnswers | None
    warnings: tuple[str, ...]  # on detectors that are known to fail on such models, or are left out
    searches: tuple[SettingsSearch, ...]  # of settings, on validation images

    def facts(self, task: ModelsSpec, classes: int, notes: Sequence[str] = ()) -> dict[str, Any]:
        """Return what records of both evaluations say of a unit beside the numbers, which are rows."""
        return {
            "protocol": task.protocol,
            "model": task.model.label,
            "kind": task.model.kind,
            "seed": task.seed,
            "classes": classes,
            "warnings": [*self.warnings, *notes],
            "learner": self.model.facts and to_json(self.model.facts),
        }


def stages_of(tasks: Sequence[ModelsSpec], machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that fit the detectors of classifiers, and score images with them; none for no classifier."""
    pairs = [(task.shards, task.scored) for task in tasks if task.shards]
    if not pairs:
        return ()

    def gathered():
        return (shard for shards, _ in pairs for shard in shards.gathered_shards(machine))

    def scored():
        return (shard for shards, images in pairs for part in images for shard in shards.score_shards(part, machine))

    return (
        Stage("gathering", "gathered what detectors learn from", "images", machine, gathered),
        Stage("fitting", "fitted", "detectors", machine, lambda: [shards for shards, _ in pairs]),
        Stage("scoring", "scored", "images", machine, scored),
    )


def score(task: ModelsSpec, machine: Machine) -> ModelScores:
    """Return what a model says of all images; what the cache has is read from there."""
    spec, shards = task.model, task.shards
    chosen, tried = spec.build(), spec.candidates(search=bool(task.strange))
    model = task.load_model(machine).ready(chosen)

    def answers_of(images: ImagesToScore, fitted: Mapping[str, FittedDetector]) -> ImageAnswers:
        if shards:
            return shards.answers(fitted, images, machine)
        parts = images.parts()
        return _joined([model.score(fitted, each, machine) for each in parts], list(map(len, parts)))

    searches, validation = (), None
    if shards:
        fitted, left_out = shards.fitted(machine)
    else:
        training = None
        if any(detector.gathers for detector in chosen.values()):
            training = task.training.image_set
        gathered = model.gather(tried.detectors, training if training is not None and len(training) else None, machine)
        fitted, refused = fitted_of(gathered, spec.detectors, tried)
        left_out = tried.unable(refused)
        if tried.trials:
            fitted, validation, searches = _search(task, tried, fitted, refused, answers_of)
    warnings = [*model.notes, *model.weaknesses({label: each.detector for label, each in fitted.items()})]
    warnings += [text for each in fitted.values() for text in each.warnings]
    warnings += [f"{label} is left out: {reason}" for label, reason in left_out.items()]

    test, *sets = (answers_of(images, fitted) for images in (task.test, *task.others))
    if task.validation and validation is None:
        validation = _alone(fitted, answers_of(task.validation, fitted))
    (test, *sets), inside = _with_streams(fitted, (test, *sets), task.one_stream)
    unique = tuple(dict.fromkeys(warnings))
    return ModelScores(model, fitted, test, tuple(sets), tuple(inside), validation, unique, searches)


def _search(
    task: ModelsSpec,
    tried: DetectorCandidates,
    fitted: Mapping[str, FittedDetector],
    refused: Mapping[str, str],
    answers_of: Callable[[ImagesToScore, Mapping[str, FittedDetector]], ImageAnswers],
) -> tuple[dict[str, FittedDetector], ImageAnswers, tuple[SettingsSearch, ...]]:
    """Return the detectors with the settings that are worth most, their validation scores, and what each is worth."""
    every, known = tried.searched(fitted), present(task.validation, "the validation images")
    answers = [_alone(fitted, answers_of(known, fitted))]
    answers += [_alone(every, answers_of(images, every)) for images in task.strange]
    groups = [images.image_set.groups[each.rows] for images, each in zip((known, *task.strange), answers, strict=True)]
    # Groups of one set are no groups of another.
    starts = np.cumsum([0, *(int(each.max(initial=-1)) + 1 for each in groups)])
    first, *others = (start + each for start, each in zip(starts, groups, strict=False))

    inside, *outside = (each.scores for each in answers)
    searches = tried.choose(inside, outside, refused=refused, groups=(first, others))
    chosen = {search.detector: tried.labels_of(search.detector)[search.chosen] for search in searches}
    fitted = tried.chosen(fitted, searches)
    scores = {label: inside[chosen.get(label, label)] for label in fitted}
    return fitted, replace(answers[0], scores=scores), searches


def _joined(parts: Sequence[ImageAnswers], sizes: Sequence[int]) -> ImageAnswers:
    """Answers of several image sets of so many images, one behind the other, as of one set."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *sizes])
    first, streams = parts[0], [part.stream for part in parts if part.stream is not None]
    both = [[getattr(part, name) for part in parts] for name in ("prediction", "confidence")]
    return ImageAnswers(
        np.concatenate([start + part.rows for start, part in zip(starts, parts, strict=False)]),
        {label: np.concatenate([part.scores[label] for part in parts]) for label in first.scores},
        *((None, None) if first.prediction is None else map(np.concatenate, both)),
        torch.cat(streams) if streams else None,
    )


def _sequential(fitted: Mapping[str, FittedDetector]) -> dict[str, FittedDetector]:
    return {label: own for label, own in fitted.items() if detectors.is_sequential(own.detector)}


def _alone(fitted: Mapping[str, FittedDetector], answers: ImageAnswers) -> ImageAnswers:
    """Answers of one set, which is a stream of its own, with scores in the order of the detectors."""
    every = dict(answers.scores)
    if sequential := _sequential(fitted):
        every |= plain_scores(detectors.score_together(sequential, present(answers.stream, "the stream")))
    return replace(answers, scores={label: every[label] for label in fitted})


def _with_streams(
    fitted: Mapping[str, FittedDetector], sets: Sequence[ImageAnswers], one_stream: bool
) -> tuple[list[ImageAnswers], list[Scores]]:
    """Answers of test images and sets with all scores, and beside every set those of test images in its stream."""
    sequential, of_sets, inside = _sequential(fitted), [{} for _ in sets], [{} for _ in sets[1:]]
    if sequential:
        test, *others = (Activations(present(answers.stream, "the stream")) for answers in sets)
        if one_stream:
            of_sets = detectors.score_stream(sequential, [test, *others])
        else:
            of_test, of_others, inside = detectors.score_streams(sequential, test, others)
            of_sets = [of_test, *of_others]
    every = [answers.scores | plain_scores(own) for answers, own in zip(sets, of_sets, strict=True)]
    ordered = ({label: scores[label] for label in fitted} for scores in every)
    whole = [replace(answers, scores=scores) for answers, scores in zip(sets, ordered, strict=True)]
    return whole, [plain_scores(own) for own in inside]
