"""Scores of all detectors of one model, fitted on the training images, for test images and sets of others.

Settings of detectors are searched where there are validation images out of distribution. The detectors of a classifier
score in shards, which are kept, unless settings are searched; all else is made here, in one pass over every set.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openworld import detectors
from openworld.datasets import ImageSet
from openworld.detectors import Activations, FittedDetector
from openworld.detectors.engine.fitted import plain_scores
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.runtime import Machine
from openworld.ood.classifier_shards import ClassifierDetectors, fitted_of
from openworld.ood.images_to_score import ImagesToScore
from openworld.ood.judged_models import SeededModel
from openworld.ood.models import ImageAnswers, JudgedModel
from openworld.report.learner_facts import LearnerFacts
from openworld.results.settings_search import SettingsSearch

Scores = dict[str, np.ndarray]
"""float64[n] by the label of the detector, larger = more in-distribution."""


@dataclass(frozen=True, eq=False)
class ModelScores:
    """What a model says."""

    test: Scores
    sets: tuple[Scores, ...]
    rows: tuple[np.ndarray, ...]  # int64[n] of the test images and of every set: which of them could be read
    prediction: np.ndarray | None  # int64[n], classes of the test images; None of a model without logits
    warnings: tuple[str, ...]  # on detectors that are known to fail on such models, or are left out
    fitted: Mapping[str, FittedDetector]
    inside: tuple[Scores, ...]  # beside every set, scores of the test images in its stream
    probabilities: Callable[[np.ndarray], np.ndarray]  # places int64[k] in all sets -> softmax float64[k, C]
    learner: LearnerFacts | None = None  # how it came to be
    searches: tuple[SettingsSearch, ...] = ()  # of settings, on validation images
    classnames: tuple[str, ...] = ()  # of the model
    validation: Scores | None = None  # of in-distribution validation images
    validation_rows: np.ndarray | None = None

    @property
    def pool(self) -> Scores:
        """All sets, one behind the other."""
        return {label: np.concatenate([part[label] for part in self.sets]) for label in self.test}


@dataclass(frozen=True)
class Scoring:
    """A model and the images that its detectors learn from and score.

    Args:
        validation: in-distribution images that are scored for thresholds or a search; None for none.
        strange: others on which settings are searched; none for no search.
        one_stream: whether detectors that look at the stream get all sets in one, or each in one of its own.
    """

    seeded: SeededModel
    training: ImagesToScore
    test: ImagesToScore
    sets: tuple[ImagesToScore, ...]
    validation: ImagesToScore | None = None
    strange: tuple[ImagesToScore, ...] = ()
    one_stream: bool = False

    @property
    def shards(self) -> ClassifierDetectors | None:
        """Detectors that score in shards; None of what is made in the unit, where alone a search is known."""
        seeded = self.seeded
        if seeded.classifier is None or self.strange:
            return None
        model = seeded.model
        return ClassifierDetectors(seeded.name, seeded.classifier, model.detectors, self.training, seeded.threads)

    @property
    def scored(self) -> tuple[ImagesToScore, ...]:
        """All images that are scored, but for a search."""
        return (self.test, *self.sets, *((self.validation,) if self.validation else ()))

    def inputs(self, machine: Machine) -> dict[str, str]:
        """Return what else a result depends on beside images and model."""
        return self.seeded.inputs | (self.shards.inputs(machine) if self.shards else {})


def stages_of(scorings: Sequence[Scoring], machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that fit the detectors of classifiers, and score images with them; none for no classifier."""
    pairs = [(scoring.shards, scoring.scored) for scoring in scorings if scoring.shards]
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


def score(scoring: Scoring, machine: Machine) -> ModelScores:
    """Return what a model says of all images; what the cache has is read from there."""
    spec, shards = scoring.seeded.model, scoring.shards
    chosen = spec.build()
    model = scoring.seeded.load(machine).ready(chosen)
    warnings, searches, inside, inside_rows = [*model.notes], (), None, None
    if shards:
        fitted, left_out = shards.fitted(machine)
    else:
        tried = spec.candidates(search=bool(scoring.strange))
        learns = any(detector.gathers for detector in chosen.values())
        training = _joined_sets(scoring.training) if learns else None
        gathered = model.gather(tried.detectors, training if training is not None and len(training) else None, machine)
        fitted, refused = fitted_of(gathered, spec.detectors, tried)
        left_out = tried.unable(refused)
        if tried.trials:
            (known,) = _answers(model, fitted, scoring.validation, machine)
            scores, inside_rows = _alone(fitted, known), known.rows
            (images,) = scoring.validation.parts()
            searches = _search(tried, fitted, refused, (scores, images.groups[known.rows]), scoring, model, machine)
            fitted = tried.chosen(fitted, searches)
            places = {search.detector: tried.labels_of(search.detector)[search.chosen] for search in searches}
            inside = {label: scores[places.get(label, label)] for label in fitted}
    warnings += model.weaknesses({label: each.detector for label, each in fitted.items()})
    warnings += dict.fromkeys(text for each in fitted.values() for text in each.warnings)
    warnings += [f"{label} is left out: {reason}" for label, reason in left_out.items()]

    def answers_of(images: ImagesToScore) -> list[ImageAnswers]:
        return [shards.answers(fitted, images, machine)] if shards else _answers(model, fitted, images, machine)

    (test,), parts = answers_of(scoring.test), [answers_of(images) for images in scoring.sets]
    if scoring.validation and inside is None:
        (known,) = answers_of(scoring.validation)
        inside, inside_rows = _alone(fitted, known), known.rows
    every = [own for answers in parts for own in answers]
    of_test, of_parts, in_streams = _with_streams(fitted, test, every, scoring.one_stream)
    ends = np.cumsum([len(answers) for answers in parts])
    joined = [of_parts[end - len(answers) : end] for end, answers in zip(ends, parts, strict=True)]
    return ModelScores(
        of_test,
        tuple({label: np.concatenate([own[label] for own in group]) for label in fitted} for group in joined),
        (test.rows, *(_rows_of(answers, images) for answers, images in zip(parts, scoring.sets, strict=True))),
        test.prediction,
        tuple(dict.fromkeys(warnings)),
        fitted,
        tuple(in_streams),
        lambda places: _probabilities(every, places),
        model.facts,
        searches,
        tuple(model.classnames),
        inside,
        inside_rows,
    )


def _answers(model: JudgedModel, fitted: Mapping, images: ImagesToScore, machine: Machine) -> list[ImageAnswers]:
    """What a model says of every image set."""
    return [model.score(fitted, each, machine) for each in images.parts()]


def _search(
    tried: detectors.DetectorCandidates,
    fitted: Mapping[str, FittedDetector],
    refused: Mapping[str, str],
    known: tuple[Scores, np.ndarray],  # of in-distribution validation images, and their groups
    scoring: Scoring,
    model: JudgedModel,
    machine: Machine,
) -> tuple[SettingsSearch, ...]:
    """Return what every setting is worth on validation images, and which is chosen."""
    searched, outside, groups = tried.searched(fitted), [], [known[1]]
    for part in (own for images in scoring.strange for own in images.parts()):
        answers = model.score(searched, part, machine)
        outside.append(_alone(searched, answers))
        groups.append(part.groups[answers.rows])
    # Groups of one set are no groups of another.
    starts = np.cumsum([0, *(int(own.max(initial=-1)) + 1 for own in groups)])
    first, *others = (start + own for start, own in zip(starts, groups, strict=False))
    return tried.choose(known[0], outside, refused=refused, groups=(first, others))


def _alone(fitted: Mapping[str, FittedDetector], answers: ImageAnswers) -> Scores:
    """Scores of one set, which is a stream of its own, in the order of the detectors."""
    sequential = {label: own for label, own in fitted.items() if detectors.is_sequential(own.detector)}
    if not sequential:
        return answers.scores
    every = answers.scores | plain_scores(detectors.score_together(sequential, answers.stream))
    return {label: every[label] for label in fitted}


def _with_streams(
    fitted: Mapping[str, FittedDetector], test: ImageAnswers, parts: Sequence[ImageAnswers], one_stream: bool
) -> tuple[Scores, list[Scores], list[Scores]]:
    """Scores of test images and of every part, and beside every part those of test images in its stream."""
    sequential = {label: own for label, own in fitted.items() if detectors.is_sequential(own.detector)}
    of_test, of_parts, inside = {}, [{} for _ in parts], []
    if sequential:
        streams: list[Activations] = [part.stream for part in parts]
        if one_stream:
            of_test, *of_parts = detectors.score_stream(sequential, [test.stream, *streams])
        else:
            of_test, of_parts, inside = detectors.score_streams(sequential, test.stream, streams)
    every = [
        answers.scores | plain_scores(own) for answers, own in zip((test, *parts), (of_test, *of_parts), strict=True)
    ]
    first, *others = ({label: scores[label] for label in fitted} for scores in every)
    return first, others, [plain_scores(own) for own in inside] or [{} for _ in parts]


def _rows_of(answers: Sequence[ImageAnswers], images: ImagesToScore) -> np.ndarray:
    """Which images of all parts, one behind the other, could be read."""
    if len(answers) == 1:
        return answers[0].rows
    starts = np.cumsum([0, *(len(part) for part in images.parts())])
    return np.concatenate([start + own.rows for start, own in zip(starts, answers, strict=False)])


def _probabilities(parts: Sequence[ImageAnswers], places: np.ndarray) -> np.ndarray:
    starts = np.cumsum([0, *(len(part.rows) for part in parts)])
    chosen = np.searchsorted(starts, places, side="right") - 1
    found = [parts[part].probabilities(places[chosen == part] - starts[part]) for part in np.unique(chosen)]
    return np.concatenate(found)[np.argsort(np.argsort(chosen, kind="stable"), kind="stable")]


def _joined_sets(images: ImagesToScore) -> ImageSet:
    """The training images, which are one selection."""
    (whole,) = images.parts()
    return whole
