"""How every metric of METRICS is called: for its contract, and with bad values (tests/bad_input)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """How to call a metric.

    arguments: makes them from a generator and a number of samples. together: positions of arguments that list the
    same samples, in any order. headline: reads the number (or numbers) off the result. undefined_when_empty: no
    samples give None with a reason; otherwise they are refused.
    """

    arguments: Callable[[np.random.Generator, int], list]
    together: tuple[tuple[int, ...], ...]
    headline: Callable = lambda result: result.value
    undefined_when_empty: bool = True


def two_sides(rng, n):
    return [rng.normal(1, 1, n).round(1), rng.normal(0, 1, n).round(1)]


def both_named(rng, n):
    in_scores, out_scores = two_sides(rng, n)
    return [in_scores, rng.random(n) < 0.8, out_scores, rng.random(n) < 0.6]


def soft(rng, n):
    base, right = rng.random(n), rng.random(n)
    return [rng.normal(0, 1, n).round(1), base * right, (1 - base) * right, base]


def logits(rng, n):
    return [rng.random((n, 3)), rng.random((n, 2)), rng.integers(0, 5, n)]


def plain(result):
    return result


SEPARATE, PAIRED = ((0,), (1,)), ((0, 1),)
DETECTION = ("aupr_in", "aupr_out", "average_precision_in", "average_precision_out")
DETECTION += ("auroc", "fpr_in_positive", "fpr_out_positive")

CONTRACT = {
    "openworld_auc": Case(both_named, ((0, 1), (2, 3))),
    "soft_openworld_auc": Case(soft, ((0, 1, 2, 3),)),
    "miss_hit_curve": Case(both_named, ((0, 1), (2, 3)), lambda curve: curve.area),
    "operating_point": Case(lambda rng, n: [*both_named(rng, n), 0.5], ((0, 1), (2, 3)), lambda point: point.hit.value),
    "open_auc": Case(lambda rng, n: both_named(rng, n)[:3], ((0, 1), (2,))),
    "overall_accuracy": Case(logits, ((0, 1, 2),)),
    **{name: Case(two_sides, SEPARATE) for name in DETECTION},
    "accuracy": Case(lambda rng, n: [rng.random(n) < 0.7], ((0,),)),
    "harmonic_mean": Case(lambda rng, n: list(rng.random(2)), (), plain, False),
    "expected_calibration_error": Case(lambda rng, n: [rng.random(n), rng.random(n) < 0.7], PAIRED),
    "aurc": Case(lambda rng, n: [rng.normal(0, 1, n).round(1), rng.random(n) < 0.7], PAIRED),
    "semantic_alignment": Case(
        lambda rng, n: [rng.dirichlet(np.ones(4), n), rng.integers(0, 4, n), rng.random((4, 4))], PAIRED
    ),
    "robustness": Case(
        lambda rng, n: [np.arange(n) / max(n - 1, 1), rng.random(n)], (), lambda curve: curve.auc, False
    ),
    "friedman_ranks": Case(lambda rng, n: [rng.random((4, n))], (), plain, False),
    "final_ranks": Case(lambda rng, n: [1 + 3 * rng.random(n)], (), plain, False),
    "friedman_test": Case(lambda rng, n: [rng.random((4, n))], (), undefined_when_empty=False),
    "nemenyi": Case(lambda rng, n: [rng.random((4, n))], (), undefined_when_empty=False),
    "trend": Case(lambda rng, n: [np.arange(n) * 1.0, rng.random(n)], PAIRED, lambda trend: trend.slope),
    "shift_trend": Case(lambda rng, n: [rng.random((n, 5))], (), lambda trends: trends.covariate.slope),
}
