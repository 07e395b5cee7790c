"""What a plan amounts to in numbers, told from cards and specs: no picture is read, no data set needs to be there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from openworld.datasets import PUBLISHED
from openworld.evaluations.dynamic.task import OF_CLASSES
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DataSpec
from openworld.evaluations.runtime import Source
from openworld.features import Encoding, count_looks, encoded_size
from openworld.learners import Schedule, configure, encoding_for, find_learner
from openworld.reproduction.settings import PlannedRun


@dataclass(frozen=True)
class Pictures:
    """An image set to be encoded, and how many pictures it has."""

    source: Source
    encoding: Encoding
    count: int

    def size(self, config) -> int:
        """Bytes on disk, encoded by a backbone of that config."""
        return encoded_size(config, self.encoding, self.count)


@dataclass(frozen=True)
class UnitWork:
    """What one learner with one seed does.

    Args:
        learner: as configured, settings resolved.
        pictures: the image sets that it reads.
        classes: how many it is tuned on.
        shots: training pictures in all.
        answers: (pictures, names) of every answer that it gives.
    """

    learner: object
    pictures: tuple[Pictures, ...]
    classes: int
    shots: int
    answers: tuple[tuple[int, int], ...]

    @property
    def steps(self) -> int:
        """Of training, over all of its stages."""
        return sum(one.epochs * batches(self.shots, one) for one in schedules(self.learner))


def schedules(learner) -> list[Schedule]:
    """The stages of a learner's training; none where it tunes nothing."""
    return [value for one in fields(learner) if isinstance(value := getattr(learner, one.name), Schedule)]


def batches(count: int, schedule: Schedule) -> int:
    """Steps of one epoch over so many pictures.

    >>> batches(100, Schedule(batch_size=32)), batches(100, Schedule(batch_size=32, drop_last=False))
    (3, 4)
    """
    whole, rest = divmod(count, schedule.batch_size)
    return whole + bool(rest and (not schedule.drop_last or not whole))


def work_of(runs: Iterable[PlannedRun]) -> dict[str, tuple[UnitWork, ...]]:
    """Every unit of every run, by name of the run."""
    return {run.name: units_of(run.spec) for run in runs}


def units_of(spec) -> tuple[UnitWork, ...]:
    """Every unit of a run of learners, whose protocol is one of `LEARNING`."""
    return tuple(LEARNING[spec.protocol](spec))


def to_encode(units: Iterable[UnitWork]) -> tuple[Pictures, ...]:
    """The image sets that units read, each one once."""
    return tuple(dict.fromkeys(one for unit in units for one in unit.pictures))


def count_pictures(sets: Iterable[Pictures]) -> tuple[int, int]:
    """Pictures, and passes through the image tower, where each image set is encoded in all its ways together."""
    ways: dict[tuple[Source, int], list[Encoding]] = {}
    for one in sets:
        ways.setdefault((one.source, one.count), []).append(one.encoding)
    pictures = sum(count for _, count in ways)
    return pictures, sum(count * count_looks(encodings) for (_, count), encodings in ways.items())


def class_count(data: DataSpec) -> int:
    """How many classes a data set has: published, or counted where it comes along."""
    card = PUBLISHED.get(data.dataset)
    return card.classes if card else len(_test(data).load().classnames)


def shown_count(data: DataSpec) -> int:
    """How many test pictures a data set has."""
    card = PUBLISHED.get(data.dataset)
    return card.pictures["test"] if card else len(_test(data).load())


def _test(data: DataSpec) -> Source:
    return Source(data.dataset, data.domain, "test")


def _recognition(spec) -> Iterator[UnitWork]:
    data = DataSpec(spec.dataset, spec.train_domain)
    tested = DataSpec(spec.dataset, spec.test_domain)
    answers = ((shown_count(tested), class_count(tested)),)
    for one, seed in _pairs(spec):
        yield _unit(one, seed, spec, data, (tested,), answers)


def _generalisation(spec) -> Iterator[UnitWork]:
    classes, pictures = class_count(spec.source), shown_count(spec.source)
    answers = [(pictures, classes), *((shown_count(one), class_count(one)) for one in spec.variants)]
    # Base pictures are the source's, half of them all; new ones another data set's.
    answers += [(pictures // 2 + shown_count(one), classes // 2 + class_count(one)) for one in spec.others]
    for one, seed in _pairs(spec):
        yield _unit(one, seed, spec, spec.source, (spec.source, *spec.variants, *spec.others), tuple(answers))


def _dynamic(spec) -> Iterator[UnitWork]:
    if set(spec.scenarios) & set(OF_CLASSES):
        for data in spec.datasets:
            answers = ((shown_count(data), class_count(data)),)
            for one, seed in _pairs(spec):
                yield _unit(one, seed, spec, data, (data,), answers)
    if set(spec.scenarios) - set(OF_CLASSES):
        answers, tested = _taking_over(spec)
        for one, seed in _pairs(spec):
            yield _unit(one, seed, spec, spec.source, tested, answers, base_only=False)


def _taking_over(spec) -> tuple[tuple[tuple[int, int], ...], tuple[DataSpec, ...]]:
    """Answers and test sets of distribution shifts and co-evolution: both sides show as many pictures."""
    variants = spec.variants if "distribution-shift" in spec.scenarios else ()
    others = spec.others if "co-evolution" in spec.scenarios else ()
    classes, answers = class_count(spec.source), []
    for one in variants:
        share = class_count(one) / classes
        shown = min(shown_count(one), round(share * shown_count(spec.source)), spec.shift_limit or shown_count(one))
        answers.append((2 * shown, class_count(one)))
    for one in others:
        named = min(spec.class_limit, class_count(one), classes)
        available = min(shown_count(one), round(named / classes * shown_count(spec.source)))
        answers.append((2 * min(spec.image_limit, available), 2 * named))
    return tuple(answers), (spec.source, *variants, *others)


LEARNING = {"recognition": _recognition, "generalisation": _generalisation, "dynamic": _dynamic}


def _pairs(spec) -> list[tuple[LearnerSpec, int]]:
    return [(one, seed) for one in spec.learners for seed in spec.seeds]


def _unit(one: LearnerSpec, seed: int, spec, data: DataSpec, tested, answers, *, base_only: bool = True) -> UnitWork:
    kind, classes = find_learner(one.learner), class_count(data)
    tuned = (classes + 1) // 2 if base_only else classes
    source = Source(data.dataset, data.domain, "train", seed, spec.shots, base_only=base_only)
    shots = tuned * spec.shots if data.dataset in PUBLISHED else len(source.load())
    plain = encoding_for(kind)
    tests = tuple(Pictures(_test(one), plain, shown_count(one)) for one in dict.fromkeys(tested))
    train = Pictures(source, encoding_for(kind, Encoding(spec.views, seed=seed)), shots)
    learner = configure(kind, one.settings, data.dataset, spec.published)
    return UnitWork(learner, (train, *tests), tuned, shots, answers)
