"""The tables and figures of a plan whose runs are finished, beside the printed ones: compared, as files and as JSON."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld.papers.results import PaperRun
from openworld.reproduction.comparison.compare import PaperComparison, compare_with_paper
from openworld.reproduction.comparison.compared_results import compared_results
from openworld.reproduction.comparison.page import page_styles, write_comparison_page
from openworld.reproduction.comparison.table import WRITERS
from openworld.reproduction.figures.drawing import MadeFigure, draw_plan, write_figures
from openworld.reproduction.paper_results import paper_results
from openworld.reproduction.plan import ReproductionPlan
from openworld.runs.atomic import write_file


@dataclass(frozen=True)
class MadePlan:
    """What came of a plan.

    Args:
        comparisons: its tables beside the printed ones.
        figures: those that could be drawn, in the colours of the page.
        page: where it lies.
        not_written: what is missing among the files, in a sentence; "" where nothing is.
    """

    comparisons: tuple[PaperComparison, ...]
    figures: tuple[MadeFigure, ...]
    page: Path
    not_written: str = ""

    def plain(self) -> list[Mapping[str, Any]]:
        """Return the tables, then the figures, as plain values for JSON."""
        return [*plain_tables(self.comparisons), *(figure.plain for figure in self.figures)]


def write_plan(plan: ReproductionPlan, folder: Path, failed: Collection[str] = (), **said: float | str) -> MadePlan:
    """Make the tables and figures of a plan; write OUT/tables, OUT/figures and the page.

    Args:
        plan: of `reproduction.plan`.
        folder: of its runs.
        failed: names of runs.
        said: `margin` and `show` of `compare_with_paper`.
    """
    comparisons, drawn = compare_plan(plan, folder, failed, **said), draw_plan(plan, folder, failed)
    styles = page_styles(comparisons, drawn)
    figures = [figure.styled(styles) for figure in drawn]
    if plan.tables:
        write_tables(plan, folder / "tables", comparisons)
    not_written = write_figures(plan, folder / "figures", figures) if plan.figures else ""
    page = write_comparison_page(folder, comparisons, figures)
    return MadePlan(tuple(comparisons), tuple(figures), page, not_written)


def compare_plan(
    plan: ReproductionPlan, folder: Path, failed: Collection[str] = (), **said: float | str
) -> list[PaperComparison]:
    """Put every table of a plan beside the printed one.

    Runs that failed are left out, and named under every table that lacks them; a table of which no run is left is
    not made.

    Args:
        plan: of `reproduction.plan`.
        folder: of its runs.
        failed: names of runs.
        said: `margin` and `show` of `compare_with_paper`.
    """
    read = {run.name: PaperRun(folder / run.name, run.datasets, run.methods) for run in plan.runs}
    comparisons = []
    for number in plan.tables:
        names = [run.name for run in plan.runs if number in run.tables]
        missing = [name for name in names if name in failed]
        remarks = [f"Missing here, because their runs failed: {', '.join(missing)}."] if missing else []
        if len(missing) < len(names):
            ours = paper_results(plan.paper, number, [read[name] for name in names if name not in failed])
            remarks = (*plan.setup.sentences, *remarks)
            comparisons.append(compare_with_paper(plan.paper, number, ours, remarks=remarks, **said))
    return comparisons


def write_tables(plan: ReproductionPlan, folder: Path, comparisons: Sequence[PaperComparison]) -> None:
    """Write every table in every form; remove those of an earlier call whose runs failed this time."""
    made = {comparison.table.number: comparison for comparison in comparisons}
    folder.mkdir(parents=True, exist_ok=True)
    for number in plan.tables:
        for form, write in WRITERS.items():
            path = folder / f"table-{number}.{form}"
            if number in made:
                write_file(path, write(made[number]).encode())
            else:
                path.unlink(missing_ok=True)


def plain_tables(comparisons: Sequence[PaperComparison]) -> list[Mapping[str, Any]]:
    """Return the tables as plain values for JSON."""
    return [
        {"table": comparison.table.number, "title": comparison.table.heading, "says": list(comparison.sentences)}
        | {"numbers": compared_results([comparison]).records()}
        for comparison in comparisons
    ]
