"""Readers of local files, on tiny files in the formats of the large ones, and on files that are broken."""

import bz2
import gzip
import os
import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest
import shifted_trees as trees

from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED, SHIFTED, check, load
from openworld.datasets.formats.pickles import read_pickle
from openworld.datasets.published import small_images
from openworld.datasets.published.small_images import read_idx

TABLES = {  # name -> shape of an image, classes
    "cifar10": ((32, 32, 3), 10),
    "cifar10.2": ((32, 32, 3), 10),
    "cifar100": ((32, 32, 3), 100),
    "mnist": ((28, 28), 10),
    "qmnist": ((28, 28), 10),
    "usps": ((16, 16), 10),
    "svhn": ((32, 32, 3), 10),
}


@pytest.fixture
def root(tmp_path):
    return tmp_path / "data"


def reds(images):
    return [images.image(index).getpixel((0, 0))[0] for index in range(len(images))]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("part", trees.COUNTS)
def test_images_and_labels_are_those_of_the_files(root, name, part):
    trees.PLANT[name](root)
    shape, classes = TABLES[name]
    images = load(name, root=root, part=part)
    assert images.name == name and len(images.classnames) == classes
    assert images.labels.tolist() == trees.labels(part, classes).tolist()
    ours = np.stack([np.asarray(images.image(index)) for index in range(len(images))]).astype(int)
    theirs = trees.pixels(part, *shape).astype(int)
    # USPS is text of eight digits, cut to levels as torchvision cuts it: a level may be lost.
    most = 1 if name == "usps" else 0
    assert np.abs(ours - (theirs if len(shape) == 3 else theirs[..., None])).max() <= most


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("mnist", "MNIST/raw"),
        ("qmnist", "qmnist/raw"),
        ("usps", "."),
        ("usps", "USPS"),
        ("svhn", "."),
        ("svhn", "SVHN"),
    ],
)
def test_files_are_found_where_torchvision_puts_them(root, name, place):
    trees.PLANT[name](root)
    expected = load(name, root=root).fingerprint
    moved = (root / name).rename(root.parent / "moved")
    (root / place).mkdir(parents=True, exist_ok=True)
    for file in moved.iterdir():
        file.rename(root / place / file.name)
    assert load(name, root=root).fingerprint == expected
    assert check(name, root).folder == str(root / place)


def test_a_domain_may_be_called_as_pages_print_it_and_an_unknown_one_is_told_its_neighbours(root):
    trees.plant_cifar10(root)
    trees.plant_cifar_c(root, "CIFAR-10-C", 10, ["gaussian_noise"])
    spaced, listed = (load("cifar10-c", root=root, domain=f"gaussian{sign}noise 3") for sign in " _")
    assert spaced.fingerprint == listed.fingerprint and spaced.domain == listed.domain == "gaussian_noise 3"
    with pytest.raises(OpenworldError) as told:
        load("cifar10-c", root=root, domain="gaussian nois 3")
    assert "gaussian_noise 3" in str(told.value) and "95" in str(told.value) and len(str(told.value)) < 400


def test_the_fingerprint_follows_the_pixels_and_images_travel(root):
    trees.plant_mnist(root)
    images = load("mnist", root=root)
    assert load("mnist", root=root).fingerprint == images.fingerprint
    assert load("mnist", root=root, part="train").fingerprint != images.fingerprint
    file = root / "mnist" / "t10k-images-idx3-ubyte"
    held = file.read_bytes()
    file.write_bytes(held[:-1] + bytes([held[-1] ^ 1]))
    assert load("mnist", root=root).fingerprint != images.fingerprint
    assert np.array_equal(pickle.loads(pickle.dumps(images)).image(3), images.image(3))


def test_versions_of_cifar101(root):
    trees.plant_cifar101(root)
    theirs = trees.pixels("test", 32, 32, 3)
    assert np.array_equal(load("cifar10.1", root=root).image(9), theirs[9])
    older = load("cifar10.1", root=root, domain="v4")
    assert np.array_equal(older.image(0), theirs[4])
    assert older.labels.tolist() == trees.labels("test")[4:].tolist()


# --- FMoW -------------------------------------------------------------------------------------------------


def test_fmow_is_cut_by_time_and_region(root):
    trees.plant_fmow(root)
    for part, rows in trees.FMOW_PARTS.items():
        images = load("fmow", root=root, part=part)
        assert reds(images) == rows
        assert [images.classnames[label] for label in images.labels] == [trees.FMOW_ROWS[row][1] for row in rows]
    africa = load("fmow", root=root, part="test", domain="Africa")
    assert reds(africa) == [10] and africa.domain == "Africa"
    assert len(load("fmow", root=root, part="test", domain="Asia")) == 0


@pytest.mark.parametrize(
    ("old", "new", "domain", "message"),
    [
        ("timestamp", "taken", None, "no column 'timestamp'"),
        ("2017-07-01", "", None, "expected a date"),
        ("port,KEN", "prot,KEN", None, "unknown class 'prot'"),
        ("", "", "Antarctica", "unknown domain of fmow 'Antarctica'"),
        ("", "", None, r"1 of 2 images of 'fmow' are missing .* images/rgb_img_11.png"),
    ],
)
def test_a_broken_fmow_is_refused(root, old, new, domain, message):
    trees.plant_fmow(root)
    listing = root / "fmow_v1.1" / "rgb_metadata.csv"
    listing.write_text(listing.read_text().replace(old, new) if old else listing.read_text())
    (root / "fmow_v1.1" / "images" / "rgb_img_11.png").unlink()
    with pytest.raises(OpenworldError, match=message):
        load("fmow", root=root, domain=domain)


# --- broken files -----------------------------------------------------------------------------------------


class Evil:
    def __reduce__(self):
        return os.system, ("touch evil",)


ROW = np.zeros((1, 3072), np.uint8)


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (pickle.dumps({"data": Evil()}), r"names (posix|nt).system, which no data file needs"),
        (pickle.dumps({"data": np.array([None], dtype=object)}), "expected numbers"),
        (b"\x80\x02cnumpy\nndarray\n(J\xff\xff\xff\x7ftR.", "cannot be read as a pickle"),
        (b"}p200000000\n.", "under the number 200000000"),
        (b"}r\x00\xc2\xeb\x0b.", "under the number 200000000"),
        (pickle.dumps([1]), "holds no dict"),
        (pickle.dumps({"labels": [0]}), "has no 'data'"),
        (pickle.dumps({"labels": [0], "data": [1]}), "no rows of 3,072 values"),
        (trees.python2_pickle({"labels": [0, 1], "data": ROW}), "has 2 entries, expected 1"),
        (trees.python2_pickle({"labels": [0], "data": ROW})[:-9], "cannot be read"),
    ],
)
def test_a_pickle_runs_nothing_and_says_what_is_wrong(root, monkeypatch, held, message):
    trees.plant_cifar10(root)
    monkeypatch.chdir(root)
    (root / "cifar-10-batches-py" / "test_batch").write_bytes(held)
    with pytest.raises(OpenworldError, match=message):
        load("cifar10", root=root)
    assert not (root / "evil").exists()


def test_a_pickle_leaves_no_mark_on_what_it_names(tmp_path):
    named = b"cnumpy.core.multiarray\n_reconstruct\n"
    marked = b"}q\x00(" + b"X\x04\x00\x00\x00mark" + b"K\x01u"
    (tmp_path / "first").write_bytes(b"\x80\x02}X\x01\x00\x00\x00a" + named + b"N" + marked + b"\x86b" + b"s.")
    (tmp_path / "second").write_bytes(b"\x80\x02}X\x01\x00\x00\x00a" + named + b"s.")
    assert read_pickle(tmp_path / "first")["a"].mark == 1
    assert not hasattr(read_pickle(tmp_path / "second")["a"], "mark")


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (b"\0\0\x0d\x01" + bytes(8), "no IDX file"),
        (b"PK", "no IDX file"),
        (b"\0\0\x08\x03\0\0\0\x01", "it was cut"),
        (trees.idx(np.zeros((2, 3), int), 0x08)[:-1], "holds 17 bytes, expected 18"),
    ],
)
def test_a_broken_idx_file_is_refused(tmp_path, held, message):
    (tmp_path / "file").write_bytes(held)
    with pytest.raises(OpenworldError, match=message):
        read_idx(tmp_path / "file")
    (tmp_path / "file").unlink()
    for content, words in ((gzip.compress(held), message), (gzip.compress(held)[:-4], "cannot be read")):
        (tmp_path / "file.gz").write_bytes(content)
        with pytest.raises(OpenworldError, match=words):
            read_idx(tmp_path / "file")


@pytest.mark.parametrize("line", ["11 1:0.5", "0 1:0.5", "3 257:0.5", "3 0:0.5", "3 1:1.5", "3 1:nan", "3 1", "x 1:0"])
def test_a_broken_line_of_usps_is_refused(root, line):
    trees.plant_usps(root)
    (root / "usps" / "usps.t.bz2").write_bytes(bz2.compress(f"1 1:0\n{line}\n".encode()))
    with pytest.raises(OpenworldError, match="line 2 is no digit"):
        load("usps", root=root)


def test_a_packed_file_of_any_size_is_not_unpacked_whole(root, monkeypatch):
    trees.plant_mnist(root)
    trees.plant_usps(root)
    monkeypatch.setattr(small_images, "MOST_BYTES", 5)
    for name in ("mnist", "usps"):
        with pytest.raises(OpenworldError, match="unpacks to more than 5 bytes"):
            load(name, root=root)


@pytest.mark.parametrize(
    ("name", "file"),
    {
        "cifar10": "cifar-10-batches-py/test_batch",
        "cifar10.2": "cifar-10.2/cifar102_test.npz",
        "mnist": "mnist/t10k-images-idx3-ubyte",
        "qmnist": "qmnist/qmnist-test-labels-idx2-int.gz",
        "usps": "usps/usps.t.bz2",
        "svhn": "svhn/test_32x32.mat",
        "fmow": "fmow_v1.1/rgb_metadata.csv",
        "cifar100": "cifar-100-python/meta",
    }.items(),
)
def test_a_missing_or_damaged_file_is_named_and_a_pipe_not_waited_for(root, name, file):
    trees.PLANT[name](root)
    path = root / file
    path.write_bytes(b"\xff\xfe nothing of the kind")
    with pytest.raises(OpenworldError, match=path.name.removesuffix(".gz")):
        load(name, root=root)
    path.unlink()
    with pytest.raises(OpenworldError, match=f"there is no file .*{path.name}"):
        load(name, root=root)
    os.mkfifo(path)
    with pytest.raises(OpenworldError, match="no plain file"):
        load(name, root=root)
    shutil.rmtree(path.parent)
    with pytest.raises(OpenworldError, match=f"openworld data check {name}"):
        load(name, root=root)


def test_images_of_another_shape_are_refused(root):
    trees.plant_cifar102(root)
    np.savez(root / "cifar-10.2" / "cifar102_test.npz", images=np.zeros((2, 32, 32, 4), np.uint8), labels=[0, 1])
    with pytest.raises(OpenworldError, match=r"uint8\[2, 32, 32, 4\]"):
        load("cifar10.2", root=root)


# --- the check --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", trees.PLANT)
def test_a_whole_set_is_whole_and_a_short_one_is_not(root, monkeypatch, name):
    trees.PLANT[name](root)
    short = check(name, root)
    assert not short.ok and "get the files again" in short.wrong[0] and short.sources == SHIFTED[name].sources
    counts = {part: len(rows) for part, rows in trees.FMOW_PARTS.items()} if name == "fmow" else trees.COUNTS
    monkeypatch.setitem(SHIFTED, name, replace(SHIFTED[name], counts=counts))
    whole = check(name, root, decoded=True)
    assert whole.ok, whole.wrong
    assert whole.counts == counts
    classes = SHIFTED[name].classes
    monkeypatch.setitem(SHIFTED, name, replace(SHIFTED[name], classes=classes + 1))
    assert check(name, root).wrong == (f"{classes} classes, expected {classes + 1}; get the files again.",)


def test_hints_name_nothing_but_what_is_alike(root):
    """All usual downloads side by side: none of them is taken for another."""
    theirs = ("CIFAR-10-C", "CIFAR-100-C", "ImageNet-C", "Tiny-ImageNet-C", "imglist", "imagenet21k", "SynIS", "breeds")
    for folder in (*theirs, "benchmark_imglist", "images_largescale", "fmow_v1.0", "imagenet-rendition", "MNIST-M"):
        (root / folder).mkdir(parents=True)
    for name in (*SHIFTED, *PUBLISHED):
        for fault in check(name, root).wrong:
            assert "rename it" not in fault, f"{name}: {fault}"
    (root / "CIFAR_100_Python").mkdir()
    assert "but a CIFAR_100_Python: rename it" in check("cifar100", root).wrong[0]


def test_the_page_on_data_tells_of_every_set(repository):
    page = (repository / "docs" / "data-sets.md").read_text(encoding="utf-8")
    for name, card in (PUBLISHED | SHIFTED).items():
        assert f"`{name}`" in page and card.folder in page, name
        told = [count for count in card.counts.values() if count]
        assert all(f"{count:,}".replace(",", " ") in page or str(count) in page for count in told), name
