"""The table of a run as CSV, Markdown and LaTeX: percent with two decimals, no rounding in between, and seconds."""

import json
from collections.abc import Iterable
from dataclasses import asdict

from openworld._errors import unknown_name
from openworld.report.figures.figure import csv_text
from openworld.report.operating_tables import operating_numbers
from openworld.report.reach import Reach, reaches
from openworld.report.summary import NUMBERS, Row, Summary, Table

HEADER = (
    "setting",
    "learner",
    "tuned_parameters",
    "seeds",
    "openworld_auc",
    "images_low",
    "images_high",
    "seeds_low",
    "seeds_high",
    "hm_of_means",
    *NUMBERS,
    "fit_seconds",
    "score_seconds",
)
SHORT = (
    "learner",
    "tuned_parameters",
    "openworld_auc",
    "hm_of_means",
    "auroc",
    "base_accuracy",
    "new_accuracy",
    "fit_seconds",
)
TITLES = {
    "learner": "Learner",
    "tuned_parameters": "Parameters",
    "openworld_auc": "OpenworldAUC",
    "hm_of_means": "HM",
    "auroc": "AUROC",
    "base_accuracy": "Base",
    "new_accuracy": "New",
    "fit_seconds": "Seconds to fit",
}


def export(summary: Summary, form: str) -> str:
    """All tables as text.

    Args:
        summary: of `summarise`.
        form: "csv" (every number, one header), "json" (the same as fractions, the tests and the operating points),
            "markdown" or "latex" (the main numbers, one table per setting).

    Raises:
        OpenworldError: for another form.
    """
    writers = {"csv": _csv, "json": _json, "markdown": _markdown, "latex": _latex}
    if form not in writers:
        raise unknown_name("table form", form, writers)
    return writers[form](summary)


def numbers(table: Table, row: Row) -> dict[str, str]:
    """Every exported field of one learner: percent with two decimals, seconds; empty where not defined."""
    tuned = "" if row.tuned_parameters is None else str(row.tuned_parameters)
    times = ["" if value is None else f"{value:.3g}" for value in (row.fit_seconds, row.score_seconds)]
    fields = [table.title, row.learner, tuned, str(len(row.seeds)), *map(two_decimals, _fractions(row)), *times]
    return dict(zip(HEADER, fields, strict=True))


def two_decimals(value: float | None) -> str:
    """A fraction as percent with two decimals.

    >>> two_decimals(0.46964)
    '46.96'
    """
    return "" if value is None else f"{100 * value:.2f}"


def _fractions(row: Row) -> list[float | None]:
    """The numbers of HEADER from `openworld_auc` to the last of NUMBERS."""
    images, seeds = row.over_images or (None, None), row.over_seeds or (None, None)
    return [
        row.openworld_auc,
        *images,
        *seeds,
        row.harmonic_mean_of_means,
        *(row.mean[name] for name in NUMBERS),
    ]


def _json(summary: Summary) -> str:
    tables = [
        {
            "setting": asdict(table.setting),
            "counts": table.counts,
            "learners": [_as_json(row) for row in table.rows],
            "tests": [asdict(test) for test in table.comparisons.values()],
        }
        | ({"operating": points} if (points := operating_numbers(table)) else {})
        for table in summary.tables
    ]
    means = {"means": [_mean_as_json(reach) for reach in reached]} if (reached := reaches(summary)) else {}
    return json.dumps({"tables": tables} | means, indent=2, ensure_ascii=False) + "\n"


def _mean_as_json(reach: Reach) -> dict:
    return {
        "kind": reach.kind,
        "targets": [table.title for table in reach.targets],
        "learners": [_as_json(row) for row in reach.mean.rows],
        "tests": [asdict(test) for test in reach.mean.comparisons.values()],
    }


def _with_means(summary: Summary) -> tuple[Table, ...]:
    """All tables, then the means over several targets of generalisation."""
    return (*summary.tables, *(reach.mean for reach in reaches(summary) if len(reach.targets) > 1))


def _as_json(row: Row) -> dict:
    named = dict(zip(HEADER[4:-2], _fractions(row), strict=True))
    told = {"learner": row.learner, "tuned_parameters": row.tuned_parameters, "seeds": list(row.seeds)}
    times = {"fit_seconds": row.fit_seconds, "score_seconds": row.score_seconds}
    return told | named | {"points_lost": row.points_lost} | times


def _csv(summary: Summary) -> str:
    rows = [list(numbers(table, row).values()) for table in _with_means(summary) for row in table.rows]
    return csv_text(HEADER, rows)


def _markdown(summary: Summary) -> str:
    return "\n".join(_markdown_table(table) for table in _with_means(summary))


def _markdown_table(table: Table) -> str:
    head = [TITLES[name] for name in SHORT]
    lines = [
        f"**{plain(table.title)}** (percent)",
        "",
        piped(head),
        piped(["---", *["---:"] * (len(head) - 1)]),
    ]
    lines += [piped([plain(numbers(table, row)[name]) for name in SHORT]) for row in table.rows]
    return "\n".join(lines) + "\n"


def _latex(summary: Summary) -> str:
    return "\n".join(_latex_table(table) for table in _with_means(summary))


def _latex_table(table: Table) -> str:
    lines = [f"% {table.title}, percent", rf"\begin{{tabular}}{{l{'r' * (len(SHORT) - 1)}}}", r"\toprule"]
    lines += [" & ".join(TITLES[name] for name in SHORT) + r" \\", r"\midrule"]
    lines += [" & ".join(tex(numbers(table, row)[name]) for name in SHORT) + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def piped(cells: Iterable[str]) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Text in which nothing is markup to Markdown."""
    for sign in r"\|*_<>`[]":
        text = text.replace(sign, "\\" + sign)
    return text


def tex(text: str) -> str:
    """Text in which nothing is a command to LaTeX."""
    named = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(named.get(sign, "\\" + sign if sign in "&%$#_{}" else sign) for sign in text)
