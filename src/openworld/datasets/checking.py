"""Is a downloaded data set whole? What is missing or wrong about it, in words, and where to get it."""

import glob
import hashlib
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld._plain import is_text
from openworld._types import checked
from openworld.datasets.formats.files import MISSING, FileReader, first, sizes_of
from openworld.datasets.formats.split_files import Split
from openworld.datasets.published.catalogue import PUBLISHED, PublishedSet
from openworld.datasets.published.class_folders import LISTING, ClassFolders
from openworld.datasets.published.downloaded import find, find_root
from openworld.datasets.published.inspection import Inspection, lookalike, missing_folder, unreadable_images
from openworld.datasets.published.openood import BENCHMARKS, LISTS, place_of
from openworld.datasets.published.openood import check as check_benchmark
from openworld.datasets.published.shifted import SHIFTED
from openworld.datasets.published.shifted_check import check_shifted


@checked
def check(name: str, root: str | Path | None = None, *, decoded: bool = False) -> Inspection:
    """Look at a published data set: folder, lists, every picture's presence and size, counts.

    Args:
        name: a key of `published.PUBLISHED`, `shifted.SHIFTED` or `openood.BENCHMARKS`.
        root: the folder of all data sets; None for `$OPENWORLD_DATA`.
        decoded: decode every picture too, which takes as long as encoding them.

    Raises:
        OpenworldError: an unknown name, no root. What is wrong with the data set is returned, not raised.
    """
    if name not in PUBLISHED and name not in SHIFTED and name not in BENCHMARKS:
        raise unknown_name("data set to download", name, [*PUBLISHED, *SHIFTED, *BENCHMARKS])
    if name in BENCHMARKS:
        return check_benchmark(name, find_root(root), decoded)
    if name in SHIFTED:
        return check_shifted(name, SHIFTED[name], find_root(root), decoded)
    card, place = find(name), find_root(root)
    wrong = list(_missing_places(card, place))
    split = None
    if not wrong:
        try:
            split = card.read(place, card.parts)
        except OpenworldError as error:
            wrong.append(str(error))
    if split:
        wrong += [*_picture_faults(card, place, split, decoded), *_count_faults(card, split), *_leaks(split)]
    return Inspection(
        name=name,
        folder=str(place / card.folder),
        classes=len(split.classnames) if split else None,
        pictures={part: len(rows) for part, rows in split.parts.items()} if split else {},
        wrong=tuple(wrong),
        remarks=tuple(_remarks(card, place, split)) if split else (),
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
        places = missing_folder(place_of(root) / LISTS, root)
    else:
        of_shifted = name in SHIFTED
        places = missing_folder(SHIFTED[name].place(root), root) if of_shifted else _missing_places(find(name), root)
    return next(places, "")


def _missing_places(card: PublishedSet, root: Path) -> Iterator[str]:
    """The first folder that is missing, and every list that is."""
    missing, folder = list(missing_folder(root / card.folder, root)), root / card.folder
    yield from missing
    if missing:
        return
    for listing in card.listings:
        shared = listing == LISTING and (root / "imagenet" / LISTING).is_file()
        if not (folder / listing).is_file() and not shared:
            yield f"there is no file {folder / listing}{lookalike(folder, listing)}; see below for where to get it."
    if not (folder / card.images).is_dir():
        yield f"there is no folder {folder / card.images}{lookalike(folder, card.images)}; extract the images there."


def _picture_faults(card: PublishedSet, root: Path, split: Split, decoded: bool) -> Iterator[str]:
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
            yield from (f"{part}: {fault}" for fault in unreadable_images(FileReader(images, paths), len(paths)))


def _deeper(images: Path, path: str) -> str:
    """Where the first missing picture lies instead, if an archive brought a folder of its own along."""
    for depth in ("*", "*/*"):
        found = next(iter(images.glob(f"{depth}/{glob.escape(path)}")), None)
        if found:
            inner = str(found).removesuffix(f"/{path}")
            return f"; they lie in {inner}: move its contents up to {images}"
    return "; extract the archive again"


def _count_faults(card: PublishedSet, split: Split) -> Iterator[str]:
    """Counts that are not the published ones, one sentence each."""
    again = "get the lists again" if not isinstance(card.layout, ClassFolders) else "extract the archive again"
    if len(split.classnames) != card.classes:
        yield f"{len(split.classnames)} classes, expected {card.classes}; {again}."
    for part, rows in split.parts.items():
        if len(rows) != card.pictures[part]:
            yield f"{part}: {len(rows):,} images are listed, expected {card.pictures[part]:,}; {again}."
        without = np.setdiff1d(np.arange(len(split.classnames)), rows.labels)
        if without.size:
            names = [split.classnames[label] for label in without.tolist()]
            yield f"{part}: {len(names)} class(es) have no image, such as {first(names)}; {again}."


def _leaks(split: Split) -> Iterator[str]:
    """Pictures of training that are also validation's or the test's, and pictures listed twice in a part."""
    seen: dict[str, str] = {}
    for part, rows in split.parts.items():
        again = [path for path in rows.paths if path in seen]
        if again:
            yield f"{part}: {len(again):,} image(s) are also in {seen[again[0]]}, such as {first(again)}."
        if len(set(rows.paths)) < len(rows):
            yield f"{part}: {len(rows) - len(set(rows.paths)):,} image(s) are listed more than once."
        seen |= dict.fromkeys(rows.paths, part)


def _remarks(card: PublishedSet, root: Path, split: Split) -> Iterator[str]:
    for listing in card.listings:
        path = root / card.folder / listing
        if path.is_file():
            yield f"{listing} has the SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
        else:
            yield f"{listing} is that of {root / 'imagenet'}"
    yield from split.remarks
