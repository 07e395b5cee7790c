"""What the units of runs of learners read, told from specs and published counts: no image is read for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from openworld.datasets import PUBLISHED
from openworld.evaluations.dynamic.task import OF_CLASSES
from openworld.evaluations.image_counts import count_classes, count_images
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
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
class _Tuning:
    """What all learners of a run are tuned on (its base half, or all classes), tested on, and how often they answer."""

    data: DatasetSpec
    tested: tuple[DatasetSpec, ...]
    answers: int
    base_only: bool = True


def units_of(spec) -> Iterator[LearningUnit]:
    """Every unit of a run whose protocol is one of `LEARNING`."""
    for tuning in LEARNING[spec.protocol](spec):
        for one in spec.learners:
            for seed in spec.seeds:
                yield _unit(one, seed, spec, tuning)


def _unit(one, seed: int, spec, tuning: _Tuning) -> LearningUnit:
    kind, data = find_learner(one.learner), tuning.data
    classes = count_classes(data.dataset, data.domain)
    tuned = (classes + 1) // 2 if tuning.base_only else classes
    most = max(spec.shots) if isinstance(spec.shots, tuple) else spec.shots
    source = data.images("train", seed=seed, shots=most, base_only=tuning.base_only)
    shots = tuned * most if data.dataset in PUBLISHED else len(source.load())
    tests = (EncodedSet(tested.images(), encoding_for(kind), _shown(tested)) for tested in dict.fromkeys(tuning.tested))
    training = EncodedSet(source, encoding_for(kind, Encoding(spec.views, seed=seed)), shots)
    learner = configure(kind, one.settings, data.dataset, spec.published)
    return LearningUnit(learner, tuned, training, tuple(tests), tuning.answers)


def _shown(data: DatasetSpec) -> int:
    return count_images(data.dataset, data.domain, "test")


def _recognition(spec) -> Iterator[_Tuning]:
    tested = DatasetSpec(spec.dataset, spec.test_domain)
    yield _Tuning(DatasetSpec(spec.dataset, spec.train_domain), (tested,), _shown(tested))


def _generalisation(spec) -> Iterator[_Tuning]:
    own = _shown(spec.source)
    # Base images are the source's, half of them all; new ones another data set's.
    answers = own + sum(map(_shown, spec.variants)) + sum(own // 2 + _shown(one) for one in spec.others)
    yield _Tuning(spec.source, (spec.source, *spec.variants, *spec.others), answers)


def _dynamic(spec) -> Iterator[_Tuning]:
    if set(spec.scenarios) & set(OF_CLASSES):
        yield from (_Tuning(data, (data,), _shown(data)) for data in spec.datasets)
    if set(spec.scenarios) - set(OF_CLASSES):
        yield _taking_over(spec)


def _taking_over(spec) -> _Tuning:
    """Distribution shifts and co-evolution: both sides show as many images."""
    variants = spec.variants if "distribution-shift" in spec.scenarios else ()
    others = spec.others if "co-evolution" in spec.scenarios else ()
    classes, own, shown = count_classes(spec.source.dataset, spec.source.domain), _shown(spec.source), 0
    for one in variants:
        share = count_classes(one.dataset, one.domain) / classes
        shown += min(_shown(one), round(share * own), spec.shift_limit or _shown(one))
    for one in others:
        named = min(spec.class_limit, count_classes(one.dataset, one.domain), classes)
        shown += min(spec.image_limit, _shown(one), round(named / classes * own))
    return _Tuning(spec.source, (spec.source, *variants, *others), 2 * shown, base_only=False)


LEARNING = {"recognition": _recognition, "generalisation": _generalisation, "dynamic": _dynamic}
"""Protocol of learners -> what its units are tuned and tested on."""
