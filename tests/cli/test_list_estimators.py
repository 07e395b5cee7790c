"""`openworld list estimators`: every one with its paper and what it needs, on a hundred columns."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from openworld.cli.app import app
from openworld.estimators import ESTIMATORS


@pytest.fixture
def shown(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    done = CliRunner().invoke(app, ["list", "estimators"])
    assert done.exit_code == 0, done.output
    return done.output


def test_every_estimator_has_a_row(shown):
    for name, estimator in ESTIMATORS.items():
        (row,) = [line for line in shown.splitlines() if line.startswith(f"{name} ")]
        assert estimator.paper.split()[0] in row
        assert all(need in row for need in estimator.needs)


def test_a_hundred_columns_are_enough(shown):
    assert max(map(len, map(str.rstrip, shown.splitlines()))) <= 100


def test_estimators_need_no_torch():
    code = "import sys, openworld.estimators; assert not {'torch', 'ot', 'PIL', 'pyarrow'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
