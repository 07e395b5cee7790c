"""`openworld list learners`: what each tunes and costs, plug-ins and broken ones included."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from openworld.cli.app import app
from openworld.learners import LEARNERS
from openworld.learners.engine.parameter_counts import tuned_parameters


@pytest.fixture
def shown(monkeypatch):
    def ask(*arguments):
        monkeypatch.setenv("COLUMNS", "100")
        done = CliRunner().invoke(app, ["list", *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    return ask


def test_every_learner_has_a_row_with_its_size_and_cost(shown):
    text = shown("learners")
    squeezed = " ".join(text.split())
    for name, learner in LEARNERS.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
        assert learner.paper in row
        assert f" {tuned_parameters(learner.published('')):,} ".replace(",", " ") in row
        assert learner.cost.split()[0] in row
    assert "on ViT-B/16 with 50 base classes" in squeezed


def test_a_hundred_columns_are_enough(shown):
    assert max(map(len, shown("learners").splitlines())) <= 100


def test_what_a_learner_trains_on(shown):
    rows = {line.split()[0]: line for line in shown("learners").splitlines() if line and line[0] != " "}
    for name, words in {
        "zero-shot": "nothing",
        "CoOp": "views",
        "GMoP": "plain",
        "LoCoOp": "patches",
        "VPT": "pixels",
    }.items():
        assert f" {words} " in rows[name]


def test_other_kinds_do_not_wait_for_learners():
    code = (
        "import sys; sys.argv = ['openworld', 'list', 'metrics']\n"
        "from openworld.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'openworld.learners'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
