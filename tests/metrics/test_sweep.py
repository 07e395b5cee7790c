"""The sorted counts behind the ranking metrics, against plain loops; in blocks they are what one pass gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import average, detection_metrics, estimate, miss_hit_curve, openworld_auc
from openworld.metrics import detection as detecting
from openworld.metrics._design import _numbered
from openworld.metrics._sweep import BLOCK, Sweep, count_wins, place, win_shares

pytestmark = pytest.mark.base

levels = st.lists(st.integers(-3, 3).map(float), max_size=15).map(lambda values: np.array(values, float))


def double_wins(high, low):
    return sum(2 * (x > y) + (x == y) for x in high for y in low)


@given(levels, levels)
def test_count_wins_is_the_double_loop(high, low):
    assert count_wins(high, low) == double_wins(high, low) == Sweep.of(high, low).double_wins()


@given(levels, levels)
def test_place_is_searchsorted(ranked, queries):
    ranked, queries = np.sort(ranked), np.sort(queries)
    below, upto = place(ranked, queries)
    assert below.tolist() == np.searchsorted(ranked, queries, "left").tolist()
    assert upto.tolist() == np.searchsorted(ranked, queries, "right").tolist()


@given(levels, levels, st.randoms(use_true_random=False))
def test_win_shares_is_the_loop(scores, others, random):
    weights = np.array([random.randint(1, 4) for _ in others], float)
    expected = [sum(w * ((x > y) + 0.5 * (x == y)) for y, w in zip(others, weights, strict=True)) for x in scores]
    assert win_shares(scores, others, weights, 1.0).tolist() == expected
    if others.size:
        assert np.allclose(win_shares(scores, others, weights), np.array(expected) / weights.sum())


@given(levels, levels)
def test_sweep_counts_what_is_kept(in_scores, out_scores):
    sweep = Sweep.of(in_scores, out_scores)
    assert sweep.thresholds.tolist() == sorted({*in_scores, *out_scores}, reverse=True)
    assert sweep.in_kept.tolist() == [(in_scores >= threshold).sum() for threshold in sweep.thresholds]
    assert sweep.out_kept.tolist() == [(out_scores >= threshold).sum() for threshold in sweep.thresholds]
    assert (sweep.n_in, sweep.n_out) == (in_scores.size, out_scores.size)


def test_neighbouring_floats_are_told_apart_and_zeros_are_equal():
    one, above = np.array([1.0]), np.nextafter([1.0], 2)
    assert count_wins(above, one) == 2 and count_wins(one, above) == 0
    assert count_wins(np.array([0.0]), np.array([-0.0])) == 1


def drawn_scores(count, ties, seed):
    values = np.random.default_rng(seed).normal(size=count)
    return np.round(values, 3) if ties else values


def whole(true, false):
    """Area by trapezoids, and by steps, in one pass over all thresholds."""
    recall, precision = true / true[-1], true / (true + false)
    area = (np.diff(np.append(0.0, recall)) * (precision + np.append(1.0, precision[:-1]))).sum() / 2
    return float(area), float((np.diff(recall, prepend=0.0) * precision).sum())


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("count", [BLOCK // 2, BLOCK + 1, 3 * BLOCK])
def test_areas_of_blocks_are_those_of_one_pass(count, ties):
    high, low = drawn_scores(count, ties, 1) + 1, drawn_scores(count // 2 + 3, ties, 2)
    found, sweep = detection_metrics(high, low), Sweep.of(high, low)
    for direction, side in ((detecting.inwards, "in"), (detecting.outwards, "out")):
        area, steps = whole(*direction(sweep))
        assert (getattr(found, f"aupr_{side}"), getattr(found, f"average_precision_{side}")) == (area, steps)
    order = np.searchsorted(np.sort(low), high, "left") + np.searchsorted(np.sort(low), high, "right")
    assert sweep.double_wins() == order.sum()
    assert win_shares(high, low).tolist() == (order / (2 * low.size)).tolist()
    for recall in (0.05, 0.95, 1.0):
        true, false = detecting.inwards(sweep)
        reached = np.searchsorted(true / true[-1], recall)
        assert detecting.false_positives(true, false, recall) == false[reached] / false[-1]


@given(st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 30), max_size=40), st.sampled_from([np.int64, np.int32]))
def test_labels_are_numbered_as_sorting_does(labels, kind):
    labels = np.array(labels, np.int64) if kind == np.int64 else np.array([one % 50 for one in labels], kind)
    known, codes = np.unique(labels, return_inverse=True)
    found, count = _numbered(labels)
    assert found.tolist() == codes.tolist() and count == known.size


def test_numbers_do_not_depend_on_whether_influences_are_kept(monkeypatch):
    luck = np.random.default_rng(0)
    samples = luck.normal(1, 1, 300), luck.random(300) < 0.8, luck.normal(0, 1, 200), luck.random(200) < 0.7
    groups = {"base_groups": np.arange(300) // 2, "new_groups": np.arange(200) + 100}

    def numbers():
        result = openworld_auc(*samples, **groups)
        return [
            (each.value, each.standard_error, each.interval())
            for each in (*(result.estimate(of) for of in ("openworld_auc", "auroc", "new_accuracy")), average([result]))
        ]

    kept = numbers()
    monkeypatch.setattr(estimate, "KEPT", 0)
    assert numbers() == kept


def test_a_curve_does_not_change_the_scores_that_it_is_given():
    base, new = np.array([3.0, 1.0, 2.0]), np.array([2.0, 0.0])
    curve = miss_hit_curve(base, [1, 1, 1], new, [1, 1])
    assert base.tolist() == [3.0, 1.0, 2.0] and new.tolist() == [2.0, 0.0] and curve.area == 0.75
