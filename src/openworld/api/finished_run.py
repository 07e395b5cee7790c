"""A finished run as an object: its numbers, tests, tables, figures, sentences, and the outputs for every image."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from openworld.core.reading import wrong
from openworld.core.types import checked

if TYPE_CHECKING:
    from openworld.api.arguments import Run
    from openworld.report.report import Report


@checked
def open_run(folder: Path | str) -> "Report":
    """Return the finished run in a folder, every record verified.

    Args:
        folder: of the run; it holds run.json.

    Raises:
        OpenworldError: there is no run, or a unit is missing or damaged.
    """
    from openworld.evaluations.finished_runs import read_report

    return read_report(folder)


def plain_records(folder: Path) -> "list[dict[str, Any]]":
    """Return the metrics of every record of a run without a report, which only another package's may be."""
    from openworld.runs import RunStore

    return [{"unit": record.name, "metrics": record.metrics} for record in RunStore(folder).records()]


def as_run(run: "Run") -> "Report":
    """Return a run, or the one in a folder; raises as `open_run`."""
    from openworld.report.report import Report

    return run if isinstance(run, Report) else open_run(folder_of(run))


def folder_of(run: "Run") -> Path:
    """Return the folder of a run, or the folder that was given."""
    from openworld.report.report import Report

    if isinstance(run, Report):
        return run.folder
    if not isinstance(run, str | Path) or not str(run):
        raise wrong(run, "a finished run or its folder", "run")
    return Path(run)
