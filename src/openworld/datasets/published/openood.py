"""The benchmarks of OpenOOD v1.5 (Zhang et al., 2023): in-distribution images, and named sets near and far of them.

OpenOOD's download has its images below images_classic/ and images_largescale/, and says in the lists of
benchmark_imglist/ which of them a benchmark tests on. Both are read where they lie; lists and images stay with those
who publish them. Which set is in which group, and in which list, says the card of a benchmark.
"""

from functools import lru_cache
from pathlib import Path

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.formats import numbered_list
from openworld.datasets.image_set import ImageSet
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.published import class_folders
from openworld.datasets.published.catalogue import BENCHMARKS, ListedSet, find_root

PREFIX = "openood:"
LISTS = "benchmark_imglist"
CODE = "https://github.com/Jingkang50/OpenOOD"
TAUGHT, CHOSEN, TESTED = "train", "validation", "test"


def read(name: str, root: str | Path | None, domain: str, part: str = TESTED) -> ImageSet:
    """Return in-distribution images of a benchmark (domain ""), or one of its sets, which have "test" alone."""
    card, place = find(name, domain, part), place_of(root)
    path = list_of(card, place)
    if not path.is_file():
        raise OpenworldError(
            f"{card.title} of {name} is not there: {path} is missing. Get OpenOOD's {LISTS}.zip "
            f"(scripts/download/download.py of {CODE}) and extract it into {place}, or name OpenOOD's data folder as "
            "--root (root in Python and in a spec)."
        )
    listed = numbered_list.read(path)
    names = class_names(name, place) if card.group == "id" else ()
    try:
        return numbered_list.image_set(listed, name, place / card.images, names)
    except OpenworldError as error:
        raise OpenworldError(
            f"{card.title} of {name}: {error} Get {card.archive} (OpenOOD's scripts/download/download.py at {CODE} "
            f"knows it by this name) and extract it into {place / card.images / card.archive}."
        ) from error


def find(name: str, domain: str, part: str = TESTED) -> ListedSet:
    """Return what is known of a part of in-distribution images (domain ""), or of a set."""
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    benchmark = BENCHMARKS[name]
    if domain not in benchmark.domains:
        raise unknown_name(f"set of {name}", domain, benchmark.sets)
    parts = {TESTED: benchmark.sets[domain]} if domain else benchmark.listed
    if part not in parts:
        raise unknown_name(f"part of {name}/{domain}" if domain else f"part of {name}", part, parts)
    return parts[part]


def list_of(card: ListedSet, place: Path) -> Path:
    paths = [place / LISTS / name for name in card.lists]
    return next((path for path in paths if path.is_file()), paths[0])


def place_of(root: str | Path | None) -> Path:
    """Return OpenOOD's data folder: `root`, or openood/ below it."""
    folder = find_root(root)
    return folder / "openood" if not (folder / LISTS).is_dir() and (folder / "openood").is_dir() else folder


def absent(name: str, part: str, root: str | Path | None) -> str:
    """Say why a part of in-distribution images can be taken for not downloaded: "" where its first image is there."""
    card, place = find(name, "", part), place_of(root)
    path = list_of(card, place)
    if not path.is_file():
        return f"{path} is missing"
    first = numbered_list.read(path)[0][0]
    return "" if (place / card.images / first).is_file() else f"{place / card.images / first} is missing"


def class_names(name: str, place: Path) -> tuple[str, ...]:
    """Return names in the order of the numbers, by the folders of the lists; () where they do not tell them."""
    # Folders that are WordNet ids have their names in ImageNet.
    for part in (TESTED, TAUGHT):
        path = list_of(find(name, "", part), place)
        folders = _folders(path, path.stat().st_mtime_ns) if path.is_file() else None
        if folders and len(folders) == BENCHMARKS[name].classes:
            names = class_folders.read_names(class_folders.IMAGENET_NAMES)[0]
            return tuple(readable_class_name(names.get(folder, folder)) for folder in folders)
    return ()


@lru_cache(maxsize=8)
def _folders(path: Path, _changed: int) -> tuple[str, ...] | None:
    return numbered_list.folders_of(numbered_list.read(path))
