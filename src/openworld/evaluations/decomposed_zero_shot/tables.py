"""The table of decomposed zero-shot accuracy: parts and methods by pictures; for the page, the terminal and files."""

from collections.abc import Iterator
from statistics import fmean

from openworld._errors import unknown_name
from openworld._terminal import TerminalTable
from openworld.evaluations.decomposed_zero_shot.run import PARTS, RANKS, DecomposedRun
from openworld.report.data_files import csv_text, json_text
from openworld.report.grid import Cell, Column, Grid, Line, grid_table, swatched
from openworld.report.series_style import Look, looks
from openworld.report.text import percent
from openworld.report.text_tables import grid_latex, grid_markdown

HEADER = ("part", "method", "pictures", "rank", "mean", "lowest", "highest", "seeds")
FORMS = ("csv", "json", "markdown", "latex")


def decomposed_grid(run: DecomposedRun, looks: dict[str, Look]) -> Grid:
    """A line per part and method; means over the seeds, with their range where there are several."""
    columns = [Column("method", words=True), Column("part", words=True)]
    columns += [Column(f"{row}, {rank}") for row in run.rows for rank in RANKS.values()]
    lines = []
    for part, method in run.lines:
        head = Cell("any") if part == "whole" else swatched(method, looks)
        lines.append(Line(method, (head, Cell(PARTS[part]), *_cells(run, part, method))))
    told = (
        "Zero-shot accuracy by the nearest class text; percent. Of several seeds the mean, and the lowest and the "
        f"highest in parentheses. {run.any['classes']:,} classes."
    )
    return Grid("decomposed", "Accuracy with whole features and with halves", told, tuple(columns), tuple(lines))


def decomposed_rows(run: DecomposedRun) -> Iterator[tuple]:
    """Every number, in fractions."""
    for part, method in run.lines:
        for row in run.rows:
            for rank, title in RANKS.items():
                found = run.accuracies(part, method, row, rank)
                told = (None, None, None) if None in found else (fmean(found), min(found), max(found))
                yield PARTS[part], "" if part == "whole" else method, row, title, *told, len(found)


def export_decomposed(run: DecomposedRun, form: str) -> str:
    """The table as text.

    Args:
        run: of `load_decomposed`.
        form: "csv" or "json" (a row per number, fractions), "markdown" or "latex" (the table of the page).

    Raises:
        OpenworldError: for another form.
    """
    if form not in FORMS:
        raise unknown_name("table form", form, FORMS)
    if form in ("markdown", "latex"):
        grid = decomposed_grid(run, looks(run.methods, []))
        return grid_markdown(grid) if form == "markdown" else grid_latex(grid)
    rows = list(decomposed_rows(run))
    if form == "csv":
        return csv_text(HEADER, rows)
    return json_text({"rows": [dict(zip(HEADER, row, strict=True)) for row in rows]})


def terminal_decomposed(run: DecomposedRun) -> TerminalTable:
    """The same for a terminal."""
    return grid_table(decomposed_grid(run, looks(run.methods, [])))


def decomposed_verdict(run: DecomposedRun) -> list[str]:
    """A sentence per method: how much of the accuracy on the first pictures each half has."""
    row, said = run.rows[0], []
    for method in run.methods:
        whole, semantic, covariate = (percent(fmean(run.accuracies(part, method, row, "top1"))) for part in PARTS)
        said.append(
            f"{method} on {row}: the semantic half names {semantic} % and the covariate half {covariate} %, where "
            f"whole features name {whole} % (chance {percent(1 / run.any['classes'])} %)."
        )
    return said


def _cells(run: DecomposedRun, part: str, method: str) -> Iterator[Cell]:
    for row in run.rows:
        for rank in RANKS:
            found = run.accuracies(part, method, row, rank)
            yield Cell("–") if None in found else Cell(_spoken(found), f"{fmean(found):.6f}")


def _spoken(found: list[float]) -> str:
    ends = f" ({percent(min(found))} to {percent(max(found))})" if max(found) > min(found) else ""
    return f"{percent(fmean(found))}{ends}"
