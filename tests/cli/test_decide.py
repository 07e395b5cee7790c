"""`openworld decide`: from a finished run to a threshold, in words, and to what `openworld predict` then does."""

import json
import shlex

import numpy as np
import pytest

from openworld import datasets
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.evaluations.recognition.outcome import load
from openworld.results import Results

SPEC = """
dataset = "{dataset}"
seeds = [1, 2]
shots = 2
views = 1
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "DePT"
settings = {{ schedule = {{ epochs = 1 }} }}
"""


def openworld(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A folder of 8 classes with 2 pictures each to train on, 3 to validate and 5 to test."""
    root = tmp_path_factory.mktemp("pictures")
    for part, count in {"train": 2, "validation": 3, "test": 5}.items():
        images = datasets.load("emoji-groups", part=part)
        for label, name in enumerate(images.classnames):
            (root / part / name).mkdir(parents=True)
            for number in np.flatnonzero(images.labels == label)[:count]:
                images.image(int(number)).save(root / part / name / f"{number:04}.png")
    return root


@pytest.fixture(scope="module")
def run(pictures, tmp_path_factory):
    folder = tmp_path_factory.mktemp("decide")
    (folder / "small.toml").write_text(SPEC.format(dataset=pictures))
    arguments = ("--out", folder / "run", "--cache", folder / "cache", "--workers", 1, "--quiet")
    done = openworld("run", folder / "small.toml", *arguments)
    assert done.exit_code == 0, done.output
    return folder / "run"


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A run made by `openworld score` of a file with a column `part`, and one without."""
    folder, generator = tmp_path_factory.mktemp("scored"), np.random.default_rng(0)
    side, part = np.tile(["base", "new"], 200), np.repeat(["validation", "test"], 200)
    columns = {"side": side, "score": generator.standard_normal(400) + 3 * (side == "base")}
    columns["correct"] = generator.random(400) < 0.9
    np.savez(folder / "both.npz", part=part, **columns)
    np.savez(folder / "tested.npz", **{name: column[200:] for name, column in columns.items()})
    for name in ("both", "tested"):
        assert openworld("score", folder / f"{name}.npz", "--out", folder / name).exit_code == 0
    return folder


def test_a_sentence_and_the_commands(run):
    done = openworld("decide", run, "--miss-rate", "0.95", "--learner", "DePT")
    assert done.exit_code == 0, done.output
    assert "miss at most 95 % of the base images" in done.output
    assert "DePT: of 100 base images, " in done.output and "are flagged and named right." in done.output
    commands = [shlex.split(line) for line in done.output.splitlines() if line.startswith("  openworld predict")]
    assert [one[one.index("--unit") + 1] for one in commands] == ["DePT, seed 1", "DePT, seed 2"]


def test_predict_flags_and_names_what_the_rates_counted(run, pictures):
    """Score < threshold is flagged, and the name is the one among the names of that side, here as there."""
    decided = Results.from_json(openworld("decide", run, "--hit-rate", "0.1", "--learner", "DePT", "--json").output)
    (threshold,) = decided.where(entity="DePT", metric="threshold")
    outcome = next(one for one in load(run) if (one.learner, one.seed) == ("DePT", 2))
    table = {name: np.asarray(column) for name, column in outcome.test.images.items()}
    command = next(line for line in commands(run) if "DePT, seed 2" in line)
    command[command.index("IMAGES")] = str(pictures / "test")
    done = openworld(*command[1:], "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)["pictures"]  # in the order of the test part
    (chosen,) = (value for seed, value in zip(threshold.seeds, threshold.per_seed, strict=True) if seed == 2)
    assert {one["looks"] for one in told} == {"base", "new"} and len(told) == len(table["id"]) == 40
    for number, score, side, label, correct in zip(
        *(table[name] for name in ("id", "score", "side", "label", "correct")), strict=True
    ):
        assert told[number]["log_baseness"] == pytest.approx(score, abs=1e-4)
        assert (told[number]["looks"] == "new") == (score < chosen)
        if told[number]["looks"] == side:
            assert (told[number]["called"] == outcome.facts["classnames"][label]) == correct


def commands(run):
    output = openworld("decide", run, "--hit-rate", "0.1", "--learner", "DePT").output
    return [shlex.split(line) for line in output.splitlines() if line.startswith("  openworld predict")]


def test_the_page_on_request(run, tmp_path):
    done = openworld("decide", run, "--miss-rate", "0.95", "--page", tmp_path / "page.html")
    assert f"Report: {tmp_path / 'page.html'}" in done.output
    assert "Where to run it" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Where to run it" not in (run / "report.html").read_text(encoding="utf-8")


def test_scores_made_elsewhere(scored):
    done = openworld("decide", scored / "both", "--cost-miss", "1", "--cost-unhit", "2")
    assert done.exit_code == 0, done.output
    assert "100 base and 100 new validation images" in done.output and "openworld predict" not in done.output
    decided = Results.from_json(openworld("decide", scored / "both", "--miss-rate", "0.2", "--json").output)
    (threshold,) = decided.where(metric="threshold")
    assert not decided.where(metric="baseness_threshold").rows  # a score of unknown meaning is no probability
    (outcome,) = load(scored / "both")
    scores, correct, _, _ = outcome.validation.samples
    missed = (scores < threshold.value.value) | ~correct.astype(bool)
    (miss,) = decided.where(metric="miss", part="validation")
    assert miss.value.value == pytest.approx(missed.mean()) and missed.mean() <= 0.2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("both",), "a threshold follows one rule, and none came"),
        (("both", "--miss-rate", "0.1", "--hit-rate", "0.1"), "miss rate and hit rate came"),
        (("both", "--cost-miss", "1"), "needs that of a base image missed and that of a new one not hit"),
        (("both", "--miss-rate", "1.5"), "miss_rate is 1.5, expected"),
        (("both", "--miss-rate", "0.1", "--learner", "modell"), "did you mean 'model'"),
        (("tested", "--miss-rate", "0.1"), "no scores of validation images"),
        (("nowhere", "--miss-rate", "0.1"), "holds no run"),
    ],
)
def test_wrong_use_is_a_sentence(scored, arguments, sentence):
    done = openworld("decide", scored / arguments[0], *arguments[1:])
    assert done.exit_code == 2 and sentence in " ".join(done.output.split()), done.output
