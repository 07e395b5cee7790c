"""The tables of the page: cells with what is shown, what sorts, and what is copied."""

from collections.abc import Iterable

from openworld.evaluations.recognition.summary import Row, Summary, Table
from openworld.evaluations.recognition.terminal import caption
from openworld.report.comparison import Comparison
from openworld.report.grid import Cell, Column, Grid, Line, swatched
from openworld.report.marks import whisker
from openworld.report.series_style import Look
from openworld.report.text import bracketed, milliseconds, percent, seconds, signed, tuned


def main_grid(table: Table, looks: dict[str, Look], name: str) -> Grid:
    """OpenworldAUC with its intervals, its parts, and the tests in words."""
    titles = ["OpenworldAUC", "95 % over images", "95 % over seeds", "HM", "AUROC", "base", "new"]
    titles = ["tuned", *titles, "fit", "ms an image"] if _is_known(table) else titles
    columns = [Column("learner", words=True), *map(Column, titles)]
    columns += [Column(f"against {other.learner}", words=True) for other in _opponents(table)]
    rows = tuple(Line(row.learner, tuple(_main_cells(table, row, looks))) for row in table.rows)
    return Grid(name, table.title, caption(table), tuple(columns), rows)


def further_grid(table: Table, looks: dict[str, Look], name: str) -> Grid:
    """Every other number of the records, means over the seeds."""
    columns = (Column("learner", words=True), *(Column(FURTHER[number]) for number in FURTHER))
    rows = tuple(
        Line(row.learner, (swatched(row.learner, looks), *(_number(row.mean[number]) for number in FURTHER)))
        for row in table.rows
    )
    told = f"{table.title}: means over the seeds, percent. HM here is the mean of the seeds' own HM."
    return Grid(name, f"{table.title}, further numbers", told, columns, rows)


FURTHER = {
    "harmonic_mean": "HM per seed",
    "correct_auroc": "AUROC among the correctly named",
    "overall_accuracy": "overall accuracy",
    "aupr_in": "AUPR, base positive",
    "aupr_out": "AUPR, new positive",
    "fpr95_in_positive": "FPR95, base positive",
    "fpr95_out_positive": "FPR95, new positive",
    "ece": "calibration error",
}


def overview(summary: Summary, looks: dict[str, Look]) -> Grid:
    """Learners by settings: OpenworldAUC, its mean over the settings first, the highest of each column in bold."""
    columns = (
        Column("learner", words=True),
        Column("mean"),
        *(Column(table.title) for table in summary.tables),
    )
    rows = tuple(
        Line(learner, (swatched(learner, looks), _average(summary, learner), *_across(summary, learner)))
        for learner in summary.learners
    )
    told = (
        "OpenworldAUC, percent, means over the seeds; the highest of every column in bold; intervals and tests in the "
        "table of each setting below. The mean is over all settings, equally weighted."
    )
    label = "OpenworldAUC of every learner in every setting"
    return Grid("overview", label, told, columns, rows)


def _is_known(table: Table) -> bool:
    """Whether the run trained the learners itself, so that their size and time are known."""
    return any(row.tuned_parameters is not None for row in table.rows)


def _opponents(table: Table) -> list[Row]:
    """Whom every learner is compared with: what tunes nothing, and the best of all."""
    opponents = [row for row in (table.yardstick, table.best) if row is not None]
    return list(dict.fromkeys(opponents)) if len(table.rows) > 1 else []


def _main_cells(table: Table, row: Row, looks: dict[str, Look]) -> Iterable[Cell]:
    leads = "leads" if row is table.best and len(table.rows) > 1 else ""
    yield swatched(row.learner, looks)
    if _is_known(table):
        known = "" if row.tuned_parameters is None else str(row.tuned_parameters)
        yield Cell(tuned(row.tuned_parameters), known, copied=known)
    yield _number(row.openworld_auc, css=f"{leads} headline".strip())
    plot = whisker(row.openworld_auc, row.over_images, looks[row.learner], _span(table))
    yield Cell("", _width(row.over_images), bracketed(row.over_images), "stacked", picture=plot)
    yield Cell("", _width(row.over_seeds), bracketed(row.over_seeds) or "–")
    yield _number(row.harmonic_mean_of_means)
    for number in ("auroc", "base_accuracy", "new_accuracy"):
        yield _number(row.mean[number])
    if _is_known(table):
        yield Cell(seconds(row.fit_seconds), _sortable(row.fit_seconds))
        yield Cell(milliseconds(row.score_seconds), _sortable(row.score_seconds))
    for other in _opponents(table):
        yield tested(table.compare(row.learner, other.learner))


def tested(test: Comparison | None) -> Cell:
    """The difference to another learner and the verdict on it; sorted by the difference."""
    if test is None:
        return Cell("–", "", css="words")
    if test.p is None:
        return Cell("not tested", "", test.reason, "words")
    return Cell(signed(test.difference), _sortable(test.difference), test.short_words, "words")


def _number(value: float | None, *, css: str = "", hint: str = "") -> Cell:
    return Cell(percent(value), css=css, hint=hint)


def _sortable(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _width(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[1] - interval[0]:.6f}"


def _span(table: Table) -> tuple[float, float]:
    """The range of the little interval plots: every interval of the table."""
    ends = [
        end
        for row in table.rows
        if row.openworld_auc is not None
        for end in (row.openworld_auc, *(row.over_images or ()))
    ]
    return (min(ends), max(ends)) if ends and max(ends) > min(ends) else (0.0, 1.0)


def _average(summary: Summary, learner: str) -> Cell:
    averages = summary.averages
    leads = "leads" if learner in averages and averages[learner] == max(averages.values()) else ""
    return _number(averages.get(learner), css=leads)


def _across(summary: Summary, learner: str) -> Iterable[Cell]:
    for table in summary.tables:
        row = next((row for row in table.rows if row.learner == learner), None)
        leads = "leads" if row is table.best else ""
        yield (Cell("–") if row is None else _number(row.openworld_auc, hint=bracketed(row.over_images), css=leads))
