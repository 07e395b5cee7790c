"""Where an image lies: below the folder of its data, through every way of choosing and changing images."""

import pytest
from PIL import Image

from openworld import datasets
from openworld.datasets.formats.folder import find_images, images_of_paths

NAMES = ["cat/0.png", "cat/deep blue.png", "dog/1.png"]


@pytest.fixture
def image_folder(tmp_path):
    for place, name in enumerate(NAMES):
        path = tmp_path / "here" / "test" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (32, 32), (80 * place, 0, 0)).save(path)
    return tmp_path / "here"


def paths(images):
    return [images.path_of(number) for number in range(len(images))]


def test_lists_and_loose_images(image_folder):
    (image_folder / "list.csv").write_text("path,label\n" + "".join(f"test/{name},x{name[0]}\n" for name in NAMES))
    assert paths(datasets.load(str(image_folder / "list.csv"))) == [f"test/{name}" for name in NAMES]
    files = find_images([image_folder])
    assert paths(images_of_paths(files, root=image_folder)) == [f"test/{name}" for name in NAMES]
    assert paths(images_of_paths(files)) == [file.as_posix() for file in files]


def test_images_that_are_no_files_have_their_numbers():
    assert paths(datasets.load("emoji-groups", domain="noto", part="test").subset([4, 7])) == ["0", "1"]
