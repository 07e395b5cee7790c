"""What every metric in METRICS keeps; one that has no case in metric_cases.py makes this file fail."""

import inspect
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from metric_cases import CONTRACT

from openworld.core.errors import OpenworldError
from openworld.metrics import METRICS

pytestmark = pytest.mark.base

metrics = pytest.mark.parametrize("name", METRICS)


def called(name, arguments):
    return METRICS[name].function(*arguments)


def number(name, arguments):
    return CONTRACT[name].headline(called(name, arguments))


def arguments_of(name, n=30):
    return CONTRACT[name].arguments(np.random.default_rng(0), n)


def test_every_metric_is_enrolled():
    assert not METRICS.keys() - CONTRACT.keys(), "enrol the new metric: give it a Case in metric_cases.py"
    assert not CONTRACT.keys() - METRICS.keys()


@metrics
def test_the_card_and_the_docstring_say_what_it_is(name):
    card = METRICS[name]
    assert card.function.__name__ == name and card.paper
    assert 5 < len(card.summary) < 60 and "\n" not in card.summary
    documented = inspect.getdoc(card.function)
    is_like_another = re.search(r"(As|Compute) `", documented)
    assert ">>>" in documented and (is_like_another or ("Args:" in documented and "Returns:" in documented))
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
def test_the_order_of_samples_does_not_matter(name):
    arguments, rng = arguments_of(name), np.random.default_rng(1)
    expected = number(name, arguments)
    for positions in CONTRACT[name].together:
        order = rng.permutation(len(arguments[positions[0]]))
        for position in positions:
            arguments[position] = arguments[position][order]
    assert number(name, arguments) == pytest.approx(expected, rel=1e-12)


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
