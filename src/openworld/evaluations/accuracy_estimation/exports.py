"""Tables of estimated accuracies as CSV, JSON, Markdown and LaTeX: fractions in CSV and JSON, points in the others."""

from dataclasses import asdict

import numpy as np

from openworld._errors import unknown_name
from openworld.evaluations.accuracy_estimation.ablations import reference_grid, threshold_grid
from openworld.evaluations.accuracy_estimation.alignment import alignment_grid
from openworld.evaluations.accuracy_estimation.calibration import calibration_grid, calibrations, temperatures
from openworld.evaluations.accuracy_estimation.numbers import Errors, ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.evaluations.accuracy_estimation.times import spent, times_grid
from openworld.evaluations.accuracy_estimation.wording import SPREAD, caption
from openworld.report.data_files import csv_text, json_text
from openworld.report.grid import Grid
from openworld.report.text import two_decimals
from openworld.report.text_tables import as_tex, grid_latex, grid_markdown, markdown_table, plain, tabular

HEADER = (
    *("line", "method", "estimator", "reference", "mae", "standard_deviation", "bias", "median", "worst"),
    *("estimates", "asked", "low", "high", "best", "spared", "p"),
)
ONE_BY_ONE = (
    *("line", "condition", "kind", "dataset", "domain", "corruption", "severity", "model", "seed", "epoch", "images"),
    *("true_accuracy", "method", "estimated_accuracy", "low", "high", "warned"),
)
_TITLE = "Mean absolute error"
FORMS = ("csv", "estimates", "json", "markdown", "latex")


def export_estimates(run: EstimateRun, form: str) -> str:
    """The tables of a run as text.

    Args:
        run: of `load_estimates`.
        form: "csv" (a row per line and method, the average included), "estimates" (a row per condition, model and
            method, CSV), "json" (every table), "markdown" or "latex" (points with two decimals, lines by methods as
            FRAP's Table 1, then the other tables).

    Raises:
        OpenworldError: for another form.
    """
    table = ErrorTable(run)
    writers = {
        "csv": errors_csv,
        "estimates": estimates_csv,
        "json": errors_json,
        "markdown": _markdown,
        "latex": _latex,
    }
    if form not in writers:
        raise unknown_name("table form", form, FORMS)
    return writers[form](table)


def errors_csv(table: ErrorTable) -> str:
    """Every number of the main table as a fraction, with its interval and its test against the yardstick."""
    return csv_text(HEADER, [_row(table, line, label) for line in table.lines for label in table.labels])


def estimates_csv(table: ErrorTable) -> str:
    """Every estimate, one by one."""
    run, rows = table.run, []
    for m, model in enumerate(run.models):
        for c, condition in enumerate(run.conditions):
            told = asdict(condition)
            names = ("row", "name", "kind", "dataset", "domain", "corruption", "severity")
            first = [*(told[name] for name in names), model.name, model.seed, model.epoch, int(run.images[m, c])]
            first.append(_or_none(run.accuracy[m, c]))
            for place, label in enumerate(run.labels):
                said = [1 - run.error[place, m, c], run.low[place, m, c], run.high[place, m, c]]
                rows.append([*first, label, *map(_or_none, said), int(run.warned[place, m, c])])
    return csv_text(ONE_BY_ONE, rows)


def errors_json(table: ErrorTable) -> str:
    """Every table of the page, fractions and seconds."""
    run = table.run
    lines = [
        {"line": line, "methods": [_as_json(table, line, label) for label in table.labels]} for line in table.lines
    ]
    told = {
        "methods": [asdict(method) for method in run.methods],
        "models": [asdict(model) for model in run.models],
        "lines": lines,
        "best": {line: sorted(table.best[line]) for line in table.lines},
        "calibration": [{**asdict(one)} for one in calibrations(run)],
        "temperatures": temperatures(run),
        "seconds": {label: asdict(one) for label, one in spent(run).items()},
    }
    return json_text(told)


def further_grids(table: ErrorTable) -> list[Grid]:
    """The tables beside the main one that a run has records of."""
    run = table.run
    found = [
        calibration_grid(run),
        threshold_grid(table),
        reference_grid(table),
        alignment_grid(run),
        times_grid(table),
    ]
    return [grid for grid in found if grid is not None]


def _row(table: ErrorTable, line: str, label: str) -> list:
    errors, method = table.cells[line][label], table.run.methods[table.labels.index(label)]
    test = table.tests[line].get(label)
    numbers = [errors.mean, errors.spread, errors.bias, errors.median, errors.worst, errors.count, errors.asked]
    tested = (None, None) if test is None else (test.difference, test.p)
    best = int(label in table.best[line])
    return [
        line,
        label,
        method.estimator,
        method.reference,
        *numbers,
        *(errors.interval or (None, None)),
        best,
        *tested,
    ]


def _as_json(table: ErrorTable, line: str, label: str) -> dict:
    test = table.tests[line].get(label)
    told = {"method": label, **asdict(table.cells[line][label])}
    return told if test is None else told | {"against": asdict(test)}


def _markdown(table: ErrorTable) -> str:
    return "\n".join([_main_markdown(table), *map(grid_markdown, further_grids(table))])


def _main_markdown(table: ErrorTable) -> str:
    rows = ([plain(line), *(_printed(table, line, label, "**{}**", "±") for label in table.labels)]
            for line in table.lines)  # fmt: skip
    return markdown_table(_TITLE, ["", *map(plain, table.labels)], rows, f"{caption(table)} {SPREAD}.")


def _latex(table: ErrorTable) -> str:
    return "\n".join([_main_latex(table), *map(grid_latex, further_grids(table))])


def _main_latex(table: ErrorTable) -> str:
    rows = [
        [as_tex(line), *(_printed(table, line, label, r"\textbf{{{}}}", r"$\pm$") for label in table.labels)]
        for line in table.lines
    ]
    told = [_TITLE, f"{caption(table)} {SPREAD}."]
    return tabular(told, ["", *map(as_tex, table.labels)], rows, rule=len(table.lines) > len(table.rows))


def _printed(table: ErrorTable, line: str, label: str, bold: str, sign: str) -> str:
    """A cell of the main table: points with two decimals, +- the standard deviation, the best in bold."""
    errors: Errors = table.cells[line][label]
    if errors.mean is None:
        return "–" if sign == "±" else "--"
    star = "" if errors.whole else (r"\*" if sign == "±" else "*")
    mean = f"{two_decimals(errors.mean)}{star}"
    mean = bold.format(mean) if label in table.best[line] and len(table.labels) > 1 else mean
    return mean + ("" if errors.spread is None else f" {sign} {two_decimals(errors.spread)}")


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
