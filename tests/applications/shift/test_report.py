"""The page of a measured shift: the answer first, doubts after it, every group, no markup from names."""

import re
import sys
from dataclasses import replace
from pathlib import Path

from openworld.applications.shift.report import ON_PAGE, ON_TERMINAL, cell_table, group_table, report
from openworld.applications.shift.results import results_of
from openworld.applications.shift.verdict import headline
from openworld.testing import check_table

sys.path.append(str(Path(__file__).parent))
from example_measurement import FOUND, NASTY  # noqa: E402


def text(page):
    return re.sub(r"\s+", " ", re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))


def test_the_answer_then_doubts_then_all_else():
    told = text(report(FOUND).html())
    places = [
        told.index(part)
        for part in (
            "How far from known?",
            headline(FOUND),
            "Note: something is odd.",
            "2 of 3 concepts",
            "The numbers",
            "Where the images lie",
            "Images of every cell",
            "Which styles are far",
            "Which concepts are far",
            "What this cannot tell It sees little.",
            "Farthest in meaning",
            "openworld shift",
        )
    ]
    assert places == sorted(places)


def test_names_are_escaped_and_nothing_is_loaded():
    page = report(FOUND).html()
    assert NASTY not in page and "&lt;script&gt;alert(1)" in page
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)


def test_long_lists_are_cut_and_whole_among_the_other_numbers():
    many = tuple(replace(FOUND.concepts[0], name=f"owl {place:02}") for place in range(ON_PAGE + 5))
    page = report(replace(FOUND, concepts=many)).html()
    assert page.count('<th scope="row">owl 03</th>') == 2 and page.count(f'<th scope="row">owl {ON_PAGE}</th>') == 1
    assert f"The {ON_PAGE} farthest of {ON_PAGE + 5}" in text(page)
    assert 'id="all-concepts"' not in report(FOUND).html()


def test_without_names_there_are_no_groups():
    told = text(report(replace(FOUND, concepts=(), looks=(), examples=())).html())
    assert "Which concepts" not in told and "Which styles" not in told and "The images" not in told


def test_the_same_result_gives_the_same_bytes(tmp_path):
    path = report(FOUND).write(tmp_path)
    assert path == tmp_path / "report.html" and path.read_text() == report(FOUND).html()


def test_every_table_says_the_same_in_every_form():
    many = tuple(replace(FOUND.concepts[0], name=f"owl [/x] {place:02}") for place in range(ON_PAGE + 5))
    answer = report(replace(FOUND, concepts=many))
    tables = [table for section in answer.page.sections for part in (section, *section.folded) for table in part.tables]
    assert [table.name for table in answer.terminal_tables] == ["axes", "styles", "concepts", "cells"]
    assert len(answer.terminal_tables[2].rows) == ON_TERMINAL
    assert [table.name for table in tables] == ["axes", "levels", "all-concepts", "styles", "concepts"]
    for table in (*answer.terminal_tables, *tables):
        check_table(table)


def test_groups_and_cells():
    found = results_of(FOUND)
    table = group_table(FOUND, found, "looks")
    assert [row.label for row in table.rows] == ["grey", "new"]
    assert [cell.value for cell in table.rows[0].cells] == [20, 0.4, 0.6, 0.1, 0.3]
    first, second, _ = cell_table(FOUND, found).rows
    assert first.cells[0].value == 20 and [cell.content for cell in second.cells] == ["(5)", "(3)", "·", "(8)"]


def test_rows_of_results():
    found = results_of(FOUND)
    assert found.value("", "far", axis="semantic").value == 0.5
    assert found.value("", "far_in_it_alone", axis="semantic").value == 24 / 50
    assert found.value("", "held_out_triplets", axis="covariate").reason
    assert found.value("", "level_start", axis="covariate", level=2).value == 0.2
    assert found.value("", "median_degree", group="concept", name="owl", axis="semantic").value == 0.6
    assert found.value("", "images", covariate_level=2, semantic_level=3).value == 4
    assert found.value("", "unreadable_images", set=2, name="grey", part="test").value == 1
