"""Is a downloaded data set whole? What is missing or wrong about it, in words, and where to get it."""

import glob
import hashlib
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import is_text
from openworld.core.types import checked
from openworld.datasets.formats.files import MISSING, FileReader, Split, first, sizes_of
from openworld.datasets.published.catalogue import (
    BENCHMARKS,
    PUBLISHED,
    PUBLISHED_CORRUPTIONS,
    SHIFTED,
    DatasetCard,
    find,
    find_root,
)
from openworld.datasets.published.class_folders import LISTING
from openworld.datasets.published.downloaded import load
from openworld.datasets.published.openood import LISTS, TAUGHT, TESTED, place_of


@dataclass(frozen=True)
class Inspection:
    """What was found of one data set."""

    name: str
    folder: str  # where it was looked for
    classes: int | None  # how many its lists name; None where they could not be read
    counts: dict[str, int]  # part -> how many images its lists name, whether or not they are there
    wrong: tuple[str, ...]  # a sentence per fault, with what to do; none: the data set may be used
    remarks: tuple[str, ...]  # worth knowing, and no fault
    sources: tuple[tuple[str, str], ...]  # (what, address) of everything to download

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


@checked
def check(name: str, root: str | Path | None = None, *, decoded: bool = False) -> Inspection:
    """Look at a published data set: folder, lists, every image's presence and size, counts.

    Args:
        name: of `DATASETS`, one that is to be downloaded.
        root: the folder of all data sets; None for `$OPENWORLD_DATA`.
        decoded: decode every image too, which takes as long as encoding them.

    Raises:
        OpenworldError: an unknown name, no root. What is wrong with the data set is returned, not raised.
    """
    card, place = find(name), find_root(root)
    if not card.has_lists:
        return _check_loaded(card, place, decoded)
    wrong = list(_missing_places(card, place))
    split, remarks = None, []
    if not wrong:
        try:
            split = card.split(place, card.parts)
        except OpenworldError as error:
            wrong.append(str(error))
    if split:
        wrong += _faults(card, place, split, decoded)
        for listing in card.listings:
            path, shared = place / card.folder / listing, place / "imagenet"
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            remarks.append(f"{listing} has the SHA-256 {digest}" if digest else f"{listing} is that of {shared}")
        remarks += split.remarks
    return Inspection(
        name=name,
        folder=str(place / card.folder),
        classes=len(split.classnames) if split else None,
        counts={part: len(rows) for part, rows in split.parts.items()} if split else {},
        wrong=tuple(wrong),
        remarks=tuple(remarks),
        sources=card.sources,
    )


@checked
def require_places(names: Iterable[str], root: str | Path | None = None) -> None:
    """Refuse to begin while the folder or a list of a data set to download is missing; images are not looked at.

    Data sets that need no download are passed over; `root` as for `check`. Raises OpenworldError with what is missing
    of each, and the command that says where to get it.
    """
    wanted = [name for name in dict.fromkeys(names) if name in PUBLISHED or name in SHIFTED or name in BENCHMARKS]
    if not wanted:
        return
    place = find_root(root)
    missing = {name: fault for name in wanted if (fault := first_missing(name, place))}
    if missing:
        listed = "".join(f"\n- {name}: {fault}" for name, fault in missing.items())
        raise OpenworldError(
            f"{len(missing)} of {len(wanted)} data sets to download are not ready:{listed}\nopenworld data check "
            f"{' '.join(missing)} --root {shlex.quote(str(place))} says all that is missing and where to get it."
        )


def first_missing(name: str, root: Path) -> str:
    """Return in a sentence what a data set to download lacks first, a folder or a list; "" if it lacks none."""
    if name in BENCHMARKS:
        places = _missing_folder(place_of(root) / LISTS, root)
    else:
        card = find(name)
        places = _missing_places(card, root) if card.has_lists else _missing_folder(card.folder_in(root), root)
    return next(places, "")


def lacking_corruptions(name: str, root: Path) -> tuple[str, ...]:
    """Return the published corruptions that a folder lacks in any severity: all where it is not there at all."""
    folder = find(name).folder_in(root)
    if not folder.is_dir():
        return PUBLISHED_CORRUPTIONS
    if name.startswith("cifar"):
        labelled = (folder / "labels.npy").is_file()
        return tuple(
            corruption
            for corruption in PUBLISHED_CORRUPTIONS
            if not (labelled and (folder / f"{corruption}.npy").is_file())
        )
    places = (folder, folder.parent / f"{folder.name}-extra")
    there = {
        corruption
        for corruption in PUBLISHED_CORRUPTIONS
        if all(any((place / corruption / str(severity)).is_dir() for place in places) for severity in range(1, 6))
    }
    return tuple(corruption for corruption in PUBLISHED_CORRUPTIONS if corruption not in there)


def _check_loaded(card: DatasetCard, root: Path, decoded: bool) -> Inspection:
    """A data set without lists is whole if every part can be read and holds as many images as published.

    Of a benchmark, whatever is wrong with training images, which few detectors need, is a remark.
    """
    if card.family == "openood":
        folder, again = place_of(root), f"get {LISTS}.zip again"
        sets = [(part, "", part, own.count) for part, own in card.listed.items()]
        sets += [(domain, domain, TESTED, own.count) for domain, own in card.sets.items()]
    else:
        folder, again = card.folder_in(root), "get the files again"
        if missing := tuple(_missing_folder(folder, root)):
            return Inspection(card.name, str(folder), None, {}, missing, (), card.sources)
        domains = card.alike or card.domains[:1]
        sets = [
            (f"{domain if card.alike else ''} {part}".strip(), domain, part, count)
            for domain, (part, count) in product(domains, card.counts.items())
        ]

    faults: dict[str, list[str]] = {}
    counts, classes = {}, set()
    for where, domain, part, expected in sets:
        problems = []
        try:
            images = load(card.name, root=root, domain=domain, part=part)
        except OpenworldError as error:
            problems.append(str(error))
        else:
            counts[where] = len(images)
            classes.add(card.classes if card.sets else len(images.classnames))  # sets beside it have other classes
            if expected not in (None, len(images)):
                problems.append(f"{len(images):,} images are there, expected {expected:,}; {again}.")
            problems += _unreadable(images.image, len(images)) if decoded else ()
        for fault in problems:
            faults.setdefault(fault, []).append(where)

    sentences: dict[bool, list[str]] = {True: [], False: []}
    for fault, places in faults.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        sentences[bool(card.sets) and places[0] == TAUGHT].append(f"{places[0]}{more}: {fault}")
    wrong = sentences[False]
    if classes - {card.classes}:
        wrong.append(f"{max(classes - {card.classes})} classes, expected {card.classes}; {again}.")
    count = max(classes, default=None)
    return Inspection(card.name, str(folder), count, counts, tuple(wrong), tuple(sentences[True]), card.sources)


def _missing_places(card: DatasetCard, root: Path) -> Iterator[str]:
    folder = root / card.folder
    yield from (missing := list(_missing_folder(folder, root)))
    for listing in card.listings if not missing else ():
        shared = listing == LISTING and (root / "imagenet" / LISTING).is_file()
        if not (folder / listing).is_file() and not shared:
            yield f"there is no file {folder / listing}{_lookalike(folder, listing)}; see below for where to get it."
    if not missing and not (folder / card.images).is_dir():
        yield f"there is no folder {folder / card.images}{_lookalike(folder, card.images)}; extract the images there."


def _faults(card: DatasetCard, root: Path, split: Split, decoded: bool) -> Iterator[str]:
    images = root / card.folder / card.images
    for part, rows in split.parts.items():
        unreadable = [path for path in rows.paths if not is_text(path)]
        if unreadable:
            yield f"{part}: {len(unreadable):,} file names are not UTF-8, such as {first(unreadable)}; rename them."
        sizes = np.array(sizes_of(images, rows.paths), dtype=np.int64)
        gone = [rows.paths[index] for index in np.flatnonzero(sizes == MISSING).tolist()]
        if gone:
            yield (
                f"{part}: {len(gone):,} of {len(rows):,} images are missing under {images}, "
                f"such as {first(gone)}{_deeper(images, gone[0])}."
            )
        empty = [rows.paths[index] for index in np.flatnonzero(sizes == 0).tolist()]
        if empty:
            yield f"{part}: {len(empty):,} image(s) are empty files, such as {first(empty)}; extract them again."
        if decoded:
            paths = tuple(rows.paths[index] for index in np.flatnonzero(sizes > 0).tolist())
            yield from (f"{part}: {fault}" for fault in _unreadable(FileReader(images, paths), len(paths)))

    # Counts that are not the published ones.
    again = "get the lists again" if card.layout is None else "extract the archive again"
    if len(split.classnames) != card.classes:
        yield f"{len(split.classnames)} classes, expected {card.classes}; {again}."
    for part, rows in split.parts.items():
        if len(rows) != card.counts[part]:
            yield f"{part}: {len(rows):,} images are listed, expected {card.counts[part]:,}; {again}."
        without = np.setdiff1d(np.arange(len(split.classnames)), rows.labels)
        if without.size:
            names = [split.classnames[label] for label in without.tolist()]
            yield f"{part}: {len(names)} class(es) have no image, such as {first(names)}; {again}."

    # Images of training that are also validation's or the test's, and images listed twice in a part.
    seen: dict[str, str] = {}
    for part, rows in split.parts.items():
        again = [path for path in rows.paths if path in seen]
        if again:
            yield f"{part}: {len(again):,} image(s) are also in {seen[again[0]]}, such as {first(again)}."
        if len(set(rows.paths)) < len(rows):
            yield f"{part}: {len(rows) - len(set(rows.paths)):,} image(s) are listed more than once."
        seen |= dict.fromkeys(rows.paths, part)


def _deeper(images: Path, path: str) -> str:
    """Where the first missing image lies instead, if an archive brought a folder of its own along."""
    for depth in ("*", "*/*"):
        match = next(iter(images.glob(f"{depth}/{glob.escape(path)}")), None)
        if match:
            inner = str(match).removesuffix(f"/{path}")
            return f"; they lie in {inner}: move its contents up to {images}"
    return "; extract the archive again"


def _missing_folder(place: Path, root: Path) -> Iterator[str]:
    """The folder of all data sets or that of one of them, if it is missing."""
    if not root.is_dir():
        yield f"there is no folder {root}; give the folder that holds the data sets."
    elif not place.is_dir():
        yield f"there is no folder {place}{_lookalike(root, place.name)}."


def _unreadable(read: Callable[[int], object], count: int) -> Iterator[str]:
    """How many of so many images cannot be read, and why the first cannot, if there is any."""
    faults = []
    for index in range(count):
        try:
            read(index)
        except OpenworldError as error:
            faults.append(str(error))
    if faults:
        yield f"{len(faults):,} of {count:,} images cannot be read, such as: {faults[0]}"


def _lookalike(folder: Path, name: str) -> str:
    """What lies there under the same name but for case, punctuation and a plural; no other name is worth a guess."""

    def letters(text: str) -> str:
        return re.sub(r"[\W_]", "", text.casefold()).rstrip("s")

    alike = [entry for entry in sorted(os.listdir(folder)) if letters(entry) == letters(name)]
    return f", but a {alike[0]}: rename it, or link to it" if alike else ""
