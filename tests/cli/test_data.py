"""`openworld data`: words, addresses and exit codes. What is found of images and names is tested with the data sets."""

import json
from dataclasses import replace

import pytest
from in_process import openworld, refused
from PIL import Image

from openworld.datasets import PUBLISHED

CLASSES = ("annual crop", "forest")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Asks in a folder with lists of names and a EuroSAT of two classes, an image a part, which its card expects."""
    for variable in ("OPENWORLD_DATA", "WNSEARCHDIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    names = {"mine": "Cat\nowl\ncat\n", "outer": "Cats\nsea_horse\n", "base": "cat\nowl\nseahorse\nhen\n"}
    names |= {
        "ids": "n02992529 mobile phone\nn03000134 chain-link fence\n",
        "phones": "cellphone\n",
        "some": "cat\nowl\n",
    }
    for name, text in (names | {"hen": "hen\n"}).items():
        (tmp_path / f"{name}.txt").write_text(text)
    split = {part: [] for part in ("train", "val", "test")}
    for label, name in enumerate(CLASSES):
        (tmp_path / "eurosat" / "2750" / name).mkdir(parents=True)
        for part, rows in split.items():
            Image.new("RGB", (2, 2)).save(tmp_path / "eurosat" / "2750" / name / f"{part}.jpg")
            rows.append([f"{name}/{part}.jpg", label, name])
    (tmp_path / "eurosat" / "split_zhou_EuroSAT.json").write_text(json.dumps(split))
    counts = dict.fromkeys(("train", "validation", "test"), 2)
    monkeypatch.setitem(PUBLISHED, "eurosat", replace(PUBLISHED["eurosat"], classes=2, counts=counts))

    def ask(*arguments):
        done = openworld("data", *arguments)
        return done.exit_code, done.output

    return ask


def test_a_whole_data_set_where_a_variable_or_an_option_says_that_it_lies(data, tmp_path, monkeypatch):
    assert data("check", "eurosat")[0] == 2
    code, text = data("check", "eurosat", "--root", tmp_path)
    assert code == 0 and "SHA-256" in text
    assert text.startswith("eurosat: whole. 2 classes; images: 2 train, 2 validation, 2 test.\n")
    assert data("check", "eurosat", "--root", tmp_path, "--quiet", "--decode") == (0, "")
    monkeypatch.setenv("OPENWORLD_DATA", str(tmp_path))
    assert data("check", "eurosat")[0] == 0
    code, text = data("check", "emoji-groups", "eurosat")
    assert code == 0 and "nothing to download" in text
    code, text = data("check", "all", "--json")
    assert code == 1 and {each["name"]: each["ok"] for each in json.loads(text)} == {
        name: name == "eurosat" for name in PUBLISHED
    }


def test_a_broken_one_says_what_and_where_from(data, tmp_path):
    (tmp_path / "eurosat" / "2750" / "forest" / "test.jpg").unlink()
    code, text = data("check", "eurosat", "--root", tmp_path)
    assert code == 1 and "1. test: 1 of 2 images are missing" in text and "forest/test.jpg" in text
    assert all(address in text for _, address in PUBLISHED["eurosat"].sources)
    (tmp_path / "[red]data").mkdir()
    assert "no folder [red]data/eurosat" in "".join(data("check", "eurosat", "--root", "[red]data")[1].splitlines())


AUDITS = [  # what is asked -> exit code, and what is said
    (("mine.txt",), 1, ("mine: 3 class names, 1 error", "base 'Cat' and new 'cat' are the same", "not made: tokens")),
    (
        ("outer.txt", "emoji-concepts", "--against", "mine.txt", "--backbone", "embedded"),
        0,
        ("'Cats' and 'Cat' of mine differ only in singular and plural", "emoji-concepts: 100 class names"),
    ),
    (("./world",), 0, ("world: 2 class names", "new 'cats' differ only in singular")),
]


@pytest.mark.parametrize(("arguments", "code", "words"), AUDITS)
def test_findings_of_names_and_an_exit_code(data, tmp_path, arguments, code, words):
    for place in ("mono/train/cat", "mono/test/cat", "color/test/cats"):  # a folder of domains, none of which is named
        (tmp_path / "world" / place).mkdir(parents=True)
        (tmp_path / "world" / place / "0.png").write_bytes(b"not looked at")
    found, text = data("audit", *arguments)
    assert found == code and all(each in text for each in words), text
    assert ("not made: tokens" in text) == ("--backbone" not in arguments)


def test_an_audit_as_json_and_of_sides_by_name(data):
    (found,) = json.loads(data("audit", "mine.txt", "--json")[1])
    assert found["classes"] == 3 and found["findings"][0]["kind"] == "clash"
    sides = data("audit", "base.txt", "--base", "some.txt", "--new", "hen.txt", "--json")[1]
    assert json.loads(sides)[0]["classes"] == 3  # a class in neither is left out


OVERLAPS = [
    (("outer.txt", "--base", "base.txt"), "outer: 1 of 2 classes are base classes of base.txt"),
    (("phones.txt", "--base", "ids.txt"), "cellphone is mobile phone, by way of 'cellphone'"),  # by WordNet's names
    (("ucf101", "dtd", "--published"), "ucf101: 2 of 101 classes are base classes of imagenet"),
]


@pytest.mark.parametrize(("arguments", "words"), OVERLAPS)
def test_overlaps_are_listed_and_written(data, tmp_path, arguments, words):
    code, text = data("overlaps", *arguments, "--out", "lists")
    assert code == 0 and words in text, text
    name = arguments[0].removesuffix(".txt")
    written = (tmp_path / "lists" / f"{name}.csv").read_text()
    assert written.startswith("class,base_class,wordnet_name\n")
    assert name != "outer" or written.endswith("\nCats,cat,\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "eurosta", "--root", "."), "did you mean 'eurosat'"),
        (("overlaps", "outer.txt", "--base", "ids.txt", "--wordnet", "."), "has no index.noun"),
        (("overlaps", "oxford_flowers", "--published"), "do not come with openworld"),
    ],
)
def test_wrong_use_is_a_sentence(data, arguments, words):
    refused(words, "data", *arguments)
