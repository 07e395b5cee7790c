"""What a look at a downloaded data set finds, and whether its folder is there at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from openworld.datasets.published import PublishedSet
from openworld.datasets.shifted_set import ShiftedSet


@dataclass(frozen=True)
class Inspection:
    """What was found of one data set.

    Args:
        name: of the data set.
        folder: where it was looked for.
        classes: how many its lists name; None where they could not be read.
        pictures: part -> how many its lists name, whether or not they are there.
        wrong: a sentence per fault, with what to do; none: the data set may be used.
        remarks: what is worth knowing and no fault.
        sources: (what, address) of everything to download.
    """

    name: str
    folder: str
    classes: int | None
    pictures: dict[str, int]
    wrong: tuple[str, ...]
    remarks: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def missing_folder(card: PublishedSet | ShiftedSet, root: Path) -> Iterator[str]:
    """The folder of all data sets or that of this one, if it is missing."""
    if not root.is_dir():
        yield f"there is no folder {root}; give the folder that holds the data sets."
    elif not (root / card.folder).is_dir():
        yield f"there is no folder {root / card.folder}{lookalike(root, card.folder)}."


def lookalike(folder: Path, name: str) -> str:
    """What lies there under a name like the one that is missing."""
    there = {entry.name.casefold(): entry.name for entry in folder.iterdir()}
    close = get_close_matches(name.casefold(), there, n=1)
    return f", but a {there[close[0]]}: rename it, or link to it" if close else ""
