"""What to download for a paper: which data sets, what is there, how much, and that the facts are whole."""

import json
from functools import cache

import pytest

from openworld import OpenworldError
from openworld.cli.app import app
from openworld.cli.in_process import invoke
from openworld.datasets.published.catalogue import cards, with_needs
from openworld.reproduction import data_plan as planning
from openworld.reproduction.data_plan import MISSING, THERE
from openworld.reproduction.plan import PAPERS

data_plan = cache(planning.data_plan)


@pytest.fixture
def ask(monkeypatch):
    monkeypatch.delenv("OPENWORLD_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *arguments: invoke(app, ["data", "plan", *map(str, arguments)])


def named(plan, *, needed=True):
    return [entry["name"] for entry in plan["datasets"] if entry["needed"] is needed]


def test_what_is_needed_comes_before_what_needs_it():
    assert with_needs(["cifar100-c", "imagenet-200"]) == (
        "cifar100", "cifar100-c", "imagenet", "imagenet-r", "imagenet-200"
    )  # fmt: skip
    assert ("the data set imagenet", "https://image-net.org") in cards()["living17"].sources


def test_a_plan_names_what_the_runs_read():
    one = data_plan("openworldauc", ("11",))
    assert named(one) == ["dtd"] and one["datasets"][0]["tables"] == ["11"] and one["datasets"][0]["state"] is None
    frap = data_plan("frap", ("1",))
    assert {"mnist", "imagenet", "imagenet-r", "living17", "fmow"} <= set(named(frap))
    assert named(frap, needed=False) == ["cifar10-c", "cifar100-c", "imagenet-c", "tiny-imagenet", "tiny-imagenet-c"]
    assert frap["pretrained"] == ["timm:resnet50", "timm:densenet121"] and len(frap["backbones"]) == 2


def test_a_table_of_isood_needs_its_own_images_alone():
    every = data_plan("is-ood")
    tables = {entry["name"]: entry["tables"] for entry in every["datasets"]}
    assert tables["syn-is"] == ["2", "5", "7"] and tables["imagenet-r"] == ["3"]
    assert tables["imagenet21k-p"] == ["1", "4", "6", "8"] and set(tables["imagenet"]) == set("12345678")
    third = data_plan("is-ood", ("3",))
    assert (named(third), named(third, needed=False)) == (["imagenet", "imagenet-r"], ["imagenet-c"])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_is_planned_whole(paper):
    plan = data_plan(paper)
    assert plan["tables"] and named(plan)
    assert all(entry["tables"] or entry["figures"] for entry in plan["datasets"])


def test_what_is_there_is_not_counted(tmp_path):
    before = planning.data_plan("is-ood", ["1"], tmp_path)
    assert {entry["state"] for entry in before["datasets"]} == {MISSING}
    (tmp_path / "pretrained_weight").mkdir()
    (tmp_path / "pretrained_weight/resnet50_imagenet1k_v1.pth").touch()
    after = planning.data_plan("is-ood", ["1"], tmp_path)
    assert [entry["name"] for entry in after["datasets"] if entry["state"] == THERE] == ["resnet50"]
    assert before["bytes_to_download"] - after["bytes_to_download"] == 102_530_333
    assert after["bytes_needed"] == before["bytes_needed"]
    total = planning.sentences(after)[0]
    assert "1 of 4 data sets are there" in total and "whose size is not stated" in total


def test_a_file_that_several_data_sets_share_is_counted_once():
    pair = data_plan("frap", ("1",))
    files = {(file["what"], file["address"]): file["bytes"] or 0 for entry in pair["datasets"] if entry["needed"]
             for file in entry["files"]}  # fmt: skip
    assert pair["bytes_needed"] == sum(files.values())


def test_the_command_says_where_to_get_what_is_missing_alone(ask, tmp_path):
    (tmp_path / "pretrained_weight").mkdir()
    (tmp_path / "pretrained_weight/resnet50_imagenet1k_v1.pth").touch()
    lines = ask("is-ood", "--table", "1", "--root", tmp_path).output.splitlines()
    said = [line.partition(" (")[0] for line, place in zip(lines, lines[1:], strict=False) if "into:" in place]
    assert "resnet50" not in said and len(said) == 3


def test_the_command_says_where_how_large_and_under_which_licence(ask, tmp_path):
    done = ask("openworldauc", "--table", "11", "--root", tmp_path)
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "OpenworldAUC" in said and "dtd 625 MB missing Table 11" in said
    assert "into: dtd/images/" in said and "licence: for research" in said
    assert all(address in done.output for _, address in cards()["dtd"].sources)
    assert "To download: about 625 MB" in said


def test_one_download_for_several_data_sets_is_said_once(ask):
    said = ask("frap", "--table", "1").output
    assert said.count("class_hierarchy.txt") == 1 and "living17 (Living-17), nonliving26" in said
    assert "cifar10-c (CIFAR-10-C) *, in the place of corruptions made here" in said


def test_json_and_wrong_use(ask):
    found = json.loads(ask("openpl", "--table", "2", "--json").output)
    assert found["paper"] == "openpl" and found["datasets"][0]["files"][0]["exact"] is True
    assert ask("openple").exit_code == 2
    with pytest.raises(OpenworldError, match="frap"):
        data_plan("frop")
