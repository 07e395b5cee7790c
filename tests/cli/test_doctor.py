"""`openworld doctor`: what is installed, what a model is and runs, and where its files go when it is not there."""

import json
import shutil

import pytest
from in_process import openworld, refused

from openworld.api.doctoring import doctor
from openworld.backbones.published_files import EMBEDDED
from openworld.learners import LEARNERS
from openworld.own_data import doctor as doctoring
from openworld.own_data.doctor import state_of


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home and hub cache, so that nothing of this machine is found."""
    import huggingface_hub.constants

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))


def check(*words):
    return openworld("doctor", *words, "--device", "cpu")


def found(*words):
    done = check(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_what_is_needed_is_listed_with_its_version():
    said = found()
    torch = next(package for package in said["packages"] if package["name"] == "torch")
    assert said["whole"] and torch["installed"] and torch["extra"] == "models" and "cpu" in said["devices"]
    extras = {package["name"]: package["extra"] for package in said["packages"]}
    assert len(extras) == len(said["packages"]) and extras["numpy"] == "" and extras["transformers"] == "transformers"
    assert {*extras.values()} >= {"onnx", "ray"}
    assert "OPENWORLD_CACHE" in openworld("doctor").stdout


def test_what_is_missing_or_too_old_is_said_with_what_to_type(monkeypatch):
    assert "openworld[ray]" in state_of("ray", "2.40", "ray", None)
    assert "numpy>=1.26" in state_of("numpy", "1.26", "", "1.9.3")
    monkeypatch.setattr(doctoring, "requires", lambda name: ["nothing-of-this-name>=1.0"])
    refused("missing", "doctor", code=1)


def test_the_embedded_model_runs_every_learner_and_names_most_images_right():
    report = doctor("embedded", device="cpu", quiet=True)
    said = json.loads(report.to_json())
    assert said["run_by"] == "openworld" and said["family"] == "clip" and said["parameters"] > 3_000_000
    assert said["text"]["causal"] and said["image"]["class_token"] and said["pixels"] == 64
    assert set(said["learners"]) == set(LEARNERS) and not any((said["learners"] | said["methods"]).values())
    figure = said["zero_shot"]
    assert figure["images"] == figure["classes"] == 100 and figure["right"] > 50
    assert figure["low"] < figure["right"] / 100 < figure["high"] and said["seconds_per_image"] > 0
    assert said["files"][0].endswith("/model.safetensors")
    shown = "\n".join(report.lines())
    for fact in ("64 x 64 pixels", "class token", "causal", "128 numbers", "of 100 embedded images", "GMoP"):
        assert fact in shown


def test_a_repository_that_is_not_here_is_told_with_every_place_and_the_command_that_fetches_it():
    done = check("openai/clip-vit-base-patch16")
    assert done.exit_code == 2 and "openai/clip-vit-base-patch16" in done.stderr and "Traceback" not in done.output
    files = ("model.safetensors", "pytorch_model.bin", "config.json", "tokenizer.json")
    for words in (*files, "hf download openai/clip-vit-base-patch16", "--local-dir clip-vit-base-patch16"):
        assert words in done.stdout
    done = check("transformers:google/siglip2-base-patch16-naflex", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 2 and "transformers cannot load" in said["error"]
    (place,), (fetch,) = said["places"], said["fetch"]
    assert place["layout"] == "transformers" and place["folder"] is None
    assert [need["purpose"] for need in place["needs"]] == ["weights", "configuration", "tokenizer", "preprocessing"]
    assert "hf download google/siglip2-base-patch16-naflex" in fetch


def test_a_folder_that_lacks_a_file_is_told_which_and_a_name_that_is_none_the_nearest(tmp_path):
    folder = shutil.copytree(EMBEDDED, tmp_path / "mine")
    (folder / "tokenizer.json").unlink()
    done = check(folder)
    assert done.exit_code == 2 and "hf download" not in done.stdout
    assert "there: model.safetensors" in done.stdout and "tokenizer.json, or vocab.json with merges.txt" in done.stdout
    done = check("embeded")
    assert done.exit_code == 2 and "did you mean 'embedded'" in done.stderr and done.stdout == ""
