"""Tiny data sets in the exact file formats of those that accuracy without labels is measured on.

Formats are written out from their publishers' descriptions, byte by byte where it matters, and not by our readers.
"""

import bz2
import csv
import gzip
import json
import struct
from pathlib import Path

import numpy as np
from PIL import Image

COUNTS = {"train": 20, "test": 10}
CIFAR100_NAMES = [f"class_{number:02d}" for number in range(100)]


def pixels(part: str, *shape: int) -> np.ndarray:
    """The images that a part holds."""
    return np.random.RandomState(len(part)).randint(0, 256, (COUNTS[part], *shape)).astype(np.uint8)


def labels(part: str, classes: int = 10) -> np.ndarray:
    return np.arange(COUNTS[part]) * 3 % classes


# --- pickles as Python 2 wrote them: CIFAR's files are of protocol 2, with str for text and for bytes --------


def _text(value: str | bytes) -> bytes:
    """A str of Python 2: BINSTRING."""
    held = value.encode() if isinstance(value, str) else value
    return b"T" + struct.pack("<i", len(held)) + held


def _numbers(values) -> bytes:
    """A list of int: EMPTY_LIST, MARK, BININT..., APPENDS."""
    return b"](" + b"".join(b"J" + struct.pack("<i", int(value)) for value in values) + b"e"


def _array(values: np.ndarray) -> bytes:
    """An array of uint8 as numpy 1 pickled it under Python 2."""
    assert values.dtype == np.uint8
    shape = b"".join(b"J" + struct.pack("<i", length) for length in values.shape)
    order = b"(K\x03" + _text("|") + b"NNN" + 2 * b"J\xff\xff\xff\xff" + b"K\x00tb"
    kind = b"cnumpy\ndtype\n(" + _text("u1") + b"K\x00K\x01tR" + order
    empty = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00t" + _text("b") + b"tR"
    return empty + b"(K\x01(" + shape + b"t" + kind + b"\x89" + _text(values.tobytes()) + b"tb"


def python2_pickle(held: dict) -> bytes:
    """A dict of text, lists of int or text, and arrays of uint8."""
    parts = b""
    for key, value in held.items():
        if isinstance(value, np.ndarray):
            packed = _array(value)
        elif isinstance(value, str):
            packed = _text(value)
        elif value and isinstance(value[0], str):
            packed = b"](" + b"".join(map(_text, value)) + b"e"
        else:
            packed = _numbers(value)
        parts += _text(key) + packed
    return b"\x80\x02}(" + parts + b"u."


def _planes(images: np.ndarray) -> np.ndarray:
    """A row an image: its red plane, then green, then blue."""
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(len(images), -1)


def plant_cifar10(root: Path) -> None:
    folder = root / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    train, own = pixels("train", 32, 32, 3), labels("train")
    batches = {f"data_batch_{n + 1}": slice(4 * n, 4 * n + 4) for n in range(5)}
    for name, where in batches.items():
        files, listed = ["a.png"] * 4, own[where].tolist()
        held = {"batch_label": name, "labels": listed, "data": _planes(train[where]), "filenames": files}
        (folder / name).write_bytes(python2_pickle(held))
    held = {"batch_label": "test", "labels": labels("test").tolist(), "data": _planes(pixels("test", 32, 32, 3))}
    (folder / "test_batch").write_bytes(python2_pickle(held))


def plant_cifar100(root: Path) -> None:
    folder = root / "cifar-100-python"
    folder.mkdir(parents=True)
    for part in COUNTS:
        rows = _planes(pixels(part, 32, 32, 3))
        held = {"fine_labels": labels(part, 100).tolist(), "coarse_labels": labels(part).tolist(), "data": rows}
        (folder / part).write_bytes(python2_pickle(held))
    (folder / "meta").write_bytes(python2_pickle({"fine_label_names": CIFAR100_NAMES}))


def plant_cifar102(root: Path) -> None:
    folder = root / "cifar-10.2"
    folder.mkdir(parents=True)
    for part in COUNTS:
        np.savez(
            folder / f"cifar102_{part}.npz",
            images=pixels(part, 32, 32, 3),
            labels=labels(part),
            label_names=np.array(["airplane"], dtype=object),  # needs a pickle, so it must not be asked for
        )


def plant_cifar101(root: Path) -> None:
    folder = root / "cifar-10.1"
    folder.mkdir(parents=True)
    for version, rows in (("v6", slice(0, 10)), ("v4", slice(4, 10))):
        np.save(folder / f"cifar10.1_{version}_data.npy", pixels("test", 32, 32, 3)[rows])
        np.save(folder / f"cifar10.1_{version}_labels.npy", labels("test")[rows].astype(np.int32))


def corrupted_pixels(corruption: str, severity: int) -> np.ndarray:
    """The images of the test, with marks of a corruption and a severity that no other has."""
    found = pixels("test", 32, 32, 3)
    found[:, 0, 0] = len(corruption), severity, ord(corruption[0])
    return found


def plant_cifar_c(root: Path, folder: str, classes: int, corruptions) -> None:
    """Five severities, one after the other, in a file per corruption."""
    (root / folder).mkdir(parents=True)
    for name in corruptions:
        rows = np.concatenate([corrupted_pixels(name, severity) for severity in range(1, 6)])
        np.save(root / folder / f"{name}.npy", rows)
    np.save(root / folder / "labels.npy", np.tile(labels("test", classes), 5))


# --- digits -----------------------------------------------------------------------------------------------


def idx(values: np.ndarray, kind: int) -> bytes:
    lengths = b"".join(length.to_bytes(4, "big") for length in values.shape)
    held = values.astype(">i4" if kind == 0x0C else "u1").tobytes()
    return bytes([0, 0, kind, values.ndim]) + lengths + held


def plant_mnist(root: Path) -> None:
    folder = root / "mnist"
    folder.mkdir(parents=True)
    for part, stem in (("train", "train"), ("test", "t10k")):
        (folder / f"{stem}-images-idx3-ubyte").write_bytes(idx(pixels(part, 28, 28), 0x08))
        (folder / f"{stem}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels(part), 0x08)))


def plant_qmnist(root: Path) -> None:
    folder = root / "qmnist"
    folder.mkdir(parents=True)
    for part in COUNTS:
        told = np.zeros((COUNTS[part], 8), dtype=int)
        told[:, 0], told[:, 2] = labels(part), 2100 + np.arange(COUNTS[part]) // 4
        (folder / f"qmnist-{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(pixels(part, 28, 28), 0x08)))
        (folder / f"qmnist-{part}-labels-idx2-int.gz").write_bytes(gzip.compress(idx(told, 0x0C)))


def plant_usps(root: Path) -> None:
    folder = root / "usps"
    folder.mkdir(parents=True)
    for part, name in (("train", "usps.bz2"), ("test", "usps.t.bz2")):
        lines = ""
        for image, label in zip(pixels(part, 16, 16), labels(part), strict=True):
            values = image.ravel() / 127.5 - 1
            lines += f"{label + 1} " + " ".join(f"{n}:{value:.8f}" for n, value in enumerate(values, 1)) + " \n"
        (folder / name).write_bytes(bz2.compress(lines.encode()))


def plant_svhn(root: Path) -> None:
    from scipy.io import savemat

    folder = root / "svhn"
    folder.mkdir(parents=True)
    for part in COUNTS:
        own = np.where(labels(part) == 0, 10, labels(part))[:, None].astype(np.uint8)
        savemat(folder / f"{part}_32x32.mat", {"X": np.moveaxis(pixels(part, 32, 32, 3), 0, -1), "y": own})


# --- FMoW -------------------------------------------------------------------------------------------------

FMOW_ROWS = (  # split, class, country, time
    ("train", "airport", "USA", "2010-05-01T10:00:00Z"),
    ("seq", "zoo", "USA", "2011-05-01T10:00:00Z"),
    ("train", "zoo", "FRA", "2012-12-31T23:59:59Z"),
    ("train", "zoo", "FRA", "2013-01-01T00:00:00Z"),
    ("val", "barn", "FRA", "2012-01-01T00:00:00Z"),
    ("val", "barn", "KEN", "2013-01-01T00:00:00Z"),
    ("val", "dam", "USA", "2015-12-31T23:59:59Z"),
    ("val", "dam", "USA", "2016-01-01T00:00:00Z"),
    ("test", "park", "USA", "2012-07-01T00:00:00Z"),
    ("test", "park", "USA", "2014-07-01T00:00:00Z"),
    ("test", "port", "KEN", "2016-01-01T00:00:00Z"),
    ("test", "zoo", "ATA", "2017-07-01T00:00:00Z"),
)
FMOW_PARTS = {"train": [0, 2], "validation": [4], "id_test": [8], "ood_validation": [5, 6], "test": [10, 11]}
"""Part -> rows, by hand from the three rules: before 2013, 2013 to 2015, from 2016."""


def plant_fmow(root: Path) -> None:
    folder = root / "fmow_v1.1"
    (folder / "images").mkdir(parents=True)
    with (folder / "rgb_metadata.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["split", "img_filename", "img_path", "category", "country_code", "timestamp", "lat", "lon"])
        for number, (split, name, country, time) in enumerate(FMOW_ROWS):
            rows.writerow([split, f"{name}_0_0_rgb.jpg", "somewhere, else", name, country, time, 0.5, -1])
            Image.new("RGB", (4, 4), (number, 0, 0)).save(folder / "images" / f"rgb_img_{number}.png")
    countries = ("United States,US,USA,Americas", "France,FR,FRA,Europe", "Kenya,KE,KEN,Africa", "Antarctica,AQ,ATA,")
    (folder / "country_code_mapping.csv").write_text("\n".join(["name,alpha-2,alpha-3,region", *countries]) + "\n")


# --- BREEDS -----------------------------------------------------------------------------------------------


def plant_hierarchy(folder: Path, edges: list[tuple[str, str]], classes: list[str], names: dict[str, str]) -> None:
    """The three files of BREEDS."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "class_hierarchy.txt").write_text("".join(f"{parent} {child}\n" for parent, child in edges))
    (folder / "node_names.txt").write_text("".join(f"{node}\t{name}\n" for node, name in names.items()))
    told = [[number, wordnet_id, wordnet_id] for number, wordnet_id in enumerate(classes)]
    (folder / "dataset_class_info.json").write_text(json.dumps(told))


PLANT = {
    "cifar10": plant_cifar10,
    "cifar10.2": plant_cifar102,
    "cifar100": plant_cifar100,
    "mnist": plant_mnist,
    "qmnist": plant_qmnist,
    "usps": plant_usps,
    "svhn": plant_svhn,
    "fmow": plant_fmow,
}
"""Name -> what plants a tiny one below a folder; BREEDS needs ImageNet besides."""
