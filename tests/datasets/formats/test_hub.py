"""Data sets of Hugging Face's, made here and saved to disk: the real library, no network."""

import io
import random

import pytest
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.datasets import few_shot, load
from openworld.datasets.formats import hub


def png(number):
    file = io.BytesIO()
    Image.new("RGB", (4, 4), (number, 0, 0)).save(file, "PNG")
    return {"bytes": file.getvalue(), "path": f"{number}.png"}


@pytest.fixture(scope="module")
def library():
    return pytest.importorskip("datasets", reason="the extra openworld[hf] is not installed")


@pytest.fixture
def make(library):
    def ask(labels, images=None, **columns):
        features = {"image": library.Image(), "label": library.ClassLabel(names=["wild_dog", "cat"])}
        features |= {name: library.Value("int64") for name in columns}
        rows = {"image": images or [png(number) for number in range(len(labels))], "label": labels, **columns}
        return library.Dataset.from_dict(rows, features=library.Features(features))

    return ask


@pytest.fixture
def saved(library, make, tmp_path):
    parts = {"train": make([1, 0, 1, 1]), "val": make([0, 1]), "test": make([1, 0, 0])}
    library.DatasetDict(parts).save_to_disk(tmp_path / "pets")
    return f"hf:{tmp_path / 'pets'}"


def test_every_part_is_read(saved):
    parts = {part: load(saved, part=part) for part in ("train", "validation", "test")}
    assert [len(images) for images in parts.values()] == [4, 2, 3]
    assert parts["test"].classnames == ("wild dog", "cat")
    assert parts["test"].labels.tolist() == [1, 0, 0]
    assert parts["test"].image(2).getpixel((0, 0)) == (2, 0, 0)
    images = load(saved, part="train", shots=1, seed=2)
    expected = few_shot([1, 0, 1, 1], 1, random.Random(2)).tolist()
    assert [images.image(place).getpixel((0, 0))[0] for place in range(2)] == expected


def test_the_fingerprint_is_of_contents_not_of_the_draw_of_a_cache(make, saved):
    assert load(saved).fingerprint == hub.from_dataset(make([1, 0, 0]), "other").fingerprint
    changed = [png(0), png(1), png(2) | {"path": "3.png"}]
    assert hub.from_dataset(make([1, 0, 0], changed), "other").fingerprint != load(saved).fingerprint


def test_images_may_lie_in_files_and_a_damaged_one_is_named(make, tmp_path):
    path = tmp_path / "1.png"
    path.write_bytes(png(7)["bytes"])
    stored = [{"bytes": None, "path": str(path)}, {"bytes": b"no image", "path": None}]
    images = hub.from_dataset(make([1, 0], stored), "pets")
    assert images.image(0).getpixel((0, 0)) == (7, 0, 0)
    with pytest.raises(OpenworldError, match="pets, row 1 cannot be read"):
        images.image(1)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("pets", {"part": "exam"}, "unknown part"),
        ("pets", {"domain": "sketch"}, "a configuration is said as"),
        ("one", {}, "no split test; it has train"),
        ("nowhere", {}, "cannot be had: "),
    ],
)
def test_what_is_not_there_is_named(library, make, saved, tmp_path, name, options, message):
    library.DatasetDict({"train": make([1])}).save_to_disk(tmp_path / "one")
    with pytest.raises(OpenworldError, match=message):
        load(f"hf:{tmp_path / name}", **options)


def test_columns_are_told_by_their_types(library, make):
    with pytest.raises(OpenworldError, match="2 images without a label"):
        hub.from_dataset(make([-1, 0, -1]), "pets")
    assert len(hub.from_dataset(make([1, 0], weight=[3, 4]), "pets")) == 2
    with pytest.raises(OpenworldError, match="0 columns of class labels"):
        hub.from_dataset(make([1]).remove_columns("label"), "pets")
    both = library.Features({"front": library.Image(), "back": library.Image()})
    twice = library.Dataset.from_dict({"front": [png(0)], "back": [png(1)]}, features=both)
    with pytest.raises(OpenworldError, match=r"2 columns of images \(its columns: front, back\)"):
        hub.from_dataset(twice, "pets")
