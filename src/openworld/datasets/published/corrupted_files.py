"""Pictures that were published corrupted: CIFAR-10-C and CIFAR-100-C, in arrays, and ImageNet-C, in folders.

Of Hendrycks and Dietterich (2019). CIFAR-10-C holds a file CORRUPTION.npy per corruption, uint8[50000, 32, 32, 3], the
10,000 test pictures of CIFAR in severity 1, then in severity 2, and so on; labels.npy holds their labels, int[50000].
ImageNet-C holds a folder per corruption, in it one per severity, in it one per class. The same corruptions of any
pictures, made here: `openworld.datasets.corruptions`.
"""

from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld._plain import facts, reading
from openworld.datasets.formats.pixel_tables import PixelTable
from openworld.datasets.formats.split_files import Split
from openworld.datasets.published.class_folders import ClassFolders, read_class_folders

NAMES = tuple(facts("openworld.datasets", "corruptions/parameters.toml"))
"""The corruptions that are published, the first keys of `corruptions.CORRUPTIONS`; importing that takes a while."""

_SEVERITIES = 5
CONDITIONS = tuple(f"{name} {severity}" for name in NAMES for severity in range(1, _SEVERITIES + 1))
"""Such as "fog 3": domains of these data sets, called as `corruptions.corrupted` calls them."""


def read_cifar_c(folder: Path, condition: str) -> PixelTable:
    """Return the images of one corruption in one severity, of CORRUPTION.npy and labels.npy."""
    name, severity = condition.split(" ")
    path = folder / f"{name}.npy"
    pictures, labels = read_array(path), read_array(folder / "labels.npy")
    each, rest = divmod(len(labels), _SEVERITIES)
    if rest or len(pictures) != len(labels):
        raise OpenworldError(
            f"{path} holds {len(pictures):,} images and labels.npy {len(labels):,} labels, expected as many of both "
            "and five severities; get them again."
        )
    rows = slice((int(severity) - 1) * each, int(severity) * each)
    return PixelTable(path, np.array(pictures[rows]), np.array(labels[rows]))


def read_imagenet_c(folder: Path, condition: str) -> Split:
    """The pictures of one corruption in one severity, as ClassFolders' `read_class_folders`."""
    return read_class_folders(folder, folder, ClassFolders({"test": condition.replace(" ", "/")}), ("test",))


def read_array(path: Path) -> np.ndarray:
    """Return an array of a .npy file, left on disk until it is looked at."""
    with reading(path, "an array", ValueError):
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(found, np.ndarray) or not found.ndim:
        raise OpenworldError(f"{path} holds no array; get it again.")
    return found
