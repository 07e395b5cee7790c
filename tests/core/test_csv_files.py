"""CSV: exact for programs, harmless for spreadsheets."""

import csv
import io

import numpy as np
import pytest

from openworld.core.csv_files import as_cell, csv_text

FORMULAS = ["=1+2", "=cmd|' -C calc'!A0", "+1+2", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=cmd()&'x'.png"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_begins_a_formula_and_the_text_comes_back_behind_the_apostrophe(formula):
    (head,), (cell,) = csv.reader(io.StringIO(csv_text([formula], [[formula]])))
    assert head == cell == "'" + formula


@pytest.mark.parametrize("value", [-1.5, "-1.5", "+10.9", "-inf", -3, 0, True, None, "", "cat = dog", "a-b", "−0.7"])
def test_numbers_and_plain_text_stay_as_they_are(value):
    assert as_cell(value) is value


def test_floats_are_written_in_full():
    assert csv_text(["x"], [[1 / 3], [np.float64(1 / 3)]]) == f"x\n{1 / 3}\n{1 / 3}\n"
