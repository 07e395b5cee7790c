"""OpenworldAUC, OpenAUC and OverallAcc: the authors' numbers, brute force, properties, edges."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from openworld.metrics import QUANTITIES, accuracy, average, open_auc, openworld_auc, overall_accuracy
from openworld.metrics.estimate import unseen

pytestmark = pytest.mark.base

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "openworld_auc.json").read_text())
CASES = {case["name"]: case for case in REFERENCE["metric_cases"]}
side = st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 3)), min_size=1, max_size=12)


def arrays(base, new):
    """(score, correct, weight or group) triples as the arguments of openworld_auc, and the third column of each."""
    (s, c, x), (t, d, y) = (map(np.array, zip(*one, strict=True)) for one in (base, new))
    return (s.astype(float), c, t.astype(float), d), x, y


def brute_force(s, c, t, d, w=None, v=None):
    """The definition, pair by pair."""
    w, v = np.ones(len(s)) if w is None else w, np.ones(len(t)) if v is None else v
    won = 0.0
    for i in range(len(s)):
        for j in range(len(t)):
            won += w[i] * v[j] * c[i] * d[j] * (1.0 if s[i] > t[j] else 0.5 if s[i] == t[j] else 0.0)
    return won / (sum(w) * sum(v))


def simple(seed=0, n_base=40, n_new=30):
    """A middling result and its arguments."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(1, 1, n_base).round(1),
        rng.random(n_base) < 0.8,
        rng.normal(0, 1, n_new).round(1),
        rng.random(n_new) < 0.6,
    )


def arguments(case):
    given = case["inputs"]
    correct = [np.equal(given[f"{half}_pred"], given[f"{half}_label"]) for half in ("base", "new")]
    return given["base_score"], correct[0], given["new_score"], correct[1]


@pytest.mark.parametrize("name", CASES)
def test_reproduces_the_released_code(name):
    case, result = CASES[name], openworld_auc(*arguments(CASES[name]))
    reference = case["reference"]
    assert result.value == pytest.approx(case["definition"]["pairwise_tie_half"], abs=1e-12)
    if name != "inverted_detector_both_wrong":
        assert result.value == pytest.approx(reference["openworld_auc"], abs=1e-12)
    assert result.auroc == pytest.approx(reference["auroc"], abs=1e-12)
    assert result.base_accuracy == pytest.approx(reference["base_acc"], abs=1e-12)
    assert result.new_accuracy == pytest.approx(reference["new_acc"], abs=1e-12)
    assert result.harmonic_mean == pytest.approx(reference["hm"], abs=1e-12)


def test_where_no_name_is_right_every_product_of_accuracies_is_zero():
    nothing = openworld_auc([2, 3], [0, 0], [1, 0], [0, 0])
    assert nothing.estimate("harmonic_mean").value == nothing.harmonic_mean == nothing.value == 0
    assert nothing.estimate("mixed_up").value == 0 and nothing.estimate("correct_auroc").value is None


def test_follows_the_definition_where_the_sentinels_of_the_released_code_cross():
    case = CASES["inverted_detector_both_wrong"]  # every new score above every base score: nothing can be won
    assert case["reference"]["openworld_auc"] == pytest.approx(1 / 6)
    assert openworld_auc(*arguments(case)).value == 0


def test_by_hand():
    result = openworld_auc([3, 2, 1], [1, 1, 0], [0, 2], [1, 1])
    assert result.base_components.tolist() == [1.0, 0.75, 0.0]
    assert result.new_components.tolist() == [2 / 3, 0.5]
    assert result.value == 3.5 / 6 and result.correct_auroc == pytest.approx(3.5 / 4)
    variance = np.var([1, 0.75, 0], ddof=1) / 3 + np.var([2 / 3, 0.5], ddof=1) / 2
    assert result.standard_error == pytest.approx(np.sqrt(variance), rel=1e-12)


@given(side, side)
def test_equals_brute_force_with_and_without_weights(base, new):
    data, w, v = arrays(base, new)
    result = openworld_auc(*data)
    assert result.value == pytest.approx(brute_force(*data), abs=1e-12)
    assert result.base_components.mean() == pytest.approx(result.value, abs=1e-12)
    assert result.new_components.mean() == pytest.approx(result.value, abs=1e-12)
    if w.any() and v.any():
        weighted = openworld_auc(*data, base_weights=w, new_weights=v)
        assert weighted.value == pytest.approx(brute_force(*data, w, v), abs=1e-12)


@given(side, side)
def test_integer_weights_are_repetition(base, new):
    data, w, v = arrays(base, new)
    assume(w.any() and v.any())
    weighted = openworld_auc(*data, base_weights=w, new_weights=v)
    repeated = openworld_auc(*(np.repeat(x, k) for x, k in zip(data, (w, w, v, v), strict=True)))
    for of in QUANTITIES:
        expected = repeated.estimate(of).value
        assert weighted.estimate(of).value == (None if expected is None else pytest.approx(expected, abs=1e-12))


@given(side, side)
def test_bounds_factorisation_and_points_lost(base, new):
    data, _, _ = arrays(base, new)
    result = openworld_auc(*data)
    a, b = result.base_accuracy, result.new_accuracy
    assert result.value <= min(result.auroc, a * b) + 1e-12
    if result.correct_auroc is None:
        assert result.value == 0
    else:
        assert result.value == pytest.approx(a * b * result.correct_auroc, abs=1e-14)
    lost = [result.estimate(of).value for of in ("wrong_base", "wrong_new", "mixed_up")]
    assert min(lost) >= 0 and sum(lost) == pytest.approx(1 - result.value, abs=1e-14)


def test_clustered_error_equals_its_definition_when_groups_cross_the_sides():
    s, c, t, d = simple()
    rng = np.random.default_rng(1)
    g, h = rng.integers(0, 9, s.size), rng.integers(0, 9, t.size)
    result = openworld_auc(s, c, t, d, base_groups=g.astype(str), new_groups=h.astype(str))
    scale = [1 / (1 - np.square(np.bincount(codes) / codes.size).sum()) for codes in (g, h)]
    sums = np.zeros(9)
    for k in range(9):
        sums[k] += np.sqrt(scale[0]) * (result.base_components[g == k] - result.value).sum() / s.size
        sums[k] += np.sqrt(scale[1]) * (result.new_components[h == k] - result.value).sum() / t.size
    assert result.standard_error == pytest.approx(np.sqrt((sums**2).sum()), rel=1e-12)
    assert result.n_groups == 9 and result.estimate().degrees_of_freedom <= 8


@pytest.mark.parametrize("of", QUANTITIES)
def test_the_delta_method_agrees_with_the_jackknife(of):
    data = simple(3, 60, 50)
    s, c, t, d = data
    without_base = [openworld_auc(np.delete(s, i), np.delete(c, i), t, d).estimate(of).value for i in range(s.size)]
    without_new = [openworld_auc(s, c, np.delete(t, j), np.delete(d, j)).estimate(of).value for j in range(t.size)]
    variance = sum(np.var(one) * (len(one) - 1) for one in (without_base, without_new))
    assert openworld_auc(*data).estimate(of).standard_error == pytest.approx(np.sqrt(variance), rel=0.04)


def test_honest_at_the_edges():
    empty = openworld_auc([1.0], [1], [], [])
    assert (empty.value, empty.auroc, empty.interval()) == (None, None, None)
    assert "no new sample" in empty.reason and empty.base_accuracy == 1 and empty.new_accuracy is None
    single = openworld_auc([3, 2], [1, 0], [1], [1])
    assert single.value == 0.5 and single.standard_error is None and "fewer than 2" in single.error_reason
    assert single.estimate("base_accuracy").standard_error == pytest.approx(0.5)
    for right in ([1, 1], [0, 0]):
        extreme = openworld_auc([3, 2], right, [1, 0], [1, 1])
        assert extreme.value in (0, 1)
        assert extreme.standard_error is None
        assert "zero variance is no evidence" in extreme.error_reason
    tied = openworld_auc([1, 1], [1, 1], [1, 1], [1, 1])
    assert tied.value == 0.5 and tied.standard_error is None and tied.interval() is None
    one_group = openworld_auc([3, 0], [1, 1], [1, 2], [1, 1], base_groups=[0, 0], new_groups=[1, 2])
    assert one_group.standard_error is None and one_group.interval() is None
    assert "fewer than 2" in one_group.error_reason
    weightless = openworld_auc([3, 0], [1, 1], [1], [1], base_weights=[0, 0])
    assert weightless.value is None and "weights are 0" in weightless.reason and weightless.base_accuracy is None
    assert openworld_auc([3, 0], [0, 0], [1], [1]).estimate("correct_auroc").reason


def test_sides_without_a_mistake_are_no_surer_than_wilson_lets_them_be():
    scores = np.random.default_rng(0).normal(size=(2, 60)) + [[3.2], [0]]
    result = openworld_auc(scores[0], np.ones(60), scores[1], np.ones(60))
    assert 0.99 < result.value < 1
    one = accuracy(np.ones(60)).interval[0]
    low, high = result.interval()
    assert low == pytest.approx(1 - np.sqrt(2) * (1 - one)) and result.value < high < 1
    assert result.estimate("base_accuracy").interval() == (pytest.approx(one), 1)
    swapped = openworld_auc(scores[1], np.ones(60), scores[0], np.ones(60)).interval()
    assert swapped == pytest.approx((1 - high, 1 - low))
    perfect, hopeless = (openworld_auc([3] * 60, [right] * 60, [1] * 60, [1] * 60) for right in (1, 0))
    assert perfect.interval() == (pytest.approx(low), 1)
    assert hopeless.interval() == (0, pytest.approx(unseen([60], 0.975))), "no more than its base accuracy may be"


def test_hardly_any_right_on_few_groups_is_at_most_what_both_accuracies_may_be():
    generator, groups = np.random.default_rng(0), np.repeat(np.arange(12), 5)
    scores, right = generator.normal(size=(2, 60)), generator.random((2, 60)) < 0.1
    result = openworld_auc(scores[0], right[0], scores[1], right[1], base_groups=groups, new_groups=groups + 12)
    ends = [result.estimate(part).interval(0.975)[1] for part in ("base_accuracy", "new_accuracy")]
    assert result.interval()[1] == pytest.approx(ends[0] * ends[1]) and ends[0] * ends[1] < unseen([12, 12])
    assert average([result]).interval() == result.interval()


def test_intervals_hold_the_truth_where_hardly_anything_is_mistaken():
    """Accuracies of .99 and .98 and 60 samples a side: half of such samples show no mistake on a side."""
    rng = np.random.default_rng(1)
    draw = lambda mean, share, n: (rng.normal(mean, 1, n), rng.random(n) < share)  # noqa: E731
    truth = openworld_auc(*draw(3.29, 0.99, 200_000), *draw(0, 0.98, 200_000)).value
    ends = [openworld_auc(*draw(3.29, 0.99, 60), *draw(0, 0.98, 60)).interval() for _ in range(500)]
    assert np.mean([low <= truth <= high for low, high in ends]) >= 0.94


@pytest.mark.slow
@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_cover(grouped):
    """2,000 simulated test sets: the 95 % interval holds the true value about 95 % of the time, grouped or not."""
    rng = np.random.default_rng(0)
    truth = np.mean([_draw(rng, 400, grouped)[0].value for _ in range(1500)])
    results = [_draw(rng, 24, grouped) for _ in range(2000)]
    covered = np.mean([one.interval()[0] <= truth <= one.interval()[1] for one, _ in results])
    assert 0.935 < covered < 0.97
    if grouped:
        naive = np.mean([one.interval()[0] <= truth <= one.interval()[1] for _, one in results])
        assert naive < 0.85  # what taking frames for independent samples costs


def _draw(rng, n_groups, grouped):
    """A test set of drawings, 5 variations each if grouped, half of the drawings seen on both sides."""
    size = 5 if grouped else 1
    effect, skill = rng.normal(0, 1, n_groups), rng.normal(0, 1, n_groups)
    base = np.repeat(np.arange(0, 3 * n_groups // 4), size)
    new = np.repeat(np.arange(n_groups // 4, n_groups), size) if grouped else np.arange(n_groups // 4, n_groups)
    if not grouped:
        effect, skill = np.zeros(n_groups), np.zeros(n_groups)
    s, t = effect[base] + rng.normal(1, 1, base.size), effect[new] + rng.normal(0, 1, new.size)
    c, d = skill[base] + rng.normal(0.8, 1, base.size) > 0, skill[new] + rng.normal(0.5, 1, new.size) > 0
    plain = openworld_auc(s, c, t, d)
    return (openworld_auc(s, c, t, d, base_groups=base, new_groups=new) if grouped else plain), plain


@pytest.mark.parametrize("case", REFERENCE["metric_cases"], ids=lambda case: case["name"])
def test_open_auc_reproduces_xcurve(case):
    given = case["inputs"]
    correct = np.equal(given["base_pred"], given["base_label"])
    found = open_auc(given["base_score"], correct, given["new_score"])
    assert found.value == pytest.approx(case["reference"]["openauc_xcurve_ood_score"], abs=1e-12)


def test_overall_accuracy_reproduces_the_released_code():
    case = REFERENCE["overall_accuracy"][0]
    given, logits = case["inputs"], np.array(case["inputs"]["logits"])
    split = given["n_base_classes"]
    found = overall_accuracy(logits[:, :split], logits[:, split:], given["label"])
    assert found.value == pytest.approx(case["reference"]["overall_acc"], abs=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(0.5 * 0.5 / (logits.shape[0] - 1)))
    halves = overall_accuracy(logits[:, :split], logits[:, split:], given["label"], groups=["a"] * 15 + ["b"] * 15)
    assert halves.degrees_of_freedom == pytest.approx(1)
