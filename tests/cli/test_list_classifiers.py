"""`openworld list classifiers`: every network with its size, and how to bring one's own."""

from typer.testing import CliRunner

from openworld.classifiers import ARCHITECTURES
from openworld.cli.app import app


def test_every_network_has_a_row_with_its_weights(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    done = CliRunner().invoke(app, ["list", "classifiers"])
    assert done.exit_code == 0, done.output
    rows = {line.split()[0]: line for line in done.output.splitlines() if line.strip()}
    assert set(ARCHITECTURES) <= set(rows)
    assert "11 220 132" in rows["resnet-18"]
    assert "timm:NAME" in done.output
    assert max(map(len, map(str.rstrip, done.output.splitlines()))) <= 100
