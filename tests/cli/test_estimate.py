"""`openworld estimate`: from files and from pictures to a number, a table, a page; exit codes; every wrong use."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from openworld import datasets
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "estimators"))

from simulated import outputs  # noqa: E402

pytestmark = pytest.mark.usefixtures("few_resampled_sources")


def openworld(*arguments):
    return CliRunner().invoke(app, ["estimate", *map(str, arguments)], env={"COLUMNS": "200"})


def save(path, data, **further):
    held = {"logits": data.logits, "labels": data.labels, "reference": data.reference} | further
    np.savez(path, **{name: value for name, value in held.items() if value is not None})


def _softmax(logits):
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    source, target = outputs(0, 400, 4, 2.0, knows=0.8), outputs(1, 600, 4, 1.2, knows=0.8)
    save(folder / "source.npz", source, classnames=np.array(["ant", "bee", "cat", "dog"]))
    save(folder / "target.npz", replace(target, labels=None), when=np.datetime64("2024-01-01", "D") + np.arange(600))
    save(folder / "labelled.npz", target)
    save(folder / "softmax.npz", replace(target, logits=_softmax(target.logits)))
    save(folder / "bare.npz", replace(target, labels=None, reference=None))
    save(folder / "lost.npz", replace(outputs(2, 600, 4, 0.0), labels=None, reference=None))
    return folder


@pytest.fixture
def both(files):
    return "--source", files / "source.npz", "--target", files / "target.npz"


def test_a_number_a_table_and_what_speaks_against_it(both):
    done = openworld(*both, "--estimator", "COTT", "--estimator", "AC")
    assert done.exit_code == 0, done.output
    first, *rest = done.output.splitlines()
    assert first.startswith("Estimated accuracy on target.npz (600 images): ") and first.endswith(", by COTT.")
    assert any(line.split()[0] == "AC" for line in rest if line)
    assert "methods say" in done.output and "labels of images drawn at random" in done.output
    assert "Report:" not in done.output


def test_what_cannot_be_told_is_said_first_and_is_exit_code_4(files):
    asked = ("--source", files / "source.npz", "--target", files / "lost.npz")
    done = openworld(*asked)
    assert done.exit_code == 4, done.output
    first = done.output.splitlines()[0]
    assert "cannot be told; it may lie between" in first and "outputs (p < .001)" in done.output
    assert "would tell it to 10 points either way" in done.output
    told = json.loads(openworld(*asked, "--json").output)
    assert told["quote"]["accuracy"] is None and told["untold"] == ["lost.npz"]
    assert told["quote"]["low"] < told["quote"]["high"]


def test_json(both):
    told = json.loads(openworld(*both, "--json", "--by-class", "--chunks", 3, "--estimator", "FRAP").output)
    assert told["quote"]["method"] == "FRAP" and len(told["stretches"]) == 3 and len(told["classes"]) == 4
    assert told["made"]["source.npz"].startswith("SHA-256 ") and told["alerts"] == []
    assert told["quote"]["low"] <= told["quote"]["accuracy"] <= told["quote"]["high"]
    frap = next(one for one in told["methods"] if one["name"] == "FRAP")
    assert frap["on_source"][1] <= frap["on_source"][0] <= frap["on_source"][2]


def test_all_is_kept_on_request(both, tmp_path):
    done = openworld(*both, "--out", tmp_path / "out", "--timestamps", "when", "--period", "1month")
    assert done.exit_code == 4, done.output  # of some months it cannot be told
    kept = {path.name for path in (tmp_path / "out").iterdir()}
    assert kept == {"report.html", "estimate.json", "results.parquet", "methods.svg", "over-time.svg"}
    assert "Signs of a shift" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    by_class = openworld(*both, "--out", tmp_path / "classes", "--estimator", "FRAP", "--by-class")
    assert by_class.exit_code == 0
    assert "Class by class" in (tmp_path / "classes" / "report.html").read_text(encoding="utf-8")
    assert "2024-01 " in done.output and "2025-08" in done.output


def test_files_of_an_earlier_call_do_not_stay(both, tmp_path):
    out = tmp_path / "out"
    fast = (*both, "--out", out, "--estimator", "AC")
    assert openworld(*fast, "--chunks", 3).exit_code == 0 and (out / "over-time.svg").exists()
    (out / "audit.json").write_text('{"audits": []}')
    assert openworld(*fast).exit_code == 0
    assert {path.name for path in out.iterdir()} == {"report.html", "estimate.json", "results.parquet", "methods.svg"}


def test_the_same_again(both, tmp_path):
    for name in ("a", "b"):
        named = ("--estimator", "FRAP", "--estimator", "COTT")
        assert openworld(*both, *named, "--out", tmp_path / name, "--quiet").output == ""
    for file in ("methods.svg", "report.html"):
        one, other = ((tmp_path / name / file).read_text(encoding="utf-8") for name in ("a", "b"))
        assert one.replace(str(tmp_path / "a"), "") == other.replace(str(tmp_path / "b"), "")


def test_an_alert_is_exit_code_3(both):
    asked = (*both, "--estimator", "DoC")
    assert openworld(*asked, "--alert", 0.99).exit_code == 3
    assert openworld(*asked, "--alert", 0.01).exit_code == 0
    done = openworld(*asked, "--alert", 0.99, "--chunk-rows", 300, "--json")
    assert done.exit_code == 3 and json.loads(done.output)["alerts"] == ["1 to 300", "301 to 600"]


def test_labels_of_the_target_are_compared_with(files):
    done = openworld("--source", files / "source.npz", "--target", files / "labelled.npz", "--estimator", "COTT")
    assert "The target has labels, which no method looked at" in done.output and "off by" in done.output
    assert "it was named first" in done.output


def test_partners_in_files_of_their_own(files):
    asked = ("--source", files / "source.npz", "--target", files / "bare.npz", "--estimator", "GDE")
    alone = openworld(*asked, "--target-partner", files / "labelled.npz", "--alert", 0.5)
    assert alone.exit_code == 2 and "--source-partner" in alone.output + str(alone.stderr)
    for pair in ((), ("--source-partner", files / "source.npz")):  # GDE learns nothing of the source
        done = openworld(*asked, "--target-partner", files / "labelled.npz", *pair)
        assert done.exit_code == 0 and "100.0 %" in done.output.splitlines()[0]  # a model agrees with itself


def test_what_was_done_to_the_files_is_said(files, tmp_path):
    """Classes in another order, rounded probabilities; the estimates are those of the files as they should be."""
    data = outputs(0, 400, 4, 2.0)
    softmax = _softmax(data.logits).round(3)
    names = np.array(["ant", "bee", "cat", "dog"])
    np.savez(tmp_path / "rounded.npz", probabilities=softmax, labels=data.labels, classnames=names)
    np.savez(tmp_path / "turned.npz", logits=data.logits[:, ::-1], classnames=names[::-1])
    np.savez(tmp_path / "straight.npz", logits=data.logits, classnames=names)
    found = {}
    for target in ("turned", "straight"):
        done = openworld("--source", tmp_path / "rounded.npz", "--target", tmp_path / f"{target}.npz")
        assert done.exit_code == 0, done.output
        assert "rows of probabilities in rounded.npz do not add up to 1" in done.output
        assert ("classes of turned.npz come in another order" in done.output) == (target == "turned")
        found[target] = [line.split()[:4] for line in done.output.splitlines()[2:8]]
    assert found["turned"] == found["straight"]


WRONG = {
    "the logits of softmax.npz are probabilities": ("source.npz", "softmax.npz"),
    "has no labels; the source must say": ("bare.npz", "source.npz"),
    "there is no file": ("source.npz", "none.npz"),
    "expected .npz, .safetensors, .parquet, .csv": ("source.npz", "none.txt"),
    "--reference needs images": ("source.npz", "bare.npz", "--reference", "embedded"),
    "--architecture needs images": ("source.npz", "bare.npz", "--architecture", "train:net"),
    "--model needs images": ("source.npz", "bare.npz", "--model", "embedded"),
    "FRAP needs another model's scores": ("source.npz", "bare.npz", "--estimator", "FRAP"),
    "did you mean 'FRAP'": ("source.npz", "bare.npz", "--estimator", "FRAPP"),
    "exclude one another": ("source.npz", "bare.npz", "--chunks", 2, "--chunk-rows", 2),
    "--chunks 700 is more than": ("source.npz", "bare.npz", "--chunks", 700),
    "unknown column of": ("source.npz", "bare.npz", "--chunks", 2, "--timestamps", "when"),
    "alert is 80": ("source.npz", "bare.npz", "--alert", 80),
    "false_alarms is 20": ("source.npz", "bare.npz", "--alert", 0.8, "--false-alarms", 20),
    "go in pairs": ("source.npz", "bare.npz", "--source-partner", "x.npz"),
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_use_is_exit_code_2(files, words):
    source, target, *options = WRONG[words]
    done = openworld("--source", files / source, "--target", files / target, *options)
    assert done.exit_code == 2 and words in done.output + str(done.stderr)


def test_pictures_and_a_backbone(pictures, tmp_path):
    asked = ("--source", pictures / "source", "--target", pictures / "target", "--model", "embedded")
    sentence = ("--template", "an icon of a {}.", "--estimator", "FRAP", "--estimator", "COTT")
    done = openworld(*asked, *sentence, "--reference", "embedded", "--out", tmp_path / "out", "--seed", 1)
    assert done.exit_code == 0, done.output
    assert "Estimated accuracy on target (48 images)" in done.output and "FRAP" in done.output
    assert (tmp_path / "out" / "audit.json").is_file()
    kept = [tmp_path / "out" / "scores" / name for name in ("source-0.parquet", "target-0.parquet")]
    told = json.loads((tmp_path / "out" / "estimate.json").read_text())
    paths = pyarrow.parquet.read_table(kept[1]).column("path").to_pylist()
    assert sorted(pictures / "target" / path for path in paths) == sorted((pictures / "target").rglob("*.png"))
    again = json.loads(openworld("--source", kept[0], "--target", kept[1], *sentence[2:], "--json", "--seed", 1).output)
    assert again["methods"] == told["methods"]  # the scores that were kept stand in for the pictures
    assert told["made"]["model (logits)"].startswith("embedded")


def test_pictures_without_a_model(pictures):
    done = openworld("--source", pictures / "source", "--target", pictures / "target")
    assert done.exit_code == 2 and "images need a model" in done.output + str(done.stderr)


def test_a_broken_picture_is_exit_code_1(pictures, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "a.png").write_bytes(b"no picture")
    names = tmp_path / "names.txt"
    names.write_text("\n".join(sorted(path.name for path in (pictures / "source").iterdir())))
    asked = ("--source", pictures / "source", "--target", tmp_path / "broken", "--model", "embedded")
    done = openworld(*asked, "--classnames", names)
    assert done.exit_code == 1 and "a.png" in done.output + str(done.stderr)


MODULE = """
from torch import nn


def network(classes):
    return nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48, classes))
"""


@pytest.fixture
def own_model(pictures, tmp_path, monkeypatch):
    """A torch module whose function stands in a file of the current folder, saved as the docs say; and what it gave."""
    from openworld import classifiers
    from openworld.core.functions import find_function

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made_for_this_test.py").write_text(MODULE)
    images = datasets.folder.load(pictures / "source")
    prepared = classifiers.Preprocess(16, 16, "squash", (0.5,) * 3, (0.5,) * 3)
    network = find_function("made_for_this_test:network")(len(images.classnames))
    mine = classifiers.Classifier(network, images.classnames, prepared, "made_for_this_test:network")
    classifiers.save(mine, tmp_path / "mine")
    words = classifiers.Classifier(network, images.classnames, prepared, "my own")
    classifiers.save(words, tmp_path / "words")
    return mine.logits(images)


@pytest.mark.parametrize("name", ["mine", "words"])
def test_a_torch_module_of_ones_own(own_model, pictures, tmp_path, name):
    asked = ("--source", pictures / "source", "--target", pictures / "target", "--model", name, "--partner", "mine")
    done = openworld(*asked, "--architecture", "made_for_this_test:network", "--out", "out", "--quiet")
    assert done.exit_code == 4, done.output  # so few images tell nothing
    from pyarrow import parquet

    kept = parquet.read_table(tmp_path / "out" / "scores" / "source-0.parquet")
    np.testing.assert_allclose(kept["logits"].to_pylist(), own_model, atol=1e-5)


def test_a_function_runs_only_where_it_was_named(own_model, pictures):
    asked = ("--source", pictures / "source", "--target", pictures / "target")
    for model, functions, words in (
        ("mine", (), "--architecture made_for_this_test:network"),
        ("mine", ("made_for_this_test:other", "json:loads"), "--architecture made_for_this_test:network"),
        ("mine", ("made_for_this_test:other",), "cannot be imported"),
        ("words", (), "--architecture package.module:function"),
        ("embedded", ("made_for_this_test:network",), "builds none of embedded"),
    ):
        options = [part for name in functions for part in ("--architecture", name)]
        done = openworld(*asked, "--model", model, *options)
        assert done.exit_code == 2 and words in done.output + str(done.stderr), done.output
