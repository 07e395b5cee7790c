"""Transport: by hand, every assignment, POT and the n x n problem, the price certificate, ties, quotas."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax
from simulated import refused

from openworld.estimators.engine.transport import quotas, transport

seeds = st.integers(0, 10**6)


def drawn(seed, n, classes, spread=3.0):
    """Probabilities with a favoured class, and quotas of random shares."""
    rng = np.random.default_rng(seed)
    logits = spread * rng.normal(size=(n, classes))
    logits[:, 0] += 2
    return softmax(logits, axis=1), quotas(rng.dirichlet(np.ones(classes)), n)


def square(p, wanted):
    """The same by the n x n problem: one column per place of a class."""
    columns = np.repeat(np.arange(p.shape[1]), wanted)
    rows, places = linear_sum_assignment(-p[:, columns])
    return p[rows, columns[places]]


def test_by_hand():
    plan = transport(np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]]), np.array([1, 2]))
    assert plan.assigned.tolist() == [0, 1, 1]
    assert plan.prices.tolist() == pytest.approx([0.6, 0.0])  # between what the second and the first image would pay


@given(seeds)
def test_equals_the_best_of_all_assignments(seed):
    p, wanted = drawn(seed, 6, 3)
    labels = set(permutations(np.repeat(np.arange(3), wanted).tolist()))
    best = max(p[np.arange(6), list(one)].sum() for one in labels)
    assert transport(p, wanted).given.sum() == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(("n", "classes"), [(50, 5), (300, 10), (400, 50), (30, 100)])
def test_equals_the_square_problem(n, classes):
    p, wanted = drawn(n, n, classes)
    expected = square(p, wanted)
    np.testing.assert_allclose(np.sort(transport(p, wanted).given), np.sort(expected), atol=1e-12)


def test_equals_pot(monkeypatch):
    monkeypatch.setenv("POT_BACKEND_DISABLE_PYTORCH", "1")  # seconds of import
    lp = pytest.importorskip("ot.lp")
    n = 400
    p, wanted = drawn(n, n, 40)
    cost = lp.emd2(np.full(n, 1 / n), wanted / n, 1 - p)
    assert 1 - transport(p, wanted).given.mean() == pytest.approx(cost, abs=1e-12)


@given(seeds, st.integers(1, 300), st.integers(2, 30), st.sampled_from([0.1, 3.0, 30.0]))
def test_the_prices_prove_it(seed, n, classes, spread):
    """Quotas are kept, no image is worth more elsewhere, and the dual value equals the primal one."""
    p, wanted = drawn(seed, n, classes, spread)
    plan = transport(p, wanted)
    assert np.bincount(plan.assigned, minlength=classes).tolist() == wanted.tolist()
    np.testing.assert_allclose(plan.profits, (p - plan.prices).max(axis=1), atol=1e-12)
    dual = (p - plan.prices).max(axis=1).sum() + wanted @ plan.prices
    assert dual == pytest.approx(plan.given.sum(), abs=1e-9)


@given(seeds, st.integers(2, 12), st.integers(1, 4))
def test_ties_are_no_obstacle(seed, classes, levels):
    rng = np.random.default_rng(seed)
    p = softmax(rng.integers(0, levels, (60, classes)), axis=1)
    wanted = quotas(rng.dirichlet(np.ones(classes)), 60)
    assert transport(p, wanted).given.sum() == pytest.approx(square(p, wanted).sum(), abs=1e-9)


def test_images_that_are_all_alike():
    plan = transport(np.full((500, 20), 0.05), quotas(np.ones(20), 500))
    assert (np.bincount(plan.assigned) == 25).all() and not plan.prices.any()
    collapsed = transport(np.tile(softmax([5.0, 0.0, 0.0]), (90, 1)), np.array([30, 30, 30]))
    assert np.bincount(collapsed.assigned).tolist() == [30, 30, 30]


@given(seeds, st.integers(1, 500), st.integers(2, 50))
def test_quotas_are_whole_and_near(seed, n, classes):
    shares = np.random.default_rng(seed).dirichlet(np.ones(classes))
    found = quotas(shares, n)
    assert found.sum() == n and (np.abs(found - shares * n) < 1 + 1e-6).all()


def test_quotas_by_hand_and_those_that_do_not_fit():
    assert quotas(np.array([0.07, 0.29, 0.64]), 100).tolist() == [7, 29, 64]  # though 0.29 x 100 is 28.999...
    assert quotas(np.ones(3) / 3, 5).tolist() == [2, 2, 1]
    assert quotas(np.array([0.1, 0.6, 0.3]), 4).tolist() == [1, 2, 1]  # 0.4, 2.4, 1.2: equal remainders, lowest class
    for wrong in ([1, 1], [2, 2, 0], [-1, 2, 1], [1, 1, 1, 0]):
        refused("do not fit", transport, np.ones((2, 3)) / 3, np.array(wrong))


@given(seeds)
def test_classes_that_nobody_is_given_have_a_price_that_keeps_all_away(seed):
    p, wanted = drawn(seed, 12, 30)
    wanted = quotas((wanted > 0) * np.arange(30.0) ** 4 + 1e-9, 12)
    rows = np.random.default_rng(seed).integers(0, 12, 12)
    plan, copied = transport(p, wanted, rows), transport(p[rows], wanted)
    assert (wanted == 0).any() and (plan.assigned == copied.assigned).all() and (plan.prices == copied.prices).all()
    assert (np.bincount(plan.assigned, minlength=30) == wanted).all() and plan.prices.min() == 0
    np.testing.assert_allclose(plan.profits, (p[rows] - plan.prices).max(axis=1), atol=1e-12)
