"""Small images as they are published, nothing converted: CIFAR-10, -100, -10.1 and -10.2, MNIST, QMNIST, USPS and SVHN.

CIFAR-10 and -100 (Krizhevsky, 2009) are pickled dicts whose `data` is uint8[N, 3072], a row an image, its planes one
after the other; CIFAR-10.1 (Recht et al., 2018) .npy, CIFAR-10.2 (Lu et al., 2020) .npz. MNIST (LeCun et al., 1998) and
QMNIST (Yadav and Bottou, 2019, facebookresearch/qmnist @ 07245c9) are IDX files, packed (.gz) or not; USPS (Hull, 1994)
is libsvm text in bzip2, as torchvision reads it; SVHN (Netzer et al., 2011) is MATLAB 5.
"""

import bz2
import struct
import zipfile
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld._plain import reading
from openworld.datasets.formats.pickles import read_pickle
from openworld.datasets.formats.pixel_tables import PixelTable, read_bytes, unpacked
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


DIGITS = tuple("0123456789")
"""Class names in label order."""

_IDX_TYPES = {0x08: np.dtype("u1"), 0x0C: np.dtype(">i4")}
_QMNIST_LABEL, _QMNIST_WRITER = 0, 2
_USPS_SIDE = 16


def read_mnist(folder: Path, part: str) -> tuple[tuple[str, ...], PixelTable]:
    """The ten digits and pictures of train-... or t10k-images-idx3-ubyte."""
    stem = {"train": "train", "test": "t10k"}[part]
    pictures = folder / f"{stem}-images-idx3-ubyte"
    return DIGITS, PixelTable(pictures, read_idx(pictures), read_idx(folder / f"{stem}-labels-idx1-ubyte"))


def read_qmnist(folder: Path, part: str) -> tuple[tuple[str, ...], PixelTable]:
    """Return the ten digits and images of qmnist-{part}-images-idx3-ubyte; a group is a writer."""
    # Its first 10,000 test images are MNIST's test over again.
    pictures, labels = folder / f"qmnist-{part}-images-idx3-ubyte", folder / f"qmnist-{part}-labels-idx2-int"
    rows = read_idx(labels)
    if rows.ndim != 2 or rows.shape[1] != 8:
        raise OpenworldError(f"{labels} holds labels {list(rows.shape)}, expected eight numbers a digit; get it again.")
    rows = rows.astype(np.int64)
    return DIGITS, PixelTable(pictures, read_idx(pictures), rows[:, _QMNIST_LABEL], rows[:, _QMNIST_WRITER])


def read_idx(path: Path) -> np.ndarray:
    """Return the array of an IDX file of bytes or 32-bit integers, packed or not."""
    held = read_bytes(path)
    if len(held) < 4 or held[:2] != b"\0\0" or held[2] not in _IDX_TYPES:
        raise OpenworldError(f"{path} is no IDX file of bytes or integers; it begins with {held[:4].hex()}.")
    kind, dimensions = _IDX_TYPES[held[2]], held[3]
    start = 4 + 4 * dimensions
    shape = struct.unpack(f">{dimensions}I", held[4:start]) if len(held) >= start else ()
    expected = start + kind.itemsize * int(np.prod(shape, dtype=object))
    if len(held) != expected:
        raise OpenworldError(f"{path} holds {len(held):,} bytes, expected {expected:,}; it was cut, get it again.")
    return np.frombuffer(held, kind, offset=start).reshape(shape)


def read_usps(folder: Path, part: str) -> tuple[tuple[str, ...], PixelTable]:
    """Return the ten digits and images of usps.bz2 ("train") or usps.t.bz2 ("test")."""
    path = folder / {"train": "usps.bz2", "test": "usps.t.bz2"}[part]
    with reading(path, "text in bzip2", ValueError), bz2.open(path) as file:
        lines = unpacked(path, file).decode("ascii").splitlines()
    rows = [_usps_line(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    labels = np.array([label for label, _ in rows], dtype=np.int64)
    values = np.array([own for _, own in rows], dtype=np.float32).reshape(-1, _USPS_SIDE, _USPS_SIDE)
    return DIGITS, PixelTable(path, ((values + 1) / 2 * 255).astype(np.uint8), labels)


def _usps_line(path: Path, number: int, line: str) -> tuple[int, np.ndarray]:
    """Label from 0 and float[256]; a value that is left out is 0, as libsvm has it."""
    values = np.zeros(_USPS_SIDE**2, dtype=np.float32)
    try:
        label, *pairs = line.split()
        for place, value in (pair.split(":") for pair in pairs):
            values[range(len(values)).index(int(place) - 1)] = float(value)
        if not (np.abs(values) <= 1).all() or not 1 <= float(label) <= 10:
            raise ValueError("a value outside -1 to 1, or a label outside 1 to 10")
        return int(float(label)) - 1, values
    except ValueError as error:
        raise OpenworldError(f"{path}, line {number} is no digit of USPS ({error}); get it again.") from error


def read_svhn(folder: Path, part: str) -> tuple[tuple[str, ...], PixelTable]:
    """Return the ten digits and images of train_32x32.mat or test_32x32.mat; its label 10 is the digit 0."""
    from scipy.io import loadmat

    path = folder / f"{part}_32x32.mat"
    # A damaged file fails in any way inside SciPy's reader.
    with reading(path, "SVHN's arrays", Exception), path.open("rb") as file:
        held = loadmat(file, variable_names=("X", "y"))
        pixels, labels = held["X"], held["y"].ravel()
    return DIGITS, PixelTable(path, np.moveaxis(pixels, -1, 0), labels.astype(np.int64) % 10)
