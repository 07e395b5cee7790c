"""The grid of a shift: a cell for every count, N/A by hatching, the bound where it lies, pictures in their cells."""

import csv
import io
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from openworld.applications.shift.shift_map import COUNTED, shift_examples, shift_map
from openworld.report.charts.cells import TOP

sys.path.append(str(Path(__file__).parent))
from example_measurement import FOUND, axes  # noqa: E402

LEFT = 70.0  # room for degrees


def drawn(figure):
    return str(figure.panels[0].svg)


def bounds(svg):
    """(x of the upright line, y of the other)."""
    found = [dict(re.findall(r'(\w\d)="([\d.-]+)"', line)) for line in re.findall(r'<line[^>]*class="bound"', svg)]
    return float(found[0]["x1"]), float(found[1]["y1"])


def test_every_cell_is_drawn_as_what_it_is():
    svg = drawn(shift_map(FOUND))
    kinds = re.findall(r'<rect[^>]*class="(cell[a-z-]*)"', svg)
    assert [kinds.count(kind) for kind in ("cell", "cell-few", "cell-none")] == [2, 4, 6]
    assert re.findall(r'class="cell-number mid">(\d+)<', svg) == ["20", "10", "5", "3", "8", "4"]


def test_near_cells_are_at_the_lower_left():
    first = re.search(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*class="cell"', drawn(shift_map(FOUND)))
    assert [float(value) for value in first.groups()] == [LEFT, TOP + 2 * COUNTED]


@pytest.mark.parametrize(("usual", "cells"), [(0.25, 1.5), (0.1, 0.5), (0.2, 1.0), (0.4, 3.5), (1.7, 3.5)])
def test_the_bound_stands_where_its_degree_lies(usual, cells):
    across, _ = bounds(drawn(shift_map(axes(semantic={"usual": usual}))))
    assert across == pytest.approx(LEFT + cells * COUNTED)


def test_the_bound_of_looks_counts_upwards():
    _, up = bounds(drawn(shift_map(axes(covariate={"usual": 0.15}))))
    assert up == pytest.approx(TOP + (3 - 1.5) * COUNTED)


def test_numbers_behind_it():
    rows = list(csv.DictReader(io.StringIO(shift_map(FOUND).csv)))
    assert len(rows) == 12 and sum(int(row["pictures"]) for row in rows) == 50
    assert rows[0] == {
        "covariate_level": "0",
        "semantic_level": "0",
        "covariate_from": "",
        "semantic_from": "",
        "pictures": "20",
        "present": "True",
    }
    assert rows[6]["covariate_from"] == "0.1" and rows[6]["semantic_from"] == "0.3" and rows[6]["present"] == "False"


def test_examples_lie_in_their_cells_and_those_of_na_cells_are_faint():
    figure = shift_examples(FOUND)
    svg = drawn(figure)
    assert svg.count("<image") == 5 and svg.count("cell-rare") == 1
    assert "cat, grey: meaning 0.700, appearance 0.300" in svg
    assert [tuple(row.values())[:3] for row in figure.rows()] == [(0, 0, "owl, new")] * 4 + [(2, 3, "cat, grey")]


def test_no_examples_no_images():
    assert "<image" not in drawn(shift_examples(replace(FOUND, examples=())))
