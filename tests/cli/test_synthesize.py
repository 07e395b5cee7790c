"""`openworld synthesize`: plans, pictures, going on after a stop, painters and screens of one's own, wrong use."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import torch
from PIL import Image

from openworld import backbones, datasets
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.shifts import Decomposition, load_decomposition
from openworld.shifts.synthesis import read_generated


def openworld(*arguments, **environment):
    return CliRunner().invoke(app, ["synthesize", *map(str, arguments)], env={"COLUMNS": "200", **environment})


def files(folder):
    """All that must not depend on how the work went."""
    every = (path for path in folder.rglob("*") if path.is_file() and path.name != "journal.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in every}


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Reference pictures in class folders, a decomposition in two halves by hand, names and styles."""
    top = tmp_path_factory.mktemp("known")
    images = datasets.load("emoji-concepts", part="test")
    for row in range(24):
        own = top / "pictures" / images.classnames[images.labels[row]].replace(" ", "_")
        own.mkdir(parents=True, exist_ok=True)
        images.image(row).save(own / f"{row}.png")
    clip = backbones.load("embedded")
    about = {"method": "by hand", "backbone": clip.name, "weights": clip.fingerprint}
    Decomposition.of_matrix(torch.eye(clip.config.joint_dimension), about=about).save(top / "halves.safetensors")
    (top / "names.txt").write_text("cat\nsea_lion\nkettle\nowl\ntrain\n")
    prompts = ("a photo of a {}", "a mosaic of a {}", "a drawing of a {}", "{} in the dark", "a tiny {}")
    styles = (f'[[style]]\nname = "style {place}"\nprompt = "{text}"\n' for place, text in enumerate(prompts))
    (top / "styles.toml").write_text("\n".join(styles))
    return top


@pytest.fixture
def usual(known, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    words = "--labels", known / "names.txt", "--styles", known / "styles.toml", "--laid", known / "halves.safetensors"
    sizes = "--levels", 3, "--least", 1, "--each", 3, "--neighbour", 2
    return *words, *sizes, "--reference", known / "pictures", "--painter", "own_painters:plain"


def test_a_plan_tells_cells_and_makes_nothing(usual, tmp_path):
    done = openworld(*usual, "--plan")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("25 prompts: 5 labels in 5 styles. ") and "Prompts of every cell" in done.output
    kept = openworld(*usual, "--plan", "--json", "--out", tmp_path / "set")
    told = json.loads(kept.output)
    assert sum(row["value"] for row in told["results"] if row["metric"] == "candidate_prompts") == 25
    assert len([row for row in told["results"] if (row["entity"], row["metric"]) == ("meaning", "level_start")]) == 3
    assert "held_out_right" in told and "made" not in told
    assert [one.name for one in (tmp_path / "set").iterdir()] == ["division"]


def test_pictures_a_manifest_and_every_prompts_degrees(usual, known, tmp_path):
    done = openworld(*usual, "--out", tmp_path / "set")
    assert done.exit_code == 0, done.output
    found = read_generated(tmp_path / "set")
    report = found.about["report"]
    assert f"{len(found)} images in {tmp_path / 'set'}." in done.output
    assert len(found) == report["images"] == 3 * int((np.array(report["unique"]) > 0).sum())
    assert found.images.classnames == ("cat", "sea lion", "kettle", "owl", "train")
    assert found.about["origin"]["neighbour"] == 2 and found.about["origin"]["reference_pictures"] == 24
    rows = pyarrow.parquet.read_table(tmp_path / "set" / "division" / "prompts.parquet").to_pydict()
    assert len(rows["label"]) == 25 and rows["label"][5:7] == ["sea lion"] * 2 and rows["style"][7] == "style 2"
    cuts = found.about["origin"]["cuts"]
    for half in ("semantic", "covariate"):
        assert np.searchsorted(cuts[half], rows[f"{half}_degree"], side="right").tolist() == rows[f"{half}_level"]
    assert load_decomposition(tmp_path / "set" / "division" / "laid.safetensors").about["method"] == "by hand"


def test_degrees_are_those_of_the_sentences_by_brute_force(usual, known, tmp_path):
    openworld(*usual, "--plan", "--out", tmp_path / "set")
    rows = pyarrow.parquet.read_table(tmp_path / "set" / "division" / "prompts.parquet").to_pydict()
    clip = backbones.load("embedded")
    with torch.no_grad():
        pictures = [Image.open(path).convert("RGB") for path in (known / "pictures").rglob("*.png")]
        images = clip.encode_image(torch.stack([clip.preprocess(one) for one in pictures])).double()
        text = clip.encode_text(["a mosaic of a sea lion"]).double()
    assert (rows["label"][6], rows["style"][6]) == ("sea lion", "style 1")
    for half, asked, there in zip(("semantic", "covariate"), text.chunk(2, 1), images.chunk(2, 1), strict=True):
        cosine = torch.nn.functional.cosine_similarity(asked, there)
        assert rows[f"{half}_degree"][6] == pytest.approx(float((1 - cosine).sort().values[1]), abs=1e-4)


def test_it_goes_on_where_it_was_stopped(usual, tmp_path):
    assert openworld(*usual, "--out", tmp_path / "whole").exit_code == 0
    for fatal in (0, 5, 9):
        stopped = openworld(*usual, "--out", tmp_path / "cut", FATAL=str(fatal))
        assert stopped.exit_code == 130 and "run the same command again" in stopped.output
        assert not (tmp_path / "cut" / "manifest.json").exists()
    again = openworld(*usual, "--out", tmp_path / "cut", "--batch", 1)
    assert again.exit_code == 0 and files(tmp_path / "cut") == files(tmp_path / "whole")


def test_a_finished_set_is_not_painted_again(usual, tmp_path):
    openworld(*usual, "--out", tmp_path / "set")
    before = files(tmp_path / "set")
    again = openworld(*usual, "--out", tmp_path / "set", FATAL="0")
    assert again.exit_code == 0, again.output
    assert files(tmp_path / "set") == before


def test_a_half_that_does_not_do_what_it_should_is_told(usual, known, tmp_path):
    kept = load_decomposition(known / "halves.safetensors")
    replace(kept, about={**kept.about, "validation": {"semantic": 1.0, "covariate": 0.1}}).save(tmp_path / "poor")
    for _ in range(2):  # measured, and read again
        done = openworld(*usual, "--laid", tmp_path / "poor", "--plan", "--out", tmp_path / "set")
        assert (
            "the half for appearance puts 10 % in the right order" in done.output
            and "half for meaning" not in done.output
        )


def test_a_screen_of_ones_own_and_what_it_refused(usual, tmp_path):
    done = openworld(*usual, "--screen", "own_painters:bright", "--out", tmp_path / "set", "--json")
    told, found = json.loads(done.output), read_generated(tmp_path / "set")
    assert told["made"]["pictures"] == len(found) and told["made"]["refused"] == found.refused
    (planned,) = (row["value"] for row in told["results"] if row["metric"] == "planned_images")
    assert len(found) + found.refused == planned
    assert all(found.images.image(row).getpixel((0, 0))[0] >= 128 for row in range(len(found)))


def test_the_renderer_paints_classes_of_several_sets_in_its_styles(known, tmp_path):
    pictures = "--images", "emoji-concepts/noto/test", "--images", known / "pictures"
    arguments = "--painter", "rendered", *pictures, "--reference", known / "pictures", "--levels", 3, "--each", 1
    done = openworld(*arguments, "--laid", known / "halves.safetensors", "--out", tmp_path / "twin")
    assert done.exit_code == 0, done.output
    found = read_generated(tmp_path / "twin")
    assert len(found.styles) == 17 and len(found.images.classnames) == 100
    assert found.images.image(0).size == (64, 64)


def test_a_diffusion_model_that_is_not_there_leaves_a_plan(usual, tmp_path, monkeypatch):
    planned = openworld(*usual, "--painter", "sdxl-turbo", "--weights", tmp_path, "--plan")
    assert planned.exit_code == 0, planned.output
    refused = openworld(*usual, "--painter", "sdxl-turbo", "--weights", tmp_path, "--out", tmp_path / "set")
    assert refused.exit_code == 2 and "model_index.json" in refused.output
    assert not (tmp_path / "set").exists()


def test_other_wishes_are_refused_in_a_folder_that_was_begun(usual, known, tmp_path):
    openworld(*usual, "--out", tmp_path / "set")
    (known / "fewer.txt").write_text("cat\nowl\nkettle\ntrain\n")
    for changed, sentence in (
        (("--neighbour", 3), "was begun with other neighbour"),
        (("--labels", known / "fewer.txt"), "was begun with other labels"),
        (("--levels", 4), "was begun with other levels"),
        (("--reference", "emoji-concepts/noto/test"), "was begun with other reference"),
        (("--each", 4), "was begun with another plan"),
        (("--seed", 4), "was begun with another plan"),
        (("--screen", "own_painters:bright"), "was begun with another screen"),
    ):
        refused = openworld(*usual, *changed, "--out", tmp_path / "set")
        assert refused.exit_code == 2 and sentence in refused.output, refused.output


def test_refusals(usual, known, tmp_path):
    (tmp_path / "file").write_text("")
    laid, reference = ("--laid", known / "halves.safetensors"), ("--reference", known / "pictures")
    somewhere = "--out", tmp_path / "set"
    for arguments, sentence in (
        (usual, "give --out FOLDER, or --plan"),
        ((*laid, *reference, *somewhere), "give --labels: a text file"),
        ((*laid, *reference, *somewhere, "--painter", "rendered"), "give --images"),
        ((*usual, *somewhere, "--painter", "sdxl"), "unknown painter 'sdxl'"),
        ((*usual, *somewhere, "--painter", "own_painters:broken"), "RuntimeError: no paint left"),
        ((*usual, *somewhere, "--painter", "own_painters:no_painter"), "a int without about and fitting and paint"),
        ((*usual, *somewhere, "--painter", "no_such_module:x"), "the current folder"),
        ((*usual, *somewhere, "--screen", "own_painters:missing"), "cannot be imported"),
        ((*usual, *somewhere, "--styles", "sepia"), "unknown table of styles 'sepia'"),
        ((*usual, *somewhere, "--styles", tmp_path / "file"), "is no table of styles"),
        ((*usual, *somewhere, "--labels", tmp_path / "no.txt"), "there is no file"),
        ((*usual, *somewhere, "--laid", tmp_path / "no.safetensors"), "cannot be read"),
        ((*usual, *somewhere, "--neighbour", 25), "the distance to neighbour 25 needs 25 or more"),
        ((*usual, *somewhere, "--least", 26), "no cell has 26 prompts or more"),
        ((*usual, *somewhere, "--device", "abacus"), "unknown device 'abacus'"),
        ((*usual, "--out", known), "holds other files"),
    ):
        refused = openworld(*arguments)
        assert refused.exit_code in (1, 2) and sentence in refused.output, refused.output


def test_the_page_of_help_teaches():
    told = openworld("--help").output
    for word in ("rendered", "sdxl-turbo", "manifest.json", "Stability AI", "examples/syn-is-embedded.toml"):
        assert word in told
