"""`import openworld as ow`: the commands as functions, which share names, defaults and refusals with them."""

import json
from itertools import product

import numpy as np
import pytest
from PIL import Image

import openworld as ow

PREDICTIONS = {"side": ["base", "base", "new", "new"], "score": [3.0, 2.0, 1.0, 2.5], "correct": [1, 1, 1, 0]}


def test_scored_columns_are_a_run_with_results_tables_figures_and_images():
    run = ow.score(PREDICTIONS)
    (auc,) = run.results.where(metric="openworld_auc")
    wins = [b > n and right for b in (3.0, 2.0) for n, right in ((1.0, True), (2.5, False))]
    assert auc.value.value == pytest.approx(np.mean(wins))
    assert run.images.num_rows == 4 and set(PREDICTIONS) <= set(run.images.column_names)
    assert "50.0" in repr(run) and "<table>" in run._repr_html_() and "OpenworldAUC" in repr(run.tables["numbers"])
    assert run.tables["numbers"].to_latex().count("\\midrule") == 1
    assert {"points-lost", "trade-off"} <= run.figures.keys()


def test_a_scored_run_without_a_folder_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = ow.score(PREDICTIONS)
    assert any(tmp_path.iterdir())
    del run
    assert not any(tmp_path.iterdir())


def test_columns_that_will_not_do_are_refused_without_a_path_and_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ow.OpenworldError, match="the table lacks correct") as refusal:
        ow.score({"side": ["base"], "score": [1]})
    assert str(tmp_path) not in str(refusal.value) and not any(tmp_path.iterdir())


def test_a_kept_run_is_opened_and_compared(tmp_path):
    first = ow.score(PREDICTIONS, tmp_path / "run")
    assert (tmp_path / "run" / "report.html").exists()
    found = ow.compare(first, ow.open_run(tmp_path / "run"))
    assert [pair.comparison.difference for pair in found.found.pairs] == [0.0]


@pytest.mark.parametrize("command", ["estimate", "watch"])
def test_late_labels_are_read_from_columns_as_from_a_file(tmp_path, command):
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 700)
    logits = generator.normal(size=(700, 3)) + 2 * np.eye(3)[labels]
    source, new = {"logits": logits[:400], "labels": labels[:400]}, {"logits": logits[400:]}
    columns = {"row": np.arange(0, 300, 5), "label": labels[400::5], "inclusion": np.full(60, 0.2)}
    file = tmp_path / "late.csv"
    np.savetxt(file, np.stack([*columns.values()], axis=1), "%g", delimiter=",", header=",".join(columns), comments="")
    ow.fit_watch(source, tmp_path / "watch", chunk_rows=300, quiet=True)

    def answer(late, name):
        if command == "estimate":
            return ow.estimate(source, new, estimator=["AC"], labels=late, quiet=True).results
        ow.watch(tmp_path / "watch", new, state=tmp_path / name, quiet=True)
        return ow.watch(tmp_path / "watch", state=tmp_path / name, labels=late, quiet=True).results

    without, of_columns, of_file = (answer(late, f"{place}") for place, late in enumerate((None, columns, file)))
    assert of_columns == of_file != without


@pytest.fixture
def images(tmp_path):
    """Two images of each part and class, in folders."""
    colours = {"red": (220, 30, 30), "green": (30, 160, 60), "blue": (30, 60, 220), "white": (250, 250, 250)}
    for part, (name, colour) in product(("train", "test"), colours.items()):
        folder = tmp_path / "images" / part / f"{name} square"
        folder.mkdir(parents=True)
        for number in range(2):
            Image.new("RGB", (32, 32 + number), colour).save(folder / f"{number}.png")
    return str(tmp_path / "images")


def test_a_run_goes_on_where_it_was_by_a_spec_as_an_object_too(images, tmp_path):
    from openworld.evaluations import RecognitionSpec
    from openworld.evaluations.entries import LearnerSpec

    columns = {"dataset": images, "learners": [{"learner": "zero-shot"}], "seeds": [1], "shots": 1, "views": 1}
    spec = RecognitionSpec((LearnerSpec("zero-shot"),), dataset=images, seeds=(1,), shots=1, views=1)
    options = {"cache": tmp_path / "cache", "workers": 1, "device": "cpu", "quiet": True}
    run, again = (ow.run(each, tmp_path / "run", **options) for each in (columns, spec))
    assert [row.value for row in again.results] == [row.value for row in run.results]
    assert run.spec["dataset"] == images and run.verdict and run.results.entities[0] == "zero-shot"


@pytest.fixture(scope="module")
def reports():
    generator = np.random.default_rng(0)
    predictions = {
        "side": ["base", "base", "new", "new"] * 10,
        "score": generator.normal(size=40),
        "correct": [1, 0] * 20,
    }
    logits = generator.normal(size=(300, 4))
    labels = np.where(np.arange(300) < 60, generator.integers(0, 4, 300), logits.argmax(axis=1))
    run, other = (ow.score(predictions, name=name) for name in ("CoOp", "GMoP"))
    scores = {"group": ["id", "far"] * 20, "MSP": predictions["score"]}
    return {
        "score": run,
        "compare": ow.compare(run, other),
        "check": ow.check(run, ["auroc >= 0.8", "auroc >= 0.8"]),
        "estimate": ow.estimate({"logits": 2 * logits, "labels": labels}, {"logits": logits[:200]}, quiet=True),
        "detect": ow.detect(scores=scores, replicates=0, quiet=True),
    }


def test_every_report_offers_the_same_names(reports):
    for name, report in reports.items():
        assert "Report(" not in repr(report) and len(repr(report).splitlines()) > 3, name
        assert report.verdict and all(isinstance(sentence, str) for sentence in report.verdict), name
        assert report.tables and all("tabular" in table.to_latex() for table in report.tables.values()), name
        assert "tabular" in report.to_latex() and report.to_markdown().count("|") > 6, name
        whole = report.to_dict()
        assert len(whole["results"]) == len(report.results) > 0 and whole["verdict"] == list(report.verdict), name
        assert report.json or json.loads(report.to_json())["results"] == json.loads(json.dumps(whole["results"])), name
        assert isinstance(ow.metrics_of(report), dict) and "<table" in report.html(), name
        assert report.comparisons == report.results.comparisons, name
        with pytest.raises(ow.OpenworldError, match="unknown name in this report"):
            _ = report.figures["nothing"]
        assert "CoOp" not in report.results.entities or "/tmp" not in str(report.verdict), name


def test_a_name_given_to_predictions_is_what_reports_call_them(reports):
    caption = reports["compare"].tables["comparison"].caption
    assert caption.startswith("First: CoOp. Second: GMoP.")
    assert {change[0] for change in reports["compare"].found.changes} == {"learner"}
    assert reports["check"].verdict[0].startswith("CoOp: ") and reports["score"].results.entities[0] == "CoOp"
