"""`openworld reproduce --accept`: printed numbers are met or not, and the stage that departs is named."""

import csv
import json
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from in_process import openworld, refused

from openworld import backbones
from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import ClassNames
from openworld.papers import METRICS, published_numbers
from openworld.reproduction import acceptance

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

from trees import CLASSES, plant  # noqa: E402

TITLES = {"dtd": "DTD", "oxford_flowers": "Flowers102"}
CHECK = cache(acceptance.check_backbone)
"""What a backbone is, looked at once for all tests."""
RUN = ("--data", "data", "--backbone", "embedded", "--accept", "--workers", "1", "--out", "run")


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A folder with the trees of two data sets; runs are kept there, for all tests."""
    folder = tmp_path_factory.mktemp("accepted")
    for name in TITLES:
        plant(folder / "data", name)
    return folder


@pytest.fixture
def place(planted, monkeypatch):
    """That folder, which is the current one."""
    monkeypatch.chdir(planted)
    monkeypatch.setenv("OPENWORLD_DATA", "nowhere")
    monkeypatch.setattr(acceptance, "check_backbone", CHECK)
    return planted


@pytest.fixture
def as_printed(place, monkeypatch):
    """The embedded CLIP, and the data sets in that folder, stand in the place of the papers' own."""
    for name in TITLES:
        monkeypatch.setitem(PUBLISHED, name, replace(PUBLISHED[name], classes=3, counts={"train": 18, "test": 6}))
    check = CHECK("embedded", device="cpu")
    ours = {f"{part} {name}": value for part in ("image", "text") for name, value in check[part].items()}
    ours |= {"parameters": check["parameters"], "logit scale": round(check["logit_scale"], 1)}
    monkeypatch.setattr(acceptance, "VIT_B_16", ours)
    monkeypatch.setattr(acceptance, "PREPROCESS", backbones.load("embedded").preprocess)
    monkeypatch.setattr(acceptance, "listed_names", {"dtd": ClassNames("dtd", CLASSES)}.get)


def reproduce(*arguments, code):
    done = openworld("reproduce", *arguments)
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


def rows_of(folder):
    return list(csv.DictReader((folder / "run" / "tables" / "acceptance.csv").read_text(encoding="utf-8").splitlines()))


def print_ours(monkeypatch, folder, by=0.0):
    """Let the papers print what was found in a folder, changed by so much."""
    scale = {row["metric"]: METRICS[row["metric"]].scale for row in rows_of(folder)}
    rows = rows_of(folder)
    ours = {(row["dataset"], row["metric"]): scale[row["metric"]] * float(row["ours"]) + by for row in rows}

    def printed(paper, table=None):
        numbers = published_numbers(paper, table)
        return tuple(replace(each, value=ours.get((each.dataset, each.metric), each.value)) for each in numbers)

    monkeypatch.setattr(acceptance, "published_numbers", printed)
    for title in {title for title, _ in ours} & set(acceptance.COCOOP):
        pair = tuple(ours.get((title, metric), 0.0) for metric in ("BaseAcc", "NewAcc"))
        monkeypatch.setitem(acceptance.COCOOP, title, pair)


def test_numbers_as_printed_are_accepted_with_every_stage_sound(place, as_printed, monkeypatch):
    reproduce("openworldauc", "--learners", "CLIP", *RUN, code=3)
    print_ours(monkeypatch, place, by=40.0)
    shown = reproduce("openworldauc", *RUN, code=3)
    assert "0 of 10 numbers" in shown
    assert "DTD (BaseAcc, NewAcc, HM, AUROC, OpenworldAUC): departs, and no stage does" in shown
    print_ours(monkeypatch, place)
    shown = reproduce("openworldauc", *RUN, code=0)
    assert "10 of 10 numbers of zero-shot CLIP are within" in shown
    assert "As they should be: images, names, sentences, preprocessing, weights." in shown
    assert "Left out is what needs data sets that are not there: imagenet, caltech101" in shown
    assert {row["dataset"] for row in rows_of(place)} == set(TITLES.values())
    assert all(float(row["tolerance"]) > 0 and row["within"] == "True" for row in rows_of(place))


def test_openpl_is_compared_over_orders_of_the_classes(place, as_printed, monkeypatch):
    openpl = ("openpl", *RUN, "--seeds", "1 2 3")
    openworld("reproduce", *openpl)
    print_ours(monkeypatch, place)
    reproduce(*openpl, code=0)
    found = [(row["dataset"], row["metric"], row["source"]) for row in rows_of(place)]
    assert found == [("DTD", "Acc(0)", "Table 12"), ("Flowers102", "Acc(0)", "Table 16")]


def test_the_stages_that_depart_are_named(place, as_printed, tmp_path, monkeypatch):
    shutil.copytree("data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    path = Path("data/dtd/split_zhou_DescribableTextures.json")
    split = json.loads(path.read_text())
    path.write_text(json.dumps(split | {"test": split["test"][1:]}))  # an image fewer
    settings = ("--settings", 'CLIP.templates = ["{}"]')
    done = openworld("reproduce", "openworldauc", *RUN, "--json", *settings)
    assert done.exit_code == 3, done.output
    found = json.loads(done.stdout[done.stdout.index("\n{") if done.stdout[0] != "{" else 0 :])
    assert not found["accepted"] and {each["stage"] for each in found["departures"]} == {"images", "sentences"}


def test_another_backbone_than_the_papers_is_told(place):
    shown = reproduce("openworldauc", *RUN, code=3)
    assert "Departs in weights: image image_size is 64, that of OpenAI's ViT-B/16 is 224." in shown
    assert "Departs in preprocessing: DTD: images become (3, 64, 64), CLIP's are (3, 224, 224)." in shown
    assert "Departs in names: DTD: class 0 is 'wild dog', published is 'banded'." in shown
    assert "Departs in images: DTD: 3 classes, published are 47." in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("openworldauc", "--data", "embedded"), "needs the papers' own images"),
        (("openworldauc", "--data", "data", "--learners", "CoOp"), "CoOp learns"),
        (("openworldauc", "--data", "data", "--table", "2"), "leave --table, --figure out"),
        (("openpl", "--data", "data", "--seeds", "1"), "at least 3 seeds"),
        (("openworldauc", "--data", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_accepted_is_refused(place, arguments, words):
    refused(words, "reproduce", *arguments, "--accept")
