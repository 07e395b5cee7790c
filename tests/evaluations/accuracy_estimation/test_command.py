"""`openworld report` of a run that estimated accuracies: the page, the table, and every form."""

import pytest
from typer.testing import CliRunner

from openworld.cli._telling import say_run
from openworld.cli.app import app


@pytest.fixture
def said(estimates_folder):
    """A function that runs `openworld report` with further arguments and returns what it prints."""

    def go(*arguments):
        done = CliRunner().invoke(app, ["report", str(estimates_folder), *map(str, arguments)])
        assert done.exit_code == 0, done.output
        return done.output

    return go


def test_the_page(said, tmp_path):
    assert said("--output", tmp_path / "page.html").startswith("Report: ")
    assert "follow the truth" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_tables(said):
    text = said("--table", "text")
    assert "Mean absolute error of the estimated accuracy" in text and "lie nearest to the truth" in text
    assert said("--table", "csv").startswith("evaluation,entity,images,")
    assert said("--table", "markdown").startswith("**Mean absolute error of the estimated accuracy**")


def test_after_a_run(estimates_folder, capsys):
    from rich.console import Console

    say_run("accuracy-estimation", estimates_folder, Console(width=120), as_json=False)
    text = capsys.readouterr().out
    assert "lie nearest to the truth" in text and "report.html" in text
    say_run("accuracy-estimation", estimates_folder, Console(width=120), as_json=True)
    assert capsys.readouterr().out.startswith("{")
