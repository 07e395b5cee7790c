"""Which encoded image sets a run makes before its units, where the cache has a limit; what units do about the others.

Embeddings are small and always made first. Patch rows and pixels of training pictures, with their views, are read at
random in every step: a unit whose set is not there makes it, and what was used longest ago goes. Those of other
pictures are read in order: they are made first while they fit beside the training sets of all units that work at a
time, and streamed by the units otherwise (`features.stream`): patch rows first, because pixels can be had again without
the image tower.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from openworld._errors import OpenworldError
from openworld._sizes import size_in_words
from openworld.features import Encoding
from openworld.features.cache_limit import LAST, rank_of


@dataclass(frozen=True)
class DiskSet:
    """An image set in one encoding.

    Args:
        images: which.
        encoding: how.
        size: bytes on disk.
    """

    images: Hashable
    encoding: Encoding
    size: int

    @property
    def rank(self) -> int:
        """Where it stands when room is made; the last to go are embeddings."""
        return rank_of(views=self.encoding.views, patches=self.encoding.patches, pixels=self.encoding.pixels)


def made_first(sets: Sequence[DiskSet], limit: int | None, workers: int = 1, occupied: int = 0) -> list[DiskSet]:
    """The sets that are on disk when the units of a run begin: all of them where there is no limit.

    Args:
        sets: all that the units read, in the order of the units.
        limit: bytes that the cache may have.
        workers: units that work at a time.
        occupied: bytes of what else lies there and goes last, or not at all: embeddings of other runs, classifiers.

    Raises:
        OpenworldError: a limit below the embeddings and the largest training set together.
    """
    if limit is None:
        return list(sets)
    drawn, pixels, patches, embeddings = ([entry for entry in sets if entry.rank == rank] for rank in range(LAST + 1))
    room, largest = limit - _total(embeddings), max((entry.size for entry in drawn), default=0)
    if largest > room:
        raise OpenworldError(
            f"the cache may have {size_in_words(limit)}, and embeddings take {size_in_words(_total(embeddings))} and "
            f"the largest training set {size_in_words(largest)}; give a --cache-limit of "
            f"{size_in_words(_total(embeddings) + largest, at_least=True)} or more."
        )
    room = max(room - occupied, largest)
    kept = _fitting([*patches, *pixels], room - workers * largest)
    # Up to the first that does not fit: one made beyond it would be the first to go when that is made.
    begun = accumulate((entry.size for entry in drawn), initial=_total(kept))
    return [*embeddings, *kept, *(entry for entry, taken in zip(drawn, list(begun)[1:], strict=True) if taken <= room)]


def streams(encoding: Encoding, limit: int | None) -> bool:
    """Whether a unit streams what is not on disk in this encoding, and does not make it."""
    return limit is not None and not encoding.views and (encoding.patches or encoding.pixels)


def by_training_set(drawn: Sequence[Hashable]) -> list[int]:
    """An order of units in which those with the same training set follow one another, so that it is made once.

    Args:
        drawn: for every unit what it is trained on.

    >>> by_training_set(["seed 1", "seed 2", "seed 1"])
    [0, 2, 1]
    """
    first: dict[Hashable, int] = {}
    for number, training in enumerate(drawn):
        first.setdefault(training, number)
    return sorted(range(len(drawn)), key=lambda number: first[drawn[number]])


def _fitting(sets: Iterable[DiskSet], room: int) -> list[DiskSet]:
    kept = []
    for entry in sets:
        if entry.size <= room:
            kept.append(entry)
            room -= entry.size
    return kept


def _total(sets: Iterable[DiskSet]) -> int:
    return sum(entry.size for entry in sets)
