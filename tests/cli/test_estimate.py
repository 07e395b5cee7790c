"""`openworld estimate`: from files and from images to a number, a table, a page; exit codes; every wrong use."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from in_process import openworld, refused

from openworld import classifiers, datasets
from openworld.core.functions import find_function

sys.path.insert(0, str(Path(__file__).parents[1] / "estimators"))

from simulated import outputs, save_scores  # noqa: E402

pytestmark = pytest.mark.usefixtures("few_draws")

TEMPLATE = ("--template", "an icon of a {}.")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    source, target = outputs(0, 200, 4, 2.0, knows=0.8), outputs(1, 300, 4, 1.2, knows=0.8)
    save_scores(folder / "source.npz", source, classnames=np.array(["ant", "bee", "cat", "dog"]))
    save_scores(
        folder / "target.npz", replace(target, labels=None), when=np.datetime64("2024-01-01", "D") + np.arange(300)
    )
    save_scores(folder / "bare.npz", replace(target, labels=None, reference=None))
    save_scores(folder / "lost.npz", replace(outputs(2, 300, 4, 0.0), labels=None, reference=None))
    return folder


@pytest.fixture
def estimate(files):
    """Estimates in the folder of the files: source, target, options."""

    def ask(source, target, *options):
        return openworld("estimate", "--source", source, "--target", target, *options, cwd=files, columns=200)

    return ask


def test_what_cannot_be_told_is_said_first_and_is_exit_code_4(estimate, tmp_path):
    done = estimate("source.npz", "lost.npz", "--out", tmp_path)
    found = json.loads((tmp_path / "estimate.json").read_text())
    assert done.exit_code == 4 and "cannot be estimated; it may lie between" in done.output.splitlines()[0], done.output
    assert "outputs (p" in done.output and "would give it to within 10 points" in done.output
    assert found["quote"]["accuracy"] is None and found["unknown"] == ["lost.npz"]
    assert found["quote"]["low"] < found["quote"]["high"] and "labels-to-make.csv lists them" in done.output
    assert "labels-to-make.csv" not in estimate("source.npz", "lost.npz").output  # nobody could find it


def test_files_are_kept_on_request_and_those_of_an_earlier_call_do_not_stay(estimate, tmp_path):
    out = tmp_path / "out"
    fast = ("source.npz", "target.npz", "--out", out, "--estimator", "AC")
    assert estimate(*fast, "--chunks", 3).exit_code == 0 and (out / "over-time.svg").exists()
    (out / "audit.json").write_text('{"audits": []}')
    kept = []
    for _ in range(2):
        assert estimate(*fast, "--quiet").output == ""
        kept.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert set(kept[0]) == {"report.html", "estimate.json", "results.parquet", "methods.svg"}
    assert kept[0] == kept[1]


def test_an_alert_is_exit_code_3(estimate):
    asked = ("source.npz", "target.npz", "--estimator", "DoC", "--alert")
    assert [estimate(*asked, alert).exit_code for alert in (0.99, 0.01)] == [3, 0]
    done = estimate(*asked, 0.99, "--chunk-rows", 150, "--json")
    assert done.exit_code == 3 and json.loads(done.output)["alerts"] == ["1 to 150", "151 to 300"]


WRONG = {
    "--reference needs images": ("source.npz", "bare.npz", "--reference", "embedded"),
    "--architecture needs images": ("source.npz", "bare.npz", "--architecture", "train:net"),
    "--model needs images": ("source.npz", "bare.npz", "--model", "embedded"),
    "--source-partner": (
        "source.npz",
        "bare.npz",
        "--estimator",
        "GDE",
        "--target-partner",
        "target.npz",
        "--alert",
        0.5,
    ),
    "go in pairs": ("source.npz", "bare.npz", "--source-partner", "x.npz"),
    "images need a model whose accuracy": ("source.npz", "bare.npz", "--labelled-shift", "corruptions"),
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_use_is_exit_code_2(files, words):
    source, target, *options = WRONG[words]
    refused(words, "estimate", "--source", source, "--target", target, *options, cwd=files)


def test_images_and_a_backbone(estimate, image_folder, tmp_path):
    sides = (image_folder / "source", image_folder / "target")
    options = ("--estimator", "FRAP", "--estimator", "COTT", "--seed", 1)
    asked = ("--model", "embedded", *TEMPLATE, "--reference", "embedded", "--out", tmp_path / "out")
    done = estimate(*sides, *options, *asked)
    assert done.exit_code == 0, done.output
    assert "Estimated accuracy on target (48 images)" in done.output and "FRAP" in done.output
    kept = [tmp_path / "out" / "scores" / name for name in ("source-0.parquet", "target-0.parquet")]
    found = json.loads((tmp_path / "out" / "estimate.json").read_text())
    paths = pyarrow.parquet.read_table(kept[1]).column("path").to_pylist()
    assert sorted(sides[1] / path for path in paths) == sorted(sides[1].rglob("*.png"))
    again = json.loads(estimate(*kept, *options, "--json").output)
    assert again["methods"] == found["methods"]  # the scores that were kept stand in for the images
    assert found["made"]["model (logits)"].startswith("embedded") and (tmp_path / "out" / "audit.json").is_file()
    assert openworld("label", "plan", kept[1], "--out", tmp_path / "labels", "--n", 5).exit_code == 0
    assert (tmp_path / "labels" / "label.html").read_text().count("data:image/jpeg") == 5


def test_images_that_cannot_be_read_are_refused(estimate, image_folder, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "a.png").write_bytes(b"no image")
    (tmp_path / "names.txt").write_text("\n".join(sorted(path.name for path in (image_folder / "source").iterdir())))
    options = ("--model", "embedded", "--classnames", tmp_path / "names.txt")
    done = estimate(image_folder / "source", tmp_path / "broken", *options)
    assert done.exit_code == 1 and "a.png" in done.stderr


MODULE = """
from torch import nn


def network(classes):
    return nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48, classes))
"""


@pytest.fixture
def own_model(image_folder, tmp_path, monkeypatch):
    """A torch module whose function stands in a file of the current folder, saved as the docs say; and what it gave."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made_for_this_test.py").write_text(MODULE)
    images = datasets.folder.load(image_folder / "source")
    prepared = classifiers.Preprocess(16, 16, "squash", (0.5,) * 3, (0.5,) * 3)
    network = find_function("made_for_this_test:network")(len(images.classnames))
    for name, place in (("mine", "made_for_this_test:network"), ("words", "my own")):
        classifiers.save(classifiers.Classifier(network, images.classnames, prepared, place), tmp_path / name)
    return classifiers.Classifier(network, images.classnames, prepared, "my own").logits(images)


def test_a_torch_module_of_ones_own_runs_only_where_its_function_was_named(own_model, image_folder, tmp_path):
    asked = ("estimate", "--source", image_folder / "source", "--target", image_folder / "target", "--estimator", "AC")
    named = ("--architecture", "made_for_this_test:network")
    for name in ("mine", "words"):
        done = openworld(*asked, "--model", name, "--partner", "mine", *named, "--out", "out", "--quiet")
        assert done.exit_code in (0, 4), done.output
        kept = pyarrow.parquet.read_table(tmp_path / "out" / "scores" / "source-0.parquet")
        np.testing.assert_allclose(kept["logits"].to_pylist(), own_model, atol=1e-5)
    for model, functions, words in (
        ("mine", (), "--architecture made_for_this_test:network"),
        ("mine", ("made_for_this_test:other", "json:loads"), "--architecture made_for_this_test:network"),
        ("mine", ("made_for_this_test:other",), "cannot be imported"),
        ("words", (), "--architecture package.module:function"),
        ("embedded", ("made_for_this_test:network",), "builds none of embedded"),
    ):
        options = [part for name in functions for part in ("--architecture", name)]
        refused(words, *asked, "--model", model, *options)
