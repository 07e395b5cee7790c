"""The benchmarks of OpenOOD v1.5 (Zhang et al., 2023): in-distribution images, and named sets near and far of them.

OpenOOD's download has its images below images_classic/ and images_largescale/, and says in the lists of
benchmark_imglist/ which of them a benchmark tests on. Both are read where they lie; lists and images stay with those
who publish them. Which set is in which group, and in which list, is that of Jingkang50/OpenOOD
(configs/datasets/*/*_ood.yml and *_fsood.yml, evaluation_api/datasets.py).
"""

import random
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.formats import numbered_list
from openworld.datasets.image_set import ImageSet
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.published import class_folders, downloaded
from openworld.datasets.published.inspection import Inspection, unreadable_images
from openworld.datasets.splits import few_shot

PREFIX = "openood:"
LISTS, LARGE, CLASSIC = "benchmark_imglist", "images_largescale", "images_classic"
CODE = "https://github.com/Jingkang50/OpenOOD"
TAUGHT, CHOSEN, TESTED = "train", "validation", "test"


@dataclass(frozen=True)
class ListedSet:
    """One set of images."""

    title: str  # in papers
    group: str  # "near", "far", "full-spectrum"; "validation", to choose settings on; "id", in distribution
    lists: tuple[str, ...]  # below `LISTS`; the first that is there counts
    images: str  # the folder below which its paths lie
    archive: str  # what OpenOOD's download calls it; its folder below `images`
    count: int | None = None  # how many there should be; None where that is not published

    def list_of(self, place: Path) -> Path:
        """Return the path of its list, whether or not it is there."""
        paths = [place / LISTS / own for own in self.lists]
        return next((path for path in paths if path.is_file()), paths[0])


@dataclass(frozen=True)
class Benchmark:
    """An in-distribution data set, and the sets that are tested beside it."""

    title: str
    classes: int
    parts: dict[str, ListedSet]  # of what is in distribution
    sets: dict[str, ListedSet]  # by name, as OpenOOD calls them

    @property
    def domains(self) -> tuple[str, ...]:
        """What `domain` may be: "" for in-distribution images, or the name of a set."""
        return ("", *self.sets)

    def of_group(self, group: str) -> tuple[str, ...]:
        """Return the names of the sets of a group."""
        return tuple(name for name, card in self.sets.items() if card.group == group)


def _own(folder: str, title: str, images: str, archive: str, *counts: int | None) -> dict[str, ListedSet]:
    short = {TAUGHT: "train", CHOSEN: "val", TESTED: "test"}
    return {
        part: ListedSet(title, "id", (f"{folder}/{own}_{folder}.txt",), images, archive, count)
        for (part, own), count in zip(short.items(), counts, strict=True)
    }


def _of_cifar(folder: str, other: ListedSet) -> dict[str, ListedSet]:
    def listed(title: str, group: str, own: str, archive: str, count: int | None) -> ListedSet:
        return ListedSet(title, group, (f"{folder}/{own}.txt",), CLASSIC, archive, count)

    return {
        other.archive: other,
        "tin": listed("TinyImageNet", "near", "test_tin", "tin", 7793),
        "mnist": listed("MNIST", "far", "test_mnist", "mnist", 70_000),
        "svhn": listed("SVHN", "far", "test_svhn", "svhn", 26_032),
        "texture": listed("Textures", "far", "test_texture", "texture", 5640),
        "places365": listed("Places365", "far", "test_places365", "places365", 35_195),
        "validation": listed("TinyImageNet, validation", "validation", "val_tin", "tin", 1000),
    }


def _of_imagenet(*folders: str) -> dict[str, ListedSet]:
    """The sets beside ImageNet: its 200 classes have lists of their own, or take those of all."""

    def listed(title: str, group: str, own: str, archive: str, count: int, images: str = LARGE) -> ListedSet:
        return ListedSet(title, group, tuple(f"{folder}/{own}.txt" for folder in folders), images, archive, count)

    return {
        "ssb_hard": listed("SSB-hard", "near", "test_ssb_hard", "ssb_hard", 49_000),
        "ninco": listed("NINCO", "near", "test_ninco", "ninco", 5879),
        "inaturalist": listed("iNaturalist", "far", "test_inaturalist", "inaturalist", 10_000),
        "textures": listed("Textures", "far", "test_textures", "texture", 5160, CLASSIC),
        "openimage_o": listed("OpenImage-O", "far", "test_openimage_o", "openimage_o", 15_869),
        "validation": listed("OpenImage-O, validation", "validation", "val_openimage_o", "openimage_o", 1763),
    }


def _shifted(folder: str, stem: str, *counts: int | None) -> dict[str, ListedSet]:
    titles = {"v2": "ImageNet-V2", "c": "ImageNet-C", "r": "ImageNet-R"}
    return {
        f"imagenet_{own}": ListedSet(
            title, "full-spectrum", (f"{folder}/test_{stem}_{own}.txt",), LARGE, f"imagenet_{own}", count
        )
        for (own, title), count in zip(titles.items(), counts, strict=True)
    }


_CIFAR10C = ListedSet("CIFAR-10-C", "full-spectrum", ("cifar10/test_cifar10c.txt",), CLASSIC, "cifar10c")

BENCHMARKS: dict[str, Benchmark] = {
    "openood:cifar10": Benchmark(
        "CIFAR-10",
        10,
        _own("cifar10", "CIFAR-10", CLASSIC, "cifar10", 50_000, 1000, 9000),
        _of_cifar("cifar10", ListedSet("CIFAR-100", "near", ("cifar10/test_cifar100.txt",), CLASSIC, "cifar100", 9000))
        | {"cifar10c": _CIFAR10C},
    ),
    "openood:cifar100": Benchmark(
        "CIFAR-100",
        100,
        _own("cifar100", "CIFAR-100", CLASSIC, "cifar100", 50_000, 1000, 9000),
        _of_cifar("cifar100", ListedSet("CIFAR-10", "near", ("cifar100/test_cifar10.txt",), CLASSIC, "cifar10", 9000)),
    ),
    "openood:imagenet200": Benchmark(
        "ImageNet-200",
        200,
        _own("imagenet200", "ImageNet-200", LARGE, "imagenet_1k", None, 1000, 9000),
        _of_imagenet("imagenet200", "imagenet") | _shifted("imagenet200", "imagenet200", None, None, None),
    ),
    "openood:imagenet": Benchmark(
        "ImageNet",
        1000,
        _own("imagenet", "ImageNet", LARGE, "imagenet_1k", 1_281_167, 5000, 45_000),
        _of_imagenet("imagenet") | _shifted("imagenet", "imagenet", 10_000, 10_000, 30_000),
    ),
}
"""Name -> benchmark."""


def load(
    name: str,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = TESTED,
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """Return in-distribution images of a benchmark (domain "" or None), or one of its sets, which have "test" alone.

    The root is OpenOOD's data folder, or holds it as openood/.
    """
    card, place = find(name, domain or "", part), place_of(root)
    path = require_list(name, card, place)
    found = numbered_list.read(path)
    names = class_names(name, place) if card.group == "id" else ()
    try:
        images = numbered_list.image_set(found, name, place / card.images, names)
    except OpenworldError as error:
        raise OpenworldError(
            f"{card.title} of {name}: {error} Get {card.archive} (OpenOOD's scripts/download/download.py at {CODE} "
            f"knows it by this name) and extract it into {place / card.images / card.archive}."
        ) from error
    if shots is not None:
        images = images.subset(few_shot(images.labels, shots, random.Random(seed)))
    return replace(images, name=name, domain=domain or "")


def find(name: str, domain: str, part: str = TESTED) -> ListedSet:
    """Return what is known of a part of in-distribution images (domain ""), or of a set."""
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    benchmark = BENCHMARKS[name]
    if domain not in benchmark.domains:
        raise unknown_name(f"set of {name}", domain, benchmark.sets)
    parts = {TESTED: benchmark.sets[domain]} if domain else benchmark.parts
    if part not in parts:
        raise unknown_name(f"part of {name}{'/' * bool(domain)}{domain}", part, parts)
    return parts[part]


def place_of(root: str | Path | None) -> Path:
    """Return OpenOOD's data folder: `root`, or openood/ below it."""
    folder = downloaded.find_root(root)
    return folder / "openood" if not (folder / LISTS).is_dir() and (folder / "openood").is_dir() else folder


def require_list(name: str, card: ListedSet, place: Path) -> Path:
    """Return the list of a set."""
    path = card.list_of(place)
    if not path.is_file():
        raise OpenworldError(
            f"{card.title} of {name} is not there: {path} is missing. Get OpenOOD's {LISTS}.zip "
            f"(scripts/download/download.py of {CODE}) and extract it into {place}, or name OpenOOD's data folder as "
            "--root (root in Python and in a spec)."
        )
    return path


def absent(name: str, part: str, root: str | Path | None) -> str:
    """Say why a part of in-distribution images can be taken for not downloaded: "" where its first image is there."""
    card, place = find(name, "", part), place_of(root)
    path = card.list_of(place)
    if not path.is_file():
        return f"{path} is missing"
    first = numbered_list.read(path).paths[0]
    return "" if (place / card.images / first).is_file() else f"{place / card.images / first} is missing"


def class_names(name: str, place: Path) -> tuple[str, ...]:
    """Return names in the order of the numbers, by the folders of the lists; () where they do not tell them."""
    # Folders that are WordNet ids have their names in ImageNet.
    for part in (TESTED, TAUGHT):
        path = find(name, "", part).list_of(place)
        folders = _folders(path, path.stat().st_mtime_ns) if path.is_file() else None
        if folders and len(folders) == BENCHMARKS[name].classes:
            names = class_folders.read_names(class_folders.IMAGENET_NAMES)[0]
            return tuple(readable_class_name(names.get(folder, folder)) for folder in folders)
    return ()


@lru_cache(maxsize=8)
def _folders(path: Path, _changed: int) -> tuple[str, ...] | None:
    return numbered_list.read(path).folders


def check(name: str, root: Path, decoded: bool) -> Inspection:
    """Say what is missing of a benchmark; training images, which few detectors need, are a remark."""
    place, benchmark = place_of(root), BENCHMARKS[name]
    wrong, remarks, counts = [], [], {}
    cards = [(part, "", part, card) for part, card in benchmark.parts.items()]
    cards += [(domain, domain, TESTED, card) for domain, card in benchmark.sets.items()]
    for label, domain, part, card in cards:
        told = remarks if label == TAUGHT else wrong
        try:
            images = load(name, root=root, domain=domain, part=part)
        except OpenworldError as error:
            told.append(str(error))
            continue
        counts[label] = len(images)
        if card.count not in (None, len(images)):
            told.append(f"{label}: {len(images):,} images are listed, expected {card.count:,}; get {LISTS}.zip again.")
        told += [f"{label}: {fault}" for fault in unreadable_images(images.image, len(images))] if decoded else []
    sources = ((f"{LISTS}.zip and the images, by scripts/download/download.py", CODE),)
    found = (benchmark.classes if counts else None), counts
    return Inspection(name, str(place), *found, tuple(wrong), tuple(remarks), sources)
