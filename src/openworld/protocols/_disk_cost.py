"""What runs need of the disk and of the image tower, run by run, by the rules that the cache itself follows.

Without a limit every image set is encoded once in all the ways that a run asks for, and kept. With one, what
`made_first` leaves out is made by its unit where it is a training set, and computed again by each unit that reads it
otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from openworld.features.cache_limit import LAST
from openworld.protocols._disk import DiskSet, by_training_set, made_first, streams
from openworld.protocols._work import Pictures, UnitWork, count_pictures, to_encode


@dataclass(frozen=True)
class DiskCost:
    """The disk of a plan.

    Args:
        most: bytes that encoded pictures take at a time.
        whole: that everything would take, if it were kept.
        made_again: training sets that are made once more, because they went in between.
        streamed: pictures whose patch rows units compute again, each time counted.
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
        self._sizes: dict[Pictures, int] = {}
        self._kept: dict[Pictures, None] = {}  # what was used longest ago comes first
        self._made: set[Pictures] = set()
        self._most = self._made_again = self._streamed = 0

    @property
    def cost(self) -> DiskCost:
        """Of all runs so far."""
        return DiskCost(self._most, sum(self._sizes.values()), self._made_again, self._streamed)

    def add(self, units: Sequence[UnitWork]) -> tuple[int, int]:
        """Count a run: its pictures to encode before the units, and all passes through the image tower.

        Raises:
            OpenworldError: a limit that is too small for a unit.
        """
        units = self._in_order(units)
        disk_sets = {self._disk_set(one): one for one in to_encode(units)}
        self._sizes |= {one: disk_set.size for disk_set, one in disk_sets.items()}
        embeddings = [one for one in map(self._disk_set, self._kept) if one.rank == LAST]
        others = sum(one.size for one in embeddings if one not in disk_sets)
        first = [disk_sets[one] for one in made_first(list(disk_sets), self._limit, self._workers, others)]
        pictures, passes = count_pictures([one for one in first if one not in self._kept])
        for one in first:
            self._use(one, first)
        return pictures, passes + sum(self._passes(one, unit) for unit in units for one in unit.pictures)

    def _in_order(self, units: Sequence[UnitWork]) -> Sequence[UnitWork]:
        if self._limit is None:
            return units
        return [units[number] for number in by_training_set([unit.pictures[0] for unit in units])]

    def _disk_set(self, one: Pictures) -> DiskSet:
        return DiskSet(one.source, one.encoding, one.size(self._config))

    def _passes(self, one: Pictures, unit: UnitWork) -> int:
        """Of a unit that reads a set: none where it is kept."""
        if one not in self._kept and streams(one.encoding, self._limit):
            again = _answered(one, unit) * one.encoding.patches  # pixels are read without the tower
            self._streamed += again
            return again
        passes = 0 if one in self._kept else count_pictures([one])[1]
        self._made_again += one not in self._kept and one in self._made
        self._use(one)
        return passes

    def _use(self, one: Pictures, held: Sequence[Pictures] = ()) -> None:
        self._kept.pop(one, None)
        self._made.add(one)
        if self._limit is not None:
            self._make_room(self._limit - self._sizes[one], set(held))
        self._kept[one] = None
        self._most = max(self._most, self._taken)

    @property
    def _taken(self) -> int:
        return sum(self._sizes[one] for one in self._kept)

    def _make_room(self, room: int, held: set[Pictures]) -> None:
        for one in sorted(self._kept, key=lambda one: self._disk_set(one).rank):
            if self._taken <= room:
                return
            if one not in held:
                del self._kept[one]


def _answered(one: Pictures, unit: UnitWork) -> int:
    """How many pictures of a test set a unit answers: those of its first one again beside every other data set."""
    _, first, *others = unit.pictures
    if one != first:
        return one.count
    return max(one.count, sum(pictures for pictures, _ in unit.answers) - sum(other.count for other in others))
