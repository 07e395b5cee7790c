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
        entries = dict.fromkeys(entry for unit in units for entry in unit.sets)
        disk_sets = {self._disk_set(entry): entry for entry in entries}
        self._sizes |= {entry: disk_set.size for disk_set, entry in disk_sets.items()}
        embeddings = [disk_set for disk_set in map(self._disk_set, self._kept) if disk_set.rank == LAST]
        others = sum(disk_set.size for disk_set in embeddings if disk_set not in disk_sets)
        first = [disk_sets[disk_set] for disk_set in made_first(list(disk_sets), self._limit, self._workers, others)]
        images, passes = count_passes(entry for entry in first if entry not in self._kept)
        for entry in first:
            self._read(entry, first)
        return images, passes + sum(self._passes(entry, unit) for unit in units for entry in unit.sets)

    def _disk_set(self, entry: EncodedSet) -> DiskSet:
        return DiskSet(entry.source, entry.encoding, entry.size(self._config))

    def _passes(self, entry: EncodedSet, unit: LearningUnit) -> int:
        """Count the passes of a unit that reads a set: none where it is kept."""
        kept = entry in self._kept
        if not kept and streams(entry.encoding, self._limit):
            again = _count_answers(entry, unit) * entry.encoding.patches  # pixels are read without the tower
            self._streamed += again
            return again
        self._made_again += not kept and entry in self._made
        self._read(entry)
        return 0 if kept else count_passes([entry])[1]

    def _read(self, entry: EncodedSet, held: Sequence[EncodedSet] = ()) -> None:
        self._kept.pop(entry, None)
        self._made.add(entry)
        if self._limit is not None:
            self._make_room(self._limit - self._sizes[entry], set(held))
        self._kept[entry] = None
        self._most = max(self._most, self._taken)

    @property
    def _taken(self) -> int:
        return sum(self._sizes[entry] for entry in self._kept)

    def _make_room(self, room: int, held: set[EncodedSet]) -> None:
        for entry in sorted(self._kept, key=lambda entry: self._disk_set(entry).rank):
            if self._taken <= room:
                return
            if entry not in held:
                del self._kept[entry]


def count_passes(sets: Iterable[EncodedSet]) -> tuple[int, int]:
    """Images, and passes through the image tower, where each image set is encoded in all its ways together."""
    ways: dict[tuple[ImageSelection, int], list[Encoding]] = {}
    for entry in sets:
        ways.setdefault((entry.source, entry.count), []).append(entry.encoding)
    images = sum(count for _, count in ways)
    return images, sum(count * count_looks(encodings) for (_, count), encodings in ways.items())


def _count_answers(entry: EncodedSet, unit: LearningUnit) -> int:
    """How many images of a test set a unit answers: those of its first one again beside every other data set."""
    first, *others = unit.tests
    return entry.count if entry != first else max(entry.count, unit.answers - sum(other.count for other in others))
