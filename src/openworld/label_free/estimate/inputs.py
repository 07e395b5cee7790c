"""What a person names: labelled shifts, and files, by their names and checksums."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import sha256_of
from openworld.tables.files import ScoreFile

CORRUPTIONS = "corruptions"
"""Says instead of a file: corrupted copies of the source's images."""


@dataclass(frozen=True)
class NamedShift:
    """Where a labelled shift lies: a file of scores, or images; family and artificial as in `LabelledShift`."""

    family: str
    place: str
    artificial: bool = False
    title: str = ""


def named_shift(given: str) -> NamedShift:
    """Return a labelled shift that was given as FAMILY=PLACE, or as PLACE, whose family is its name without ending."""
    family, equals, place = given.partition("=")
    if not equals or Path(given).exists():
        return NamedShift(Path(given).stem, given)
    if not family or not place:
        raise OpenworldError(f"--labelled-shift {given}: expected FILE or FAMILY=FILE, such as fog=fog-3.npz.")
    return NamedShift(family, place)


def title_of(given: Sequence[Any]) -> str:
    """Return what an image set is called: as it was named, without the folders above it."""
    first = given[0].path.name if isinstance(given[0], ScoreFile) else getattr(given[0], "name", given[0])
    first = Path(first).name if Path(first).exists() else str(first)
    return first if len(given) == 1 else f"{first} and {len(given) - 1} more"


def checksums(places: Iterable[Any]) -> dict[str, str]:
    """Return the SHA-256 of every file among what somebody named, by its name: facts of a page."""
    paths = [Path(place) for place in places if isinstance(place, str | Path)]
    return {path.name: f"SHA-256 {sha256_of(path)}" for path in paths if path.is_file()}
