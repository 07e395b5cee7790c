"""`openworld doctor`: what a model is, what runs on it, and where its files go when it is not there."""

import json
import shutil

import pytest

from openworld.backbones.published_files import EMBEDDED
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.learners import LEARNERS

NAMES_ALONE = {"zero-shot", "zero-shot-ensemble"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home and hub cache, so that nothing of this machine is found."""
    import huggingface_hub.constants

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "home"


def check(*words):
    return CliRunner().invoke(app, ["doctor", *map(str, words), "--device", "cpu"])


def found(*words):
    done = check(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_embedded_model_runs_every_learner_and_names_most_pictures_right():
    told = found("embedded")
    assert told["run_by"] == "openworld" and told["family"] == "clip" and told["parameters"] > 3_000_000
    assert told["text"]["causal"] and told["image"]["class_token"] and told["pixels"] == 64
    assert set(told["learners"]) == set(LEARNERS) and not any(told["learners"].values())
    assert not any(told["methods"].values())
    figure = told["zero_shot"]
    assert figure["pictures"] == 100 and figure["classes"] == 100 and figure["right"] > 50
    assert figure["low"] < figure["right"] / 100 < figure["high"]
    assert [path.rpartition("/")[2] for path in told["files"]][0] == "model.safetensors"
    assert told["seconds_per_picture"] > 0


def test_on_screen_stands_the_same_in_words():
    done = check("embedded")
    assert done.exit_code == 0, done.output
    for fact in ("64 x 64 pixels", "class token", "causal", "128 numbers", "of 100 embedded images", "s an image"):
        assert fact in done.stdout
    assert "GMoP" in done.stdout and "do not" not in done.stdout


def test_of_a_foreign_encoder_learners_of_names_alone_run_and_the_others_say_why_not(foreign_folder):
    told = found(f"transformers:{foreign_folder('align')}")
    assert told["run_by"].startswith("AlignModel of transformers") and told["joint_dimension"] == 64
    assert {name for name, missing in told["learners"].items() if missing is None} == NAMES_ALONE
    assert "learned contexts" in told["learners"]["CoOp"]
    lacking = [name for name, missing in told["methods"].items() if missing]
    assert len(lacking) == 2 and any("GL-MCM" in name for name in lacking)
    assert any(path.endswith("model.safetensors") for path in told["files"])


def test_open_clip_is_checked_through_its_package(open_clip):
    told = found("open_clip:EVA02-tiny/random")
    assert told["run_by"].startswith("EVA02-tiny of open_clip") and told["tokenizer"] == {"positions": 77}
    assert "open_clip" in check("open_clip:EVA02-tiny/random").stdout


def test_a_repository_that_is_not_here_is_told_with_every_place_and_the_command_that_fetches_it():
    done = check("openai/clip-vit-base-patch16")
    assert done.exit_code == 2 and "Traceback" not in done.output
    assert (
        "hf download openai/clip-vit-base-patch16" in done.stdout and "--local-dir clip-vit-base-patch16" in done.stdout
    )
    for file in ("model.safetensors", "pytorch_model.bin", "config.json", "tokenizer.json"):
        assert file in done.stdout
    assert "openai/clip-vit-base-patch16" in done.stderr


def test_the_same_as_json_has_the_reason_and_the_places():
    done = check("transformers:google/siglip2-base-patch16-naflex", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 2 and "transformers cannot load" in told["error"]
    (place,), (fetch,) = told["places"], told["fetch"]
    assert place["layout"] == "transformers" and place["folder"] is None
    assert [need["purpose"] for need in place["needs"]] == ["weights", "configuration", "tokenizer", "preprocessing"]
    assert "hf download google/siglip2-base-patch16-naflex" in fetch


def test_a_folder_that_lacks_a_file_is_told_which(tmp_path):
    folder = shutil.copytree(EMBEDDED, tmp_path / "mine")
    (folder / "tokenizer.json").unlink()
    done = check(folder)
    assert done.exit_code == 2
    assert "there: model.safetensors" in done.stdout and "tokenizer.json, or vocab.json with merges.txt" in done.stdout
    assert "hf download" not in done.stdout


def test_a_name_that_is_none_gets_the_nearest_and_no_list_of_files():
    done = check("embeded")
    assert done.exit_code == 2 and "did you mean 'embedded'" in done.stderr and done.stdout == ""


def test_help_teaches_the_three_ways_to_name_a_model():
    text = " ".join(CliRunner().invoke(app, ["doctor", "--help"]).stdout.replace("│", " ").split())
    for fact in ("transformers:", "open_clip:", "ViT-B/16", "Exit code", "openworld[transformers]"):
        assert fact in text
