"""What runs of learners ask of the cache and of the image tower, run by run, by the rules that the cache follows.

Without a limit every image set is encoded once in all the ways that a run asks for, and kept. With one, what
`made_first` leaves out is made by its unit where it is a training set, and computed again by each unit that reads it
otherwise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from openworld.evaluations.disk_sets import DiskSet, by_training_set, made_first, streams
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.learning_units import EncodedSet, LearningUnit
from openworld.features import Encoding, count_looks
from openworld.features.cache_limit import LAST


@dataclass(frozen=True)
class CacheUse:
    """Encoded images on disk.

    Args:
        most: bytes that they take at a time.
        whole: bytes that everything would take, if it were kept.
        made_again: training sets that are made once more, because they went in between.
        streamed: images whose patch rows units compute again, each time counted.
    """

    most: int
    whole: int
    made_again: int
    streamed: int


class Ledger:
    """A cache while runs are done one after the other.

    Args:
        config: of the backbone.
        limit: bytes that the cache may have; None for no limit.
        workers: units that work at a time.
    """

    def __init__(self, config, limit: int | None = None, workers: int = 1):
        self._config, self._limit, self._workers = config, limit, workers
        self._sizes: dict[EncodedSet, int] = {}
        self._kept: dict[EncodedSet, None] = {}  # what was used longest ago comes first
        self._made: set[EncodedSet] = set()
        self._most = self._made_again = self._streamed = 0

    @property
    def use(self) -> CacheUse:
        """Of all runs so far."""
        return CacheUse(self._most, sum(self._sizes.values()), self._made_again, self._streamed)

    def add(self, units: Sequence[LearningUnit]) -> tuple[int, int]:
        """Count a run: its images to encode before the units, and all passes through the image tower.

        Raises:
            OpenworldError: a limit that is too small for a unit.
        """
        if self._limit is not None:
            units = [units[number] for number in by_training_set([unit.training for unit in units])]
        disk_sets = {self._disk_set(one): one for one in dict.fromkeys(one for unit in units for one in unit.sets)}
        self._sizes |= {one: disk_set.size for disk_set, one in disk_sets.items()}
        embeddings = [one for one in map(self._disk_set, self._kept) if one.rank == LAST]
        others = sum(one.size for one in embeddings if one not in disk_sets)
        first = [disk_sets[one] for one in made_first(list(disk_sets), self._limit, self._workers, others)]
        images, passes = count_passes(one for one in first if one not in self._kept)
        for one in first:
            self._read(one, first)
        return images, passes + sum(self._passes(one, unit) for unit in units for one in unit.sets)

    def _disk_set(self, one: EncodedSet) -> DiskSet:
        return DiskSet(one.source, one.encoding, one.size(self._config))

    def _passes(self, one: EncodedSet, unit: LearningUnit) -> int:
        """Of a unit that reads a set: none where it is kept."""
        kept = one in self._kept
        if not kept and streams(one.encoding, self._limit):
            again = _answered(one, unit) * one.encoding.patches  # pixels are read without the tower
            self._streamed += again
            return again
        self._made_again += not kept and one in self._made
        self._read(one)
        return 0 if kept else count_passes([one])[1]

    def _read(self, one: EncodedSet, held: Sequence[EncodedSet] = ()) -> None:
        self._kept.pop(one, None)
        self._made.add(one)
        if self._limit is not None:
            self._make_room(self._limit - self._sizes[one], set(held))
        self._kept[one] = None
        self._most = max(self._most, self._taken)

    @property
    def _taken(self) -> int:
        return sum(self._sizes[one] for one in self._kept)

    def _make_room(self, room: int, held: set[EncodedSet]) -> None:
        for one in sorted(self._kept, key=lambda one: self._disk_set(one).rank):
            if self._taken <= room:
                return
            if one not in held:
                del self._kept[one]


def count_passes(sets: Iterable[EncodedSet]) -> tuple[int, int]:
    """Images, and passes through the image tower, where each image set is encoded in all its ways together."""
    ways: dict[tuple[ImageSelection, int], list[Encoding]] = {}
    for one in sets:
        ways.setdefault((one.source, one.count), []).append(one.encoding)
    images = sum(count for _, count in ways)
    return images, sum(count * count_looks(encodings) for (_, count), encodings in ways.items())


def _answered(one: EncodedSet, unit: LearningUnit) -> int:
    """How many images of a test set a unit answers: those of its first one again beside every other data set."""
    first, *others = unit.tests
    return one.count if one != first else max(one.count, unit.answers - sum(other.count for other in others))
