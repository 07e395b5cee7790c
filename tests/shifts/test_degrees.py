"""Degrees in both halves, levels, cells with their mask, equal subsets, and what is far."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.metrics import shift_trend
from openworld.shifts import (
    PUBLISHED_QUANTILES,
    Decomposition,
    Levels,
    ShiftGrid,
    equal_subsets,
    equal_width_levels,
    farthest,
    random_orthogonal,
    shift_degrees,
    shift_grid,
)


@pytest.fixture(scope="module")
def halves():
    return Decomposition.of_matrix(random_orthogonal(8, torch.Generator().manual_seed(0)).float())


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def reference():
    return np.random.default_rng(1).normal(size=(90, 8)).astype(np.float32)


def test_each_half_is_measured_alone(halves, images, reference):
    """Replacing what a half shows moves that half's degrees alone."""
    semantic, covariate = halves.halves(images)
    turned = torch.cat([semantic, covariate.flip(0)], dim=1) @ torch.cat([halves.semantic, halves.covariate], dim=1).T
    before, after = shift_degrees(halves, images, reference), shift_degrees(halves, turned, reference)
    assert after.semantic_degree == pytest.approx(before.semantic_degree, abs=1e-5)
    assert after.covariate_degree == pytest.approx(before.covariate_degree[::-1], abs=1e-5)


def test_a_grid_of_images(halves, images, reference):
    found = shift_degrees(halves, images, reference, k=3)
    cuts = [equal_width_levels(found.semantic_degree, (0.1, 0.9), 4), Levels((0.05, 0.1))]
    grid = shift_grid(found, *cuts, least=5)
    assert grid.shape == (3, 4) and grid.counts.sum() == len(grid) == 60
    assert (grid.present == (grid.counts >= 5)).all()
    for row, column in np.ndindex(grid.shape):
        assert len(grid.cell(row, column)) == grid.counts[row, column]
    shift_trend(np.where(grid.present, 0.5, np.nan), grid.present)  # the mask is the one that trends take


@given(st.lists(st.floats(0, 2), min_size=1), st.lists(st.floats(0, 2), min_size=1, max_size=7, unique=True))
def test_levels_are_half_open_and_in_order(degrees, cuts):
    levels = Levels(tuple(sorted(cuts)))
    for degree, level in zip(degrees, levels.of(degrees).tolist(), strict=True):
        start, end = levels.intervals()[level]
        assert (start is None or start <= degree) and (end is None or degree < end)


def test_equal_width_levels_hold_the_published_shares_in_their_tails():
    degrees = np.random.default_rng(0).normal(0.4, 0.1, 20_000)
    for low, high in PUBLISHED_QUANTILES.values():
        levels = equal_width_levels(degrees, (low, high))
        shares = np.bincount(levels.of(degrees), minlength=8) / len(degrees)
        assert len(levels) == 8 and np.ptp(np.diff(levels.cuts)) < 1e-12
        assert shares[0] == pytest.approx(low, abs=1e-3) and shares[-1] == pytest.approx(1 - high, abs=1e-3)


@pytest.mark.parametrize(("count", "repeats"), [(1, 1), (12, 1), (13, 2)])
def test_equal_subsets(count, repeats):
    grid = ShiftGrid([0] * 12 + [1] * 3 + [2] * 20, [0] * 35, shape=(2, 3), least=10)
    drawn = equal_subsets(grid, count, seed=1)
    assert set(drawn) == {(0, 0), (0, 2)}  # three are too few, and the second row is empty
    members = drawn[0, 0]
    assert len(members) == count and set(members) <= set(range(12))
    assert [len(set(drawn[cell])) for cell in drawn] == [min(count, 12), min(count, 20)]
    times = np.bincount(members, minlength=12)
    assert times.max() == repeats and np.ptp(times[:12]) <= 1
    again = equal_subsets(grid, count, seed=1)
    assert all((again[cell] == drawn[cell]).all() for cell in drawn)


def test_every_cell_and_every_seed_has_a_draw_of_its_own_which_depends_on_no_other():
    grid = ShiftGrid([0] * 20 + [1] * 20 + [0] * 20, [0] * 40 + [1] * 20, shape=(2, 2))
    drawn = [equal_subsets(grid, 5, seed=seed).values() for seed in (0, 1)]
    assert len({tuple((members % 20).tolist()) for one in drawn for members in one}) == 6
    alone = equal_subsets(ShiftGrid([2] * 20, [0] * 20, shape=(2, 3)), 5, seed=1)
    beside = equal_subsets(ShiftGrid([2] * 20 + [0] * 15, [0] * 35, shape=(2, 3)), 5, seed=1)
    assert (alone[0, 2] == beside[0, 2]).all()


def test_farthest():
    far = farthest([0.3, 0.1, 0.2, 0.3, 0.5], ["b", "a", "a", "c", "a"])
    assert [(one.name, one.n) for one in far] == [("b", 1), ("c", 1), ("a", 3)]
    assert far[2].quartiles == pytest.approx((0.15, 0.35))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Levels((0.2, 0.2)), "strictly increase"),
        (lambda: equal_width_levels([1, 2], (0.9, 0.1)), "low < high"),
        (lambda: equal_width_levels([1, 2], (0.1, 0.9), 2), "from 3 to"),
        (lambda: equal_width_levels([], (0.1, 0.9)), "no degree"),
        (lambda: equal_width_levels([1, 1, 1], (0.1, 0.9)), "nothing to cut"),
        (lambda: ShiftGrid([0, 8], [0, 0], shape=(8, 8)), "semantic levels go up to 8"),
        (lambda: ShiftGrid([0, 1], [0], shape=(8, 8)), "1 entries, expected 2"),
        (lambda: ShiftGrid([0], [0], shape=(8, 8)).cell(8, 0), "no covariate level 8"),
        (lambda: farthest([0.1], []), "0 names for 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(OpenworldError, match=message):
        call()
