"""From run folders to our numbers of one table of a paper, under its names."""

from collections.abc import Sequence
from importlib import import_module

from openworld.evaluations import paper_of
from openworld.papers import paper_table
from openworld.papers.results import PaperResult, PaperRun


def paper_results(paper: str, table: str, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return our numbers of a paper's table.

    Args:
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        table: its number, such as "8-9".
        runs: whole runs of the evaluations that `PaperTable.kinds` names; data sets beyond the table's are left out
            where any of its own is among them, and all are taken where none is (other data, same layout).

    Returns:
        Numbers in the order of the records, with their averages as the table has them.

    Raises:
        OpenworldError: an unknown paper or table, a run that is missing, unfinished or of another evaluation.
    """
    wanted = paper_table(paper, table)
    return import_module(paper_of(wanted.kinds[0])).read(wanted, runs)
