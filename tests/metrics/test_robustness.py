"""The Dynamic Robustness Curve: by hand, against exact fractions, its identities, and OpenPL's printed numbers."""

import csv
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from openworld.metrics._robustness import CURVE_METRICS, Robustness, robustness, seed_spread

pytestmark = pytest.mark.base

PUBLISHED = Path(__file__).parents[1] / "reference" / "openpl_excerpt.csv"
SIX = [0, 0.2, 0.4, 0.6, 0.8, 1]
# Curves found by hand whose metrics are those OpenPL prints for emerging new classes on DTD (its Table 2).
CLIP_ON_DTD = [0.568, 0.5274, 0.4944, 0.469, 0.4512, 0.441]
COOP_ON_DTD = [0.767, 0.466, 0.432, 0.430, 0.428, 0.410]

grids = st.lists(st.integers(0, 1000), min_size=2, max_size=8, unique=True).map(sorted)
thousandths = st.integers(0, 1000)


@st.composite
def curves(draw):
    levels = draw(grids)
    two = [draw(st.lists(thousandths, min_size=len(levels), max_size=len(levels))) for _ in range(2)]
    return tuple([value / 1000 for value in row] for row in (levels, *two))


def exact(levels, accuracy, zero_shot) -> dict[str, Fraction]:
    """A twin in rational numbers: every segment is cut where the two lines cross, then summed piece by piece."""
    levels, accuracy, zero_shot = ([Fraction(value) for value in row] for row in (levels, accuracy, zero_shot))
    out = defaultdict(Fraction, worst_accuracy=min(accuracy))
    mean = (accuracy[-1] - accuracy[0]) / (levels[-1] - levels[0])
    for i in range(len(levels) - 1):
        width, change = levels[i + 1] - levels[i], accuracy[i + 1] - accuracy[i]
        out["auc"] += width * (accuracy[i] + accuracy[i + 1]) / 2
        out["variation"] += abs(change)
        out["slope_variance"] += width * (change / width - mean) ** 2
        first, last = accuracy[i] - zero_shot[i], accuracy[i + 1] - zero_shot[i + 1]
        cut = first / (first - last) if first * last < 0 else Fraction(1)
        for share, start, end in (
            (cut, first, Fraction(0) if cut != 1 else last),
            (1 - cut, Fraction(0), last),
        ):
            area = share * width * (start + end) / 2
            out["positive_area" if area > 0 else "negative_area"] += abs(area)
    out["delta_auc"] = out["delta_pn"] = out["positive_area"] - out["negative_area"]
    return out


@given(curves())
def test_equals_the_exact_twin(case):
    result, twin = robustness(*case), exact(*case)
    for metric in CURVE_METRICS:
        scale = max(1.0, abs(float(twin[metric])))
        assert abs(getattr(result, metric) - float(twin[metric])) < 1e-12 * scale, metric


def test_seeds_are_averaged_before_anything_else():
    seeds = np.array([[0.9, 0.5, 0.7], [0.7, 0.7, 0.3]])
    zero_shot = np.array([[0.6, 0.6, 0.6], [0.8, 0.4, 0.6]])
    result = robustness([0, 0.5, 1], seeds, zero_shot)
    assert result.variation == pytest.approx(0.3)  # of .8, .6, .5; the seeds alone have .6 and .4
    spread = result.spread("variation")
    assert (spread.mean, spread.std, spread.n) == (pytest.approx(0.5), pytest.approx(0.02**0.5), 2)
    for metric in ("auc", "delta_auc", "delta_pn"):
        assert result.spread(metric).mean == pytest.approx(getattr(result, metric))
    for seed, own in enumerate(result.per_seed):
        assert own == robustness([0, 0.5, 1], seeds[seed], zero_shot[seed])


def test_one_zero_shot_curve_serves_all_seeds():
    seeds = [[0.9, 0.5], [0.7, 0.3]]
    assert robustness([0, 1], seeds, [0.6, 0.6]) == robustness([0, 1], seeds, [[0.6, 0.6]] * 2)


def test_without_zero_shot_the_comparison_is_none_with_a_reason():
    result = robustness(SIX, CLIP_ON_DTD)
    assert result.positive_area is result.negative_area is result.delta_auc is result.delta_pn is None
    assert "zero-shot" in result.reason
    assert result.spread("auc").mean is None and "two or more seeds" in result.spread("auc").reason
    assert "zero-shot" in robustness([0, 1], [[0.5, 0.5]] * 2).spread("delta_pn").reason


def published(table: str) -> dict[str, dict[str, float]]:
    rows = defaultdict(dict)
    with PUBLISHED.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["table"] == table:
                rows[row["method"]][row["metric"]] = float(row["value"])
    return rows


def as_printed(result: Robustness) -> dict[str, float]:
    names = {"AUC": "auc", "WA": "worst_accuracy", "EVM": "variation", "VS": "slope_variance"}
    return {name: round(getattr(result, field), 3) for name, field in names.items()}


def test_curves_with_the_numbers_printed_for_dtd():
    rows = published("2")
    for method, curve in (("CLIP", CLIP_ON_DTD), ("CoOp", COOP_ON_DTD)):
        printed = {name: rows[method][name] for name in ("AUC", "WA", "EVM", "VS")}
        assert as_printed(robustness(SIX, curve)) == printed, method
    coop = robustness(SIX, COOP_ON_DTD, CLIP_ON_DTD)
    assert round(coop.positive_area, 3) == rows["CoOp"]["PosArea"] == 0.015
    # Printed: AUC .469 - .489 = -.020, but PA - NA = .015 - .032 = -.017. The areas must differ by the former.
    assert round(coop.delta_pn, 3) == round(coop.delta_auc, 3) == -0.020
    assert rows["CoOp"]["NegArea"] == 0.032 and round(coop.negative_area, 3) == 0.036


def test_the_interval_over_seeds_is_students():
    curves = np.random.default_rng(0).uniform(0.4, 0.6, (4, 6))
    result = robustness(SIX, curves, curves - 0.1 * np.linspace(0, 1, 6))
    for metric in ("initial_accuracy", "auc", "variation"):
        values = [getattr(seed, metric) for seed in result.per_seed]
        low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
        assert result.spread(metric).interval() == (pytest.approx(max(low, 0)), pytest.approx(high))
    assert result.initial_accuracy == result.accuracy[0]


def test_an_interval_over_seeds_is_cut_at_what_is_possible():
    assert seed_spread([0.01, 0.99]).interval() == (0.0, 1.0)
    assert seed_spread([0.1, -0.1], (-1.0, 1.0)).interval()[0] == -1


def test_without_two_different_seeds_there_is_no_interval():
    assert seed_spread([0.5]).interval() is None and "two or more seeds" in seed_spread([0.5]).interval_reason
    assert seed_spread([0.5, 0.5]).interval() is None and "do not differ" in seed_spread([0.5, 0.5]).interval_reason
    alone = robustness(SIX, np.full((2, 6), 0.5)).spread("delta_auc")
    assert alone.interval() is None and "no zero-shot curve" in alone.interval_reason
