"""What the command line says of every run whose evaluation tells a story: tables and sentences, all forms, two runs."""

from pathlib import Path

from openworld.cli import console
from openworld.evaluations.stories import compare_runs, read_story
from openworld.report.story import FORMS, Story

__all__ = ["FORMS", "MORE", "TABLES", "build", "compare", "export", "load", "say"]

MORE = "All numbers: {folder}/results.parquet"

load = read_story


def build(folder: Path, output: Path | None = None, run: Story | None = None) -> Path:
    """The page and the results, or the page alone in another place."""
    return (run or load(folder)).write(output)


def say(run: Story, out) -> None:
    """The tables, and what comes of them."""
    run.show(out)


TABLES = {"text": say}


def export(run: Story, form: str) -> str | bytes:
    """The numbers or the tables in another form."""
    return run.export(form)


def compare(first: Path, second: Path, of: str, out, *, as_json: bool) -> None:
    """Two runs side by side."""
    found = compare_runs(first, second, of)
    if as_json:
        console.write(found.to_json())
    else:
        found.show(out)
