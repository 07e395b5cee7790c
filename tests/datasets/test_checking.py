"""What `check` says of whole trees and of trees broken in the ways that people break them."""

import json
import os
import re
import shutil
from dataclasses import replace

import pytest
from trees import ALL, FOLDER_SETS, make_image, plant

from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED, check, load

KINDS = ("dtd", "fgvc_aircraft", "imagenet-r")
"""A data set of each way to say what there is: a split file, variants, class folders."""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Plants a tree and makes its card expect what it holds."""

    def ask(name):
        tree = plant(tmp_path, name)
        counts = {part: len(rows) for part, rows in tree.rows.items()}
        card = replace(PUBLISHED[name], classes=len(tree.classnames), counts=counts)
        monkeypatch.setitem(PUBLISHED, name, card)
        return tree

    return ask


def image(tree, part="test"):
    return tree.images / tree.rows[part][0][0]


def said(name, root, **options):
    inspection = check(name, root, **options)
    assert not inspection.ok and inspection.sources
    assert all(len(sentence) > 30 and sentence[-1] in ".)" for sentence in inspection.wrong), inspection.wrong
    return " ".join(inspection.wrong)


@pytest.mark.parametrize("name", ALL)
def test_a_whole_tree_is_whole_and_a_broken_one_is_not(tmp_path, planted, name):
    tree = planted(name)
    inspection = check(name, tmp_path, decoded=True)
    assert inspection.ok, inspection.wrong
    assert inspection.classes == len(tree.classnames)
    assert inspection.counts == {part: len(rows) for part, rows in tree.rows.items()}
    assert "SHA-256" in inspection.remarks[0]
    shutil.rmtree(tree.folder) if name in FOLDER_SETS else image(tree).unlink()
    assert not check(name, tmp_path).ok
    with pytest.raises(OpenworldError, match=f"openworld data check {name} --root "):
        load(name, root=tmp_path)


def test_all_fifteen_are_here_and_tiny_trees_are_not_what_was_published(tmp_path):
    assert set(ALL) == set(PUBLISHED) and len(ALL) == 15
    plant(tmp_path, "dtd")
    wrong = check("dtd", tmp_path).wrong
    assert wrong[:2] == (
        "3 classes, expected 47; get the lists again.",
        "train: 18 images are listed, expected 2,820; get the lists again.",
    )
    assert len(wrong) == 4


def without_images(tree, listing):
    for entry in [*tree.images.iterdir()]:
        if entry != listing:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def dangling_link(tree, listing):
    image(tree).unlink()
    image(tree).symlink_to(tree.images / "nowhere")


HARMS = {  # what is done to a tree and its list -> what is said; of class folders, where that differs
    "no folder": (lambda tree, listing: shutil.rmtree(tree.folder), "there is no folder"),
    "no list": (lambda tree, listing: listing.unlink(), "there is no file"),
    "no text": (lambda tree, listing: listing.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe"), "is not UTF-8 text"),
    "empty list": (lambda tree, listing: listing.write_bytes(b""), "is empty; get the file again"),
    "web page": (lambda tree, listing: listing.write_text("<!doctype html>\n<title>Quota</title>"), "is a web page"),
    "no images": (without_images, "18 of 18 images are missing", "there is no folder|holds no class folders"),
    "image gone": (lambda tree, _: image(tree).unlink(), "test: 1 of 6 images are", r"\d images are listed, expected"),
    "dangling link": (dangling_link, "test: 1 of .* images are missing"),
    "empty image": (lambda tree, _: image(tree).write_bytes(b""), r"test: 1 image\(s\) are empty files"),
    "image cut": (lambda tree, _: image(tree).write_bytes(image(tree).read_bytes()[:60]), "1 of .* cannot be read"),
    "no image": (lambda tree, _: image(tree).write_text("<!doctype html>"), "test: 1 of .* cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", KINDS)
def test_every_harm_is_told_of_every_kind_of_data_set(tmp_path, planted, name, harm):
    act, of_lists, *of_folders = HARMS[harm]
    tree = planted(name)
    act(tree, tree.folder / PUBLISHED[name].listings[0])
    words = of_folders[0] if of_folders and name in FOLDER_SETS else of_lists
    sentences = said(name, tmp_path, decoded=True)
    assert re.search(words, sentences), sentences
    assert sentences.count("get the file again") <= 1


def rename(place):
    return lambda tree: place(tree)[0].rename(place(tree)[1])


def in_one_heap(tree):
    shutil.rmtree(tree.images / "val")
    make_image(tree.images / "val" / "ILSVRC2012_val_00000001.JPEG", 1)


def archives_of_archives(tree):
    shutil.rmtree(tree.images / "train")
    (tree.images / "train").mkdir()
    (tree.images / "train" / "n01440764.tar").write_bytes(b"")


def a_folder_of_its_own(tree):
    inner = tree.images.rename(tree.folder / "inner")
    tree.images.mkdir()
    inner.rename(tree.images / "images")


def missing_images(tree):
    for path, _ in tree.rows["train"][:4]:
        (tree.images / path).unlink()


def reversed_names(tree):
    path = tree.folder / "classnames.txt"
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))


def another_variant(tree):
    path = tree.folder / "images_variant_test.txt"
    path.write_text(path.read_text() + "0000099 Zeppelin\n")


@pytest.mark.parametrize(
    ("name", "harm", "words"),
    [
        ("caltech101", rename(lambda tree: (tree.folder, tree.folder.with_name("Caltech101"))),
         "but a Caltech101: rename it, or link to it"),
        ("ucf101", rename(lambda tree: (tree.images, tree.folder / "UCF-101-midframe")),
         "UCF-101-midframes, but a UCF-101-midframe"),
        ("fgvc_aircraft", lambda tree: (tree.folder / "images_variant_val.txt").unlink(), "images_variant_val.txt"),
        ("fgvc_aircraft", another_variant, "does not list"),
        ("eurosat", missing_images, "train: 4 of 18 images are missing .*, \\.\\.\\."),
        ("food101", a_folder_of_its_own, "they lie in .*/images/images: move its contents up"),
        ("imagenet", lambda tree: image(tree, "train").unlink(),
         "train: 35 images are listed, expected 36; extract the archive again."),
        ("imagenet", in_one_heap, "sort them into a folder per class"),
        ("imagenet", archives_of_archives, "archives such as n01440764.tar; extract each"),
        ("imagenetv2", lambda tree: shutil.rmtree(tree.images / "10"), "lacks 1 of 12 class folders, such as 10"),
        ("imagenet-sketch", lambda tree: make_image(tree.images / "n99999999" / "1.JPEG", 1),
         "does not name, such as n99999999"),
        ("imagenet-sketch", lambda tree: make_image(image(tree).with_name("more.JPEG"), 1),
         "test: 25 images are listed, expected 24"),
        ("imagenet-sketch", reversed_names, "ids must be in order"),
    ],
)  # fmt: skip
def test_what_else_goes_wrong_is_told_with_the_way_out(tmp_path, planted, name, harm, words):
    harm(planted(name))
    assert re.search(words, said(name, tmp_path))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda split: split.update(validation=split.pop("val")), "expected train, val and test"),
        (lambda split: split["val"].append(split["val"][0]), "validation: 1 image(s) are listed more than once"),
        (lambda split: split["test"].append(split["train"][0]), "test: 1 image(s) are also in train"),
        (lambda split: split["train"].pop(), "images are listed, expected"),
        (lambda split: split.update(test=[entry for entry in split["test"] if entry[1] != 1]),
         "test: 1 class(es) have no image, such as Abbey"),
    ],
)  # fmt: skip
def test_every_fault_of_a_split_file_is_told(tmp_path, planted, edit, words):
    path = planted("dtd").folder / PUBLISHED["dtd"].listings[0]
    split = json.loads(path.read_text())
    edit(split)
    path.write_text(json.dumps(split))
    assert words in said("dtd", tmp_path)


def test_where_nothing_lies(tmp_path):
    assert "there is no folder" in said("dtd", tmp_path / "nowhere")
    (tmp_path / "dtd").symlink_to(tmp_path / "gone")
    assert f"there is no folder {tmp_path / 'dtd'}" in said("dtd", tmp_path)
    with pytest.raises(OpenworldError, match="did you mean 'food101'"):
        check("food-101", tmp_path)


def test_what_does_no_harm(tmp_path, planted):
    """Images that no list names, files that are none; a damaged image shows only when it is decoded."""
    tree = planted("dtd")
    make_image(tree.images / "more" / "1.jpg", 1)
    image(tree).write_bytes(image(tree).read_bytes()[:-40])
    assert check("dtd", tmp_path).ok and not check("dtd", tmp_path, decoded=True).ok
    tree = planted("imagenet-r")
    for name in ("Thumbs.db", "._1.JPEG"):
        image(tree).with_name(name).write_bytes(b"\0")
    inspection = check("imagenet-r", tmp_path, decoded=True)
    assert inspection.ok and any("n04008634 is called 'projectile'" in remark for remark in inspection.remarks)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
def test_a_file_name_that_is_no_text(tmp_path, planted):
    old = image(planted("imagenet-r"))
    try:
        os.rename(old, os.fsencode(old.parent) + b"/caf\xe9.jpg")
    except OSError:
        pytest.skip("this file system takes no such names")
    assert r"1 file names are not UTF-8, such as 'n01440764/caf\udce9.jpg'" in said("imagenet-r", tmp_path)
