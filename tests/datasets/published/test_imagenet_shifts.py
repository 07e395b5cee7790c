"""ImageNet's classes under other circumstances, on tiny trees of ImageNet and its variants."""

from dataclasses import replace

import pytest
import shifted_trees
import trees

from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, SHIFTED, check, load
from openworld.datasets.published.breeds import ROOT, TASKS, BreedsTask

R = sorted(trees.SUBSETS["imagenet-r"])
SHARKS, RAYS = ("n01484850", "n01491361", "n01494475"), ("n01496331", "n01498041")
FISH = ("n01440764", "n01443537")


@pytest.fixture
def root(tmp_path):
    for name in ("imagenet", "imagenet-r", "imagenet-sketch", "imagenetv2"):
        trees.plant(tmp_path, name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("imagenetv2-threshold", "imagenetv2-threshold0.7-format-val"),
        ("imagenetv2-top", "imagenetv2-top-images-format-val"),
    ],
)
def test_the_other_two_of_v2(root, name, folder):
    with pytest.raises(OpenworldError, match=f"there is no folder .*{folder}"):
        load(name, root=root)
    (root / "imagenetv2" / "imagenetv2-matched-frequency-format-val").rename(root / "imagenetv2" / folder)
    images = load(name, root=root)
    assert (images.name, len(images), len(images.classnames)) == (name, 24, 12)
    assert images.labels.tolist() == [label for label in range(12) for _ in range(2)]


@pytest.mark.parametrize("domain", ["", "imagenetv2", "imagenet-sketch", "imagenet-r"])
def test_two_hundred_are_those_that_r_has(root, domain):
    images = load("imagenet-200", root=root, domain=domain)
    every = load(domain or "imagenet", root=root)
    assert images.classnames == ("tench", "stingray", "projectile")
    assert (images.name, images.domain) == ("imagenet-200", domain)
    assert images.labels.tolist() == [0, 0, 1, 1, 2, 2]
    of_r = [index for index, label in enumerate(every.labels) if every.classnames[label] in images.classnames]
    found = [images.image(index).getpixel((0, 0)) for index in range(len(images))]
    assert found == [every.image(index).getpixel((0, 0)) for index in of_r]


def test_only_imagenet_itself_trains(root):
    assert len(load("imagenet-200", root=root, part="train", shots=2)) == 6
    with pytest.raises(OpenworldError, match="imagenetv2 has no part 'train'"):
        load("imagenet-200", root=root, domain="imagenetv2", part="train")


@pytest.fixture
def breeds(root, monkeypatch):
    """Three superclasses of the tiny ImageNet, of which the last has too few classes."""
    edges = [(ROOT, "n1"), ("n1", "nshark"), ("n1", "nflat"), ("n1", "nbone")]
    edges += [("nshark", one) for one in SHARKS] + [("nflat", one) for one in RAYS] + [("nbone", FISH[0])]
    names = {"nshark": "shark", "nflat": "ray, flat fish", "nbone": "bony fish"}
    shifted_trees.plant_hierarchy(root / "breeds", edges, list(trees.WORDNET), names)
    monkeypatch.setitem(TASKS, "living17", BreedsTask(level=2, subclasses=2))
    card = replace(SHIFTED["living17"], classes=2, counts={"train": None, "test": 4})
    monkeypatch.setitem(SHIFTED, "living17", card)
    return root


def test_breeds_share_out_subclasses(breeds):
    """Below nflat and nshark, in this order, lie classes only: the first is the source, the next the target."""
    source, target = (load("living17", root=breeds, domain=domain) for domain in ("source", "target"))
    assert source.classnames == target.classnames == ("ray", "shark")
    assert sorted(source.labels.tolist()) == sorted(target.labels.tolist()) == [0, 0, 1, 1]
    every = load("imagenet", root=breeds)
    order = sorted(trees.WORDNET)

    def colours(images):
        return {images.image(index).getpixel((0, 0)) for index in range(len(images))}

    def of(*ids):
        return {every.image(2 * order.index(one) + place).getpixel((0, 0)) for one in ids for place in (0, 1)}

    assert colours(source) == of(RAYS[0], SHARKS[0])
    assert colours(target) == of(RAYS[1], SHARKS[1])


def test_breeds_over_v2_and_their_training(breeds):
    assert len(load("living17", root=breeds, domain="target imagenetv2")) == 4
    assert len(load("living17", root=breeds, part="train")) == 6
    assert DATASETS["living17"].domains[:4] == ("source", "target", "source imagenetv2", "target imagenetv2")


def test_the_check_counts_both_domains(breeds):
    found = check("living17", breeds)
    assert found.ok, found.wrong
    assert found.counts == {"source train": 6, "source test": 4, "target train": 6, "target test": 4}
    (breeds / "breeds" / "class_hierarchy.txt").unlink()
    assert "there is no file" in check("living17", breeds).wrong[0]
