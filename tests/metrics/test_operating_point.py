"""The operating point: chosen by hand and by brute force, judged by counting; the Miss/Hit curve by its definition."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from openworld.metrics import Costs, accuracy, choose_threshold, miss_hit_curve, openworld_auc, operating_point

pytestmark = pytest.mark.base

side = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12)
BASE, NEW = ([5, 4, 3, 2, 1], [1, 1, 1, 1, 0]), ([0, 2.5, 3.5, 6], [1, 1, 0, 1])


def rates(base, new, threshold):
    (s, c), (t, d) = (map(np.array, one) for one in (base, new))
    return np.mean((s < threshold) | ~c.astype(bool)), np.mean((t < threshold) & d.astype(bool))


def split(side):
    return [np.array(column) for column in zip(*side, strict=True)]


def test_by_miss_rate_by_hand():
    chosen = choose_threshold(*BASE, *NEW, miss_rate=0.4)
    assert (chosen.value, chosen.miss_rate, chosen.hit_rate) == (3.0, 0.4, 0.5)  # 1 is misnamed, 2 flagged
    assert chosen.rule == "miss rate at most 0.4"
    assert choose_threshold(*BASE, miss_rate=0.4).value == 3.0
    assert choose_threshold(*BASE, miss_rate=0.4).hit_rate is None


def test_by_hit_rate_by_hand():
    chosen = choose_threshold(*BASE, *NEW, hit_rate=0.5)
    assert (chosen.value, chosen.miss_rate, chosen.hit_rate) == (3.0, 0.4, 0.5)  # 0 and 2.5 lie below 3
    above_all = choose_threshold(*BASE, *NEW, hit_rate=0.75)
    assert above_all.value == np.nextafter(6, 7) and above_all.miss_rate == 1.0
    assert choose_threshold(*BASE, *NEW, hit_rate=0.8).reason == "only 0.75 of the new images are named right"


def test_by_costs_by_hand():
    cheap_hits = choose_threshold(*BASE, *NEW, costs=Costs(base_missed=0.1))
    assert cheap_hits.value == np.nextafter(6, 7)  # all base images missed cost less than one new image unhit
    cautious = choose_threshold(*BASE, *NEW, costs=Costs(base_missed=10))
    assert cautious.miss_rate == 0.2 and cautious.hit_rate == 0.25  # only the misnamed one is missed
    assert cautious.cost == pytest.approx(5 / 9 * 0.2 * 10 + 4 / 9 * 0.75)
    only_base = choose_threshold(*BASE, *NEW, costs=Costs(new_share=0.0))
    assert only_base.miss_rate == 0.2


def test_rates_and_intervals_on_test_images():
    point = operating_point(*BASE, *NEW, 3.0)
    assert (point.miss.value, point.hit.value) == (0.4, 0.5)
    assert (point.false_alarm.value, point.detected.value) == (0.4, 0.5)  # the misnamed one is flagged as well
    assert point.miss.interval == accuracy([0, 0, 0, 1, 1]).interval
    assert point.cost(Costs()) == pytest.approx(4 / 9)
    grouped = operating_point(*BASE, *NEW, 3.0, base_groups=list("aabbb"), new_groups=list("ccdd"), level=0.9)
    assert grouped.miss == accuracy([0, 0, 0, 1, 1], groups=list("aabbb"), level=0.9)


def test_the_interval_of_a_cost_by_hand():
    point = operating_point(*BASE, *NEW, 3.0)
    (miss_low, miss_high), (hit_low, hit_high) = point.miss.interval, point.hit.interval
    low, high = point.cost_interval(Costs(base_missed=2.0, new_unhit=3.0, new_share=0.25))
    centre = 0.75 * 2 * 0.4 + 0.25 * 3 * 0.5
    # What each end of a rate adds to the cost or takes from it, squared and added.
    assert low == pytest.approx(centre - np.hypot(1.5 * (0.4 - miss_low), 0.75 * (hit_high - 0.5)))
    assert high == pytest.approx(centre + np.hypot(1.5 * (miss_high - 0.4), 0.75 * (0.5 - hit_low)))
    only_misses = point.cost_interval(Costs(new_share=0.0))
    assert only_misses == pytest.approx(point.miss.interval)
    assert operating_point([1], [1], [], [], 0.0).cost_interval(Costs()) is None


@given(side, side, st.floats(0, 0.99))
def test_a_miss_rate_is_kept_and_the_next_threshold_breaks_it(base, new, most):
    base, new = split(base), split(new)
    chosen = choose_threshold(*base, *new, miss_rate=most)
    misses = miss_hit_curve(*base, *new).miss_rate
    if chosen.value is None:
        assert misses[0] > most and "misnamed" in chosen.reason
        return
    assert rates(base, new, chosen.value) == pytest.approx((chosen.miss_rate, chosen.hit_rate))
    assert chosen.miss_rate <= most
    assert rates(base, new, np.nextafter(chosen.value, np.inf))[0] > most  # it is the largest there is
    assert chosen.miss_rate == pytest.approx(misses[misses <= most + 1e-12].max())  # the curve's 1 - 10/15 is above 1/3


@given(side, side, st.floats(0.01, 1))
def test_a_hit_rate_is_reached_at_the_least_miss_rate(base, new, least):
    base, new = split(base), split(new)
    chosen, curve = choose_threshold(*base, *new, hit_rate=least), miss_hit_curve(*base, *new)
    reached = curve.hit_rate >= least
    assert (chosen.value is None) == (not reached.any())
    assume(reached.any())
    assert chosen.hit_rate >= least
    assert chosen.miss_rate == pytest.approx(curve.miss_rate[reached].min())


@given(side, side, st.lists(st.integers(-5, 5), min_size=4, max_size=4), st.sampled_from([None, 0.0, 0.3, 1.0]))
def test_no_threshold_costs_less(base, new, prices, share):
    base, new, costs = split(base), split(new), Costs(*prices, new_share=share)
    chosen = choose_threshold(*base, *new, costs=costs)
    natural = len(new[0]) / (len(new[0]) + len(base[0]))
    every = [costs.mean(*rates(base, new, threshold), natural) for threshold in np.arange(-3.5, 4)]
    assert chosen.cost <= min(every) + 1e-12
    assert operating_point(*base, *new, chosen.value).cost(costs) == pytest.approx(chosen.cost)


def test_one_side_is_empty():
    assert choose_threshold([], [], miss_rate=0.1).reason == "there is no base sample"
    assert choose_threshold([1], [1], [], [], hit_rate=0.1).reason == "there is no new sample"
    point = operating_point([1], [1], [], [], 0.0)
    assert (point.miss.value, point.hit.value, point.reason) == (0.0, None, "there is no new sample")
    assert point.cost(Costs()) is None


REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "openworld_auc.json").read_text())


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
