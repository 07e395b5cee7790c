"""Commands about finished runs: `check`, `decide`, `compare`, `report`, `cite`."""

import json
import shlex

import numpy as np
import pytest
from every_output import save
from in_process import openworld, refused, told

import openworld as ow
from openworld import datasets
from openworld.evaluations.recognition.outcome import load
from openworld.report.report import FORMS
from openworld.results import Results
from openworld.runs import RunStore, record
from openworld.tables.parquet import decode_table

NOISE = {"old": 2.0, "new": 0.8}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Predictions of a model as runs: `old` and `new` on the same images, `other` on others, `both` with validation."""
    folder, generator = tmp_path_factory.mktemp("runs"), np.random.default_rng(0)
    for name, count in (("old", 200), ("new", 200), ("other", 100), ("both", 400)):
        side = np.tile(["base", "new"], count // 2)
        score = 2 * (side == "base") + NOISE.get(name, 1.0) * generator.standard_normal(count)
        columns = {"side": side, "score": score, "correct": generator.random(count) < 0.9, "id": np.arange(count)}
        part = {"part": np.repeat(["validation", "test"], count // 2)} if name == "both" else {}
        np.savez(folder / f"{name}.npz", **columns, **part)
        told(folder, "score", f"{name}.npz", "--out", name)
    RunStore(folder / "of another version").create({}, {"protocol": "recogniton"}, {})
    return folder


@pytest.mark.parametrize(("bound", "code"), [("50 %", 0), ("0.99", 3), ("0.75", 4)])
def test_three_answers_of_a_check_are_three_exit_codes(runs, bound, code):
    done = openworld("check", runs / "old", "--require", f"auroc >= {bound}")
    assert done.exit_code == code and ("more images" in done.stdout) == (code == 4), done.output


def test_a_pipeline_gets_junit_and_a_summary(runs, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    told(tmp_path, "check", runs / "new", "--require", "auroc >= 0.5", "--junit", "junit.xml")
    assert "<testsuite" in (tmp_path / "junit.xml").read_text()
    assert "AUROC ≥ 50.0" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    told(tmp_path, "check", runs / "new", "--against", runs / "new", "--margin", "0")


def test_a_comparison_has_a_verdict_and_as_json_intervals_and_the_basis(runs):
    shown = told(runs, "compare", "old", "new").replace("\xa0", " ")
    assert "task: old.npz → new.npz" in shown and "better, p < .001" in shown and "n = 200" in shown
    found = json.loads(told(runs, "compare", "new", "old", "--of", "auroc", "--json"))
    (test,) = found["comparisons"]
    assert found["of"] == "auroc" and test["difference"] < 0 and ": AUROC worse" in found["verdict"][0]
    assert "n = 200" in found["basis"] and "equivalence_p" in test
    for row, side in zip(found["results"], ("first", "second"), strict=True):
        assert row["run"] == side and row["low_images"] < row["value"] < row["high_images"] and row["n_images"] == 200


def test_records_are_read_once_however_much_is_told(runs, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(record, "decode_table", lambda data, **how: read.append(data) or decode_table(data, **how))
    told(tmp_path, "score", runs / "old.npz", "--out", "again")
    assert read and len(read) == len(set(read))


def test_a_threshold_in_words_and_the_rate_that_it_keeps(runs, tmp_path):
    shown = told(runs, "decide", "both", "--cost-miss", "1", "--cost-unhit", "2")
    assert "100 base and 100 new validation images" in shown and "openworld predict" not in shown
    decided = Results.from_json(told(runs, "decide", "both", "--miss-rate", "0.2", "--json"))
    (threshold,) = decided.where(metric="threshold")
    assert not decided.where(metric="baseness_threshold").rows  # a score of unknown meaning is no probability
    scores, correct, _, _ = load(runs / "both")[0].validation.samples
    missed = (scores < threshold.value.value) | ~correct.astype(bool)
    (miss,) = decided.where(metric="miss", part="validation")
    assert miss.value.value == pytest.approx(missed.mean()) and missed.mean() <= 0.2
    shown = told(runs, "decide", "both", "--miss-rate", "0.2", "--page", tmp_path / "page.html")
    assert f"Report: {tmp_path / 'page.html'}" in shown
    assert "Where to run it" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Where to run it" not in (runs / "both" / "report.html").read_text(encoding="utf-8")


SPEC = """
dataset = "images"
seeds = [1, 2]
shots = 1
views = 1
[[learners]]
learner = "DePT"
settings = { schedule = { epochs = 1 } }
"""


def test_predict_flags_and_names_what_the_rates_counted(tmp_path, shared_cache):
    """Score < threshold is flagged, and the name is the one among the names of that side, here as there."""
    (tmp_path / "small.toml").write_text(SPEC)
    for part, count in {"train": 1, "validation": 3, "test": 5}.items():
        images = datasets.load("emoji-groups", part=part)
        rows = [np.flatnonzero(images.labels == label)[:count] for label in range(len(images.classnames))]
        save(tmp_path / "images" / part, images.subset(np.concatenate(rows)))
    asked = ("run", "small.toml", "--out", "run", "--workers", 1, "--quiet")
    assert openworld(*asked, cwd=tmp_path, cache=shared_cache).exit_code == 0
    rule = ("decide", tmp_path / "run", "--hit-rate", "0.1", "--learner", "DePT")
    lines = openworld(*rule, columns=200).output.splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith("  openworld predict")]
    assert [words[words.index("--unit") + 1] for words in commands] == ["DePT, seed 1", "DePT, seed 2"]
    (threshold,) = Results.from_json(openworld(*rule, "--json").output).where(metric="threshold")
    outcome = next(each for each in load(tmp_path / "run") if each.seed == 2)
    table = {name: np.asarray(column) for name, column in outcome.test.images.items()}
    command = commands[1]
    command[command.index("IMAGES")] = str(tmp_path / "images" / "test")
    found = json.loads(openworld(*command[1:], "--json").output)["images"]  # in the order of the test part
    assert {each["looks"] for each in found} == {"base", "new"} and len(found) == len(table["id"])
    for number, score, side, label, correct in zip(
        *(table[name] for name in ("id", "score", "side", "label", "correct")), strict=True
    ):
        assert found[number]["log_baseness"] == pytest.approx(score, abs=1e-4)
        assert (found[number]["looks"] == "new") == (score < threshold.per_seed[1])
        if found[number]["looks"] == side:
            assert (found[number]["called"] == outcome.facts["classnames"][label]) == correct


@pytest.mark.parametrize("form", ["text", *FORMS, "hub", "card"])
def test_every_form_is_printed_and_written_to_a_file(runs, tmp_path, form):
    shown = told(runs, "report", "new", "--table", form, "--out", tmp_path / "numbers")
    assert str(tmp_path / "numbers") in shown.replace("\n", "")
    written = (tmp_path / "numbers").read_bytes()
    if form == "parquet":
        assert Results.from_parquet(written).where(metric="auroc").rows
    else:
        begins = {
            "csv": "evaluation,entity",
            "json": "{",
            "hub": "model-index:\n- name: model",
            "card": "## Evaluation: ",
        }
        assert told(runs, "report", "new", "--table", form) == written.decode() and written.decode().strip()
        assert written.decode().startswith(begins.get(form, ""))


def test_a_run_is_cited_as_from_python_and_methods_by_name_and_kind(runs):
    assert told(runs, "cite", "new") == ow.cite(runs / "new") == told(runs, "cite", "new", "old")
    listed = told(runs, "list", "--cite", "CoOp", "detectors")
    assert listed.startswith("@article{zhou2022coop,") and "@inproceedings{hendrycks2017msp," in listed
    assert told(runs, "list", "--cite") == told(runs, "list", "all", "--cite")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "old"), "nothing is required"),
        (("check", "old", "--require", "auroc >= 0.5", "--where", "level"), "write it as level=3"),
        (("compare", "old", "other"), "was not scored on the same images (200 images in"),
        (("compare", "old", "new", "--of", "aurocs"), "did you mean 'auroc'"),
        (("compare", "of another version", "old"), "recogniton"),
        (("decide", "both"), "a threshold follows one rule, and none came"),
        (("decide", "both", "--miss-rate", "0.1", "--learner", "modell"), "did you mean 'model'"),
        (("report", "of another version", "--table", "csv"), "recogniton"),
        (("report", "old", "--table", "parquet"), "--out"),
        (("report", "old", "--table", "excel"), "Known: text, csv"),
        (("report", "old", "--table", "csv", "--figures", "svg"), "ask for one"),
        (("report", "old", "--table", "csv", "--of", "model"), "--of goes with --table hub"),
        (("report", "old", "--table", "hub", "--of", "nobody"), "nobody"),
    ],
)
def test_wrong_use_is_a_sentence(runs, arguments, words):
    refused(words, *arguments, cwd=runs)
