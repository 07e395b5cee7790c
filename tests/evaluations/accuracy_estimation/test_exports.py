"""Tables of errors in every form: the terminal, CSV, JSON, Markdown and LaTeX say the same numbers."""

import csv
import io
import json
import re

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.accuracy_estimation.exports import export_estimates
from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.terminal import terminal_estimates


def printed(drawn, width):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(drawn)
    return console.file.getvalue()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_every_line_and_method_with_interval_and_test(estimates):
    rows = rows_of(export_estimates(estimates, "csv"))
    assert len(rows) == 3 * 11
    row = next(row for row in rows if row["line"] == AVERAGE and row["method"] == "FRAP")
    cell = ErrorTable(estimates).cells[AVERAGE]["FRAP"]
    assert float(row["mae"]) == pytest.approx(cell.mean, abs=1e-6) and float(row["low"]) < float(row["mae"])
    assert (row["reference"], row["best"], row["standard_deviation"]) == ("CLIP", "1", "")
    assert float(row["p"]) < 0.05 and float(row["spared"]) > 0.1
    assert rows[0]["p"] == "" == rows[0]["spared"]  # AC against itself


def test_every_estimate_one_by_one(estimates):
    rows = rows_of(export_estimates(estimates, "estimates"))
    assert len(rows) == 11 * 8 * 15
    silent = [row for row in rows if row["estimated_accuracy"] == ""]
    assert len(silent) == 32 and {row["method"] for row in silent} == {"ALine-S"} and silent[0]["warned"] == "1"
    first = estimates.told[0]["targets"][0]
    assert float(rows[0]["true_accuracy"]) == pytest.approx(first["accuracy"], abs=1e-6)
    assert float(rows[0]["estimated_accuracy"]) == pytest.approx(1 - first["estimates"]["AC"]["error"], abs=1e-6)


def test_json_has_every_table(estimates):
    told = json.loads(export_estimates(estimates, "json"))
    assert [line["line"] for line in told["lines"]] == ["Emoji, natural", "Emoji, synthetic", AVERAGE]
    assert told["best"][AVERAGE] == ["FRAP"] and len(told["models"]) == 8 and len(told["calibration"]) == 6
    assert told["lines"][0]["methods"][1]["against"]["other"] == "AC" and set(told["seconds"]) == set(estimates.labels)


def test_markdown_and_latex_have_the_papers_layout_(estimates):
    text = export_estimates(estimates, "markdown")
    assert "| Emoji, natural | 13.20 ± 5.74 |" in text and "| **1.86** |" in text
    latex = export_estimates(estimates, "latex")
    assert r"\begin{tabular}{lrrrrrrrrrrr}" in latex and r"\textbf{1.86}" in latex and r"13.20 $\pm$ 5.74" in latex
    assert r"$\tau$ = 0.01" in latex and latex.count(r"\begin{tabular}") == 6
    body = [line for line in latex.splitlines() if not line.startswith("%")]
    assert not re.search(r"[τ−–±×]", "\n".join(body))


def test_an_unknown_form_lists_the_known_ones(estimates):
    with pytest.raises(OpenworldError, match="unknown table form.*csv"):
        export_estimates(estimates, "cvs")


def test_the_terminal_says_over_what_and_against_whom(estimates):
    text = printed(terminal_estimates(estimates), 140)
    head, ac, *_ = text.splitlines()
    assert " ".join(head.split()) == "method Emoji, natural Emoji, synthetic average bias best in against AC"
    assert ac.split()[:4] == ["AC", "13.2", "20.9", "17.0"]
    assert "bootstrap over 7 shifts within their lines and 4 trainings" in " ".join(text.split())
    assert "1.8* [" in text


def test_a_narrow_terminal_keeps_the_average_and_says_what_it_left_out(estimates):
    text = printed(terminal_estimates(estimates), 80)
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    assert "17.0 [" in text and "without the lines" in " ".join(text.split())


def test_one_method_on_one_line_is_a_table_too(smallest):
    text = printed(terminal_estimates(smallest), 100)
    assert text.splitlines()[0].split() == ["method", "Emoji,", "natural", "bias"]
    assert "nothing to draw anew" in " ".join(text.split())
    assert "| Emoji, natural | 6.12 |" in export_estimates(smallest, "markdown")  # no best of one
