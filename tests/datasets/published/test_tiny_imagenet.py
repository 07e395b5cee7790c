"""Tiny-ImageNet and Tiny-ImageNet-C, on trees in the layout of their archives."""

import pytest
import trees
from tiny_trees import IDS, NAMES, plant_folders_c, plant_tiny

from openworld.core.errors import OpenworldError
from openworld.datasets import load


def colours(images):
    return [images.image(index).getpixel((0, 0)) for index in range(len(images))]


def test_training_and_labelled_validation_images_by_class(tmp_path):
    plant_tiny(tmp_path)
    train, test = (load("tiny-imagenet", root=tmp_path, part=part) for part in ("train", "test"))
    assert train.classnames == test.classnames == NAMES
    assert colours(train) == [(label, place, 1) for label in range(4) for place in range(3)]
    assert colours(test) == [(label, place, 2) for label in range(4) for place in (0, 1)]
    assert train.labels.tolist() == [label for label in range(4) for _ in range(3)]
    assert len(load("tiny-imagenet", root=tmp_path, part="train", shots=1)) == 4


def test_validation_images_sorted_into_class_folders_are_the_same(tmp_path):
    folder = plant_tiny(tmp_path)
    before = colours(load("tiny-imagenet", root=tmp_path))
    for line in (folder / "val/val_annotations.txt").read_text().splitlines():
        file, one = line.split("\t")[:2]
        (folder / "val" / one / "images").mkdir(parents=True, exist_ok=True)
        (folder / "val/images" / file).rename(folder / "val" / one / "images" / file)
    (folder / "val/images").rmdir()
    assert colours(load("tiny-imagenet", root=tmp_path)) == before


def test_a_variant_of_imagenet_shows_the_classes_that_both_have(tmp_path):
    plant_tiny(tmp_path)
    for name in ("imagenet", "imagenet-r", "imagenet-sketch"):
        trees.plant(tmp_path, name)
    shown = load("tiny-imagenet", root=tmp_path, domain="imagenet-sketch")
    assert shown.classnames == NAMES[:3] and shown.domain == "imagenet-sketch"
    every = load("imagenet-sketch", root=tmp_path)
    kept = [index for index, label in enumerate(every.labels) if every.classnames[label] in NAMES]
    assert colours(shown) == [every.image(index).getpixel((0, 0)) for index in kept]
    only_r = load("tiny-imagenet", root=tmp_path, domain="imagenet-r")
    assert set(only_r.classnames) == set(NAMES) & set(load("imagenet-r", root=tmp_path).classnames)


def test_corruptions_by_folder_with_a_space_or_an_underscore(tmp_path):
    plant_tiny(tmp_path)
    plant_folders_c(tmp_path / "Tiny-ImageNet-C", IDS, ("gaussian_noise", "fog"))
    for domain in ("gaussian noise 3", "gaussian_noise 3"):
        images = load("tiny-imagenet-c", root=tmp_path, domain=domain)
        assert images.classnames == NAMES and images.domain == "gaussian_noise 3"
        assert colours(images) == [(label, 30, 0) for label in range(4) for _ in range(2)]


def test_the_four_further_corruptions_lie_beside_the_others(tmp_path):
    plant_tiny(tmp_path)
    plant_folders_c(tmp_path / "Tiny-ImageNet-C", IDS, ("fog",))
    plant_folders_c(tmp_path / "Tiny-ImageNet-C-extra", IDS, ("spatter",))
    assert colours(load("tiny-imagenet-c", root=tmp_path, domain="spatter 2"))[0] == (0, 20, 0)
    with pytest.raises(OpenworldError, match=r"Tiny-ImageNet-C/snow/1"):
        load("tiny-imagenet-c", root=tmp_path, domain="snow 1")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("val/val_annotations.txt", "val_0.JPEG n01443537\n", "expected a file and a WordNet id"),
        ("val/val_annotations.txt", "../x.JPEG\tn01443537\t0\n", r"\.\./x\.JPEG"),
        ("wnids.txt", "n01443537\nn01443537\n", "1 classes in 2 lines"),
        ("words.txt", "n00001740\tentity\n", "1 class.* have no name, such as .*n99999999"),
    ],
)
def test_broken_files_are_named(tmp_path, file, text, message):
    folder = plant_tiny(tmp_path)
    (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(OpenworldError, match=message):
        load("tiny-imagenet", root=tmp_path)
