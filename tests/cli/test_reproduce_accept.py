"""`openworld reproduce --accept`: zero-shot CLIP against printed numbers, and which stage departs."""

import csv
import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from openworld import backbones
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import ClassNames
from openworld.papers import METRICS, published_numbers
from openworld.reproduction import acceptance, stages

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

from trees import CLASSES, plant  # noqa: E402

TITLES = {"dtd": "DTD", "oxford_flowers": "Flowers102"}
SEVERAL = ("dtd", "oxford_flowers", "imagenet", "imagenetv2", "imagenet-sketch", "imagenet-a", "imagenet-r")
CHECK = cache(stages.check_backbone)
"""What a backbone is, looked at once for all tests."""
RUN = ("--data", "data", "--backbone", "embedded", "--accept", "--workers", "1")


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Runs the command in a folder with the trees of two data sets, the embedded CLIP in place of ViT-B/16."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENWORLD_DATA", "nowhere")
    for name in TITLES:
        plant(tmp_path / "data", name)
        monkeypatch.setitem(PUBLISHED, name, replace(PUBLISHED[name], classes=3, pictures={"train": 18, "test": 6}))
    expect_embedded(monkeypatch)
    return lambda *arguments: CliRunner().invoke(app, ["reproduce", *arguments])


def expect_embedded(monkeypatch):
    check = CHECK("embedded", device="cpu")
    ours = {f"{part} {name}": value for part in ("image", "text") for name, value in getattr(check, part).items()}
    ours |= {"parameters": check.parameters, "logit scale": round(check.logit_scale, 1)}
    monkeypatch.setattr(stages, "VIT_B_16", ours)
    monkeypatch.setattr(stages, "check_backbone", CHECK)
    monkeypatch.setattr(stages, "PREPROCESS", backbones.load("embedded").preprocess)
    names = {"dtd": ClassNames("dtd", CLASSES)}
    monkeypatch.setattr(stages, "listed_names", names.get)


def rows_of(folder):
    return list(csv.DictReader((folder / "tables" / "acceptance.csv").read_text(encoding="utf-8").splitlines()))


def print_ours(monkeypatch, folder, paper, by=0.0):
    """Let the papers print what was found in a folder, changed by so much."""
    ours = {
        (row["dataset"], row["metric"]): METRICS[row["metric"]].scale * float(row["ours"]) + by
        for row in rows_of(folder)
    }

    def printed(asked, table=None):
        return tuple(
            replace(one, value=ours.get((one.dataset, one.metric), one.value))
            for one in published_numbers(asked, table)
        )

    monkeypatch.setattr(acceptance, "published_numbers", printed)
    for title in {title for title, _ in ours} & set(acceptance.COCOOP):
        pair = tuple(ours.get((title, metric), 0.0) for metric in ("BaseAcc", "NewAcc"))
        monkeypatch.setitem(acceptance.COCOOP, title, pair)


def test_numbers_as_printed_are_accepted_with_every_stage_sound(ask, tmp_path, monkeypatch):
    first = ask("openworldauc", "--learners", "CLIP", *RUN, "--out", "run")
    assert first.exit_code == 3, first.output
    print_ours(monkeypatch, tmp_path / "run", "openworldauc")
    done = ask("openworldauc", *RUN, "--out", "run")
    assert done.exit_code == 0, done.output
    assert "10 of 10 numbers of zero-shot CLIP are within" in done.output
    assert "As they should be: images, names, sentences, preprocessing, weights." in done.output
    assert "Left out is what needs data sets that are not there: imagenet, caltech101" in " ".join(done.output.split())
    rows = rows_of(tmp_path / "run")
    assert {row["dataset"] for row in rows} == set(TITLES.values())
    assert all(float(row["tolerance"]) > 0 and row["within"] == "True" for row in rows)


def break_images(place, monkeypatch):
    split = place / "data" / "dtd" / "split_zhou_DescribableTextures.json"
    told = json.loads(split.read_text())
    told["test"] = told["test"][1:]
    split.write_text(json.dumps(told))
    return ()


def break_names(place, monkeypatch):
    split = place / "data" / "dtd" / "split_zhou_DescribableTextures.json"
    split.write_text(split.read_text().replace('"Abbey"', '"abbey church"'))
    return ()


def break_sentences(place, monkeypatch):
    return ("--settings", 'CLIP.templates = ["{}"]')


def break_preprocessing(place, monkeypatch):
    monkeypatch.setattr(stages, "PREPROCESS", replace(stages.PREPROCESS, mean=(0.48, 0.46, 0.41)))
    return ()


def break_weights(place, monkeypatch):
    monkeypatch.setattr(stages, "VIT_B_16", stages.VIT_B_16 | {"parameters": 149_620_738})
    return ()


@pytest.mark.parametrize("broken", [break_images, break_names, break_sentences, break_preprocessing, break_weights])
def test_the_stage_that_departs_is_named(ask, tmp_path, monkeypatch, broken):
    stage = broken.__name__.removeprefix("break_")
    arguments = broken(tmp_path, monkeypatch)
    done = ask("openworldauc", *RUN, "--out", "run", "--json", *arguments)
    assert done.exit_code == 3, done.output
    told = json.loads(done.stdout[done.stdout.index("\n{") if done.stdout[0] != "{" else 0 :])
    assert not told["accepted"]
    assert {one["stage"] for one in told["departures"]} == {stage}
    again = ask("openworldauc", *RUN, "--out", "run", *arguments)
    assert f"and so does {stage}" in again.output


def test_a_number_that_departs_with_every_stage_sound_says_so(ask, tmp_path, monkeypatch):
    assert ask("openworldauc", *RUN, "--out", "run").exit_code == 3
    print_ours(monkeypatch, tmp_path / "run", "openworldauc", by=40.0)
    done = ask("openworldauc", *RUN, "--out", "run")
    assert done.exit_code == 3 and "0 of 10 numbers" in done.output
    assert "DTD (BaseAcc, NewAcc, HM, AUROC, OpenworldAUC): departs, and no stage does" in done.output


def test_openpl_is_compared_over_orders_of_the_classes(ask, tmp_path, monkeypatch):
    ask("openpl", *RUN, "--seeds", "1 2 3 4", "--out", "run")
    print_ours(monkeypatch, tmp_path / "run", "openpl")
    done = ask("openpl", *RUN, "--seeds", "1 2 3 4", "--out", "run")
    assert done.exit_code == 0, done.output
    assert [(row["dataset"], row["metric"], row["source"]) for row in rows_of(tmp_path / "run")] == [
        ("DTD", "Acc(0)", "Table 12"),
        ("Flowers102", "Acc(0)", "Table 16"),
    ]
    assert "As they should be: images, names, sentences, preprocessing, weights." in done.output


def test_imagenet_and_its_variants_are_compared(ask, tmp_path):
    for name in SEVERAL:
        plant(tmp_path / "data", name)
    done = ask("openworldauc", *RUN, "--out", "run", "--quiet")
    assert done.exit_code == 3 and done.output == ""
    found = {row["dataset"]: row["source"] for row in rows_of(tmp_path / "run") if row["metric"] == "AUROC"}
    assert found == dict.fromkeys(("DTD", "Flowers102", "ImageNet"), "Table 8-9") | dict.fromkeys(
        ("ImageNetV2", "ImageNet-Sketch", "ImageNet-A", "ImageNet-R"), "Table 10"
    )


def test_the_plan_needs_no_data_and_tells_the_cost(ask):
    done = ask("openworldauc", "--data", "elsewhere", "--accept", "--plan", "--json")
    cost = json.loads(done.output)["cost"]
    assert cost["units"] == 11 and cost["images"] < 240_000 and cost["bytes"] < 10**9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("frap", "--data", "data"), "openworldauc and openpl; frap has no such rows"),
        (("openworldauc", "--data", "embedded"), "needs the papers' own images"),
        (("openworldauc", "--data", "data", "--learners", "CoOp"), "CoOp learns"),
        (("openworldauc", "--data", "data", "--shots", "4"), "takes no --add, --shots, --views or --quick"),
        (("openworldauc", "--data", "data", "--table", "2"), "leave --table, --figure out"),
        (("openpl", "--data", "data", "--seeds", "1"), "at least 3 seeds"),
        (("openworldauc", "--data", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_accepted_is_refused(ask, arguments, message):
    done = ask(*arguments, "--accept")
    assert done.exit_code == 2 and message in done.output


def test_another_backbone_than_the_papers_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENWORLD_DATA", "nowhere")
    plant(tmp_path / "data", "dtd")
    done = CliRunner().invoke(app, ["reproduce", "openworldauc", *RUN, "--out", "run"])
    assert done.exit_code == 3, done.output
    told = " ".join(done.output.split())
    assert "Departs in weights: image image_size is 64, that of OpenAI's ViT-B/16 is 224." in told
    assert "Departs in preprocessing: DTD: images become (3, 64, 64), CLIP's are (3, 224, 224)." in told
    assert "Departs in names: DTD: class 0 is 'wild dog', published is 'banded'." in told
    assert "Departs in images: DTD: 3 classes, published are 47." in told
