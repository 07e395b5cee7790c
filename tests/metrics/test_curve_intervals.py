"""Intervals of the numbers of a curve: slopes by differences, kinks, edges, tests of areas, and coverage."""

import numpy as np
import pytest
from scipy import stats

from openworld.core.errors import OpenworldError
from openworld.metrics import LEVEL_NUMBERS, area_test, curve_intervals, level_errors, robustness
from openworld.metrics._robustness import area_above, area_weights

pytestmark = pytest.mark.base

LEVELS = np.array([0, 0.2, 0.4, 0.6, 0.8, 1.0])
ARRIVES = np.concatenate([np.zeros(50, int), 1 + np.arange(50) // 10])  # the level at which a drawing joins


def world(rng, ability, drop, drawings=100, each=8):
    """Answers of a learner and of zero-shot, [drawings, levels] rights and images; new drawings join the old ones."""
    ease = rng.normal(0, 1, drawings)
    inside = ARRIVES[:, None] <= np.arange(6)

    def rights(start, slope):
        chance = 1 / (1 + np.exp(-1.7 * (start + slope * np.arange(6) + ease[:, None])))
        return rng.binomial(each, chance) * inside

    return rights(ability[0], drop[0]), rights(ability[1], drop[1]), each * inside


def errors_of(own, zero_shot, images):
    """`level_errors` of counts: every drawing is a group of `images` of which so many are right."""
    groups, correct = [], []
    for level in range(images.shape[1]):
        shown = images[:, level]
        groups.append(np.repeat(np.arange(len(shown)), shown))
        place = np.concatenate([np.arange(count) for count in shown])
        counts = [np.repeat(side[:, level], shown) for side in (own, zero_shot)]
        correct.append(np.stack([place < count for count in counts]))
    return level_errors([groups], [correct])


@pytest.fixture(scope="module")
def errors():
    return errors_of(*world(np.random.default_rng(0), (1.2, 0.7), (-0.35, -0.12)))


def test_weights_of_levels_are_the_trapezoids():
    assert area_weights([0, 0.1, 1]).tolist() == pytest.approx([0.05, 0.5, 0.45])
    accuracy = np.random.default_rng(0).random(6)
    assert area_weights(LEVELS) @ accuracy == pytest.approx(robustness(LEVELS, accuracy).auc)


def test_every_interval_holds_its_number(errors):
    found = curve_intervals(errors, LEVELS, 0, 1)
    values = robustness(LEVELS, *errors.accuracy)
    assert tuple(found) == LEVEL_NUMBERS
    for name, interval in found.items():
        assert interval.low <= getattr(values, name) <= interval.high, name
    assert found["delta_pn"] == found["delta_auc"]


def test_the_slopes_of_the_area_above_are_its_differences():
    rng = np.random.default_rng(2)
    for _ in range(50):
        gaps = rng.normal(0, 0.1, 6)
        value, slopes = area_above(LEVELS, gaps)
        for place in range(6):
            step = 1e-6 * np.eye(6)[place]
            numeric = (area_above(LEVELS, gaps + step)[0] - area_above(LEVELS, gaps - step)[0]) / 2e-6
            assert slopes[place] == pytest.approx(numeric, abs=1e-6)


def test_a_curve_that_surely_falls_varies_by_its_fall():
    own, zero_shot, images = world(np.random.default_rng(3), (2.0, 0.7), (-1.0, -0.1), each=200)
    errors = errors_of(own, zero_shot, images)
    assert (np.diff(errors.accuracy[0]) < 0).all()
    found = curve_intervals(errors, LEVELS, 0)["variation"]
    slopes = np.zeros((2, 6))
    slopes[0, [0, -1]] = 1, -1
    spread = errors.spread(slopes)
    half = stats.t.ppf(0.975, spread.degrees_of_freedom) * spread.standard_error
    fall = errors.accuracy[0, 0] - errors.accuracy[0, -1]
    assert (found.low, found.high) == (pytest.approx(fall - half), pytest.approx(fall + half))


def test_the_variance_of_the_slope_errs_as_its_differences_say(errors):
    def value(accuracy):
        return robustness(LEVELS, accuracy).slope_variance

    accuracy, slopes = errors.accuracy[0], np.zeros((2, 6))
    for place, step in enumerate(1e-6 * np.eye(6)):
        slopes[0, place] = (value(accuracy + step) - value(accuracy - step)) / 2e-6
    spread, found = errors.spread(slopes), curve_intervals(errors, LEVELS, 0)["slope_variance"]
    half = stats.t.ppf(0.975, spread.degrees_of_freedom) * spread.standard_error
    assert found.high == pytest.approx(value(accuracy) + half, rel=1e-5)


def test_a_flat_curve_may_not_vary_at_all(errors):
    flat = errors_of(*world(np.random.default_rng(4), (0.8, 0.8), (0.0, 0.0)))
    found = curve_intervals(flat, LEVELS, 0, 1)
    assert found["variation"].low == 0 and found["positive_area"].low == found["negative_area"].low == 0
    assert found["delta_auc"].low < 0 < found["delta_auc"].high


def test_without_zero_shot_or_variance_there_is_a_reason(errors):
    alone = curve_intervals(errors, LEVELS, 1)
    assert alone["auc"].low is not None
    assert all("no zero-shot curve" in alone[name].reason for name in LEVEL_NUMBERS[5:])
    perfect = level_errors([[[0, 1, 2]] * 2], [[[[1, 1, 1]]] * 2])
    found = curve_intervals(perfect, [0, 1], 0)
    steps = ("variation", "slope_variance")
    assert all("zero variance is no evidence" in found[name].reason for name in steps)
    shares = [found[name] for name in LEVEL_NUMBERS[:5] if name not in steps]
    assert {one.high for one in shares} == {1.0}  # three of three right: 1 - 3.84 / (3 + 3.84)
    assert all(one.low == pytest.approx(0.438, abs=1e-3) for one in shares)
    own, _, images = world(np.random.default_rng(5), (1, 1), (0, 0))
    same = curve_intervals(errors_of(own, own, images), LEVELS, 0, 1)
    assert same["delta_auc"].low is None and "zero variance" in same["positive_area"].reason


def test_a_wider_confidence_is_a_wider_interval(errors):
    narrow, wide = (curve_intervals(errors, LEVELS, 0, 1, level=level) for level in (0.8, 0.99))
    assert all(wide[name].low <= narrow[name].low and narrow[name].high <= wide[name].high for name in LEVEL_NUMBERS)
    with pytest.raises(OpenworldError, match="level is 95"):
        curve_intervals(errors, LEVELS, 0, level=95)


def test_areas_are_tested_in_pairs(errors):
    there, back = area_test(errors, LEVELS, 0, 1), area_test(errors, LEVELS, 1, 0)
    assert there.difference == pytest.approx(robustness(LEVELS, *errors.accuracy).delta_auc)
    assert there.difference == -back.difference and there.p_value == pytest.approx(back.p_value)
    gain = curve_intervals(errors, LEVELS, 0, 1)["delta_auc"]
    assert there.interval() == (pytest.approx(gain.low), pytest.approx(gain.high))
    assert (gain.low < 0 < gain.high) == (there.p_value > 0.05)
    assert area_test(errors, LEVELS, 0, 0).p_value is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ability", "drop"), [((1.2, 0.8), (-0.15, -0.1)), ((1.2, 0.7), (-0.35, -0.12)), ((0.8, 0.8), (0.0, 0.0))]
)
def test_intervals_hold_the_truth_nineteen_times_in_twenty(ability, drop):
    rng = np.random.default_rng(6)
    many = [world(rng, ability, drop) for _ in range(2000)]
    own, zero_shot, images = (np.sum(sides, axis=(0, 1)) for sides in zip(*many, strict=True))
    truth = robustness(LEVELS, own / images, zero_shot / images)
    held = dict.fromkeys(LEVEL_NUMBERS, 0)
    for made in many[:400]:
        found = curve_intervals(errors_of(*made), LEVELS, 0, 1)
        for name, interval in found.items():
            held[name] += interval.low - 1e-9 <= getattr(truth, name) <= interval.high + 1e-9
    assert min(held.values()) >= 0.9 * 400, held
