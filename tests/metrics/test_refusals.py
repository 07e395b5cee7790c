"""What does not go together is refused in words that say what to do; bad values themselves are in tests/bad_input."""

import numpy as np
import pytest

from openworld import metrics
from openworld.core.errors import OpenworldError

pytestmark = pytest.mark.base

EYE = np.eye(2)
RESULT = metrics.openworld_auc([2.0, 1.0], [1, 1], [0.0, 1.0, 3.0], [1, 0, 1])


def judged(base_correct=(1, 1), **options):
    return metrics.openworld_auc([2.0, 1.0], base_correct, [0.0, 1.0, 3.0], [1, 0, 1], **options)


def cells(places, count=3, inside=(1.0,)):
    return metrics.detection_by_cell(inside, [1.0], places, count)


def sides(inside=((1.0,),), outside=((1.0,),), **options):
    return metrics.rank_sides(inside, outside, **options)


REFUSALS = (
    (lambda: metrics.accuracy([0, 2]), "True/False or 0/1"),
    (lambda: metrics.accuracy([0, 1], weights=[1, -1]), "weights holds -1"),
    (lambda: metrics.accuracy([0, 1], groups=[1]), "1 entries, expected 2"),
    (lambda: metrics.harmonic_mean(-0.1, 0.5), "from 0 up"),
    (lambda: float(metrics.auroc([], [1.0])), "undefined: there is no in sample"),
    (lambda: metrics.auroc([1.0], [0.0, np.nan, np.inf]), "out_scores .* first at index 1, 2"),
    (lambda: metrics.average([RESULT, metrics.openworld_auc([1.0], [1], [0.0], [1])]), "result 2 has other samples"),
    (lambda: metrics.average([]), "at least one"),
    (lambda: cells([0], inside=[]), "no in-distribution score"),
    (lambda: cells([0, 0]), "2 entries, expected 1"),
    (lambda: cells([3]), "from 3 to 3, expected whole numbers from 0 to 2"),
    (lambda: cells([-2]), "from -2 to -2"),
    (lambda: metrics.expected_calibration_error([90.0], [1]), "outside .0, 1.; pass probabilities"),
    (lambda: sides(outside=[[1.0], [2.0]]), "2 entries, expected 1"),
    (lambda: sides(inside=[[]]), "no in-distribution score"),
    (lambda: sides(groups=([0], [0, 1])), "out_groups has 2"),
    (lambda: sides().sums([1], [[1.0]]), "from 1 to 1"),
    (lambda: sides().sums([0], [[1.0, 1.0]]), "cell 1 has a weight and no image"),
    (lambda: metrics.overall_accuracy([[0.0, 1.0]], [[2.0]], [3]), "3 names in all"),
    (lambda: metrics.overall_accuracy([[0.0, 1.0]], [[2.0], [1.0]], [0]), "new_logits has 2 entries, expected 1"),
    (lambda: metrics.level_errors([], []), "empty view, or none"),
    (lambda: metrics.level_errors([[[]]], [[np.zeros((1, 0))]]), "empty view"),
    (lambda: metrics.level_errors([[[0, 1]]], [[[[1, 0, 1]]]]), "and correct disagree"),
    (
        lambda: metrics.level_errors([[[0, 1]], [[0, 1]] * 2], [[[[1, 0]]], [[[1, 0]]] * 2]),
        "groups and correct disagree",
    ),
    (
        lambda: metrics.level_errors([[[0, 1]], [[0, 1]]], [[[[1, 0]]], [[[1, 0], [1, 1]]]]),
        "groups and correct disagree",
    ),
    (lambda: metrics.mean_over_sets([], []), "give one pair per result"),
    (lambda: metrics.mean_over_sets([RESULT], [([0], [1, 2, 3])]), "groups"),
    (lambda: judged(base_correct=[1]), "base_correct has 1 entries, expected 2"),
    (lambda: judged(base_weights=[-1, 1]), "weight is 0 or more"),
    (lambda: judged(base_groups=[1, 2]), "new_groups is missing"),
    (lambda: judged(base_groups=[1, 2], new_groups=["a", "b", "c"]), "mix numbers and strings"),
    (lambda: RESULT.estimate("auroC"), "did you mean 'auroc'"),
    (lambda: metrics.choose_threshold([1, 2], [1, 1]), "none came; give miss_rate, hit_rate or costs"),
    (lambda: metrics.choose_threshold([1, 2], [1, 1], miss_rate=0.1, hit_rate=0.1), "miss_rate and hit_rate came"),
    (lambda: metrics.choose_threshold([1, 2], [1, 1], hit_rate=0.5), "need new images"),
    (lambda: metrics.choose_threshold([1, 2], [1, 1], costs=metrics.Costs()), "need new images"),
    (lambda: metrics.holm([0.5, 1.5]), "holds 1.5"),
    (lambda: metrics.seeds_test([0.1, 0.2], [0.1]), "second has 1 entries, expected 2"),
    (lambda: metrics.seeds_test_against_summary([0.5, 0.6], 0.4, 0.1, 1), "count"),
    (lambda: metrics.friedman_test(np.zeros((5, 11, 6))), "expected 2 dimension"),
    (lambda: metrics.nemenyi(np.empty((3, 0))), "expected .methods, data sets."),
    (lambda: metrics.robustness([0, 1], [56.8, 44.1]), "fractions, not percent"),
    (lambda: metrics.robustness([0, 0.5, 0.5], [0.1, 0.2, 0.3]), "strictly increase"),
    (lambda: metrics.robustness([0, 2], [0.1, 0.2]), "levels holds 2"),
    (lambda: metrics.robustness([0], [0.1]), "at least two levels"),
    (lambda: metrics.robustness([0, 1], [0.1, 0.2, 0.3]), r"expected \(2,\)"),
    (lambda: metrics.robustness([0, 1], [[0.1, 0.2]] * 3, [[0.1, 0.2]] * 2), "2 rows, accuracy 3"),
    (lambda: metrics.robustness([0, 1], [[0.5, 0.5]] * 2).spread("delta_acu"), "did you mean 'delta_auc'"),
    (
        lambda: metrics.semantic_alignment([[2.0, -1.0]], [0], EYE),
        "row 0 .* sums to 1 with smallest value -1",
    ),
    (lambda: metrics.semantic_alignment([[3.0, 2.0]], [0], EYE), "sums to 5"),
    (lambda: metrics.semantic_alignment([[0.5, 0.5]], [2], EYE), "labels holds class 2, expected less than 2"),
    (lambda: metrics.semantic_alignment([[0.5, 0.5]], [0], np.eye(3)), r"shape \(3, 3\), expected \(2, 2\)"),
    (lambda: metrics.semantic_alignment([[0.5, 0.5]], [0], 2 * EYE), "similarity holds 2, outside"),
    (lambda: metrics.soft_openworld_auc([2, 1], [1, 0], [0], [1, 0]), "new_right has 1 entries, expected 2"),
    (lambda: metrics.soft_openworld_auc([2, 1, 0], [1, 0], [0, 0], [1, 0]), "base has 2 entries, expected 3"),
    (
        lambda: metrics.soft_openworld_auc([2, 1], [1, 0], [0, 1], [1, 0]).influence("overall_accuracy"),
        "has no influences",
    ),
    (lambda: metrics.soft_openworld_auc([2, 1], [1, 0], [0, 1], [1, 0]).influence("aurok"), "auroc"),
    (lambda: metrics.shift_trend([[1.0, float("nan")]]), r"first at index \(0, 1\).*masked"),
    (lambda: metrics.shift_trend([[1.0, 2.0]], present=[True, False]), r"shape \(2,\)"),
    (lambda: metrics.trend([1, 2, 3], [0.5, 0.6]), "2 entries, expected 3"),
)


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_what_does_not_go_together_is_refused(call, words):
    with pytest.raises(OpenworldError, match=words):
        call()
