"""The MissRate/HitRate curve: its two rates by definition, its area, the authors' drawing."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import miss_hit_curve, openworld_auc

pytestmark = pytest.mark.base

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "openworld_auc.json").read_text())
side = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12)


@given(side, side)
def test_rates_are_their_definition_and_the_area_is_openworld_auc(base, new):
    (s, c), (t, d) = (map(np.array, zip(*one, strict=True)) for one in (base, new))
    curve = miss_hit_curve(s, c, t, d)
    assert curve.thresholds[0] == -np.inf and (np.diff(curve.thresholds) > 0).all()
    for threshold, miss, hit in zip(curve.thresholds, curve.miss_rate, curve.hit_rate, strict=True):
        assert miss == pytest.approx(np.mean((s <= threshold) | ~c), abs=1e-15)
        assert hit == pytest.approx(np.mean((t <= threshold) & d), abs=1e-15)
    result = openworld_auc(s, c, t, d)
    assert curve.area == result.value
    heights = (curve.hit_rate[1:] + curve.hit_rate[:-1]) / 2
    assert (np.diff(curve.miss_rate) * heights).sum() == pytest.approx(result.value, abs=1e-12)
    assert curve.miss_rate[0] == pytest.approx(1 - result.base_accuracy)
    assert (curve.miss_rate[-1], curve.hit_rate[-1]) == pytest.approx((1.0, result.new_accuracy))


@pytest.mark.parametrize("case", REFERENCE["metric_cases"], ids=lambda case: case["name"])
def test_the_authors_points_lie_on_the_curve(case):
    """They drop collinear points and draw left of 1 - BaseAcc and above NewAcc, where only misnamed samples stand."""
    given, drawn = case["inputs"], case["curve"]
    correct = [np.equal(given[f"{half}_pred"], given[f"{half}_label"]) for half in ("base", "new")]
    curve = miss_hit_curve(given["base_score"], correct[0], given["new_score"], correct[1])
    assert curve.area == pytest.approx(drawn["area"], abs=1e-12)
    ours = np.column_stack([curve.miss_rate, curve.hit_rate])
    for point in zip(drawn["miss_rate_base"], drawn["hit_rate_new"], strict=True):
        inside = point[0] >= ours[0, 0] - 1e-12 and point[1] <= ours[-1, 1] + 1e-12
        if inside and case["name"] != "inverted_detector_both_wrong":
            assert np.abs(ours - point).max(axis=1).min() < 1e-12


def test_one_sided_input_is_undefined():
    for data, empty in ((([], [], [1], [1]), "base"), (([1], [1], [], []), "new")):
        curve = miss_hit_curve(*data)
        assert curve.area is None and empty in curve.reason and curve.miss_rate.size == 0


def test_nothing_named_right_leaves_one_point():
    curve = miss_hit_curve([1, 2], [0, 0], [0], [0])
    assert (curve.miss_rate.tolist(), curve.hit_rate.tolist(), curve.area) == ([1.0], [0.0], 0.0)
