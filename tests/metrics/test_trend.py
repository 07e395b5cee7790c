"""Correlation and slope along levels: by hand, against SciPy, and IS-OOD's analysis of shift tables."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from openworld.metrics._trend import shift_trend, trend

pytestmark = pytest.mark.base

FOLDER = Path(__file__).parents[1] / "reference"
TABLES = json.loads((FOLDER / "shift_tables.json").read_text())["tables"]
(ANALYSED,) = json.loads((FOLDER / "isood_metrics.json").read_text())["correlation_sensitivity"]

numbers = st.integers(-1000, 1000)
points = st.lists(st.tuples(st.integers(0, 20), numbers), min_size=2, max_size=12)


@given(points)
def test_equals_scipy(pairs):
    levels, values = np.array(pairs, dtype=float).T
    assume(np.unique(levels).size > 1 and np.unique(values).size > 1)
    ours, theirs = trend(levels, values), stats.linregress(levels, values)
    assert ours.slope == pytest.approx(theirs.slope, abs=1e-9)
    assert ours.correlation == pytest.approx(theirs.rvalue, abs=1e-9)
    assert ours.sensitivity == abs(ours.slope)


@pytest.mark.parametrize("case", TABLES, ids=[case["name"] for case in TABLES])
def test_equals_the_reference_when_the_mask_says_what_its_zeros_say(case):
    table = np.array(case["table"])
    result = shift_trend(table, present=table > 0)
    for axis in ("semantic", "covariate"):
        assert getattr(result, f"{axis}_curve") == pytest.approx(case[f"{axis}_curve"], abs=1e-9)
        assert getattr(result, axis).slope == pytest.approx(case[axis]["slope"], abs=1e-9)
        assert getattr(result, axis).correlation == pytest.approx(case[axis]["correlation"], abs=1e-9)


@pytest.mark.parametrize("number", range(2))
def test_equals_what_the_released_analysis_prints(number):
    case, printed = ANALYSED["datasets"][number], ANALYSED["printed"][number].split("\t")
    table, expected = np.array(case["inputs"]["auroc_percent_rows_cov_cols_sem"]), case["reference"]
    result = shift_trend(table, present=table > float(case["inputs"]["na_marker"]))
    for axis, short, place in (("semantic", "sem", 1), ("covariate", "cov", 4)):
        found = getattr(result, axis)
        assert getattr(result, f"{axis}_curve") == pytest.approx(expected[f"{short}_mean"], abs=1e-9)
        assert found.correlation == pytest.approx(expected[f"{short}_correlation"], abs=1e-9)
        assert found.slope == pytest.approx(expected[f"{short}_sensitivity_signed"], abs=1e-9)
        assert [f"{found.correlation:.2f}", f"{found.sensitivity:.2f}"] == printed[place : place + 2]


def test_common_levels_keep_a_missing_corner_from_lifting_a_row():
    """AUROC grows with meaning alone; where the last looks lack near cells it seems to grow with looks too."""
    table = np.tile(np.arange(5.0), (4, 1))
    present = np.ones((4, 5), dtype=bool)
    present[3, :2] = False
    everything, common = shift_trend(table, present), shift_trend(table, present, common=True)
    assert everything.covariate_curve == (2.0, 2.0, 2.0, 3.0) and everything.covariate.slope > 0
    assert common.covariate_curve == (3.0,) * 4 and common.covariate.slope == 0
    assert common.semantic_curve == everything.semantic_curve == (0.0, 1.0, 2.0, 3.0, 4.0)
    assert shift_trend(table, common=True) == shift_trend(table)


def test_common_levels_forget_those_that_are_nowhere_and_may_be_none():
    table, present = np.arange(9.0).reshape(3, 3), np.ones((3, 3), dtype=bool)
    present[:, 1] = False
    assert shift_trend(table, present, common=True).semantic_curve == (3.0, None, 5.0)
    none = shift_trend(table, np.eye(3, dtype=bool), common=True)
    assert none.semantic_curve == none.covariate_curve == (None,) * 3 and none.semantic.slope is None


def test_missing_cells_may_hold_anything():
    table = np.arange(12.0).reshape(3, 4)
    present = np.ones((3, 4), dtype=bool)
    present[2, :2] = False
    spoiled = np.where(present, table, np.nan)
    assert shift_trend(spoiled, present) == shift_trend(table, present)


def test_undefined_is_none_with_a_reason():
    assert trend([], []).slope is None and "two distinct levels" in trend([], []).reason
    assert trend([2, 2], [0.1, 0.5]).correlation is None
    flat = trend([1, 2, 3], [0.1 + 0.2, 0.3, 0.3])  # equal but for the last bit
    assert flat.slope == 0 and flat.correlation is None and "constant" in flat.reason
    assert trend([1, 2], [0, 0]).slope == 0
    nothing = shift_trend([[1.0, 2.0]], present=[[False, False]])
    assert nothing.semantic_curve == (None, None) and nothing.semantic.n == 0


@pytest.mark.parametrize("scale", [1e130, 2.0**-700, 1e-300])
def test_a_trend_of_huge_or_tiny_numbers_is_that_of_plain_ones(scale):
    plain = trend([0, 1, 2, 3], [0.1, 0.4, 0.2, 0.8])
    values = trend([0, 1, 2, 3], [one * scale for one in (0.1, 0.4, 0.2, 0.8)])
    levels = trend([0, scale, 2 * scale, 3 * scale], [0.1, 0.4, 0.2, 0.8])
    assert values.slope == pytest.approx(plain.slope * scale, rel=1e-12)
    assert levels.slope == pytest.approx(plain.slope / scale, rel=1e-12)
    assert values.correlation == pytest.approx(plain.correlation) == levels.correlation


def test_a_slope_too_large_for_a_number_is_none_with_a_reason():
    found = trend([0, 1e-300], [0, 1e130])
    assert found.slope is None and "too near" in found.reason
