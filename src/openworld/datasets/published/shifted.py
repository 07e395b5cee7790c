"""Data sets of accuracy without labels: pairs of the same classes under other circumstances, read from local files.

They are those of "Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), Table 1; ImageNet's
are told in `imagenet_shifts`, the others here. A model is judged on one and estimated on another, or on another domain
or part. Every file is read as it is published; nothing is downloaded or converted.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.formats import files, pixel_tables
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published import corrupted_files, downloaded, fmow, small_images
from openworld.datasets.published.downloads import sources_of
from openworld.datasets.published.imagenet_shifts import IMAGENET_SHIFTS
from openworld.datasets.published.shifted_set import ShiftedSet
from openworld.datasets.published.tiny_imagenet import TINY
from openworld.datasets.splits import few_shot


def load(
    name: str,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """Return a part of one of these data sets; the options are those of `datasets.load`.

    Domains are a region of FMoW, "source" or "target" of BREEDS, "fog 3" of CIFAR-10-C (an underscore or a space in
    "gaussian_noise 3"), a variant or a corruption for ImageNet-200; None is the first. Raises OpenworldError for an
    unknown name, domain or part, no root, files that are missing or not as expected.
    """
    if name not in SHIFTED:
        raise unknown_name("data set to download", name, SHIFTED)
    card, folder = SHIFTED[name], downloaded.find_root(root)
    by_page = {one.replace("_", " "): one for one in card.domains}  # pages write spaces
    domain = card.domains[0] if domain is None else by_page.get(domain.replace("_", " "), domain)
    for kind, value, known in (("domain", domain, card.domains), ("part", part, card.parts)):
        if value not in known:
            raise unknown_name(f"{kind} of {name}", value, [one or "''" for one in known])
    if not card.place(folder).is_dir():
        raise OpenworldError(
            f"there is no folder {card.place(folder)}; openworld data check {name} --root {folder} says what to "
            "download and where to put it."
        )
    images = card.read(folder, card.place(folder), domain, part)
    if shots is not None:
        images = images.subset(few_shot(images.labels, shots, random.Random(seed)))
    return replace(images, name=name, domain=domain)


def _table(reader: Callable, root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    """Of a data set that is one array of pictures."""
    names, table = reader(folder, part)
    return pixel_tables.image_set(folder.name, names, table)


def _read_fmow(root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    return files.image_set("fmow", folder, fmow.NAMES, fmow.read_fmow(folder, part, domain))


def _read_cifar101(root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    names, table = small_images.read_cifar101(folder, domain)
    return pixel_tables.image_set("cifar10.1", names, table)


def _read_cifar_c(clean: str, root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    names = small_images.CIFAR10_NAMES
    if clean == "cifar100":
        names = small_images.read_cifar100_names(SHIFTED[clean].place(root))
    return pixel_tables.image_set(folder.name, names, corrupted_files.read_cifar_c(folder, domain))


def _cifar_c(clean: str, title: str, folder: str, classes: int) -> ShiftedSet:
    return ShiftedSet(
        title=title,
        what=f"{title[:-2]}'s test images, corrupted",
        folder=folder,
        classes=classes,
        pictures={"test": 10_000},
        sources=sources_of(f"{clean}-c"),
        read=partial(_read_cifar_c, clean),
        domains=corrupted_files.CONDITIONS,
        alike=corrupted_files.CONDITIONS,
    )


SHIFTED: dict[str, ShiftedSet] = {
    "cifar10": ShiftedSet("CIFAR-10", "small photos of animals and vehicles", "cifar-10-batches-py", classes=10,
        pictures={"train": 50_000, "test": 10_000}, sources=sources_of("cifar10"),
        read=partial(_table, small_images.read_cifar10)),
    "cifar10.1": ShiftedSet("CIFAR-10.1", "CIFAR-10 again, from the same source", "cifar-10.1", classes=10,
        pictures={"test": 2000}, sources=sources_of("cifar10.1"), read=_read_cifar101, domains=("v6", "v4")),
    "cifar10.2": ShiftedSet("CIFAR-10.2", "CIFAR-10 again, from the same source", "cifar-10.2", classes=10,
        pictures={"train": 10_000, "test": 2000}, sources=sources_of("cifar10.2"),
        read=partial(_table, small_images.read_cifar102)),
    "cifar100": ShiftedSet("CIFAR-100", "small photos of all kinds", "cifar-100-python", classes=100,
        pictures={"train": 50_000, "test": 10_000}, sources=sources_of("cifar100"),
        read=partial(_table, small_images.read_cifar100)),
    "cifar10-c": _cifar_c("cifar10", "CIFAR-10-C", "CIFAR-10-C", 10),
    "cifar100-c": _cifar_c("cifar100", "CIFAR-100-C", "CIFAR-100-C", 100),
    "mnist": ShiftedSet("MNIST", "handwritten digits", "mnist", classes=10,
        pictures={"train": 60_000, "test": 10_000}, sources=sources_of("mnist"),
        read=partial(_table, small_images.read_mnist), also=("MNIST/raw", "mnist/raw")),
    "qmnist": ShiftedSet("QMNIST", "MNIST made again, with its lost digits and all writers", "qmnist", classes=10,
        pictures={"train": 60_000, "test": 60_000}, sources=sources_of("qmnist"),
        read=partial(_table, small_images.read_qmnist), also=("QMNIST/raw", "qmnist/raw"), group_name="writer"),
    "usps": ShiftedSet("USPS", "digits from envelopes", "usps", classes=10, pictures={"train": 7291, "test": 2007},
        sources=sources_of("usps"), read=partial(_table, small_images.read_usps), also=("USPS",), loose="usps.t.bz2"),
    "svhn": ShiftedSet("SVHN", "house numbers, digit by digit", "svhn", classes=10,
        pictures={"train": 73_257, "test": 26_032}, sources=sources_of("svhn"),
        read=partial(_table, small_images.read_svhn), also=("SVHN",), loose="test_32x32.mat"),
    "fmow": ShiftedSet("FMoW", "use of land from above, by years and regions", "fmow_v1.1", classes=62,
        pictures={"train": 76_863, "validation": 11_483, "id_test": 11_327, "ood_validation": 19_915, "test": 22_108},
        sources=sources_of("fmow"), read=_read_fmow, domains=("", *fmow.REGIONS)),
} | (IMAGENET_SHIFTS | TINY)  # fmt: skip
"""Name -> what is known of the data set."""
