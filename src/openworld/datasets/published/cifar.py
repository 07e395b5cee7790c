"""CIFAR-10, -100, -10.1 and -10.2 from the files that are published, nothing converted.

CIFAR-10 and -100 (Krizhevsky, 2009, "python version"): pickled dicts whose `data` is uint8[N, 3072], a row a picture,
its red, green and blue planes of 32 x 32 one after the other. CIFAR-10.1 (Recht et al., 2018,
modestyachts/CIFAR-10.1): two .npy, uint8[N, 32, 32, 3] and the labels. CIFAR-10.2 (Lu et al., 2020,
modestyachts/cifar-10.2): an .npz whose `images` is uint8[N, 32, 32, 3].
"""

import zipfile
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld._plain import reading
from openworld.datasets.formats.pickles import read_pickle
from openworld.datasets.formats.pixel_tables import PixelTable
from openworld.datasets.published.corrupted_files import read_array

CIFAR10_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
"""CIFAR-10's classes in label order; those of CIFAR-10.2 too."""

_PLANES = (3, 32, 32)


def read_cifar10(folder: Path, part: str) -> tuple[tuple[str, ...], PixelTable]:
    """Class names and pictures of data_batch_1 to data_batch_5 ("train") or of test_batch ("test")."""
    files = [f"data_batch_{number}" for number in range(1, 6)] if part == "train" else ["test_batch"]
    tables = [_unpickled(folder / file, "labels") for file in files]
    pixels, labels = (np.concatenate([getattr(table, what) for table in tables]) for what in ("pixels", "labels"))
    return CIFAR10_NAMES, PixelTable(folder / files[0], pixels, labels)


def read_cifar100(folder: Path, part: str) -> tuple[tuple[str, ...], PixelTable]:
    """Class names and pictures of the file "train" or "test", with its 100 fine labels."""
    return read_cifar100_names(folder), _unpickled(folder / part, "fine_labels")


def read_cifar100_names(folder: Path) -> tuple[str, ...]:
    """Return the 100 fine classes in label order, of the file "meta"."""
    names = read_pickle(folder / "meta").get("fine_label_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise OpenworldError(f"{folder / 'meta'} has no list of fine_label_names; get it again.")
    return tuple(names)


def read_cifar101(folder: Path, version: str) -> tuple[tuple[str, ...], PixelTable]:
    """Class names and pictures of cifar10.1_VERSION_data.npy, with cifar10.1_VERSION_labels.npy."""
    path = folder / f"cifar10.1_{version}_data.npy"
    labels = read_array(folder / f"cifar10.1_{version}_labels.npy")
    return CIFAR10_NAMES, PixelTable(path, np.array(read_array(path)), np.array(labels))


def read_cifar102(folder: Path, part: str) -> tuple[tuple[str, ...], PixelTable]:
    """Return class names and images of cifar102_train.npz or cifar102_test.npz."""
    path = folder / f"cifar102_{part}.npz"
    damaged = ValueError, KeyError, zipfile.BadZipFile
    with reading(path, "CIFAR-10.2's arrays", *damaged), np.load(path, allow_pickle=False) as held:
        pixels, labels = held["images"], held["labels"]
    return CIFAR10_NAMES, PixelTable(path, pixels, labels)


def _unpickled(path: Path, labels: str) -> PixelTable:
    held = read_pickle(path)
    missing = [key for key in ("data", labels) if key not in held]
    if missing:
        raise OpenworldError(f"{path} has no {missing[0]!r}; it holds {', '.join(sorted(held))}. Get it again.")
    rows = held["data"]
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] != np.prod(_PLANES):
        raise OpenworldError(f"the data of {path} are no rows of 3,072 values; get it again.")
    return PixelTable(path, rows.reshape(-1, *_PLANES).transpose(0, 2, 3, 1), held[labels])
