"""A comparison as tables and as tidy rows: ours with its interval, then the printed number and the difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from openworld.papers import AVERAGE, METRICS
from openworld.papers.misprints import SHORT
from openworld.papers.results import PaperResult
from openworld.report.render.forms import markdown_table, plain
from openworld.report.render.latex import as_tex, latex_table
from openworld.report.series_style import SeriesStyle
from openworld.report.table import Cell, Column, Row, Table
from openworld.reproduction.comparison.compare import CellPair, PaperColumn, PaperComparison
from openworld.results import Result, Results, Value

LATEX_COLUMNS = 4
NO_STYLES: Mapping[str, SeriesStyle] = {}
NOT_MEASURED = Value(None, reason="not measured")


def table_of(comparison: PaperComparison, styles: Mapping[str, SeriesStyle] = NO_STYLES, name: str = "table") -> Table:
    """Return the table of a comparison, rows and columns as printed; a column is headed by whatever tells it apart."""
    columns, several = [], len({column.metric for column in comparison.columns}) > 1
    show = "deviation" if comparison.show == "deviation" else "value"
    for column in comparison.columns:
        dataset = column.dataset.replace(AVERAGE, "")
        if column.dataset == AVERAGE and not column.task:
            at = (pair.ours for (_, other), pair in comparison.pairs.items() if other == column)
            counts = sorted({len(number.datasets) for number in at if number is not None})
            dataset = f"{AVERAGE} of {' or '.join(map(str, counts))}" if counts else AVERAGE
        parts = [column.method, dataset, *(SHORT.get(text, text) for text in (column.task, column.setting))]
        parts, metric = [part for part in parts if part], METRICS[column.metric]
        if not parts or several or column.printed_only:
            parts.append(metric.title)
        columns.append(Column(metric, " ".join(parts) + (", printed" if column.printed_only else ""), show=show))
    rows = []
    for row in comparison.rows:
        pairs = [(comparison.pairs.get((row, column)), column) for column in comparison.columns]
        cells = tuple(_cell(pair, column) if pair else "" for pair, column in pairs)
        label, series = row.removesuffix(" over the ten ratios"), row if row in styles else ""
        rows.append(Row(label, cells, series=series, rule=row == AVERAGE))
    label = {"dataset": "data set"}.get(comparison.table.rows, comparison.table.rows)
    best = {"method": "columns", "dataset": "rows"}.get(comparison.table.rows, "")
    title, caption = comparison.table.heading, _caption(comparison)
    return Table(name, title, caption, label, tuple(columns), tuple(rows), best, LATEX_COLUMNS)


def _cell(pair: CellPair, column: PaperColumn) -> Cell:
    if pair.ours is None:
        return Cell(Value(pair.printed), bold=False) if column.printed_only else Cell(None, printed=pair.printed)
    notes = [] if pair.deviation is None else [f"printed deviation {METRICS[column.metric].write(pair.deviation, 1)}"]
    if pair.test is not None and pair.tested:
        p = pair.test.equivalence_p if pair.test.equivalent else pair.test.p
        notes.append(f"{pair.verdict} (p {p:.2g})")
    return Cell(pair.ours.value, printed=pair.printed, difference=pair.difference, note="; ".join(notes))


def _caption(comparison: PaperComparison) -> str:
    """What the cells hold, over how many seeds, and what the intervals are over."""
    ours = [pair.ours for pair in comparison.pairs.values() if pair.ours]
    metrics = [METRICS[column.metric] for column in comparison.columns]
    units = " and ".join(dict.fromkeys(each.title if each.unit == "number" else each.unit for each in metrics))
    behind = {"deviation": "ours ± standard deviation over seeds", "interval": "ours [95 %]"}[comparison.show]
    printed = "(printed, ours minus printed)" if comparison.same_data else "(printed, on the paper's data)"
    seeds = " or ".join(map(str, sorted({len(number.per_seed) for number in ours if number.per_seed})))
    firsts: dict[str, set[int | None]] = {}
    for number in ours:
        for interval in number.value.intervals[:1]:
            firsts.setdefault(interval.over, set()).add(interval.n)
    counted = {name: sorted(counts, key=lambda n: n or 0) for name, counts in firsts.items()}
    over = " or ".join(f"{name} (n = {', '.join(map(str, counts))})" for name, counts in counted.items())
    sentences = [f"{units[:1].upper()}{units[1:]}: {behind} {printed}."]
    sentences += [f"Means of {seeds} seeds."] if seeds else []
    sentences += [f"Intervals are over {over}."] if over and comparison.show == "interval" else []
    return " ".join(sentences)


@dataclass(frozen=True)
class ComparedResults(Results):
    """Ours, one row per cell of the papers' tables."""

    pairs: Mapping[tuple, CellPair] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """The rows of all results, each with the printed number, its deviation as printed, the difference, the test."""
        records = []
        for record, row in zip(super().records(), self.rows, strict=True):
            pair = self.pairs[row.key]
            record |= {"printed": pair.printed, "printed_deviation": pair.deviation, "difference": pair.difference}
            records.append(record | {"p": pair.test.p if pair.test else None, "verdict": pair.verdict})
        return records


def compared_results(comparisons: Sequence[PaperComparison]) -> ComparedResults:
    """Return the numbers of several tables; of a method that was not run there is a reason in place of a number."""
    cells = []
    for comparison in comparisons:
        keys = ((row, column) for row in comparison.rows for column in comparison.columns)
        for row, column in (key for key in keys if key in comparison.pairs):
            pair = comparison.pairs[row, column]
            absent = (column.dataset, column.setting, column.method, column.metric, NOT_MEASURED, (), (), column.task)
            ours = replace(pair.ours or PaperResult(*absent), **{comparison.table.rows: row})
            where = {"paper": comparison.table.paper, "table": comparison.table.number}
            where |= {"task": ours.task, "dataset": ours.dataset, "setting": ours.setting}
            where |= {"datasets": "; ".join(ours.datasets), "backbone": ours.backbone}
            result = Result(ours.method, METRICS[column.metric], ours.value, where, ours.seeds, ours.per_seed)
            cells.append((result, pair))
    tests = tuple(pair.test for _, pair in cells if pair.test)
    return ComparedResults("reproduction", tuple(row for row, _ in cells), tests, {row.key: at for row, at in cells})


def sentences(comparison: PaperComparison) -> list[str]:
    """Return what comes of a comparison, then what is known to be wrong with the printed table."""
    return [*comparison.sentences, *(f"Known of the printed table: {note}" for note in comparison.notes)]


def write_comparison(comparison: PaperComparison, form: str) -> str:
    """Return a comparison as "csv" (a row per cell), "md" or "tex" (the table, and what comes of it)."""
    if form == "csv":
        return compared_results([comparison]).to_csv()
    if form == "md":
        return "\n".join([markdown_table(table_of(comparison)), *map(plain, sentences(comparison))]) + "\n"
    return "".join(f"% {as_tex(line)}\n" for line in sentences(comparison)) + latex_table(table_of(comparison))
