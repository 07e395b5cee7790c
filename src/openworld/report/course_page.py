"""The page of a run of dynamic scenarios: curves and their tables, in the template of every page."""

from pathlib import Path

from openworld.report.course_tables import accuracy_grid, ranking_grid, robustness_csv, robustness_grid
from openworld.report.courses import CourseTable, load_courses, rankings
from openworld.report.figures.curves import curves
from openworld.report.figures.figure import csv_address, percent, signed
from openworld.report.made import parts_of
from openworld.report.page import fill, write_page
from openworld.report.palette import looks
from openworld.report.verdict import listed
from openworld.runs import RunStore


def build_courses(folder: Path | str, *, output: Path | str | None = None) -> Path:
    """Write the page of a run of dynamic scenarios, from its records alone; as `build` does."""
    return write_page(folder, output, render_courses(folder))


def render_courses(folder: Path | str) -> str:
    """The page as HTML text; the same bytes for the same records."""
    tables, told = load_courses(folder), RunStore(folder).description()
    names = list(dict.fromkeys(curve.learner for table in tables for curve in table.curves))
    chosen = looks(names, [tables[0].yardstick])
    numbered = list(enumerate(tables, 1))
    return fill(
        chosen,
        title=_title(tables),
        subtitle=_subtitle(tables),
        verdict=[*map(_sentence, tables), _untested(tables)],
        overview=ranking_grid(rankings(tables), chosen),
        tables=[robustness_grid(table, chosen, f"table-{place}") for place, table in numbered],
        further=[accuracy_grid(table, chosen, f"further-{place}") for place, table in numbered],
        numbers=csv_address(robustness_csv(tables)),
        figures=[curves(tables, chosen)],
        made=parts_of(told["given"], told["resolved"], told["provenance"], ()),
    )


def _title(tables: tuple[CourseTable, ...]) -> str:
    return f"{listed(list(dict.fromkeys(table.key.dataset for table in tables)))} while the world changes"


def _subtitle(tables: tuple[CourseTable, ...]) -> str:
    seeds = " ".join(map(str, tables[0].curves[0].seeds))
    return f"{len(tables)} courses · {len(tables[0].curves)} learners · seeds {seeds}"


def _sentence(table: CourseTable) -> str:
    """Which curve has the largest area, by how much it beats zero-shot, and what was lost on the way."""
    best, found = table.best, table.best.robustness
    gain = "" if found.delta_auc is None else f", {signed(found.delta_auc)} against {table.yardstick}"
    title = table.key.title[0].upper() + table.key.title[1:]
    return (
        f"{title}: the largest area under the curve is {best.learner}'s, {percent(found.auc)}{gain}; it goes "
        f"from {percent(found.accuracy[0])} to {percent(found.accuracy[-1])} and is never below "
        f"{percent(found.worst_accuracy)}."
    )


def _untested(tables: tuple[CourseTable, ...]) -> str:
    seeds = len(tables[0].curves[0].seeds)
    told = "one seed" if seeds == 1 else f"{seeds} seeds"
    return f"This rests on {told}, on nested views of the same pictures; no difference between two curves is tested."
