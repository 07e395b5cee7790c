"""Every data set to download, broken in every way that people break them: `check` says so, and says what to do."""

import json
import shutil
from dataclasses import replace

import pytest
from trees import ALL, FOLDER_SETS, SPLIT_SETS, picture, plant

from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED, check, load

LISTED = (*SPLIT_SETS, "fgvc_aircraft")
TEST = "test"


def no_folder(tree, listing):
    shutil.rmtree(tree.folder)


def folder_in_other_case(tree, listing):
    tree.folder.rename(tree.folder.with_name(tree.folder.name.upper()))
    if tree.folder.exists():
        pytest.skip("this file system does not tell upper from lower case")


def no_listing(tree, listing):
    listing.unlink()


def listing_is_not_text(tree, listing):
    listing.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")


def empty_listing(tree, listing):
    listing.write_bytes(b"")


def listing_is_a_web_page(tree, listing):
    listing.write_text("<!doctype html>\n<title>Quota exceeded</title>\n")


def no_pictures(tree, listing):
    for entry in [*tree.images.iterdir()]:
        if entry != listing:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def a_picture_is_gone(tree, listing):
    (tree.images / tree.pictures[TEST][0][0]).unlink()


def a_picture_under_another_name(tree, listing):
    path = tree.images / tree.pictures[TEST][0][0]
    path.rename(path.with_name(path.name.upper() + "_"))


def an_empty_picture(tree, listing):
    (tree.images / tree.pictures[TEST][0][0]).write_bytes(b"")


def a_picture_cut_short(tree, listing):
    path = tree.images / tree.pictures[TEST][0][0]
    path.write_bytes(path.read_bytes()[:60])


def a_picture_that_is_a_web_page(tree, listing):
    (tree.images / tree.pictures[TEST][0][0]).write_text("<!doctype html>")


def a_dangling_link_for_a_picture(tree, listing):
    path = tree.images / tree.pictures[TEST][0][0]
    path.unlink()
    path.symlink_to(tree.images / "nowhere")


KINDS = (
    no_folder,
    folder_in_other_case,
    no_listing,
    listing_is_not_text,
    empty_listing,
    listing_is_a_web_page,
    no_pictures,
    a_picture_is_gone,
    a_picture_under_another_name,
    an_empty_picture,
    a_picture_cut_short,
    a_picture_that_is_a_web_page,
    a_dangling_link_for_a_picture,
)


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Plants a tree and makes its card expect what it holds."""

    def ask(name):
        tree = plant(tmp_path, name)
        counts = {part: len(own) for part, own in tree.pictures.items()}
        card = replace(PUBLISHED[name], classes=len(tree.classnames), pictures=counts)
        monkeypatch.setitem(PUBLISHED, name, card)
        return tree

    return ask


def test_all_fifteen_are_here():
    assert set(ALL) == set(PUBLISHED) and len(ALL) == 15


@pytest.mark.parametrize("harm", KINDS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_harm_is_told_of_every_data_set(tmp_path, planted, name, harm):
    tree = planted(name)
    harm(tree, tree.folder / PUBLISHED[name].listings[0])
    found = check(name, tmp_path, decoded=True)
    assert not found.ok and found.sources
    assert all(len(sentence) > 30 and sentence[-1] in ".)" for sentence in found.wrong), found.wrong


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (listing_is_a_web_page, "is a web page"),
        (empty_listing, "is empty; get the file again"),
        (listing_is_not_text, "is not UTF-8 text"),
    ],
)
def test_what_lies_in_place_of_a_list_is_told(tmp_path, planted, name, harm, sentence):
    tree = planted(name)
    harm(tree, tree.folder / PUBLISHED[name].listings[0])
    (told,) = check(name, tmp_path).wrong
    assert sentence in told and told.count("get the file again") == 1


@pytest.mark.parametrize("name", ALL)
def test_what_cannot_be_loaded_says_what_to_ask(tmp_path, planted, name):
    a_picture_is_gone(planted(name), None) if name in LISTED else no_folder(planted(name), None)
    with pytest.raises(OpenworldError, match=f"openworld data check {name} --root "):
        load(name, root=tmp_path)


@pytest.mark.parametrize("name", FOLDER_SETS)
def test_extra_pictures_are_counted_where_folders_say_what_there_is(tmp_path, planted, name):
    tree = planted(name)
    picture(tree.images / tree.pictures[TEST][0][0].replace("_0.", "_9."), 1)
    count = len(tree.pictures[TEST])
    assert f"test: {count + 1} images are listed, expected {count}" in " ".join(check(name, tmp_path).wrong)


@pytest.mark.parametrize("name", LISTED)
def test_extra_pictures_do_no_harm_where_a_list_says_what_there_is(tmp_path, planted, name):
    picture(planted(name).images / "more" / "1.jpg", 1)
    assert check(name, tmp_path).ok


@pytest.mark.parametrize("name", FOLDER_SETS)
def test_files_that_are_no_pictures_are_passed_over_in_class_folders(tmp_path, planted, name):
    tree = planted(name)
    (tree.images / tree.pictures[TEST][0][0]).with_name("Thumbs.db").write_bytes(b"\0")
    (tree.images / tree.pictures[TEST][0][0]).with_name("._1.JPEG").write_bytes(b"\0")
    assert check(name, tmp_path, decoded=True).ok


@pytest.mark.parametrize("name", FOLDER_SETS)
def test_a_class_folder_that_nobody_knows(tmp_path, planted, name):
    tree = planted(name)
    stray = (tree.images / tree.pictures[TEST][0][0]).parents[1] / "n99999999"
    picture(stray / "1.JPEG", 1)
    assert "does not name, such as n99999999" in " ".join(check(name, tmp_path).wrong)


def leaves_its_folder(split):
    split["test"][0][0] = "../../secret.jpg"


def leaves_by_an_absolute_path(split):
    split["test"][0][0] = "/etc/passwd"


def a_gap_in_the_labels(split):
    for entry in (entry for own in split.values() for entry in own if entry[1] == 1):
        entry[1] = 7


def a_label_with_two_names(split):
    split["test"][0][2] = "something else"


def a_negative_label(split):
    split["test"][0][1] = -1


def a_label_that_is_text(split):
    split["test"][0][1] = "1"


def other_parts(split):
    split["validation"] = split.pop("val")


def one_picture_twice(split):
    split["test"].append(split["test"][0])


def a_training_picture_in_the_test(split):
    split["test"].append(split["train"][0])


def one_picture_too_few(split):
    split["train"].pop()


def an_entry_cut_short(split):
    split["train"][1] = split["train"][1][:2]


LISTS_GONE_WRONG = {
    leaves_its_folder: "leaves its folder",
    leaves_by_an_absolute_path: "leaves its folder",
    a_gap_in_the_labels: "none with label 1",
    a_label_with_two_names: "two names",
    a_negative_label: "expected [path, label, class name]",
    a_label_that_is_text: "expected [path, label, class name]",
    other_parts: "expected train, val and test",
    one_picture_twice: "listed more than once",
    a_training_picture_in_the_test: "are also in train",
    one_picture_too_few: "images are listed, expected",
    an_entry_cut_short: "expected [path, label, class name]",
}


@pytest.mark.parametrize("harm", LISTS_GONE_WRONG, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("name", SPLIT_SETS)
def test_every_fault_of_a_split_file_is_told(tmp_path, planted, name, harm):
    path = planted(name).folder / PUBLISHED[name].listings[0]
    split = json.loads(path.read_text())
    harm(split)
    path.write_text(json.dumps(split))
    assert LISTS_GONE_WRONG[harm] in " ".join(check(name, tmp_path).wrong)


def test_a_variant_of_aircraft_that_is_not_listed(tmp_path, planted):
    path = planted("fgvc_aircraft").folder / "images_variant_test.txt"
    path.write_text(path.read_text() + "0000099 Zeppelin\n")
    assert "does not list" in " ".join(check("fgvc_aircraft", tmp_path).wrong)
