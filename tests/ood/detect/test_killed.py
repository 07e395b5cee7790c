"""`openworld detect` ended at any point and started again with the same words: the same bytes as in one go."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from PIL import Image

import openworld as ow
from openworld import classifiers
from openworld.evaluations.finished_runs import read_report

KILLS = 20
NAMES = ("blue", "green", "red")
COUNTS = {"train": 8, "validation": 20, "test": 10}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Colours in three parts, noise, and a small network that nobody trained."""
    place, dice = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    folders = {f"mine/{part}/{name}": count for part, count in COUNTS.items() for name in NAMES}
    for folder, count in (folders | {"near": 30, "far": 30}).items():
        (place / folder).mkdir(parents=True)
        for number in range(count):
            Image.fromarray(dice.integers(0, 256, (32, 32, 3)).astype(np.uint8)).save(place / folder / f"{number}.png")
    torch.manual_seed(0)
    preprocess = classifiers.Preprocess(32, 32, "shortest", (0.5,) * 3, (0.25,) * 3)
    module = classifiers.build("resnet-8", len(NAMES), 32)
    classifiers.save(classifiers.Classifier(module, NAMES, preprocess, "resnet-8"), place / "classifier")
    return place


def command(place, model, out):
    words = ["--model", model, "--id", str(place / "mine"), "--ood", f"near={place}/near", "--ood", f"far={place}/far"]
    words += ["--flag-rate", "0.1", "--replicates", "20", "--device", "cpu", "--quiet", "--out", str(out)]
    return [sys.executable, "-m", "openworld", "detect", *words]


def kept(out):
    """What units wrote, the scores, the results and the thresholds; not the clocks of this run."""
    paths = [path for path in (out / "units").rglob("*") if path.is_file() and path.name != "timing.json"]
    paths += [out / name for name in ("scores.parquet", "results.parquet", "thresholds.json", "fitted.safetensors")]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def small_detect(place, out, **given):
    sets = {"near": place / "near", "far": place / "far"}
    return ow.detect(model=str(place / "classifier"), id=place / "mine", ood=sets, detector=["MSP", "KNN:k=3"],
                     replicates=0, out=out, quiet=True, **given)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("model", ["classifier", "embedded"])
def test_a_detect_that_is_killed_again_and_again_ends_with_the_same_bytes(place, tmp_path, model):
    named, dice = str(place / model) if model == "classifier" else model, random.Random(model)
    started = time.monotonic()
    subprocess.run(command(place, named, tmp_path / "whole"), check=True)
    seconds, whole = time.monotonic() - started, kept(tmp_path / "whole")
    out, ended = tmp_path / "killed-0", 0
    while ended < KILLS:
        process, started = subprocess.Popen(command(place, named, out)), time.monotonic()
        try:
            process.wait(dice.uniform(0.3, 1) * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            ended += 1
            continue
        assert process.returncode == 0 and kept(out) == whole
        seconds = min(seconds, time.monotonic() - started)  # the first one may have run on a busy machine
        out = tmp_path / f"killed-{len(list(tmp_path.iterdir()))}"
    subprocess.run(command(place, named, out), check=True)
    assert kept(out) == whole


def test_what_is_done_is_not_done_again(place, tmp_path, monkeypatch):
    first = small_detect(place, tmp_path / "out")
    assert not (tmp_path / "out" / ".cache").exists()
    monkeypatch.setattr(classifiers.Classifier, "batches", None)
    again = small_detect(place, tmp_path / "out")
    assert again.results == first.results
    monkeypatch.undo()
    other = small_detect(place, tmp_path / "out", flag_rate=0.1)
    assert {row.metric.key for row in other.results} - {row.metric.key for row in first.results} >= {"flagged"}


def test_a_folder_of_detect_is_a_run_like_any_other(place, tmp_path):
    first = small_detect(place, tmp_path / "first")
    small_detect(place, tmp_path / "second", seed=1)
    told = read_report(tmp_path / "first")
    assert told.results.value("KNN:k=3", "auroc", group="near").value == pytest.approx(
        first.results.value("KNN:k=3", "auroc", group="near").value
    )
    assert ow.compare(tmp_path / "first", tmp_path / "second", "auroc").results.comparisons
    assert ow.check(tmp_path / "first", ["auroc >= 0.0"], where={"group": "near"}).found
    assert ow.average([tmp_path / "first", tmp_path / "second"]).results.rows


def test_a_folder_of_a_run_that_detect_did_not_begin_is_refused(place, tmp_path):
    small_detect(place, tmp_path / "out")
    (tmp_path / "out" / "run.json").unlink()
    with pytest.raises(ow.OpenworldError, match="holds a run"):
        small_detect(place, tmp_path / "out")
