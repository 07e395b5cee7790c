"""A finished run as an object: its numbers, tests, tables, figures, sentences, and the outputs for every image."""

from pathlib import Path

from openworld._types import checked
from openworld.evaluations.finished_runs import read_report
from openworld.report.report import Report


@checked
def open_run(folder: Path | str) -> Report:
    """Return the finished run in a folder, every record verified.

    Raises:
        OpenworldError: there is no run, or a unit is missing or damaged.
    """
    return read_report(folder)


def as_run(run: Report | Path | str) -> Report:
    """Return a run, or the one in a folder; raises as `open_run`."""
    return run if isinstance(run, Report) else open_run(run)
