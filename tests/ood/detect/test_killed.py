"""`openworld detect` ended at any point and started again with the same words: the same bytes as in one go."""

import multiprocessing
import random
import time

import numpy as np
import pytest
from small_images import draw, save_network

import openworld as ow
from openworld import classifiers
from openworld.api.detecting import detect
from openworld.evaluations.finished_runs import read_report

KILLS = 20
COUNTS = {"train": 3, "validation": 4, "test": 2}
LOADED = ("torch", "scipy.stats", "pyarrow.parquet", "openworld.ood.detect.on_images", "openworld.ood.benchmark.report")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Noise in three parts and classes, noise near and far, and a small network that nobody trained."""
    place, dice, names = tmp_path_factory.mktemp("images"), np.random.default_rng(0), ("blue", "green", "red")
    folders = {f"mine/{part}/{name}": count for part, count in COUNTS.items() for name in names}
    for folder, count in (folders | {"near": 4, "far": 4}).items():
        draw(place / folder, count, dice)
    save_network(place / "classifier", names)
    return place


def words(place, out, model="classifier", **given):
    """The arguments of `detect` on these images."""
    model, sets = str(place / model) if model == "classifier" else model, {"near": place / "near", "far": place / "far"}
    return {"model": model, "id": place / "mine", "ood": sets, "replicates": 0, "out": out, "quiet": True, **given}


def small_detect(place, out, **given):
    return ow.detect(**words(place, out, detector=["MSP", "KNN:k=3"], **given))


def kept(out):
    """What units wrote, the scores, the results and the thresholds; not the clocks of this run."""
    paths = [path for path in (out / "units").rglob("*") if path.is_file() and path.name != "timing.json"]
    paths += [out / name for name in ("scores.parquet", "results.parquet", "thresholds.json", "fitted.safetensors")]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["classifier", "embedded"])
def test_a_detect_that_is_killed_again_and_again_ends_with_the_same_bytes(place, tmp_path, model):
    # Processes that are forked from one with all libraries loaded: what is killed is work, and no import.
    forks, dice = multiprocessing.get_context("forkserver"), random.Random(model)
    forks.set_forkserver_preload([*LOADED])

    def started(out):
        given = {"flag_rate": 0.1, "replicates": 2, "device": "cpu"}
        process = forks.Process(target=detect, kwargs=words(place, out, model, **given))
        process.start()
        return process, time.monotonic()

    process, begun = started(tmp_path / "whole")
    process.join()
    seconds, whole = time.monotonic() - begun, kept(tmp_path / "whole")
    out, killed = tmp_path / "0", 0
    while killed < KILLS:
        process, begun = started(out)
        process.join(dice.uniform(0.05, 1) * seconds)
        if process.is_alive():
            process.kill()
            process.join()
            killed += 1
            continue
        assert process.exitcode == 0 and kept(out) == whole
        seconds = min(seconds, time.monotonic() - begun)  # the first one may have run on a busy machine
        out = tmp_path / str(killed)
    process, _ = started(out)
    process.join()
    assert process.exitcode == 0 and kept(out) == whole


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
    value = read_report(tmp_path / "first").results.value("KNN:k=3", "auroc", group="near").value
    assert value == pytest.approx(first.results.value("KNN:k=3", "auroc", group="near").value)
    assert ow.compare(tmp_path / "first", tmp_path / "second", "auroc").results.comparisons
    assert ow.check(tmp_path / "first", ["auroc >= 0.0"], where={"group": "near"}).found
    # Naming comes first among the rows, and is not what detectors are compared by.
    assert ow.compare(tmp_path / "first", tmp_path / "second").found.metric.key == "auroc"
    assert ow.average([tmp_path / "first", tmp_path / "second"]).made["metric"] == "auroc"
    (tmp_path / "first" / "run.json").unlink()
    with pytest.raises(ow.OpenworldError, match="holds a run"):
        small_detect(place, tmp_path / "first")
