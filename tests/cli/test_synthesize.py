"""`openworld synthesize`: plans, images, going on after a stop, painters and screens of one's own."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import torch
from every_output import keep_halves, save
from in_process import openworld
from PIL import Image

from openworld import backbones, datasets
from openworld.shifts import load_decomposition
from openworld.shifts.synthesis import read_generated


def synthesize(*arguments, code=0, **environment):
    done = openworld("synthesize", *arguments, columns=200, **environment)
    assert done.exit_code == code, done.output
    return done.output


def files(folder):
    """All that must not depend on how the work went: the lines of the journal stand in the order of the painting."""
    every = (path for path in folder.rglob("*") if path.is_file() and path.name != "journal.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in every}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Reference images in class folders, a decomposition in two halves by hand, names and styles."""
    top = tmp_path_factory.mktemp("given")
    save(top / "images", datasets.load("emoji-concepts", part="test").subset(range(24)))
    keep_halves(top / "halves.safetensors")
    (top / "names.txt").write_text("cat\nsea_lion\nkettle\nowl\ntrain\n")
    prompts = ("a photo of a {}", "a mosaic of a {}", "a drawing of a {}", "{} in the dark", "a tiny {}")
    styles = (f'[[style]]\nname = "style {place}"\nprompt = "{text}"\n' for place, text in enumerate(prompts))
    (top / "styles.toml").write_text("\n".join(styles))
    return top


@pytest.fixture
def usual(given, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    words = "--labels", given / "names.txt", "--styles", given / "styles.toml", "--laid", given / "halves.safetensors"
    sizes = "--levels", 3, "--least", 1, "--each", 3, "--neighbour", 2
    return *words, *sizes, "--reference", given / "images", "--painter", "own_painters:plain"


def test_a_plan_tells_cells_and_degrees_and_makes_nothing(usual, given, tmp_path):
    shown = synthesize(*usual, "--plan")
    assert shown.startswith("25 prompts: 5 labels in 5 styles. ") and "Prompts of every cell" in shown
    found = json.loads(synthesize(*usual, "--plan", "--json", "--out", tmp_path))
    assert sum(row["value"] for row in found["results"] if row["metric"] == "candidate_prompts") == 25
    assert "held_out_right" in found and "made" not in found
    assert [path.name for path in tmp_path.iterdir()] == ["division"]
    rows = pyarrow.parquet.read_table(tmp_path / "division" / "prompts.parquet").to_pydict()
    clip = backbones.load("embedded")
    with torch.no_grad():  # a brute-force twin
        pixels = [clip.preprocess(Image.open(path).convert("RGB")) for path in (given / "images").rglob("*.png")]
        images = clip.encode_image(torch.stack(pixels)).double()
        text = clip.encode_text(["a mosaic of a sea lion"]).double()
    assert (rows["label"][6], rows["style"][6]) == ("sea lion", "style 1")
    for half, prompt, others in zip(("semantic", "covariate"), text.chunk(2, 1), images.chunk(2, 1), strict=True):
        cosine = torch.nn.functional.cosine_similarity(prompt, others)
        assert rows[f"{half}_degree"][6] == pytest.approx(float((1 - cosine).sort().values[1]), abs=1e-4)


def test_images_a_manifest_what_a_screen_refused_and_every_prompts_degrees(usual, tmp_path):
    shown = synthesize(*usual, "--screen", "own_painters:bright", "--out", tmp_path / "set")
    found = read_generated(tmp_path / "set")
    report = found.about["report"]
    assert f"{len(found)} images in {tmp_path / 'set'}; the screen refused {found.refused} more." in shown
    assert len(found) + found.refused == report["images"] == 3 * int((np.array(report["unique"]) > 0).sum())
    assert all(found.images.image(row).getpixel((0, 0))[0] >= 128 for row in range(len(found)))
    assert found.images.classnames == ("cat", "sea lion", "kettle", "owl", "train")
    assert found.about["origin"]["neighbour"] == 2 and found.about["origin"]["reference_images"] == 24
    rows = pyarrow.parquet.read_table(tmp_path / "set" / "division" / "prompts.parquet").to_pydict()
    for half, cuts in found.about["origin"]["cuts"].items():
        assert np.searchsorted(cuts, rows[f"{half}_degree"], side="right").tolist() == rows[f"{half}_level"]
    assert load_decomposition(tmp_path / "set" / "division" / "laid.safetensors").about["method"] == "by hand"


def test_it_goes_on_where_it_was_stopped_and_paints_nothing_twice(usual, tmp_path):
    synthesize(*usual, "--out", tmp_path / "whole")
    for fatal in (0, 5):
        stopped = synthesize(*usual, "--out", tmp_path / "cut", FATAL=str(fatal), code=130)
        assert "run the same command again" in stopped and not (tmp_path / "cut" / "manifest.json").exists()
    synthesize(*usual, "--out", tmp_path / "cut", "--batch", 1)
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    synthesize(*usual, "--out", tmp_path / "cut", FATAL="0")
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_a_half_that_does_not_do_what_it_should_is_told(usual, given, tmp_path):
    kept = load_decomposition(given / "halves.safetensors")
    replace(kept, about={**kept.about, "validation": {"semantic": 1.0, "covariate": 0.1}}).save(tmp_path / "poor")
    for _ in range(2):  # measured, and read again
        shown = synthesize(*usual, "--laid", tmp_path / "poor", "--plan", "--out", tmp_path / "set")
        assert "the half for appearance puts 10 % in the right order" in shown and "half for meaning" not in shown


def test_refusals(usual, given, tmp_path):
    bare = ("--laid", given / "halves.safetensors", "--reference", given / "images")
    out, begun = ("--out", tmp_path / "set"), ("--out", tmp_path / "begun")
    synthesize(*usual, *begun)
    diffusion = ("--painter", "sdxl-turbo", "--weights", tmp_path)
    synthesize(*usual, *diffusion, "--plan")  # needs no weights
    for arguments, sentence in (
        (usual, "give --out FOLDER, or --plan"),
        ((*bare, *out), "give --labels: a text file"),
        ((*bare, *out, "--painter", "rendered"), "give --images"),
        ((*usual, *out, "--painter", "sdxl"), "unknown painter 'sdxl'"),
        ((*usual, *out, "--painter", "own_painters:broken"), "RuntimeError: no paint left"),
        ((*usual, *out, "--painter", "own_painters:no_painter"), "a int without about and fitting and paint"),
        ((*usual, *out, "--styles", "sepia"), "unknown table of styles 'sepia'"),
        ((*usual, *out, "--least", 26), "no cell has 26 prompts or more"),
        ((*usual, *begun, "--neighbour", 3), "was begun with other neighbour"),
        ((*usual, *begun, "--each", 4), "was begun with another plan"),
        ((*usual, *begun, "--screen", "own_painters:bright"), "was begun with another screen"),
    ):
        done = openworld("synthesize", *arguments, columns=200)
        assert done.exit_code in (1, 2) and sentence in done.output, done.output
    assert not (tmp_path / "set" / "manifest.json").exists()
