"""A paper's table with our numbers as a `Table`: ours with its interval, then the printed number and the difference."""

from collections.abc import Sequence

from openworld.papers import AVERAGE, METRICS
from openworld.report.render.latex import as_tex, latex_table
from openworld.report.render.markdown import markdown_table, plain
from openworld.report.series_style import SeriesStyle
from openworld.report.table import Cell, Column, Row, Table
from openworld.reproduction.comparison.cells import CellPair, PaperColumn
from openworld.reproduction.comparison.compare import PaperComparison
from openworld.reproduction.comparison.compared_results import compared_results
from openworld.results import TEXT, Interval, Metric, Value

LATEX_COLUMNS = 4
SHORT = {
    "base:new=5:1 (Fwd)": "Fwd",
    "base:new=1:5 (Bwd)": "Bwd",
    "mean of Fwd and Bwd columns": "",
    "base classes = 500 ImageNet classes": "",
    "open-world recognition": "recognition",
    "open-world recognition (imbalanced test sets)": "imbalance",
    "domain adaption (column name as printed)": "domain adaption",
    "complexity": "",
    "entire ImageNet-21K (with labeling issues)": "entire pool",
    "subsets with larger semantic shift (fewer labeling issues)": "larger semantic shift",
}
UNITS = {
    "percent": "percent",
    "fraction": "fractions",
    "count": "counts",
    "thousands": "thousands",
    "points per level": "points per level",
}
"""Unit of a metric -> how a caption calls it, where its title does not say it."""


def table_of(comparison: PaperComparison, styles: dict[str, SeriesStyle] | None = None, name: str = "table") -> Table:
    """Return the table of a comparison.

    Args:
        found: of `compare_with_paper`.
        styles: of the methods, on a page.
        name: of its own on a page.
    """
    shown = {"show": "deviation"} if comparison.show == "deviation" else {}
    columns = tuple(
        Column(METRICS[column.metric], column_title(comparison, column), **shown) for column in comparison.columns
    )
    return _lay_out(comparison, columns, _cell, (name, comparison.table.heading, caption(comparison)), styles or {})


def details_of(comparison: PaperComparison, styles: dict[str, SeriesStyle], name: str) -> Table:
    """Return the same table with every interval and every test in words."""
    columns = tuple(Column(TEXT, column_title(comparison, column)) for column in comparison.columns)
    title = f"{comparison.table.short_heading}, intervals and tests"
    text = "Ours, the printed number and its deviation, every 95 % interval, and the test of ours against it."
    return _lay_out(comparison, columns, explanation, (name, title, text), styles)


def _lay_out(
    comparison: PaperComparison, columns, cell_of, names: tuple[str, str, str], styles: dict[str, SeriesStyle]
) -> Table:
    rows = []
    for row in comparison.rows:
        pairs = ((comparison.pairs.get((row, column)), column) for column in comparison.columns)
        cells = tuple(cell_of(pair, column) if pair else "" for pair, column in pairs)
        label, series = row.removesuffix(" over the ten ratios"), row if row in styles else ""
        rows.append(Row(label, cells, series=series, rule=row == AVERAGE))
    label = {"dataset": "data set"}.get(comparison.table.rows, comparison.table.rows)
    best = {"method": "columns", "dataset": "rows"}.get(comparison.table.rows, "")
    return Table(*names, label, columns, tuple(rows), best, LATEX_COLUMNS)


def _cell(pair: CellPair, column: PaperColumn) -> Cell:
    if pair.ours is None:
        return Cell(Value(pair.printed), bold=False) if column.printed_only else Cell(None, printed=pair.printed)
    note = _note(pair, METRICS[column.metric])
    return Cell(pair.ours.value, printed=pair.printed, difference=pair.difference, note=note)


def column_title(comparison: PaperComparison, column: PaperColumn) -> str:
    """Return the head of a column: whatever tells it from the others."""
    average = _average(comparison, column) if column.dataset == AVERAGE and not column.task else ""
    dataset = average or column.dataset.replace(AVERAGE, "")
    parts = [column.method, dataset, *(SHORT.get(name, name) for name in (column.task, column.setting))]
    parts = [part for part in parts if part]
    if not parts or len({other.metric for other in comparison.columns}) > 1 or column.printed_only:
        parts.append(METRICS[column.metric].title)
    return " ".join(parts) + (", printed" if column.printed_only else "")


def caption(comparison: PaperComparison) -> str:
    """Return what the cells hold, and what the intervals are over."""
    metrics = [METRICS[column.metric] for column in comparison.columns]
    units = dict.fromkeys(UNITS.get(metric.unit, metric.title) for metric in metrics)
    ours = [pair.ours for pair in comparison.pairs.values() if pair.ours]
    firsts = [result.value.intervals[0] for result in ours if result.value.intervals]
    named = "ours ± standard deviation over seeds" if comparison.show == "deviation" else "ours [95 %]" * bool(firsts)
    named = named or "ours"
    same = comparison.same_data
    held = f"{named} (printed, ours minus printed)" if same else f"{named}; printed numbers are called so"
    if not same and any(pair.ours and pair.printed is not None for pair in comparison.pairs.values()):
        held = f"{named} (printed, on the paper's data)"
    counts = sorted({len(result.per_seed) for result in ours if result.per_seed})
    seeds = f" Means of {' or '.join(map(str, counts))} seed{'s' * (counts != [1])}." if counts else ""
    over = f" Intervals are over {_all_over(firsts)}." if firsts and comparison.show == "interval" else ""
    text = " and ".join(units)
    return f"{text[:1].upper()}{text[1:]}: {held}.{seeds}{over}"


def explanation(pair: CellPair, column: PaperColumn) -> str:
    """Return all that is known of one cell, in a line: numbers as papers print them, every interval, the verdict."""
    metric, value = METRICS[column.metric], pair.ours.value if pair.ours else None
    printed = "" if pair.printed is None else f"printed {metric.write(pair.printed, 1)}"
    if value is None:
        return "; ".join(filter(None, (printed, _note(pair, metric))))
    over = [
        f"{metric.write_interval(interval, 1)} over {interval.over} (n = {interval.n})" for interval in value.intervals
    ]
    return "; ".join(filter(None, (metric.write(value.value, 1), printed, *over, _note(pair, metric))))


def _note(pair: CellPair, metric: Metric) -> str:
    deviation = "" if pair.deviation is None else f"printed deviation {metric.write(pair.deviation, 1)}"
    p = pair.tested and (pair.test.equivalence_p if pair.test.equivalent else pair.test.p)
    verdict = f"{pair.verdict} (p {p:.2g})" if pair.tested else ""
    return "; ".join(filter(None, (deviation, verdict)))


def _average(comparison: PaperComparison, column: PaperColumn) -> str:
    counts = {len(pair.ours.datasets) for (_, at), pair in comparison.pairs.items() if at == column and pair.ours}
    return f"{AVERAGE} of {' or '.join(map(str, sorted(counts)))}" if counts else AVERAGE


def _all_over(intervals: Sequence[Interval]) -> str:
    """What the intervals are over, each once, with every number of them."""
    counts = {
        over: sorted({interval.n for interval in intervals if interval.over == over})
        for over in (interval.over for interval in intervals)
    }
    return " or ".join(f"{over} (n = {', '.join(map(str, numbers))})" for over, numbers in counts.items())


def sentences(comparison: PaperComparison) -> list[str]:
    """Return what comes of a comparison, then what is known to be wrong with the printed table."""
    return [*comparison.sentences, *(f"Known of the printed table: {note}" for note in comparison.notes)]


def as_markdown(comparison: PaperComparison) -> str:
    """Return the table and what comes of it."""
    return "\n".join([markdown_table(table_of(comparison)), *map(plain, sentences(comparison))]) + "\n"


def as_latex(comparison: PaperComparison) -> str:
    """Return the table, and what comes of it as comments."""
    return "".join(f"% {as_tex(line)}\n" for line in sentences(comparison)) + latex_table(table_of(comparison))


def as_csv(comparison: PaperComparison) -> str:
    """Return a row for every cell: numbers in the unit of data, every interval, what was printed, and the test."""
    return compared_results([comparison]).to_csv()


WRITERS = {"csv": as_csv, "md": as_markdown, "tex": as_latex}
"""Ending of a file -> what writes it."""
