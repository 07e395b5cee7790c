"""What `check` says of whole trees and of trees broken in the ways that people break them."""

import json
import os
import shutil
from dataclasses import replace

import pytest
from trees import ALL, picture, plant

from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED, check


@pytest.fixture
def expect(monkeypatch):
    """Makes the cards expect what the tiny trees hold."""

    def adjust(name, tree):
        counts = {part: len(own) for part, own in tree.pictures.items()}
        card = replace(PUBLISHED[name], classes=len(tree.classnames), pictures=counts)
        monkeypatch.setitem(PUBLISHED, name, card)

    return adjust


@pytest.fixture
def planted(tmp_path, expect):
    def ask(name):
        tree = plant(tmp_path, name)
        expect(name, tree)
        return tree

    return ask


def said(name, root, **options):
    found = check(name, root, **options)
    assert not found.ok
    return " ".join(found.wrong)


@pytest.mark.parametrize("name", ALL)
def test_a_whole_tree_is_whole(tmp_path, planted, name):
    tree = planted(name)
    found = check(name, tmp_path, decoded=True)
    assert found.ok, found.wrong
    assert found.classes == len(tree.classnames)
    assert found.pictures == {part: len(own) for part, own in tree.pictures.items()}
    assert "SHA-256" in found.remarks[0]


def test_the_tiny_trees_are_not_what_was_published(tmp_path):
    plant(tmp_path, "dtd")
    found = check("dtd", tmp_path)
    assert found.wrong[:2] == (
        "3 classes, expected 47; get the lists again.",
        "train: 18 images are listed, expected 2,820; get the lists again.",
    )
    assert len(found.wrong) == 4


def test_no_root_and_no_folder(tmp_path):
    assert "no folder" in said("dtd", tmp_path / "nowhere")
    assert f"there is no folder {tmp_path / 'dtd'}." in said("dtd", tmp_path)


def test_a_folder_under_another_name(tmp_path, planted):
    planted("caltech101").folder.rename(tmp_path / "Caltech101")
    assert "but a Caltech101: rename it, or link to it" in said("caltech101", tmp_path)


def test_another_data_set_is_not_taken_for_a_missing_one(tmp_path):
    for name in ("CIFAR-10-C", "imglist", "usps", "imagenet-r"):
        (tmp_path / name).mkdir()
    for name in ("cifar100", "mnist", "cifar100-c", "qmnist", "imagenet", "imagenet-a"):
        assert "rename" not in said(name, tmp_path)


def test_a_dangling_link(tmp_path):
    (tmp_path / "dtd").symlink_to(tmp_path / "gone")
    assert "no folder" in said("dtd", tmp_path)


def test_no_split_file(tmp_path, planted):
    (planted("food101").folder / "split_zhou_Food101.json").unlink()
    found = check("food101", tmp_path)
    assert "no file" in found.wrong[0]
    assert ("split_zhou_Food101.json", PUBLISHED["food101"].sources[1][1]) in found.sources


def test_one_of_the_aircraft_lists_is_missing(tmp_path, planted):
    (planted("fgvc_aircraft").folder / "images_variant_val.txt").unlink()
    assert "images_variant_val.txt" in said("fgvc_aircraft", tmp_path)


def test_no_image_folder_but_one_like_it(tmp_path, planted):
    tree = planted("ucf101")
    tree.images.rename(tree.folder / "UCF-101-midframe")
    assert "UCF-101-midframes, but a UCF-101-midframe" in said("ucf101", tmp_path)


def test_a_split_file_cut_short(tmp_path, planted):
    path = planted("sun397").folder / "split_zhou_SUN397.json"
    path.write_text(path.read_text()[:-20])
    assert "no JSON" in said("sun397", tmp_path)


def test_missing_pictures(tmp_path, planted):
    tree = planted("eurosat")
    for path, _ in tree.pictures["train"][:4]:
        (tree.images / path).unlink()
    text = said("eurosat", tmp_path)
    assert "train: 4 of 18 images are missing" in text
    assert f"such as {tree.pictures['train'][0][0]}, " in text


def test_an_archive_that_brought_its_own_folder(tmp_path, planted):
    tree = planted("food101")
    inner = tree.images.rename(tree.folder / "inner")
    tree.images.mkdir()
    inner.rename(tree.images / "images")
    assert f"they lie in {tree.images / 'images'}: move its contents up" in said("food101", tmp_path)


def test_empty_files(tmp_path, planted):
    tree = planted("dtd")
    (tree.images / tree.pictures["validation"][0][0]).write_bytes(b"")
    assert "validation: 1 image(s) are empty files" in said("dtd", tmp_path)


def test_a_damaged_picture_shows_only_when_decoded(tmp_path, planted):
    tree = planted("dtd")
    path = tree.images / tree.pictures["test"][0][0]
    path.write_bytes(path.read_bytes()[:-40])
    assert check("dtd", tmp_path).ok
    assert "1 of 6 images cannot be read" in said("dtd", tmp_path, decoded=True)


def test_a_test_picture_among_the_shots(tmp_path, planted):
    path = planted("dtd").folder / "split_zhou_DescribableTextures.json"
    split = json.loads(path.read_text())
    split["test"][0] = split["train"][0]
    split["val"][1] = split["val"][0]
    path.write_text(json.dumps(split))
    text = said("dtd", tmp_path)
    assert "test: 1 image(s) are also in train" in text
    assert "validation: 1 image(s) are listed more than once" in text


def test_a_class_without_a_test_picture(tmp_path, planted):
    path = planted("dtd").folder / "split_zhou_DescribableTextures.json"
    split = json.loads(path.read_text())
    split["test"] = [entry for entry in split["test"] if entry[1] != 1]
    path.write_text(json.dumps(split))
    assert "test: 1 class(es) have no image, such as Abbey" in said("dtd", tmp_path)


def test_too_few_pictures_in_the_folders(tmp_path, planted):
    tree = planted("imagenet")
    (tree.images / tree.pictures["train"][0][0]).unlink()
    assert "train: 35 images are listed, expected 36; extract the archive again." in said("imagenet", tmp_path)


def test_imagenets_test_pictures_in_one_heap(tmp_path, planted):
    tree = planted("imagenet")
    shutil.rmtree(tree.images / "val")
    picture(tree.images / "val" / "ILSVRC2012_val_00000001.JPEG", 1)
    assert "sort them into a folder per class" in said("imagenet", tmp_path)


def test_imagenets_archives_of_archives(tmp_path, planted):
    tree = planted("imagenet")
    shutil.rmtree(tree.images / "train")
    (tree.images / "train").mkdir()
    (tree.images / "train" / "n01440764.tar").write_bytes(b"")
    assert "archives such as n01440764.tar; extract each" in said("imagenet", tmp_path)


def test_a_class_folder_is_missing(tmp_path, planted):
    tree = planted("imagenetv2")
    shutil.rmtree(tree.images / "10")
    assert "lacks 1 of 12 class folders, such as 10" in said("imagenetv2", tmp_path)


def test_names_that_are_out_of_order(tmp_path, planted):
    path = planted("imagenet-sketch").folder / "classnames.txt"
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert "ids must be in order" in said("imagenet-sketch", tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
def test_a_file_name_that_is_no_text(tmp_path, planted):
    tree = planted("imagenet-r")
    old = tree.images / tree.pictures["test"][0][0]
    try:
        os.rename(old, os.fsencode(old.parent) + b"/caf\xe9.jpg")
    except OSError:
        pytest.skip("this file system takes no such names")
    assert r"1 file names are not UTF-8, such as 'n01440764/caf\udce9.jpg'" in said("imagenet-r", tmp_path)


def test_what_was_mended_about_names_is_said(tmp_path, planted):
    planted("imagenet-r")
    assert any("n04008634 is called 'projectile'" in remark for remark in check("imagenet-r", tmp_path).remarks)


def test_an_unknown_data_set(tmp_path):
    with pytest.raises(OpenworldError, match="did you mean 'food101'"):
        check("food-101", tmp_path)
