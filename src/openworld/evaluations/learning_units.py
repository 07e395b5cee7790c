"""What the units of runs of learners read, told from specs and published counts: no image is read for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from openworld.datasets import PUBLISHED
from openworld.evaluations import evaluation_of
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.learning import count_views
from openworld.features import Encoding, encoded_size
from openworld.learners import configure, encoding_for, find_learner


@dataclass(frozen=True)
class EncodedSet:
    """An image set in one encoding, and how many images it has."""

    source: ImageSelection
    encoding: Encoding
    count: int

    def size(self, config) -> int:
        """Bytes on disk, encoded by a backbone of that config."""
        return encoded_size(config, self.encoding, self.count)


@dataclass(frozen=True)
class LearningUnit:
    """One learner with one seed.

    Args:
        learner: as configured, settings resolved.
        classes: how many it is tuned on.
        training: what it is tuned on.
        tests: the test images that it reads.
        answers: how many images it answers, one counted again in every list of names.
    """

    learner: object
    classes: int
    training: EncodedSet
    tests: tuple[EncodedSet, ...]
    answers: int

    @property
    def sets(self) -> tuple[EncodedSet, ...]:
        """All that it reads."""
        return self.training, *self.tests


@dataclass(frozen=True)
class Tuning:
    """What all learners of a run are tuned on (its base classes, or all), tested on, and how often they answer."""

    data: DatasetSpec
    tested: tuple[DatasetSpec, ...]
    answers: int
    base_only: bool = True


def units_of(spec) -> Iterator[LearningUnit]:
    """Every unit of a run whose evaluation has `tunings`, in its order: learners, shots, seeds."""
    every_shots = spec.shots if isinstance(spec.shots, tuple) else (spec.shots,)
    for tuning in evaluation_of(spec).tunings(spec):
        for entry in spec.learners:
            for shots in every_shots:
                yield from (_unit(entry, shots, seed, spec, tuning) for seed in spec.seeds)


def _unit(entry, most: int, seed: int, spec, tuning: Tuning) -> LearningUnit:
    kind, data = find_learner(entry.learner), tuning.data
    tuned = data.count_base() if tuning.base_only else data.count_classes()
    source = data.images("train", seed=seed, shots=most, draw=spec.draw, base_only=tuning.base_only)
    shots = tuned * most if data.dataset in PUBLISHED else len(source.load())
    tests = (
        EncodedSet(tested.images(), encoding_for(kind), tested.count_images())
        for tested in dict.fromkeys(tuning.tested)
    )
    learner = configure(kind, entry.settings, data.dataset, spec.published)
    views = Encoding(count_views(spec.views, learner), seed=seed)
    training = EncodedSet(source, encoding_for(kind, views), shots)
    return LearningUnit(learner, tuned, training, tuple(tests), tuning.answers)
