"""What probabilities are worth: by hand, against loops, torchmetrics, a walk through all orders of ties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import aurc, expected_calibration_error, semantic_alignment

pytestmark = pytest.mark.base

samples = st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=40)
bin_counts = st.integers(1, 12)


def split(pairs):
    return np.array([value / 30 for value, _ in pairs]), np.array([right for _, right in pairs])


def by_loop(confidence, correct, edges) -> float:
    total = 0.0
    for number, (lower, upper) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
        inside = (confidence > lower) & (confidence <= upper) | ((confidence == 0) & (number == 0))
        if inside.any():
            total += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    return total


@given(samples, bin_counts, st.booleans())
def test_equals_a_loop_over_its_bins(pairs, bins, equal_mass):
    confidence, correct = split(pairs)
    result = expected_calibration_error(confidence, correct, bins=bins, equal_mass=equal_mass)
    edges = [result.bins[0].lower, *(bar.upper for bar in result.bins)]
    assert result.value == pytest.approx(by_loop(confidence, correct, edges), abs=1e-12)
    assert sum(bar.count for bar in result.bins) == result.n == len(pairs)
    assert edges[0] == 0 and edges[-1] == 1 and (np.diff(edges) > 0).all()
    if not equal_mass:
        assert len(result.bins) == bins


@pytest.mark.parametrize(("bins", "torchmetrics"), [(10, 0.44225326), (15, 0.45839640)])
def test_equals_torchmetrics(bins, torchmetrics):
    """The numbers are those of `multiclass_calibration_error` of torchmetrics 1.9.0, computed in float32."""
    generator = np.random.default_rng(bins)
    logits = generator.normal(size=(500, 7)) * 2
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = generator.integers(0, 7, size=500)
    correct = probabilities.argmax(axis=1) == labels
    result = expected_calibration_error(probabilities.max(axis=1), correct, bins=bins)
    assert result.value == pytest.approx(torchmetrics, abs=1e-6)


def test_a_confidence_on_an_edge_belongs_to_the_bin_below():
    # Guo's code too; torchmetrics puts it into the bin above, which gives another number.
    result = expected_calibration_error([0.5, 0.6], [0, 1], bins=2)
    assert [bar.count for bar in result.bins] == [1, 1]
    assert result.value == pytest.approx(0.45)  # (|0 - .5| + |1 - .6|) / 2
    tenths = expected_calibration_error(np.arange(11) / 10, np.ones(11), bins=10)
    assert [bar.count for bar in tenths.bins] == [2] + [1] * 9  # 0 has no bin below: the first one takes it


def test_equal_mass_bins_hold_equally_many_and_never_split_a_tie():
    confidence = np.linspace(0.05, 0.95, 12)
    even = expected_calibration_error(confidence, np.ones(12), bins=4, equal_mass=True)
    assert [bar.count for bar in even.bins] == [3, 3, 3, 3]
    tied = expected_calibration_error([0.9] * 10 + [0.2, 1.0], [1, 0] * 6, bins=4, equal_mass=True)
    assert [(bar.upper, bar.count) for bar in tied.bins] == [(0.9, 11), (1.0, 1)]


def test_empty_bins_have_no_mean():
    result = expected_calibration_error([0.9], [1], bins=2)
    assert result.bins[0].confidence is result.bins[0].accuracy is None
    assert result.bins[1].count == 1


def test_the_rounding_of_a_float32_softmax_is_let_through():
    assert expected_calibration_error(np.array([1.0000001], dtype=np.float32), [1]).value == 0


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 6))
def test_semantic_alignment_equals_its_definition(seed, n, classes):
    rng = np.random.default_rng(seed)
    probabilities, labels = rng.dirichlet(np.ones(classes), n), rng.integers(0, classes, n)
    similarity = rng.random((classes, classes))
    terms = [probabilities[i, c] * similarity[c, labels[i]] for i in range(n) for c in range(classes)]
    expected = sum(terms) / n
    assert semantic_alignment(probabilities, labels, similarity).value == pytest.approx(expected, abs=1e-12)
    true = probabilities[np.arange(n), labels].mean()
    assert semantic_alignment(probabilities, labels, np.eye(classes)).value == pytest.approx(true, abs=1e-12)


def walk(scores, correct):
    """The mean over every order of equal scores of the mean risk of the first 1, 2, ..., n answers."""
    values = []
    for order in permutations(range(len(scores))):
        if all(scores[first] >= scores[second] for first, second in zip(order, order[1:], strict=False)):
            wrong = np.cumsum([not correct[place] for place in order])
            values.append(np.mean(wrong / np.arange(1, len(scores) + 1)))
    return np.mean(values)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6))
def test_aurc_is_the_mean_risk_over_coverages_and_orders_of_ties(rows):
    scores, correct = zip(*rows, strict=True)
    assert aurc(scores, correct).value == pytest.approx(walk(scores, correct))


def test_the_ends_of_aurc():
    assert aurc([1, 2, 3], [1, 1, 1]).value == 0 and aurc([1, 2, 3], [0, 0, 0]).value == 1
    assert aurc([1, 2], [0, 1]).value < aurc([2, 1], [0, 1]).value
    assert aurc([], []).value is None and aurc([], []).reason == "there is no sample"
