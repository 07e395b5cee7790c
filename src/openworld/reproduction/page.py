"""A comparison shown: as a table, as tidy rows, and on one self-contained page with all tables and figures of a plan.

In a table ours stands with its interval before the printed number and the difference.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.papers import AVERAGE, METRICS, PAPERS
from openworld.papers.numbers import SHORT
from openworld.papers.results import PaperResult, paper_results
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.render.forms import markdown_table, plain
from openworld.report.render.latex import as_tex, latex_table
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.table import Cell, Column, Row, Table
from openworld.reproduction.comparison import CellPair, PaperColumn, PaperComparison, compare_with_paper
from openworld.reproduction.figures import FIGURES
from openworld.reproduction.orders import Agreement
from openworld.reproduction.plan import ReproductionPlan
from openworld.results import Metric, Result, Results, Value
from openworld.results.comparison import MARGIN
from openworld.runs.atomic import write_file

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


BASELINES = ("CLIP", "zero-shot", "zero-shot-ensemble")
COUNT = Metric("cells", "cells", "count", 0, 0, (0.0, None))
STAND_IN = "Drawings that come with openworld stand in for the paper's data sets."
DRAWINGS = ("svg", "pdf")


@dataclass(frozen=True)
class MadeFigure:
    """A figure of a paper, made of our runs."""

    paper: str
    number: str
    figure: Figure
    remarks: tuple[str, ...] = ()
    backbones: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return f"{self.paper}, {self.figure.title}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*self.figure.caption, *self.remarks)

    def styled(self, styles: Mapping[str, SeriesStyle]) -> "MadeFigure":
        """Return it with the colours that its series have on a page."""
        styles_of = {name: styles.get(name, style) for name, style in self.figure.styles.items()}
        return replace(self, figure=replace(self.figure, styles=styles_of))


def plain_plan(comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure]) -> list[Mapping[str, Any]]:
    """Return tables, then figures, as plain values for JSON."""
    tables = [
        {"table": made.table.number, "title": made.table.heading, "says": list(made.sentences)}
        | {"numbers": compared_results([made]).records()}
        for made in comparisons
    ]
    drawn = [
        {"figure": made.number, "title": made.heading, "says": list(made.sentences), "numbers": made.figure.rows()}
        for made in figures
    ]
    return [*tables, *drawn]


def write_plan(
    plan: ReproductionPlan, folder: Path, failed: Collection[str] = (), margin: float = MARGIN, show: str = "interval"
) -> tuple[tuple[PaperComparison, ...], tuple[MadeFigure, ...], Path, str]:
    """Make tables and figures of a plan, write them and a page; return these, and what is not written ("": nothing)."""
    # What has no run left is not made, and failed runs are named where they lack; for `margin` and `show` see
    # `compare_with_paper`.
    comparisons = [
        compare_with_paper(
            plan.paper, number, paper_results(plan.paper, number, runs), remarks=remarks, margin=margin, show=show
        )
        for number, runs, remarks in plan.finished("tables", folder, failed)
    ]
    drawn = draw_plan(plan, folder, failed)
    styles = page_styles(comparisons, drawn)
    figures = [figure.styled(styles) for figure in drawn]

    if plan.tables:
        made = {comparison.table.number: comparison for comparison in comparisons}
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        for number in plan.tables:
            for form in ("csv", "md", "tex"):
                path = folder / "tables" / f"table-{number}.{form}"
                if number in made:
                    write_file(path, write_comparison(made[number], form).encode())
                else:  # of an earlier call, whose runs failed this time
                    path.unlink(missing_ok=True)
    not_written = write_figures(plan, folder / "figures", figures) if plan.figures else ""
    page = write_comparison_page(folder, comparisons, figures)
    return tuple(comparisons), tuple(figures), page, not_written


def draw_plan(plan: ReproductionPlan, folder: Path, failed: Collection[str] = ()) -> list[MadeFigure]:
    """Draw every figure of a plan; one of which no run is left is not made."""
    data, made = {run.name: [run.datasets.get(str(each), str(each)) for each in run.data] for run in plan.runs}, []
    for number, runs, remarks in plan.finished("figures", folder, failed):
        wanted = FIGURES[plan.paper][number]
        drawn = wanted.draw(runs)
        figure = replace(drawn, name=f"figure-{number}", title=wanted.heading)
        remarks = (STAND_IN, *remarks) if plan.setup.embedded else remarks
        backbones = tuple(dict.fromkeys(run.backbone for run in runs if run.backbone))
        names = tuple(dict.fromkeys(name for run in runs for name in data[run.folder.name]))
        made.append(MadeFigure(PAPERS[plan.paper], number, figure, remarks, backbones, names))
    return made


def write_figures(plan: ReproductionPlan, folder: Path, figures: Sequence[MadeFigure]) -> str:
    """Write the numbers of every figure, and its drawings where matplotlib is there; return what is not written."""
    # Files of an earlier call whose figure could not be made this time are removed.
    made = {figure.number: figure.figure for figure in figures}
    folder.mkdir(parents=True, exist_ok=True)
    drawable = find_spec("matplotlib") is not None
    for number in plan.figures:
        path, figure = folder / f"figure-{number}", made.get(number)
        drawn = DRAWINGS if drawable and figure and figure.charts else ()
        for form in {"csv", *DRAWINGS} - ({"csv", *drawn} if figure else set()):
            path.with_suffix(f".{form}").unlink(missing_ok=True)
        if figure is not None:
            write_file(path.with_suffix(".csv"), figure.csv.encode())
            for form in drawn:
                figure.save(path.with_suffix(f".{form}"))
    return "" if drawable or not made else "SVG and PDF are not written: pip install 'openworld[plots]'."


def write_comparison_page(
    folder: Path | str, comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure] = ()
) -> Path:
    """Write the page of tables and figures of a paper with ours, and all numbers of the tables as `results.parquet`."""
    page, path = comparison_report(comparisons, figures).html(), Path(folder) / "report.html"
    Path(folder).mkdir(parents=True, exist_ok=True)
    if comparisons:
        write_file(Path(folder) / "results.parquet", compared_results(comparisons).to_parquet())
    write_file(path, page.encode())
    return path


def page_styles(comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure]) -> dict[str, SeriesStyle]:
    """Return the style of every series, the same in all charts of the page."""
    methods = [method for comparison in comparisons for method in comparison.methods]
    series = [name for figure in figures for name in figure.figure.styles]
    return series_styles(list(dict.fromkeys((*methods, *series))), BASELINES)


def comparison_report(comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure] = ()) -> Report:
    """Return tables, `table-2`, and figures, `figure-5a`, beside the printed ones, with every number and every test."""
    if not comparisons and not figures:
        raise OpenworldError("there is no table to show; give at least one, as compare_with_paper makes them.")
    styles, several = page_styles(comparisons, figures), len(comparisons) > 1
    papers = [PAPERS[comparison.table.paper] for comparison in comparisons] + [figure.paper for figure in figures]
    backbones = dict.fromkeys(name for part in (*comparisons, *figures) for name in part.backbones)
    counts = [counted(len(made), kind) for kind, made in {"table": comparisons, "figure": figures}.items() if made]
    headings = [*(made.table.heading for made in comparisons), *(figure.heading for figure in figures)]
    remarks = [sentence for figure in figures for sentence in figure.remarks]
    if several:
        same = sum(made.same_data for made in comparisons)
        orders = [order for made in comparisons for order in _orders(made)]
        related, of = sum(order.related for order in orders), counted(len(orders), "column")
        remarks = [
            f"In {same} of {len(comparisons)} tables ours are of the paper's data.",
            f"The orders of the methods are shown to be related in {related} of {of} (Kendall's tau, Holm in a table).",
        ]
    sections = [Section("Every table", tables=(_overview(comparisons),))] if several else []
    for place, made in enumerate(comparisons, 1):
        notes = (Section("What is known of the printed table", text=made.notes),) if made.notes else ()
        table, text = table_of(made, styles, f"table-{place}"), made.sentences if several else ()
        sections.append(Section(made.table.short_heading, text=text, tables=(table,), folded=notes))
    each = [f"{made.table.heading}: {made.sentences[0]}" for made in comparisons]
    each += [f"{made.heading}: {made.sentences[0]}" for made in figures]
    remarks = remarks if comparisons else [*each, *remarks]
    verdict = comparisons[0].sentences if len(comparisons) == 1 else tuple(dict.fromkeys(remarks))
    page = Page(
        f"{' and '.join(dict.fromkeys(papers))} beside ours",
        tuple(filter(None, (*(headings if len(headings) == 1 else counts), ", ".join(backbones)))),
        verdict,
        (*sections, *(Section(made.figure.title, figures=(made.styled(styles).figure,)) for made in figures)),
        styles,
        "Series" if figures else "Methods",
    )
    parts: list[tuple[str, PaperComparison | MadeFigure]] = [(made.table.short_heading, made) for made in comparisons]
    parts += [(made.figure.title, made) for made in figures]
    facts = {heading: " · ".join(("; ".join(made.datasets), *made.backbones)) for heading, made in parts}
    tables = tuple(table_of(made, name=f"table-{made.table.number}") for made in comparisons)
    text = tuple(each) if comparisons and len(each) > 1 else None
    return Report(compared_results(comparisons), tables, page, text=text, made=facts)


def _orders(comparison: PaperComparison) -> list[Agreement]:
    return [order for order in comparison.agreements if order.tau is not None]


def _overview(comparisons: Sequence[PaperComparison]) -> Table:
    """Cells by the test of ours against the printed number, and in how many columns the orders are related."""
    titles = ("reproduced", "ours higher", "lower", "undecided", "not tested", "orders related", "of")
    rows = []
    for made in comparisons:
        orders = _orders(made)
        cells = [Cell(Value(count) if made.same_data else None) for count in made.verdicts]
        counts = (sum(order.related for order in orders), len(orders))
        cells += [Cell(Value(count), note="; ".join(order.short for order in orders)) for count in counts]
        rows.append(Row(made.table.short_heading, tuple(cells)))
    text = "Cells by the test of ours against the printed number; columns in which the orders of methods are related."
    return Table("overview", "Every table", text, "table", tuple(Column(COUNT, name) for name in titles), tuple(rows))
