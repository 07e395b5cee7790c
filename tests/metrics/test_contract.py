"""What every metric in METRICS keeps; one that is not enrolled in CONTRACT below makes this file fail."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pytest

from openworld._errors import OpenworldError
from openworld.metrics import METRICS


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


def logits(rng, n):
    return [rng.random((n, 3)), rng.random((n, 2)), rng.integers(0, 5, n)]


def plain(result):
    return result


SEPARATE, PAIRED = ((0,), (1,)), ((0, 1),)
DETECTION = ("aupr_in", "aupr_out", "average_precision_in", "average_precision_out")
DETECTION += ("auroc", "fpr_in_positive", "fpr_out_positive")

CONTRACT = {
    "openworld_auc": Case(both_named, ((0, 1), (2, 3))),
    "miss_hit_curve": Case(both_named, ((0, 1), (2, 3)), lambda curve: curve.area),
    "operating_point": Case(lambda rng, n: [*both_named(rng, n), 0.5], ((0, 1), (2, 3)), lambda point: point.hit.value),
    "open_auc": Case(lambda rng, n: both_named(rng, n)[:3], ((0, 1), (2,))),
    "overall_accuracy": Case(logits, ((0, 1, 2),)),
    **{name: Case(two_sides, SEPARATE) for name in DETECTION},
    "accuracy": Case(lambda rng, n: [rng.random(n) < 0.7], ((0,),)),
    "per_class_accuracy": Case(lambda rng, n: [rng.random(n) < 0.7, rng.integers(0, 4, n), 4], PAIRED),
    "macro_f1": Case(lambda rng, n: [rng.integers(0, 4, n), rng.integers(0, 4, n)], PAIRED),
    "harmonic_mean": Case(lambda rng, n: list(rng.random(2)), (), plain, False),
    "expected_calibration_error": Case(lambda rng, n: [rng.random(n), rng.random(n) < 0.7], PAIRED),
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
metrics = pytest.mark.parametrize("name", METRICS)


def called(name, arguments):
    return METRICS[name].function(*arguments)


def number(name, arguments):
    return CONTRACT[name].headline(called(name, arguments))


def arguments_of(name, n=30):
    return CONTRACT[name].arguments(np.random.default_rng(0), n)


def test_every_metric_is_enrolled():
    assert not METRICS.keys() - CONTRACT.keys(), "enrol the new metric: give it a Case in CONTRACT"
    assert not CONTRACT.keys() - METRICS.keys()


@metrics
def test_the_card_and_the_docstring_say_what_it_is(name):
    card = METRICS[name]
    assert card.function.__name__ == name and card.paper
    assert 5 < len(card.summary) < 60 and "\n" not in card.summary
    documented = inspect.getdoc(card.function)
    assert ">>>" in documented and (("Args:" in documented and "Returns:" in documented) or "As `" in documented)
    assert len(documented.split("\n")[0]) < 120


@metrics
def test_the_number_lies_in_its_range(name):
    low, high = METRICS[name].range
    for seed in range(20):
        value = np.asarray(
            CONTRACT[name].headline(called(name, CONTRACT[name].arguments(np.random.default_rng(seed), 9)))
        )
        assert np.isfinite(value).all()
        assert (low is None or (value >= low).all()) and (high is None or (value <= high).all())


@metrics
def test_lists_are_read_inputs_are_kept_and_calls_repeat(name):
    arguments, fresh = arguments_of(name), arguments_of(name)
    expected = number(name, arguments)
    assert np.array_equal(expected, number(name, arguments))
    assert all(np.array_equal(one, other) for one, other in zip(arguments, fresh, strict=True))
    listed = [one.tolist() if isinstance(one, np.ndarray) else one for one in arguments]
    assert np.array_equal(expected, number(name, listed))


@metrics
def test_single_precision_is_read_without_loss(name):
    single = [
        one.astype(np.float32) if isinstance(one, np.ndarray) and one.dtype.kind == "f" else one
        for one in arguments_of(name)
    ]
    double = [
        one.astype(np.float64) if isinstance(one, np.ndarray) and one.dtype.kind == "f" else one for one in single
    ]
    assert np.array_equal(number(name, single), number(name, double))


@metrics
def test_the_order_of_samples_does_not_matter(name):
    arguments, rng = arguments_of(name), np.random.default_rng(1)
    expected = number(name, arguments)
    for positions in CONTRACT[name].together:
        order = rng.permutation(len(arguments[positions[0]]))
        for position in positions:
            arguments[position] = arguments[position][order]
    assert number(name, arguments) == pytest.approx(expected, rel=1e-12)


@metrics
def test_nan_and_infinity_are_refused(name):
    for bad in (np.nan, np.inf, -np.inf):
        for position, argument in enumerate(arguments_of(name)):
            if np.asarray(argument).dtype.kind != "f":
                continue
            arguments = arguments_of(name)
            spoiled = np.array(argument, copy=True)
            spoiled.reshape(-1)[-1:] = bad
            arguments[position] = spoiled if spoiled.ndim else float(spoiled)
            with pytest.raises(OpenworldError, match="NaN or infinite|outside|finite number"):
                called(name, arguments)


@metrics
def test_without_samples_it_is_none_with_a_reason_or_refused(name):
    if name == "harmonic_mean":  # of two numbers
        return
    if not CONTRACT[name].undefined_when_empty:
        with pytest.raises(OpenworldError):
            called(name, arguments_of(name, 0))
        return
    result = called(name, arguments_of(name, 0))
    assert CONTRACT[name].headline(result) is None
    said = result if hasattr(result, "reason") else next(getattr(result, one.name) for one in fields(result))
    assert isinstance(said.reason, str) and said.reason


@metrics
def test_a_result_is_frozen(name):
    result = called(name, arguments_of(name))
    if is_dataclass(result):
        with pytest.raises(AttributeError):
            setattr(result, fields(result)[0].name, None)
    else:
        assert isinstance(result, float | np.ndarray)
