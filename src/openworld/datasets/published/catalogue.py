"""What is known of every data set: one card type, and the cards of those that people download, which are in cards.toml.

Folders, split files and few-shot draws of the family "coop" are those of CoOp (Zhou et al., 2022, KaiyangZhou/CoOp,
DATASETS.md), which the papers of this field share; the family "shifted" shows the same classes under other
circumstances (FRAP, Table 1); "openood" are the benchmarks of OpenOOD v1.5 (Zhang et al., 2023), with the groups and
lists of Jingkang50/OpenOOD (configs/datasets/*/*_ood.yml and *_fsood.yml, evaluation_api/datasets.py). Counts are the
published ones; what nobody states of a download is left out, and said to be on the publisher's page.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import facts
from openworld.core.sizes import size_in_words
from openworld.datasets.formats.files import Split, read_split_file, read_variants
from openworld.datasets.published.class_folders import ClassFolders, read_class_folders

COOP_PAGE = "https://github.com/KaiyangZhou/CoOp/blob/main/DATASETS.md"
"""Says for every data set of the family "coop" what to download and how to lay it out."""

VARIABLE = "OPENWORLD_DATA"
"""Environment variable that names the folder of all data sets."""

PUBLISHED_CORRUPTIONS = tuple(facts("openworld.datasets", "corruptions/parameters.toml"))
"""The corruptions that are published, the first keys of `corruptions.CORRUPTIONS`; importing that takes a while."""

CONDITIONS = tuple(f"{name} {severity}" for name in PUBLISHED_CORRUPTIONS for severity in range(1, 6))
"""Such as "fog 3": domains of data sets that were published corrupted, called as `corruptions.corrupted` calls them."""


@dataclass(frozen=True)
class DownloadedFile:
    """An archive, a list, or files that are got together."""

    what: str  # its name, or what it is
    address: str  # where its publisher offers it
    size: int | None = None  # bytes; None where none is stated
    exact: bool = False  # the archive's own size, not a rounded one


@dataclass(frozen=True)
class ListedSet:
    title: str  # in papers
    group: str  # "near", "far", "full-spectrum"; "validation", to choose settings on; "id", in distribution
    lists: tuple[str, ...]  # below the folder of lists; the first that is there counts
    images: str  # the folder below which its paths lie
    archive: str  # what OpenOOD's download calls it; its folder below `images`
    count: int | None = None  # how many there should be; None where that is not published


@dataclass(frozen=True)
class DatasetCard:
    """One data set, for people and programs.

    Args:
        name, title: as it is asked for; as papers call it.
        family: "embedded" for those that come with openworld, "coop", "shifted" or "openood"; "" for files that the
            tables of papers read and that are no data set of their own.
        what: its classes, or its images, in a few words.
        classes, classnames: how many there should be; their names, in label order, where no file of it says them.
        counts: part -> how many images there should be in the first domain; None where that is not published.
        domains: what `domain` may be, the default first. alike: the domains that should hold as many images as the
            first; a check reads them too.
        group_name: what images of one group share, such as "drawing"; "" where all images are independent.
        folder, also: its place below the folder of all data sets; other places, as other libraries download it.
        loose: a file by which it is known to lie in the folder of all data sets itself, where torchvision puts it.
        images, listings: its image folder below `folder`, "" for that itself; the files that say which image is what.
        reader, layout: what reads it; how class folders are understood.
        listed, sets: of a benchmark, its parts in distribution, and the sets beside them by name.
        into, licence, files, needs: what to download, into which place; names of others whose files are read as well.
        place: where files that are no data set of their own lie.
        sources: (what, address) of everything to download, files of others included.
    """

    name: str
    title: str
    family: str
    what: str = ""
    classes: int = 0
    classnames: tuple[str, ...] = ()
    counts: Mapping[str, int | None] = field(default_factory=dict)
    domains: tuple[str, ...] = ("",)
    alike: tuple[str, ...] = ()
    group_name: str = ""
    folder: str = ""
    also: tuple[str, ...] = ()
    loose: str = ""
    images: str = ""
    listings: tuple[str, ...] = ()
    reader: str = ""
    layout: ClassFolders | None = None
    listed: Mapping[str, ListedSet] = field(default_factory=dict)
    sets: Mapping[str, ListedSet] = field(default_factory=dict)
    into: str = ""
    licence: str = ""
    files: tuple[DownloadedFile, ...] = ()
    needs: tuple[str, ...] = ()
    place: str = ""
    sources: tuple[tuple[str, str], ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return f"{self.title}, {self.classes} classes: {self.what}" if self.download else self.what

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts it has; ImageNet's published validation images are its test, so it has no validation part."""
        return tuple(self.counts)

    @property
    def drawn_parts(self) -> tuple[str, ...]:
        """The parts that `shots` may draw from."""
        return ("train", "validation") if self.family == "coop" else ("train",)

    @property
    def download(self) -> bool:
        """Whether it does not come with openworld: `openworld data check NAME` says what to get."""
        return self.family != "embedded"

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
        """Return the size of its files, such as "170 MB", "about 2.9 GB", "see its page" or "nothing more"."""
        if not self.files:
            return "nothing more"
        if self.unsized:
            return "see its page"
        about = any(file.size and not file.exact and file.size > self.size // 100 for file in self.files)
        return f"{'about ' if about else ''}{size_in_words(self.size)}"

    def folder_in(self, root: Path) -> Path:
        """Return its folder below the folder of all data sets: the first place that is there, else the usual one."""
        folder = next((root / place for place in (*self.also, self.folder) if (root / place).is_dir()), None)
        at_root = bool(self.loose) and (root / self.loose).is_file()
        return folder or (root if at_root else root / self.folder)

    def of_group(self, group: str) -> tuple[str, ...]:
        """Return the names of a benchmark's sets of a group."""
        return tuple(name for name, card in self.sets.items() if card.group == group)

    @property
    def has_lists(self) -> bool:
        """Whether lists or class folders say what it holds, so that `split` can be had without its images."""
        return self.reader in ("split file", "variants", "class folders")

    def split(self, root: Path, parts: tuple[str, ...]) -> Split:
        """What lies below `root`, the folder of all data sets: class names, and the images of `parts` at least."""
        folder = root / self.folder
        if self.layout is not None:
            return read_class_folders(folder, folder / self.images, self.layout, parts)
        return read_variants(folder) if self.reader == "variants" else read_split_file(folder / self.listings[0])


@cache
def cards() -> Mapping[str, DatasetCard]:
    """Return the cards of cards.toml by name, read once."""
    entries: dict[str, dict[str, Any]] = facts("openworld.datasets.published", "cards.toml")
    return {name: _card(name, entries) for name in entries}


def _card(name: str, entries: Mapping[str, dict[str, Any]]) -> DatasetCard:
    """Return the card of an entry; whatever is a list there is a tuple here."""
    entry = entries.get(entries[name].get("same", ""), {}) | entries[name]
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entry.items() if key != "same"
    }
    for key in ("domains", "across", "alike"):
        listed = fields.get(key, ("",) if key == "domains" else ())
        fields[key] = tuple(own for domain in listed for own in (CONDITIONS if domain == "corruptions" else (domain,)))
    fields["domains"] += tuple(f"{own} {other}" for other in fields.pop("across") for own in fields["domains"])
    fields["files"] = tuple(
        DownloadedFile(file["what"], file["from"], file.get("exact", file.get("about")), "exact" in file)
        for file in fields.get("files", ())
    )
    borrowed = ((f"the data set {other}", entries[other]["files"][0]["from"]) for other in fields.get("needs", ()))
    fields["sources"] = (*((file.what, file.address) for file in fields["files"]), *borrowed)
    fields["counts"] = {part: count or None for part, count in fields.get("counts", {}).items()}
    fields["layout"] = ClassFolders(**fields["layout"]) if "layout" in fields else None
    for kind in ("listed", "sets"):
        named: Any = (dict(own) | {"lists": tuple(own["lists"])} for own in fields.get(kind, ()))
        fields[kind] = {own.pop("name"): ListedSet(**own) for own in named}
    if fields["listed"]:
        fields["counts"] = {part: own.count for part, own in fields["listed"].items()}
        fields["domains"] = ("", *fields["sets"])
    usual: dict[str, Any] = {"name": name, "family": "", "reader": name}
    return DatasetCard(**usual | fields)


PUBLISHED: dict[str, DatasetCard] = {name: card for name, card in cards().items() if card.family == "coop"}
"""Name -> card of a data set in CoOp's layout; the order is that of the papers' tables, then ImageNet's variants."""

SHIFTED: dict[str, DatasetCard] = {name: card for name, card in cards().items() if card.family == "shifted"}
"""Name -> card of a data set of accuracy without labels."""

BENCHMARKS: dict[str, DatasetCard] = {name: card for name, card in cards().items() if card.family == "openood"}
"""Name -> card of a benchmark."""


def find(name: str) -> DatasetCard:
    cards_by_name = PUBLISHED | SHIFTED | BENCHMARKS
    if name not in cards_by_name:
        raise unknown_name("data set to download", name, cards_by_name)
    return cards_by_name[name]


def find_root(root: str | Path | None) -> Path:
    """Return the folder of all data sets: `root`, or what `$OPENWORLD_DATA` names."""
    folder = root or os.environ.get(VARIABLE)
    if not folder:
        raise OpenworldError(
            f"where the data sets lie was not said; name their folder: --data of openworld run, --root of openworld "
            f"data, root in Python, or {VARIABLE} in the environment."
        )
    return Path(folder).expanduser()


def with_needs(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names with all that they need, each once, what is needed before what needs it."""
    every: dict[str, None] = {}
    for name in names:
        every |= dict.fromkeys((*with_needs(cards()[name].needs), name))
    return tuple(every)
