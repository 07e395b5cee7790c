"""The table of a run as data (CSV, JSON: fractions and seconds, unrounded) and in print (Markdown, LaTeX: percent)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from openworld._errors import unknown_name
from openworld.evaluations.recognition.operating_tables import operating_numbers
from openworld.evaluations.recognition.summary import NUMBERS, Row, Summary, Table
from openworld.report.data_files import csv_text, json_text
from openworld.report.text import two_decimals
from openworld.report.text_tables import as_tex, markdown_table, plain, tabular

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
FORMS = ("csv", "json", "markdown", "latex")
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


def export(summary: Summary, form: str, means: Sequence[Table] = (), facts: Mapping | None = None) -> str:
    """All tables as text.

    Args:
        summary: of `summarise`.
        means: further tables, after those of the summary.
        facts: what JSON says of them.
        form: "csv" (every number, one header), "json" (the same, the tests and the operating points),
            "markdown" or "latex" (the main numbers, one table per setting).

    Raises:
        OpenworldError: for another form.
    """
    if form not in FORMS:
        raise unknown_name("table form", form, FORMS)
    if form == "json":
        return _json(summary, facts or {})
    return {"csv": _csv, "markdown": _markdown, "latex": _latex}[form]((*summary.tables, *means))


def numbers(table: Table, row: Row) -> dict[str, str | float | int | None]:
    """Every exported field of one learner: fractions and seconds, not rounded; None where not defined."""
    first = (table.title, row.learner, row.tuned_parameters, len(row.seeds))
    return dict(zip(HEADER, (*first, *_fractions(row), row.fit_seconds, row.score_seconds), strict=True))


def _printed(table: Table, row: Row) -> list[str]:
    """The fields of SHORT as papers print them: percent with two decimals, whole counts, seconds with three digits."""
    told, count, seconds = numbers(table, row), row.tuned_parameters, row.fit_seconds
    words = {"learner": row.learner, "tuned_parameters": "" if count is None else str(count)}
    words["fit_seconds"] = "" if seconds is None else f"{seconds:.3g}"
    return [words[name] if name in words else two_decimals(told[name]) for name in SHORT]


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


def _json(summary: Summary, facts: Mapping) -> str:
    tables = [
        {
            "setting": asdict(table.setting),
            "counts": table.counts,
            "training_images": table.training_images,
            **learners_and_tests(table),
        }
        | ({"operating": points} if (points := operating_numbers(table)) else {})
        for table in summary.tables
    ]
    return json_text({"tables": tables} | facts)


def learners_and_tests(table: Table) -> dict:
    """The numbers of every learner and of every pair, for JSON."""
    tests = [asdict(test) for test in table.comparisons.values()]
    return {"learners": [_as_json(row) for row in table.rows], "tests": tests}


def _as_json(row: Row) -> dict:
    named = dict(zip(HEADER[4:-2], _fractions(row), strict=True))
    told = {"learner": row.learner, "tuned_parameters": row.tuned_parameters, "seeds": list(row.seeds)}
    times = {"fit_seconds": row.fit_seconds, "score_seconds": row.score_seconds}
    return told | named | {"points_lost": row.points_lost} | times


def _csv(tables: Sequence[Table]) -> str:
    rows = [list(numbers(table, row).values()) for table in tables for row in table.rows]
    return csv_text(HEADER, rows)


def _markdown(tables: Sequence[Table]) -> str:
    return "\n".join(map(_markdown_table, tables))


def _markdown_table(table: Table) -> str:
    rows = [map(plain, _printed(table, row)) for row in table.rows]
    return markdown_table(table.title, [TITLES[name] for name in SHORT], rows, "Percent.")


def _latex(tables: Sequence[Table]) -> str:
    return "\n".join(map(_latex_table, tables))


def _latex_table(table: Table) -> str:
    rows = [[*map(as_tex, _printed(table, row))] for row in table.rows]
    return tabular([f"{table.title}, percent"], [TITLES[name] for name in SHORT], rows)
