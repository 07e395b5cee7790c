"""Folders of one's own images, with labels and without: classes, parts, domains, links; files that are no images."""

import io
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.datasets import few_shot, load
from openworld.datasets.formats import folder
from openworld.datasets.formats.folder import find_images, images_of_paths
from openworld.ood.detect.places import images_at
from openworld.own_data.images import labelled_images
from openworld.own_data.shift.images import gather


def save(path: Path, colour=(255, 0, 0), **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 6), colour).save(path, **options)
    return path


def encoded(kind: str) -> bytes:
    noise = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, kind)
    return file.getvalue()


@pytest.fixture
def pets(tmp_path):
    for part, name, count in (("train", "cat", 3), ("train", "wild_dog", 2), ("test", "cat", 1), ("test", "owl", 1)):
        for number in range(count):
            save(tmp_path / part / name / f"{number}.png", (number, 0, 0))
    return tmp_path


def test_a_sub_folder_is_a_class_and_files_are_in_order(tmp_path):
    for name in ("b.png", "a.jpg", "c.webp"):
        save(tmp_path / "owl" / name)
    for name in ("notes.txt", ".hidden.png"):
        (tmp_path / "owl" / name).write_text("x")
    save(tmp_path / "cat" / "z.bmp")
    images = folder.load(tmp_path)
    assert images.classnames == ("cat", "owl")
    assert images.labels.tolist() == [0, 1, 1, 1] and images.groups.tolist() == [0, 1, 2, 3]
    assert [images.path_of(place) for place in range(4)] == ["cat/z.bmp", "owl/a.jpg", "owl/b.png", "owl/c.webp"]
    assert all(images.image(index).mode == "RGB" for index in range(4))


def test_parts_share_one_list_of_classes_and_other_folders_are_none(pets):
    save(pets / "val" / "cat" / "0.png")
    (pets / "annotations" / "xml").mkdir(parents=True)
    train, validation, test = (load(str(pets), part=part) for part in ("train", "validation", "test"))
    assert train.classnames == validation.classnames == test.classnames == ("cat", "owl", "wild dog")
    assert train.labels.tolist() == [0, 0, 0, 2, 2] and test.labels.tolist() == [0, 1] and len(validation) == 1
    drawn = load(str(pets), part="train", shots=2, seed=5)
    expected = few_shot(train.labels, 2, random.Random(5))
    assert [drawn.path_of(place) for place in range(len(drawn))] == [train.path_of(int(place)) for place in expected]


def test_domains_share_one_list_of_classes(tmp_path):
    save(tmp_path / "photo" / "train" / "cat" / "0.png")
    save(tmp_path / "sketch" / "test" / "dog" / "0.png")
    images = folder.load(tmp_path, domain="sketch", part="test")
    assert (images.domain, images.classnames, images.labels.tolist()) == ("sketch", ("cat", "dog"), [1])


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        ("n01 tench", "no class for the folder 'n02'"),
        ("n01", "line 1"),
        ("n01 a\nn01 b", "line 2: .* again"),
        (None, "classnames.txt is no plain file"),
    ],
)
def test_classnames_txt_names_folders_and_a_wrong_one_is_refused(tmp_path, listing, message):
    names = tmp_path / "classnames.txt"
    for name in ("n02", "n01"):
        save(tmp_path / name / "0.png")
    names.write_text("n02 great white shark\nn01 tench\n\nn03 not_here\n")
    assert folder.load(tmp_path).classnames == ("tench", "great white shark")
    names.unlink()
    os.mkfifo(names) if listing is None else names.write_text(listing)
    with pytest.raises(OpenworldError, match=message):
        folder.load(tmp_path)


def test_the_fingerprint_is_of_contents_not_of_places(pets, tmp_path_factory):
    before = folder.load(pets, part="train").fingerprint
    moved = tmp_path_factory.mktemp("elsewhere") / "pets"
    pets.rename(moved)
    assert folder.load(moved, part="train").fingerprint == before
    save(moved / "train" / "cat" / "1.png", (9, 9, 9))
    assert folder.load(moved, part="train").fingerprint != before


@pytest.mark.parametrize(
    ("place", "options", "message"),
    [
        ("", {"part": "exam"}, "unknown part"),
        ("", {"part": "validation"}, "no folder validation or val; its folders are: empty, test, train"),
        ("", {"domain": "sketch", "part": "test"}, "no folder sketch"),
        ("nowhere", {}, "no folder"),
        ("empty/cat", {}, "no class folders"),
        ("empty", {}, "no image"),
    ],
)
def test_what_is_missing_is_named(pets, place, options, message):
    (pets / "empty" / "cat").mkdir(parents=True)
    with pytest.raises(OpenworldError, match=message):
        folder.load(pets / place, **options)


@pytest.mark.parametrize(
    "find",
    [
        lambda root: [folder.load(root).path_of(place) for place in range(2)],
        lambda root: [path.relative_to(root).as_posix() for path in find_images([root])],
        lambda root: [images_at(str(root)).path_of(place) for place in range(2)],
        lambda root: [gather(str(root)).images.path_of(place) for place in range(2)],
        lambda root: [labelled_images(str(root)).path_of(place) for place in range(2)],
    ],
)
@pytest.mark.parametrize("loop", [False, True])
def test_class_folders_may_be_links_and_a_loop_of_links_ends(tmp_path, find, loop):
    (tmp_path / "data").mkdir()
    for number, (name, called) in enumerate({"n01": "cat", "n02": "dog"}.items()):
        save(tmp_path / "synsets" / name / f"{number}.png")
        (tmp_path / "data" / called).symlink_to(tmp_path / "synsets" / name)
        if loop:
            (tmp_path / "synsets" / name / "all").symlink_to(tmp_path / "data")
    assert find(tmp_path / "data") == ["cat/0.png", "dog/1.png"]


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow warns of damage that it reads past
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_named_never_a_crash(tmp_path, kind, data):
    whole = bytearray(encoded(kind))
    cut = data.draw(st.integers(0, len(whole)))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=3)):
        whole[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path / f"damaged.{'jpg' if kind == 'JPEG' else kind.lower()}"
    path.write_bytes(whole[:cut])
    try:
        assert folder.read_image(path).mode == "RGB"
    except OpenworldError as error:
        assert "damaged" in str(error)


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("cut.jpg", lambda path: path.write_bytes(encoded("JPEG")[:-100]), "cut.jpg cannot be read"),
        ("really.jpg", lambda path: path.write_bytes(encoded("PNG")), "holds a PNG image"),
        ("text.png", lambda path: path.write_text("hello"), "text.png cannot be read"),
        ("deep.png", lambda path: Image.fromarray(np.full((4, 4), 40000, np.uint16)).save(path), "8 bits"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_named_when_it_is_read(tmp_path, name, write, message):
    (tmp_path / "cat").mkdir()
    write(tmp_path / "cat" / name)
    images = folder.load(tmp_path)
    with pytest.raises(OpenworldError, match=message):
        images.image(0)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "1", "CMYK", "RGBA"])
def test_every_other_kind_of_image_becomes_rgb(tmp_path, mode):
    path = tmp_path / ("image.jpg" if mode == "CMYK" else "image.png")
    options = {"transparency": b"\x80"} if mode == "P" else {}
    Image.new(mode, (4, 4)).save(path, **options)
    assert folder.read_image(path).mode == "RGB"


def a_link_out_of_the_folder(path):
    path.symlink_to(save(path.parents[2] / "outside" / "secret.png"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "9.png is no plain file, but a pipe or a device"),
        (os.mkdir, "9.png is no plain file, but a folder"),
        (lambda path: path.symlink_to(path), "9.png is no plain file, but a link that leads to no file"),
        (lambda path: path.symlink_to(path.with_name("gone.png")), "9.png is no plain file, but a link"),
        (lambda path: os.symlink(b"0.png", os.fsencode(path.parent) + b"/caf\xe9.png"), "not UTF-8"),
        (lambda path: os.rename(path.parent, os.fsencode(path.parents[1]) + b"/k\xe4fer"), "not UTF-8"),
        (a_link_out_of_the_folder, "leaves"),
    ],
)
def test_what_is_no_plain_file_of_a_readable_name_is_named(tmp_path, make, message):
    save(tmp_path / "data" / "cat" / "0.png")
    make(tmp_path / "data" / "cat" / "9.png")
    with pytest.raises(OpenworldError, match=message):
        folder.load(tmp_path / "data")


@pytest.mark.parametrize(
    ("one", "other"), [("", ""), ("train", "test"), ("mono", "color"), ("mono/test", "color/test")]
)
def test_class_names_are_found_whatever_the_layout(tmp_path, one, other):
    (tmp_path / "empty" / "b" / "c").mkdir(parents=True)
    with pytest.raises(OpenworldError, match="holds no class folders"):
        folder.class_names(tmp_path / "empty")
    save(tmp_path / "full" / one / "wild_dog" / "0.png")
    save(tmp_path / "full" / other / "owl" / "0.png")
    (tmp_path / "full" / one / "cat").mkdir()
    assert folder.class_names(tmp_path / "full") == ("cat", "owl", "wild_dog")


def test_files_and_folders_without_labels_each_once(tmp_path):
    for name in ("b.png", "a.png", "below/c.png"):
        save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no image")
    found = find_images([tmp_path / "b.png", tmp_path])
    assert [path.name for path in found] == ["b.png", "a.png", "c.png"]
    images = images_of_paths(found, "mine")
    assert len(images) == 3 and images.name == "mine" and images.image(1).getpixel((0, 0)) == (255, 0, 0)
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    for place, message in (
        ("z.png", "there is no file or folder"),
        ("empty", "empty holds no image ending in"),
        ("pipe.png", "pipe.png is no plain file"),
    ):
        with pytest.raises(OpenworldError, match=message):
            find_images([tmp_path / place])
    assert "pipe.png" not in [path.name for path in find_images([tmp_path])]
    os.rename(tmp_path / "a.png", os.fsencode(tmp_path) + b"/caf\xe9.png")
    with pytest.raises(OpenworldError, match="not UTF-8"):
        find_images([tmp_path])
