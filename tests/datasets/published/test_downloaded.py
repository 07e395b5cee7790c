"""The fifteen published data sets, from tiny trees in their layouts."""

import pickle
import random
import shutil

import pytest
from trees import ALL, FOLDER_SETS, SUBSETS, WORDNET, plant, write_names

from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED, coop_draw, few_shot, imagenet_labels, load
from openworld.datasets.published.class_folders import read_names


def dassl_draw(labels, shots, generator):
    """Dassl's loop over items, written out."""
    tracker = {}
    for item, label in enumerate(labels):
        tracker.setdefault(label, []).append(item)
    drawn = [generator.sample(own, shots) if len(own) >= shots else own for own in tracker.values()]
    return [item for own in drawn for item in own]


def rows(images):
    return list(zip(tuple(images.columns["path"]), images.labels.tolist(), strict=True))


@pytest.mark.parametrize("name", ALL)
def test_every_part_is_read_in_the_order_of_its_lists_and_shots_are_coops(tmp_path, name):
    tree = plant(tmp_path, name)
    assert set(PUBLISHED[name].parts) == set(tree.rows)
    for part, expected in tree.rows.items():
        images = load(name, root=tmp_path, part=part)
        assert images.name == name and images.classnames == tree.classnames
        assert rows(images) == expected
        assert images.groups.tolist() == list(range(len(expected)))
        assert images.image(len(images) - 1).mode == "RGB"
    if train := tree.rows.get("train"):
        expected = [train[item] for item in dassl_draw([label for _, label in train], 2, random.Random(7))]
        assert rows(load(name, root=tmp_path, part="train", shots=2, seed=7)) == expected


def test_validation_images_are_drawn_after_the_shots(tmp_path):
    tree = plant(tmp_path, "dtd")
    generator = random.Random(3)
    for part, shots in (("train", 5), ("validation", 4)):
        drawn = dassl_draw([label for _, label in tree.rows[part]], shots, generator)
        images = load("dtd", root=tmp_path, part=part, shots=5, seed=3)
        assert tuple(images.columns["path"]) == tuple(tree.rows[part][item][0] for item in drawn)
    labels = [0, 1, 0, 1, 1, 0]
    assert coop_draw(labels, labels, 2, 5)[0].tolist() == few_shot(labels, 2, random.Random(5)).tolist()


def test_the_folder_of_all_data_sets_may_be_named_by_a_variable_and_hold_links(tmp_path, monkeypatch):
    tree = plant(tmp_path / "elsewhere", "eurosat")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "eurosat").symlink_to(tree.folder)
    with pytest.raises(OpenworldError, match="OPENWORLD_DATA"):
        load("eurosat")
    monkeypatch.setenv("OPENWORLD_DATA", str(tmp_path / "data"))
    assert len(load("eurosat")) == 6


def test_the_fingerprint_is_of_names_and_sizes_not_of_places(tmp_path):
    tree = plant(tmp_path / "here", "dtd")
    before = load("dtd", root=tmp_path / "here").fingerprint
    (tmp_path / "here").rename(tmp_path / "there")
    images = load("dtd", root=tmp_path / "there")
    assert images.fingerprint == before
    assert pickle.loads(pickle.dumps(images)).image(1).getpixel((0, 0)) == images.image(1).getpixel((0, 0))
    moved = tmp_path / "there" / tree.images.relative_to(tmp_path / "here") / tree.rows["test"][0][0]
    moved.write_bytes(moved.read_bytes() + b"\0")
    assert load("dtd", root=tmp_path / "there").fingerprint != before


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("dtd", {"part": "exam"}, "unknown part of dtd 'exam'"),
        ("imagenet", {"part": "validation"}, "unknown part of imagenet"),
        ("dtd", {"domain": "sketch"}, "no domains"),
        ("dtd", {"part": "test", "shots": 4}, "test images are fixed"),
        ("sun397", {}, "openworld data check sun397"),
        ("dtd", {}, "1 of 6 images of 'dtd' are missing"),
    ],
)
def test_what_is_not_there_is_named(tmp_path, name, options, message):
    tree = plant(tmp_path, "dtd")
    (tree.images / tree.rows["test"][2][0]).unlink()
    with pytest.raises(OpenworldError, match=message):
        load(name, root=tmp_path, **options)
    assert len(load("dtd", root=tmp_path, part="train")) == 18


@pytest.mark.parametrize("name", FOLDER_SETS)
def test_variants_are_joined_by_wordnet_id(tmp_path, name):
    plant(tmp_path, name)
    expected = [list(WORDNET).index(one) for one in SUBSETS.get(name, WORDNET)]
    assert imagenet_labels(name, tmp_path).tolist() == expected
    with pytest.raises(OpenworldError, match="no WordNet ids"):
        imagenet_labels("dtd", tmp_path)


def test_a_missing_class_folder_never_shifts_labels(tmp_path):
    tree = plant(tmp_path, "imagenet")
    shutil.rmtree(tree.images / "val" / "n01443537")
    with pytest.raises(OpenworldError, match="lacks 1 of 12 class folders, such as n01443537"):
        load("imagenet", root=tmp_path)
    assert len(load("imagenet", root=tmp_path, part="train")) == 36


def test_a_variant_may_share_the_names_of_imagenet_or_have_other_ones(tmp_path):
    listing = plant(tmp_path, "imagenet-a").folder / "classnames.txt"
    listing.write_text(listing.read_text().replace("n01498041 stingray", "n01498041 missile"))
    assert load("imagenet-a", root=tmp_path).classnames == ("goldfish", "missile")
    listing.unlink()
    with pytest.raises(OpenworldError, match="no file .*imagenet-adversarial"):
        load("imagenet-a", root=tmp_path)
    (tmp_path / "imagenet").mkdir()
    write_names(tmp_path / "imagenet")
    assert load("imagenet-a", root=tmp_path).classnames == ("goldfish", "stingray")


@pytest.mark.parametrize(
    ("listing", "message"),
    [("n01 tench\nn02\n", "line 'n02'"), ("n02 goldfish\nn01 tench\n", "lists n01 after n02"),
     ("n01 tench\nn01 goldfish\n", "lists n01 after n01")],
)  # fmt: skip
def test_a_wrong_list_of_names_is_refused(tmp_path, listing, message):
    (tmp_path / "classnames.txt").write_text(listing)
    with pytest.raises(OpenworldError, match=message):
        read_names(tmp_path / "classnames.txt")


def test_names_that_clip_gave_twice_are_mended_and_others_stay(tmp_path):
    listing = tmp_path / "classnames.txt"
    listing.write_text("n04008634 missile\nn04355933 dark glasses\n")
    names, remarks = read_names(listing)
    assert names == {"n04008634": "projectile", "n04355933": "dark glasses"} and list(remarks) == ["n04008634"]
