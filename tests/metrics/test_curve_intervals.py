"""Intervals of the numbers of a curve: slopes by differences, kinks, edges, tests of areas, coverage; joint errors."""

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


def nested(seed=0, groups=40, each=5, methods=3, seeds=2):
    """Views of two levels, the first inside the second; images of one drawing agree more than others."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(groups), each)
    ease = rng.normal(0, 1, groups)[code]
    views, answers = [], []
    for _ in range(seeds):
        early = rng.permutation(groups)[: groups // 2]
        rows = [np.flatnonzero(np.isin(code, early)), np.arange(code.size)]
        correct = ease + rng.normal(0, 1, (methods, code.size)) > -0.3
        views.append([code[one] for one in rows])
        answers.append([correct[:, one] for one in rows])
    return views, answers


def test_a_plain_view_has_the_variance_of_a_mean():
    correct = np.array([[1, 0, 1, 1, 0, 1, 1]], bool)
    found = level_errors([[np.arange(7)]], [[correct]]).spread([[1]])
    assert found.standard_error == pytest.approx(correct.std(ddof=1) / np.sqrt(7))
    assert found.degrees_of_freedom == pytest.approx(6)


def test_the_difference_of_two_methods_is_the_paired_t_test():
    rng = np.random.default_rng(1)
    correct = rng.random((2, 60)) < [[0.8], [0.6]]
    errors = level_errors([[np.arange(60)]], [[correct]])
    found = errors.spread([[1], [-1]])
    expected = stats.ttest_rel(*correct.astype(float))
    assert np.diff(errors.accuracy[:, 0])[0] / -found.standard_error == pytest.approx(expected.statistic)


def test_nested_levels_and_seeds_agree_with_leaving_groups_out():
    views, answers = nested()
    weights = np.array([[0.5, 0.5], [-0.5, -0.5], [0, 0]])

    def number(left_out):
        means = [
            [one[:, code != left_out].mean(axis=1) for code, one in zip(*seed, strict=True)]
            for seed in zip(views, answers, strict=True)
        ]
        return (weights * np.mean(means, axis=0).T).sum()

    jackknife = np.array([number(group) for group in range(40)])
    expected = np.sqrt(39 / 40 * ((jackknife - jackknife.mean()) ** 2).sum())
    assert level_errors(views, answers).spread(weights).standard_error == pytest.approx(expected, rel=0.05)


def test_a_level_of_half_the_groups_has_half_of_them():
    errors = level_errors(*nested())
    early, late = (errors.spread(np.eye(2)[[level]] * [[1], [0], [0]]) for level in (0, 1))
    assert late.degrees_of_freedom == pytest.approx(39)
    assert 19 <= early.degrees_of_freedom < 39  # two seeds with other halves: more than one half
    assert errors.groups == 40


def test_identical_methods_and_single_groups_have_no_error():
    views, answers = nested()
    same = [[np.stack([one[0], one[0]]) for one in seed] for seed in answers]
    found = level_errors(views, same).spread([[0.5, 0.5], [-0.5, -0.5]])
    assert found.standard_error is None and "zero variance is no evidence" in found.reason
    alone = level_errors([[[3, 3]]], [[[[1, 0]]]]).spread([[1]])
    assert alone.standard_error is None and "fewer than 2 independent groups" in alone.reason
