"""`openworld data audit` and `openworld data overlaps`: words, exit codes, files."""

import json

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner


@pytest.fixture
def data(monkeypatch, tmp_path):
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("Cat\nowl\ncat\n")
    (tmp_path / "outer.txt").write_text("Cats\nsea_horse\n")
    return lambda *arguments: CliRunner().invoke(app, ["data", *map(str, arguments)])


def test_findings_and_exit_code_1(data):
    done = data("audit", "mine.txt")
    assert done.exit_code == 1
    assert "mine: 3 class names, 1 error" in done.output
    assert "base 'Cat' and new 'cat' are the same name" in done.output
    assert "not made: tokens" in done.output


def test_other_data_sets_tokens_and_exit_code_0(data):
    done = data("audit", "outer.txt", "emoji-concepts", "--against", "mine.txt", "--backbone", "embedded")
    assert done.exit_code == 0, done.output
    assert "'Cats' and 'Cat' of mine differ only in singular and plural" in done.output
    assert "emoji-concepts: 100 class names" in done.output and "not made: tokens" not in done.output


def test_a_folder_of_domains_is_audited_without_naming_one(data, tmp_path):
    for place in ("mono/train/cat", "mono/test/cat", "color/test/cats"):
        (tmp_path / "world" / place).mkdir(parents=True)
        (tmp_path / "world" / place / "0.png").write_bytes(b"not looked at")
    done = data("audit", "./world")
    assert "world: 2 class names" in done.output and "new 'cats' differ only in singular" in done.output


def test_json(data):
    (told,) = json.loads(data("audit", "mine.txt", "--json").output)
    assert told["classes"] == 3 and told["findings"][0]["kind"] == "clash"


def test_overlaps_are_listed_and_written(data, tmp_path):
    (tmp_path / "base.txt").write_text("cat\nowl\nseahorse\nhen\n")
    done = data("overlaps", "outer.txt", "--base", "base.txt", "--out", tmp_path / "lists")
    assert done.exit_code == 0, done.output
    assert "outer: 1 of 2 classes are base classes of base.txt" in done.output
    assert (tmp_path / "lists" / "outer.csv").read_text() == "class,base_class,wordnet_name\nCats,cat,\n"


def test_wordnet_s_names_of_imagenet_come_along(data, tmp_path):
    (tmp_path / "base.txt").write_text("n02992529 mobile phone\nn03000134 chain-link fence\n")
    (tmp_path / "phones.txt").write_text("cellphone\n")
    done = data("overlaps", "phones.txt", "--base", "base.txt")
    assert done.exit_code == 0 and "cellphone is mobile phone, by way of 'cellphone'" in done.output


def test_lists_that_come_along_need_no_data_set(data):
    done = data("overlaps", "ucf101", "dtd", "--published")
    assert done.exit_code == 0, done.output
    assert "ucf101: 2 of 101 classes are base classes of imagenet" in done.output and "dtd: 0 of 47" in done.output
    assert data("overlaps", "oxford_flowers", "--published").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("audit", "nowhere.txt"), "no file nowhere.txt"),
        (("audit", "emoji-concept"), "did you mean 'emoji-concepts'"),
        (("audit", "mine.txt", "--wordnet", "."), "has no index.noun and no data.noun"),
        (("audit", "mine.txt", "--template", "a photo", "--backbone", "embedded"), "must hold {} once"),
        (("overlaps", "outer.txt", "--base", "ids.txt", "--wordnet", "."), "has no index.noun"),
    ],
)
def test_wrong_use_is_a_sentence(data, arguments, sentence, tmp_path):
    (tmp_path / "ids.txt").write_text("n01440764 tench\nn01443537 goldfish\n")
    done = data(*arguments)
    assert done.exit_code == 2 and sentence in done.output
