"""What a look at a downloaded data set finds, and whether its folder is there at all."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from openworld._errors import OpenworldError


@dataclass(frozen=True)
class Inspection:
    """What was found of one data set."""

    name: str
    folder: str  # where it was looked for
    classes: int | None  # how many its lists name; None where they could not be read
    pictures: dict[str, int]  # part -> how many its lists name, whether or not they are there
    wrong: tuple[str, ...]  # a sentence per fault, with what to do; none: the data set may be used
    remarks: tuple[str, ...]  # worth knowing, and no fault
    sources: tuple[tuple[str, str], ...]  # (what, address) of everything to download

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def missing_folder(place: Path, root: Path) -> Iterator[str]:
    """The folder of all data sets or that of one of them, if it is missing."""
    if not root.is_dir():
        yield f"there is no folder {root}; give the folder that holds the data sets."
    elif not place.is_dir():
        yield f"there is no folder {place}{lookalike(root, place.name)}."


def unreadable_images(read: Callable[[int], object], count: int) -> Iterator[str]:
    """How many of so many images cannot be read, and why the first cannot, if there is any."""
    faults = []
    for index in range(count):
        try:
            read(index)
        except OpenworldError as error:
            faults.append(str(error))
    if faults:
        yield f"{len(faults):,} of {count:,} images cannot be read, such as: {faults[0]}"


def lookalike(folder: Path, name: str) -> str:
    """What lies there under the same name but for case, punctuation and a plural; no other name is worth a guess."""
    alike = [entry.name for entry in sorted(folder.iterdir()) if _letters(entry.name) == _letters(name)]
    return f", but a {alike[0]}: rename it, or link to it" if alike else ""


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold()).rstrip("s")
