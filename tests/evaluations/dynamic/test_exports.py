"""Robustness tables in every form: the terminal, CSV, JSON, Markdown and LaTeX say the same numbers."""

import csv
import io
import json

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.dynamic.courses import load_courses
from openworld.evaluations.dynamic.exports import export_courses
from openworld.evaluations.dynamic.numbers import NUMBERS
from openworld.evaluations.dynamic.terminal import of_course, terminal_course


@pytest.fixture(scope="module")
def tables(course_run):
    return load_courses(course_run)


def printed(table, width):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue()


def test_the_terminal_says_over_what_and_ends_in_a_verdict(tables):
    text = printed(terminal_course(tables[0]), 200)
    head, zero_shot, _, gmop, *_ = text.splitlines()
    assert head.split()[:9] == ["learner", "Acc(0)", "AUC", "WA", "EVM", "VS", "PA", "NA", "ΔAUC"]
    assert "[" in gmop and "better, p" in gmop and "–" in zero_shot
    assert "clustered by group (n = 12), given the seeds" in text and "Holm over 3 pairs" in text


def test_a_narrow_terminal_keeps_whole_numbers_and_says_what_it_left_out(tables):
    text = printed(terminal_course(tables[0]), 80)
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    assert "ΔAUC" in text and "For want of room without VS" in " ".join(text.split())


def test_csv_has_intervals_and_tests_of_every_course_and_mean(tables):
    rows = list(csv.DictReader(io.StringIO(export_courses(tables, "csv"))))
    assert len(rows) == 3 * 3 + 3 and sum(row["courses"] == "2" for row in rows) == 3
    row = next(row for row in rows if row["scenario"] == "emerging-classes" and row["learner"] == "GMoP")
    assert float(row["auc_images_low"]) < float(row["auc"]) < float(row["auc_images_high"])
    assert float(row["p_on_pictures"]) < 0.05 and 0 < float(row["p_over_seeds"]) < 1
    assert rows[0]["delta_auc"] == "" == rows[0]["p_on_pictures"]  # zero-shot against itself


def test_json_has_seeds_intervals_and_all_tests(tables):
    told = json.loads(export_courses(tables, "json"))
    course = told["courses"][0]
    assert len(course["tests_on_pictures"]) == len(course["tests_over_seeds"]) == 3
    gmop = course["learners"][2]
    assert set(gmop["intervals"]) == set(NUMBERS) and gmop["new"][0] is None and gmop["new"][1] is not None
    assert [one["courses"] for one in told["scenarios"]] == [1, 2]
    assert "needs at least 5" in told["scenarios"][1]["friedman"]["reason"]


def test_markdown_and_latex_have_a_table_per_mean_and_course_and_escape_names(tables):
    markdown, latex = (export_courses(tables, form) for form in ("markdown", "latex"))
    assert markdown.count("| Learner |") == latex.count(r"\begin{tabular}") == 4
    number = of_course(tables[0]).numbers["GMoP"]["auc"]
    low, high = (f"{100 * end:.2f}" for end in number.over_images)
    assert f"{100 * number.value:.2f} ({low}, {high})" in markdown and f"({low}, {high})" in latex
    assert "\\<b\\>clay" in markdown and "<b>" not in markdown
    assert r"$\Delta$AUC" in latex and latex.isascii()


def test_an_unknown_form_is_refused(tables):
    with pytest.raises(OpenworldError, match="did you mean 'markdown'"):
        export_courses(tables, "markdwn")
