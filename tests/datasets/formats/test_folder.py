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
from openworld.datasets.formats import folder, unlabelled_folder
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
    for name in ("b.png", "a.jpg", "c.webp", "notes.txt", ".hidden.png"):
        path = tmp_path / "owl" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x") if name in ("notes.txt", ".hidden.png") else save(path)
    save(tmp_path / "cat" / "z.bmp")
    images = folder.load(tmp_path)
    assert images.classnames == ("cat", "owl")
    assert images.labels.tolist() == [0, 1, 1, 1]
    assert images.groups.tolist() == [0, 1, 2, 3]
    assert [path.name for path in images.read.paths] == ["z.bmp", "a.jpg", "b.png", "c.webp"]
    assert all(images.image(index).mode == "RGB" for index in range(4))


def test_parts_share_one_list_of_classes(pets):
    train, test = (load(str(pets), part=part) for part in ("train", "test"))
    assert train.classnames == test.classnames == ("cat", "owl", "wild dog")
    assert train.labels.tolist() == [0, 0, 0, 2, 2]
    assert test.labels.tolist() == [0, 1]


def test_val_is_read_as_validation_and_other_folders_are_no_classes(pets):
    save(pets / "val" / "cat" / "0.png")
    (pets / "annotations" / "xml").mkdir(parents=True)
    images = folder.load(pets, part="validation")
    assert images.classnames == ("cat", "owl", "wild dog")
    assert len(images) == 1


def test_domains_share_one_list_of_classes(tmp_path):
    save(tmp_path / "photo" / "train" / "cat" / "0.png")
    save(tmp_path / "sketch" / "test" / "dog" / "0.png")
    images = folder.load(tmp_path, domain="sketch", part="test")
    assert images.domain == "sketch"
    assert images.classnames == ("cat", "dog")
    assert images.labels.tolist() == [1]


def test_shots_are_drawn_as_everywhere(pets):
    drawn = load(str(pets), part="train", shots=2, seed=5)
    everything = load(str(pets), part="train")
    expected = few_shot(everything.labels, 2, random.Random(5))
    assert [drawn.read.paths[i] for i in range(4)] == [everything.read.paths[i] for i in expected]


def test_classnames_txt_names_folders_and_may_name_more(tmp_path):
    save(tmp_path / "n02" / "0.png")
    save(tmp_path / "n01" / "0.png")
    (tmp_path / "classnames.txt").write_text("n02 great white shark\nn01 tench\n\nn03 not_here\n")
    assert folder.load(tmp_path).classnames == ("tench", "great white shark")


@pytest.mark.parametrize(
    ("listing", "message"),
    [("n01 tench", "no class for the folder 'n02'"), ("n01", "line 1"), ("n01 a\nn01 b", "line 2: .* again")],
)
def test_a_wrong_classnames_txt_is_refused(tmp_path, listing, message):
    save(tmp_path / "n01" / "0.png")
    save(tmp_path / "n02" / "0.png")
    (tmp_path / "classnames.txt").write_text(listing)
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
    ("options", "message"),
    [
        ({"part": "exam"}, "unknown part"),
        ({"part": "validation"}, "no folder validation or val; its folders are: test, train"),
        ({"domain": "sketch", "part": "test"}, "no folder sketch"),
    ],
)
def test_a_missing_part_or_domain_is_named(pets, options, message):
    with pytest.raises(OpenworldError, match=message):
        folder.load(pets, **options)


def test_a_missing_or_empty_folder_is_named(tmp_path):
    with pytest.raises(OpenworldError, match="no folder"):
        folder.load(tmp_path / "nowhere")
    with pytest.raises(OpenworldError, match="no class folders"):
        folder.load(tmp_path)
    (tmp_path / "cat").mkdir()
    with pytest.raises(OpenworldError, match="no image"):
        folder.load(tmp_path)


def test_an_image_that_is_a_link_out_of_the_folder_is_refused(tmp_path):
    outside = save(tmp_path / "outside" / "secret.png")
    save(tmp_path / "data" / "cat" / "0.png")
    (tmp_path / "data" / "cat" / "1.png").symlink_to(outside)
    with pytest.raises(OpenworldError, match="leaves"):
        folder.load(tmp_path / "data")


@pytest.mark.parametrize(
    "find",
    [
        lambda root: [folder.load(root).read.file_of(place) for place in range(2)],
        lambda root: [path.relative_to(root).as_posix() for path in unlabelled_folder.find_pictures([root])],
        lambda root: [images_at(str(root)).read.file_of(place) for place in range(2)],
        lambda root: [gather(str(root)).images.read.file_of(place) for place in range(2)],
        lambda root: [labelled_images(str(root)).read.file_of(place) for place in range(2)],
    ],
)
@pytest.mark.parametrize("loop", [False, True])
def test_class_folders_may_be_links_and_a_loop_of_links_ends(tmp_path, find, loop):
    for number, name in enumerate(("n01", "n02")):
        save(tmp_path / "synsets" / name / f"{number}.png")
    for name, own in {"n01": "cat", "n02": "dog"}.items():
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / own).symlink_to(tmp_path / "synsets" / name)
        if loop:
            (tmp_path / "synsets" / name / "all").symlink_to(tmp_path / "data")
    assert find(tmp_path / "data") == ["cat/0.png", "dog/1.png"]


def test_a_link_within_the_folder_is_fine(tmp_path):
    inside = save(tmp_path / "data" / "cat" / "0.png")
    (inside.parent / "1.png").symlink_to(inside)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert len(folder.load(tmp_path / "link")) == 2


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow warns of damage that it reads past
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_named_never_a_crash(tmp_path, kind, data):
    whole = bytearray(encoded(kind))
    cut = data.draw(st.integers(0, len(whole)))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=3)):
        whole[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path / f"damaged.{'jpg' if kind == 'JPEG' else kind.lower()}"
    path.write_bytes(whole[:cut])
    try:
        assert folder.read_picture(path).mode == "RGB"
    except OpenworldError as error:
        assert "damaged" in str(error)


def test_a_cut_picture_is_an_error_when_it_is_read(tmp_path):
    path = tmp_path / "cat" / "cut.jpg"
    path.parent.mkdir()
    path.write_bytes(encoded("JPEG")[:-100])
    with pytest.raises(OpenworldError, match="cut.jpg cannot be read"):
        folder.load(tmp_path).image(0)


def test_a_file_that_lies_about_its_kind_is_named(tmp_path):
    (tmp_path / "really.jpg").write_bytes(encoded("PNG"))
    with pytest.raises(OpenworldError, match="holds a PNG image"):
        folder.read_picture(tmp_path / "really.jpg")
    (tmp_path / "text.png").write_text("hello")
    with pytest.raises(OpenworldError, match="text.png cannot be read"):
        folder.read_picture(tmp_path / "text.png")


def test_a_picture_of_sixteen_bits_is_refused_not_clipped(tmp_path):
    Image.fromarray(np.full((4, 4), 40000, np.uint16)).save(tmp_path / "deep.png")
    with pytest.raises(OpenworldError, match="8 bits"):
        folder.read_picture(tmp_path / "deep.png")


@pytest.mark.parametrize("mode", ["L", "LA", "P", "1", "CMYK", "RGBA"])
def test_every_other_kind_of_picture_becomes_rgb(tmp_path, mode):
    path = tmp_path / ("picture.jpg" if mode == "CMYK" else "picture.png")
    options = {"transparency": b"\x00\x80"} if mode == "P" else {}
    Image.new(mode, (4, 4)).save(path, **options)
    assert folder.read_picture(path).mode == "RGB"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "9.png is no plain file, but a pipe or a device"),
        (os.mkdir, "9.png is no plain file, but a folder"),
        (lambda path: path.symlink_to(path), "9.png is no plain file, but a link that leads to no file"),
        (lambda path: path.symlink_to(path.with_name("gone.png")), "9.png is no plain file, but a link"),
        (lambda path: os.symlink(b"0.png", os.fsencode(path.parent) + b"/caf\xe9.png"), "not UTF-8"),
    ],
)
def test_a_picture_that_is_no_plain_file_of_a_readable_name_is_named(tmp_path, make, message):
    save(tmp_path / "cat" / "0.png")
    make(tmp_path / "cat" / "9.png")
    with pytest.raises(OpenworldError, match=message):
        folder.load(tmp_path)


def test_a_class_whose_name_is_not_text_is_named(tmp_path):
    save(tmp_path / "cat" / "0.png")
    os.rename(tmp_path / "cat", os.fsencode(tmp_path) + b"/k\xe4fer")
    with pytest.raises(OpenworldError, match="not UTF-8"):
        folder.load(tmp_path)


@pytest.mark.parametrize(
    ("one", "other"), [("", ""), ("train", "test"), ("mono", "color"), ("mono/test", "color/test")]
)
def test_class_names_are_found_whatever_the_layout(tmp_path, one, other):
    save(tmp_path / one / "wild_dog" / "0.png")
    save(tmp_path / other / "owl" / "0.png")
    (tmp_path / one / "cat").mkdir()
    assert folder.class_names(tmp_path) == ("cat", "owl", "wild_dog")


def test_class_names_of_a_folder_without_pictures_are_refused(tmp_path):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    with pytest.raises(OpenworldError, match="holds no class folders"):
        folder.class_names(tmp_path)


def test_a_pipe_in_place_of_the_list_of_names_is_refused_not_passed_over(pets):
    os.mkfifo(pets / "classnames.txt")
    with pytest.raises(OpenworldError, match="classnames.txt is no plain file"):
        folder.load(pets, part="train")
