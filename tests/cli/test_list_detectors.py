"""`openworld list detectors`: every one with its paper and what it looks at, on a hundred columns."""

import pytest
from typer.testing import CliRunner

from openworld.cli.app import app
from openworld.detectors import DETECTORS


@pytest.fixture
def shown(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    done = CliRunner().invoke(app, ["list", "detectors"])
    assert done.exit_code == 0, done.output
    return done.output


def test_every_detector_has_a_row(shown):
    for name, detector in DETECTORS.items():
        (row,) = [line for line in shown.splitlines() if line.startswith(f"{name} ")]
        assert detector.paper.split()[0] in row
        assert detector.needs[0] in row


def test_a_hundred_columns_are_enough(shown):
    assert max(map(len, map(str.rstrip, shown.splitlines()))) <= 100
