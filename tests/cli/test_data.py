"""`openworld data check`: words, addresses and exit codes. What it finds is tested with the data sets."""

import json
from dataclasses import replace

import pytest
from PIL import Image

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.datasets import PUBLISHED

NAMES = ("annual crop", "forest")


@pytest.fixture
def told(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENWORLD_DATA", raising=False)
    monkeypatch.setattr("sys.argv", ["openworld"])

    def ask(*arguments):
        done = CliRunner().invoke(app, ["data", "check", *map(str, arguments)])
        return done.exit_code, done.output

    return ask


@pytest.fixture
def eurosat(tmp_path, monkeypatch):
    """A EuroSAT of two classes with one picture a part, and a card that expects it."""
    split = {part: [] for part in ("train", "val", "test")}
    for label, name in enumerate(NAMES):
        (tmp_path / "eurosat" / "2750" / name).mkdir(parents=True)
        for part, own in split.items():
            Image.new("RGB", (2, 2)).save(tmp_path / "eurosat" / "2750" / name / f"{part}.jpg")
            own.append([f"{name}/{part}.jpg", label, name])
    (tmp_path / "eurosat" / "split_zhou_EuroSAT.json").write_text(json.dumps(split))
    pictures = dict.fromkeys(("train", "validation", "test"), 2)
    monkeypatch.setitem(PUBLISHED, "eurosat", replace(PUBLISHED["eurosat"], classes=2, pictures=pictures))
    return tmp_path


def test_a_whole_data_set(told, eurosat):
    code, text = told("eurosat", "--root", eurosat)
    assert code == 0
    assert text.startswith("eurosat: whole. 2 classes; images: 2 train, 2 validation, 2 test.\n")
    assert "SHA-256" in text
    assert told("eurosat", "--root", eurosat, "--quiet", "--decode") == (0, "")


def test_a_broken_one_says_what_and_where_from(told, eurosat):
    (eurosat / "eurosat" / "2750" / "forest" / "test.jpg").unlink()
    code, text = told("eurosat", "--root", eurosat)
    assert code == 1
    assert "1. test: 1 of 2 images are missing" in text
    assert "forest/test.jpg" in text
    assert all(address in text for _, address in PUBLISHED["eurosat"].sources)


def test_the_folder_may_be_named_by_a_variable(told, eurosat, monkeypatch):
    assert told("eurosat")[0] == 2
    monkeypatch.setenv("OPENWORLD_DATA", str(eurosat))
    assert told("eurosat")[0] == 0


def test_several_and_all(told, eurosat):
    code, text = told("emoji-groups", "eurosat", "--root", eurosat)
    assert code == 0
    assert "nothing to download" in text
    code, text = told("all", "--root", eurosat, "--json")
    found = {one["name"]: one["ok"] for one in json.loads(text)}
    assert code == 1
    assert found == {name: name == "eurosat" for name in PUBLISHED}


def test_a_name_with_brackets_is_printed_as_it_is(told, eurosat):
    folder = eurosat / "[red]data"
    folder.mkdir()
    assert f"no folder {folder}/eurosat" in "".join(told("eurosat", "--root", folder)[1].splitlines())


def test_an_unknown_name_is_wrong_use(told, tmp_path):
    code, text = told("eurosta", "--root", tmp_path)
    assert code == 2
    assert "did you mean 'eurosat'" in text
