"""Data sets of accuracy without labels: pairs of the same classes under other circumstances, read from local files.

They are those of "Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), Table 1, besides
ImageNet and its variants (`published`): a model is judged on one and estimated on another, or on another domain or
part. Every file is read as it is published; nothing is downloaded or converted.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import _files, _pixel_tables, breeds, cifar, digits, downloaded, fmow
from openworld.datasets.image_set import ImageSet
from openworld.datasets.split_files import Split
from openworld.datasets.splits import few_shot


@dataclass(frozen=True)
class ShiftedSet:
    """One data set to download.

    Args:
        title: its name in papers.
        what: its classes, in a few words.
        folder: its place below the folder of all data sets.
        classes: how many there should be.
        pictures: part -> how many there should be in the first domain; None where that is not published.
        sources: (what, address) of everything to download.
        read: (folder of all data sets, own folder, domain, part) -> image set of that name.
        domains: what `domain` may be, the default first.
        group_name: what pictures of one group share; "" where all are independent.
    """

    title: str
    what: str
    folder: str
    classes: int
    pictures: dict[str, int | None]
    sources: tuple[tuple[str, str], ...]
    read: Callable[[Path, Path, str, str], ImageSet]
    domains: tuple[str, ...] = ("",)
    group_name: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts it has."""
        return tuple(self.pictures)


def load(
    name: str,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """A part of one of these data sets.

    Args:
        name: a key of SHIFTED.
        root: the folder of all data sets; None for `$OPENWORLD_DATA`.
        domain: of the data set's domains: a region of FMoW, "source" or "target" of BREEDS; None for the first.
        part: one of the data set's parts.
        shots: so many pictures per class (`splits.few_shot`); None for all.
        seed: of that draw.

    Raises:
        OpenworldError: an unknown name, domain or part, no root, files that are missing or not as expected.
    """
    if name not in SHIFTED:
        raise unknown_name("data set to download", name, SHIFTED)
    card, folder = SHIFTED[name], downloaded.find_root(root)
    domain = card.domains[0] if domain is None else domain
    for kind, value, known in (("domain", domain, card.domains), ("part", part, card.parts)):
        if value not in known:
            raise unknown_name(f"{kind} of {name}", value, [one or "''" for one in known])
    if not (folder / card.folder).is_dir():
        raise OpenworldError(
            f"there is no folder {folder / card.folder}; openworld data check {name} --root {folder} says what to "
            "download and where to put it."
        )
    images = card.read(folder, folder / card.folder, domain, part)
    if shots is not None:
        images = images.subset(few_shot(images.labels, shots, random.Random(seed)))
    return replace(images, name=name, domain=domain)


def _table(reader: Callable, root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    """Of a data set that is one array of pictures."""
    names, table = reader(folder, part)
    return _pixel_tables.image_set(folder.name, names, table)


def _read_fmow(root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    return _files.image_set("fmow", folder, fmow.NAMES, fmow.read_fmow(folder, part, domain))


def _read_breeds(task: str, root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    return breeds_pictures(task, root, domain, part)


def breeds_pictures(
    task: str, root: str | Path | None, domain: str, part: str = "test", *, over: str = "imagenet"
) -> ImageSet:
    """The pictures of a BREEDS task, out of ImageNet or a variant that has all classes.

    Args:
        task: a key of `breeds.TASKS`.
        root: the folder of all data sets; None for `$OPENWORLD_DATA`.
        domain: "source", the subclasses that training shows, or "target", the others.
        part: of `over`.
        over: "imagenet", "imagenetv2" or "imagenet-sketch".

    Raises:
        OpenworldError: an unknown name, files that are missing or not as expected.
    """
    for kind, value, known in (("BREEDS task", task, breeds.TASKS), ("domain", domain, breeds.DOMAINS)):
        if value not in known:
            raise unknown_name(kind, value, known)
    folder, card = downloaded.find_root(root), downloaded.find(over)
    every: Split = downloaded.read(over, folder, (part,))
    hierarchy = breeds.Hierarchy(folder / _BREEDS_FOLDER)
    found = breeds.superclass_rows(breeds.TASKS[task], hierarchy, domain, every, part)
    return _files.image_set(task, folder / card.folder / card.images, found.classnames, found.parts[part])


_BREEDS_FOLDER = "breeds"
_BREEDS_FILES = (
    (
        "class_hierarchy.txt, node_names.txt and dataset_class_info.json",
        "https://github.com/MadryLab/BREEDS-Benchmarks",
    ),
    ("the pictures: the data set imagenet", "https://image-net.org"),
)


def _breeds(task: str, title: str, what: str, classes: int, tested: int) -> ShiftedSet:
    return ShiftedSet(
        title=title,
        what=what,
        folder=_BREEDS_FOLDER,
        classes=classes,
        pictures={"train": None, "test": tested},
        sources=_BREEDS_FILES,
        read=partial(_read_breeds, task),
        domains=breeds.DOMAINS,
    )


_CIFAR = "https://www.cs.toronto.edu/~kriz/cifar.html"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps"

SHIFTED: dict[str, ShiftedSet] = {
    "cifar10": ShiftedSet(
        title="CIFAR-10",
        what="small photos of animals and vehicles",
        folder="cifar-10-batches-py",
        classes=10,
        pictures={"train": 50_000, "test": 10_000},
        sources=(("cifar-10-python.tar.gz", _CIFAR),),
        read=partial(_table, cifar.read_cifar10),
    ),
    "cifar10.2": ShiftedSet(
        title="CIFAR-10.2",
        what="CIFAR-10 again, from the same source",
        folder="cifar-10.2",
        classes=10,
        pictures={"train": 10_000, "test": 2000},
        sources=(("cifar102_train.npz and cifar102_test.npz", "https://github.com/modestyachts/cifar-10.2"),),
        read=partial(_table, cifar.read_cifar102),
    ),
    "cifar100": ShiftedSet(
        title="CIFAR-100",
        what="small photos of all kinds",
        folder="cifar-100-python",
        classes=100,
        pictures={"train": 50_000, "test": 10_000},
        sources=(("cifar-100-python.tar.gz", _CIFAR),),
        read=partial(_table, cifar.read_cifar100),
    ),
    "mnist": ShiftedSet(
        title="MNIST",
        what="handwritten digits",
        folder="mnist",
        classes=10,
        pictures={"train": 60_000, "test": 10_000},
        sources=(("the four files, packed or not", "http://yann.lecun.com/exdb/mnist"),),
        read=partial(_table, digits.read_mnist),
    ),
    "qmnist": ShiftedSet(
        title="QMNIST",
        what="MNIST made again, with its lost digits and all writers",
        folder="qmnist",
        classes=10,
        pictures={"train": 60_000, "test": 60_000},
        sources=(
            (
                "qmnist-{train,test}-images-idx3-ubyte.gz and qmnist-{train,test}-labels-idx2-int.gz",
                "https://github.com/facebookresearch/qmnist",
            ),
        ),
        read=partial(_table, digits.read_qmnist),
        group_name="writer",
    ),
    "usps": ShiftedSet(
        title="USPS",
        what="digits from envelopes",
        folder="usps",
        classes=10,
        pictures={"train": 7291, "test": 2007},
        sources=(("usps.bz2 and usps.t.bz2", _LIBSVM),),
        read=partial(_table, digits.read_usps),
    ),
    "svhn": ShiftedSet(
        title="SVHN",
        what="house numbers, digit by digit",
        folder="svhn",
        classes=10,
        pictures={"train": 73_257, "test": 26_032},
        sources=(("train_32x32.mat and test_32x32.mat", "http://ufldl.stanford.edu/housenumbers"),),
        read=partial(_table, digits.read_svhn),
    ),
    "fmow": ShiftedSet(
        title="FMoW",
        what="use of land from above, by years and regions",
        folder="fmow_v1.1",
        classes=62,
        pictures={"train": 76_863, "validation": 11_483, "id_test": 11_327, "ood_validation": 19_915, "test": 22_108},
        sources=(("fmow_v1.1", "https://wilds.stanford.edu/datasets"),),
        read=_read_fmow,
        domains=("", *fmow.REGIONS),
    ),
    "entity13": _breeds("entity13", "Entity-13", "ImageNet's things, sorted coarsely", 13, 6500),
    "entity30": _breeds("entity30", "Entity-30", "ImageNet's things, sorted finely", 30, 6000),
    "living17": _breeds("living17", "Living-17", "ImageNet's animals", 17, 1700),
    "nonliving26": _breeds("nonliving26", "Nonliving-26", "ImageNet's things that do not live", 26, 2600),
}
"""Name -> what is known of the data set."""
