"""Small images as they are published, nothing converted: CIFAR-10, -100, -10.1 and -10.2, MNIST, QMNIST, USPS and SVHN.

CIFAR-10 and -100 (Krizhevsky, 2009) are pickled dicts whose `data` is uint8[N, 3072], a row an image, its planes one
after the other; CIFAR-10.1 (Recht et al., 2018) .npy, CIFAR-10.2 (Lu et al., 2020) .npz; CIFAR-10-C and -100-C
(Hendrycks and Dietterich, 2019) a file CORRUPTION.npy per corruption, uint8[50000, 32, 32, 3], the 10,000 test images
in severity 1, then in severity 2, and so on, beside labels.npy. MNIST (LeCun et al., 1998) and QMNIST (Yadav and
Bottou, 2019, facebookresearch/qmnist @ 07245c9) are IDX files, packed (.gz) or not; USPS (Hull, 1994) is libsvm text in
bzip2, as torchvision reads it; SVHN (Netzer et al., 2011) is MATLAB 5.
"""

import bz2
import gzip
import hashlib
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from openworld.core.arrays import as_labels
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import reading, require_plain
from openworld.datasets.formats.pickles import read_pickle
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published.catalogue import DatasetCard, find

MOST_BYTES = 1 << 30
"""The most that a packed file may hold; the largest that is read holds 47 MB."""

CIFAR10_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
"""CIFAR-10's classes in label order; those of CIFAR-10.2 too."""

DIGITS = tuple("0123456789")
_PLANES = (3, 32, 32)
_SEVERITIES = 5
_IDX_TYPES = {0x08: np.dtype("u1"), 0x0C: np.dtype(">i4")}
_QMNIST_LABEL, _QMNIST_WRITER = 0, 2
_USPS_SIDE = 16


@dataclass(frozen=True, eq=False)
class PixelTable:
    """All images of a part, in memory; refuses pixels of another type or shape, and labels of another number."""

    source: Path  # for messages
    classnames: tuple[str, ...]
    pixels: np.ndarray  # uint8[N, H, W] grey, or uint8[N, H, W, 3]
    labels: np.ndarray  # int[N] from 0
    groups: np.ndarray | None = None  # int[N], see `ImageSet`; None where all images are independent

    def __post_init__(self):
        shape = self.pixels.shape
        if self.pixels.dtype != np.uint8 or len(shape) not in (3, 4) or shape[3:] not in ((), (3,)):
            raise OpenworldError(
                f"{self.source} holds {self.pixels.dtype}{list(shape)}, expected grey or RGB in uint8."
            )
        object.__setattr__(self, "labels", as_labels(self.labels, f"labels of {self.source}", len(self.pixels)))


def read(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of a data set that is one array per part, or per domain; the content is a hash of pixels."""
    table = TABLES[card.reader](card.folder_in(root), domain or part)
    # CIFAR-100-C does not say what its classes are called: CIFAR-100, which it needs, does.
    names = read_cifar100_names(find(card.needs[0]).folder_in(root)) if card.needs else table.classnames
    pixels = np.ascontiguousarray(table.pixels)
    return ImageSet(
        name=card.name,
        domain="",
        classnames=names,
        labels=table.labels,
        groups=np.arange(len(pixels)) if table.groups is None else table.groups,
        content=hashlib.sha256(str(pixels.shape).encode() + pixels.data).hexdigest(),
        read=partial(read_pixels, pixels),
    )


def read_pixels(pixels: np.ndarray, index: int) -> Image.Image:
    return Image.fromarray(pixels[index])


def read_cifar10(folder: Path, part: str) -> PixelTable:
    files = [f"data_batch_{number}" for number in range(1, 6)] if part == "train" else ["test_batch"]
    tables = [_unpickled(folder / file, "labels", CIFAR10_NAMES) for file in files]
    pixels, labels = (np.concatenate([getattr(table, what) for table in tables]) for what in ("pixels", "labels"))
    return PixelTable(folder / files[0], CIFAR10_NAMES, pixels, labels)


def read_cifar100(folder: Path, part: str) -> PixelTable:
    return _unpickled(folder / part, "fine_labels", read_cifar100_names(folder))


def read_cifar100_names(folder: Path) -> tuple[str, ...]:
    """Return the 100 fine classes in label order, of the file "meta"."""
    names = read_pickle(folder / "meta").get("fine_label_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise OpenworldError(f"{folder / 'meta'} has no list of fine_label_names; get it again.")
    return tuple(names)


def _unpickled(path: Path, labels: str, names: tuple[str, ...]) -> PixelTable:
    held = read_pickle(path)
    missing = [key for key in ("data", labels) if key not in held]
    if missing:
        raise OpenworldError(f"{path} has no {missing[0]!r}; it holds {', '.join(sorted(held))}. Get it again.")
    rows = held["data"]
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.shape[1] != np.prod(_PLANES):
        raise OpenworldError(f"the data of {path} are no rows of 3,072 values; get it again.")
    return PixelTable(path, names, rows.reshape(-1, *_PLANES).transpose(0, 2, 3, 1), held[labels])


def read_cifar101(folder: Path, version: str) -> PixelTable:
    path = folder / f"cifar10.1_{version}_data.npy"
    labels = read_array(folder / f"cifar10.1_{version}_labels.npy")
    return PixelTable(path, CIFAR10_NAMES, np.array(read_array(path)), np.array(labels))


def read_cifar102(folder: Path, part: str) -> PixelTable:
    path = folder / f"cifar102_{part}.npz"
    damaged = ValueError, KeyError, zipfile.BadZipFile
    with reading(path, "CIFAR-10.2's arrays", *damaged), np.load(path, allow_pickle=False) as held:
        pixels, labels = held["images"], held["labels"]
    return PixelTable(path, CIFAR10_NAMES, pixels, labels)


def read_cifar_c(folder: Path, condition: str) -> PixelTable:
    """Read one corruption in one severity, such as "fog 3", of CORRUPTION.npy and labels.npy."""
    name, severity = condition.split(" ")
    path = folder / f"{name}.npy"
    images, labels = read_array(path), read_array(folder / "labels.npy")
    each, rest = divmod(len(labels), _SEVERITIES)
    if rest or len(images) != len(labels):
        raise OpenworldError(
            f"{path} holds {len(images):,} images and labels.npy {len(labels):,} labels, expected as many of both "
            "and five severities; get them again."
        )
    rows = slice((int(severity) - 1) * each, int(severity) * each)
    return PixelTable(path, CIFAR10_NAMES, np.array(images[rows]), np.array(labels[rows]))


def read_array(path: Path) -> np.ndarray:
    """Return an array of a .npy file, left on disk until it is looked at."""
    with reading(path, "an array", ValueError):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray) or not array.ndim:
        raise OpenworldError(f"{path} holds no array; get it again.")
    return array


def read_mnist(folder: Path, part: str) -> PixelTable:
    stem = {"train": "train", "test": "t10k"}[part]
    images = folder / f"{stem}-images-idx3-ubyte"
    return PixelTable(images, DIGITS, read_idx(images), read_idx(folder / f"{stem}-labels-idx1-ubyte"))


def read_qmnist(folder: Path, part: str) -> PixelTable:
    """Read qmnist-{part}-images-idx3-ubyte, and its labels; a group is a writer."""
    # Its first 10,000 test images are MNIST's test over again.
    images, labels = folder / f"qmnist-{part}-images-idx3-ubyte", folder / f"qmnist-{part}-labels-idx2-int"
    rows = read_idx(labels)
    if rows.ndim != 2 or rows.shape[1] != 8:
        raise OpenworldError(f"{labels} holds labels {list(rows.shape)}, expected eight numbers a digit; get it again.")
    rows = rows.astype(np.int64)
    return PixelTable(images, DIGITS, read_idx(images), rows[:, _QMNIST_LABEL], rows[:, _QMNIST_WRITER])


def read_idx(path: Path) -> np.ndarray:
    """Return the array of an IDX file of bytes or 32-bit integers, or of the same packed, with .gz behind its name."""
    packed = path.with_name(path.name + ".gz")
    require_plain(path)
    require_plain(packed)
    try:
        if path.is_file():
            held = path.read_bytes()
        else:
            with gzip.open(packed) as file:
                held = _unpacked(packed, file)
    except FileNotFoundError:
        raise OpenworldError(f"there is no file {path}, nor {packed.name}.") from None
    except (OSError, EOFError) as error:
        raise OpenworldError(f"{path} cannot be read ({error}); get it again.") from error
    if len(held) < 4 or held[:2] != b"\0\0" or held[2] not in _IDX_TYPES:
        raise OpenworldError(f"{path} is no IDX file of bytes or integers; it begins with {held[:4].hex()}.")
    kind, dimensions = _IDX_TYPES[held[2]], held[3]
    start = 4 + 4 * dimensions
    shape = struct.unpack(f">{dimensions}I", held[4:start]) if len(held) >= start else ()
    expected = start + kind.itemsize * int(np.prod(shape, dtype=object))
    if len(held) != expected:
        raise OpenworldError(f"{path} holds {len(held):,} bytes, expected {expected:,}; it was cut, get it again.")
    return np.frombuffer(held, kind, offset=start).reshape(shape)


def _unpacked(path: Path, file: gzip.GzipFile | bz2.BZ2File) -> bytes:
    held = file.read(MOST_BYTES + 1)
    if len(held) > MOST_BYTES:
        raise OpenworldError(f"{path} unpacks to more than {MOST_BYTES:,} bytes, many times a data set; get it again.")
    return held


def read_usps(folder: Path, part: str) -> PixelTable:
    """Read usps.bz2 ("train") or usps.t.bz2 ("test"): a digit per line; a value that is left out is 0."""
    path = folder / {"train": "usps.bz2", "test": "usps.t.bz2"}[part]
    with reading(path, "text in bzip2", ValueError), bz2.open(path) as file:
        lines = _unpacked(path, file).decode("ascii").splitlines()
    rows, labels = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        values = np.zeros(_USPS_SIDE**2, dtype=np.float32)
        try:
            label, *pairs = line.split()
            for place, value in (pair.split(":") for pair in pairs):
                values[range(len(values)).index(int(place) - 1)] = float(value)
            if not (np.abs(values) <= 1).all() or not 1 <= float(label) <= 10:
                raise ValueError("a value outside -1 to 1, or a label outside 1 to 10")
        except ValueError as error:
            raise OpenworldError(f"{path}, line {number} is no digit of USPS ({error}); get it again.") from error
        rows.append(values)
        labels.append(int(float(label)) - 1)
    images = np.array(rows, dtype=np.float32).reshape(-1, _USPS_SIDE, _USPS_SIDE)
    return PixelTable(path, DIGITS, ((images + 1) / 2 * 255).astype(np.uint8), np.array(labels, dtype=np.int64))


def read_svhn(folder: Path, part: str) -> PixelTable:
    """Read train_32x32.mat or test_32x32.mat; its label 10 is the digit 0."""
    from scipy.io import loadmat

    path = folder / f"{part}_32x32.mat"
    # A damaged file fails in any way inside SciPy's reader.
    with reading(path, "SVHN's arrays", Exception), path.open("rb") as file:
        held = loadmat(file, variable_names=("X", "y"))
        pixels, labels = held["X"], held["y"].ravel()
    return PixelTable(path, DIGITS, np.moveaxis(pixels, -1, 0), labels.astype(np.int64) % 10)


TABLES: dict[str, Callable[[Path, str], PixelTable]] = {
    "cifar10": read_cifar10,
    "cifar10.1": read_cifar101,
    "cifar10.2": read_cifar102,
    "cifar100": read_cifar100,
    "cifar-c": read_cifar_c,
    "mnist": read_mnist,
    "qmnist": read_qmnist,
    "usps": read_usps,
    "svhn": read_svhn,
}
"""Reader of a card -> what reads its folder, one part or one domain of it."""
