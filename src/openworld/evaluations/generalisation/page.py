"""The page of a run of generalisation: that of recognition, headed by learners by targets."""

from pathlib import Path

from openworld.evaluations.generalisation.exports import export
from openworld.evaluations.generalisation.tables import reach_grid, reach_title, reach_verdict
from openworld.evaluations.generalisation.target_means import reaches
from openworld.evaluations.recognition import page as recognition
from openworld.evaluations.recognition.outcome import RunFolder, load
from openworld.report.data_files import csv_address
from openworld.report.page import write_page


def build(folder: Path | str, *, output: Path | str | None = None, run: RunFolder | None = None) -> Path:
    """Write the page of a run, from its records alone; as `recognition.page.build`."""
    return write_page(folder, output, render(run or load(folder)))


def render(run: RunFolder) -> str:
    """The page as HTML text; recognition's own where learners lack targets."""
    summary, reached = run.summary, reaches(run.summary)
    if not reached:
        return recognition.render(run)
    chosen = recognition.styles(summary)
    return recognition.render(
        run,
        title=reach_title(reached),
        verdict=reach_verdict(summary, reached),
        reached=[reach_grid(reach, chosen) for reach in reached],
        overview=None,
        numbers=csv_address(export(summary, "csv")),
    )
