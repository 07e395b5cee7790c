"""What to download for each data set: archives and lists, from where, how large, into which place, under which licence.

The facts lie in downloads.toml, one entry per data set; `openworld data check` and `openworld data plan` say them. What
nobody states is left out there, and said to be on the publisher's page.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from openworld._sizes import size_in_words


@dataclass(frozen=True)
class DownloadedFile:
    """An archive, a list, or files that are got together."""

    what: str  # its name, or what it is
    address: str  # where its publisher offers it
    size: int | None = None  # bytes; None where none is stated
    exact: bool = False  # the archive's own size, not a rounded one


@dataclass(frozen=True)
class Download:
    """What to download for a data set."""

    name: str
    files: tuple[DownloadedFile, ...]  # () where other data sets hold all of it
    into: str  # place below the folder of all data sets
    licence: str  # in a few words
    needs: tuple[str, ...] = ()  # other entries that are read as well
    title: str = ""  # what papers call it; "" where the data set's own card says so
    place: str = ""  # where it lies; "" as the title

    @property
    def size(self) -> int:
        """Bytes of the files whose sizes are stated."""
        return sum(file.size or 0 for file in self.files)

    @property
    def unsized(self) -> bool:
        """Whether the size of an archive is not stated; lists are too small to count."""
        return any(file.size is None and not file.what.endswith((".json", ".txt")) for file in self.files)

    @property
    def size_in_words(self) -> str:
        """Return its size, such as "170 MB", "about 2.9 GB", "see its page" or "nothing more"."""
        if not self.files:
            return "nothing more"
        if self.unsized:
            return "see its page"
        about = any(file.size and not file.exact and file.size > self.size // 100 for file in self.files)
        return f"{'about ' * about}{size_in_words(self.size)}"


def sources_of(name: str) -> tuple[tuple[str, str], ...]:
    """Return (what, address) of everything to download for a data set, its images in other data sets included."""
    entry = downloads()[name]
    others = (downloads()[other] for other in entry.needs)
    borrowed = ((f"the data set {other.name}", other.files[0].address) for other in others)
    return (*((file.what, file.address) for file in entry.files), *borrowed)


def with_needs(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names with all that they need, each once, what is needed before what needs it."""
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys((*with_needs(downloads()[name].needs), name))
    return tuple(found)


@cache
def downloads() -> Mapping[str, Download]:
    """Return what to download for every data set, by name."""
    text = files("openworld.datasets.published").joinpath("downloads.toml").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = tomllib.loads(text)
    found = {}
    for name in entries:
        entry = entries[entries[name].get("same", name)]
        listed = tuple(
            DownloadedFile(file["what"], file["from"], file.get("exact", file.get("about")), "exact" in file)
            for file in entry.get("files", ())
        )
        words = {key: entry.get(key, "") for key in ("into", "licence", "title", "place")}
        found[name] = Download(name, listed, needs=tuple(entry.get("needs", ())), **words)
    return found
