"""Cells, and sums of them: one is what the plain metrics say; slopes against the jackknife, DeLong's paired test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import (
    aupr_in,
    auroc,
    detection_by_cell,
    detection_metrics,
    paired_test,
    rank_sides,
    shift_trend,
    shift_weights,
)
from openworld.metrics.by_cell import NOWHERE
from openworld.metrics.estimate import share_interval, unseen

pytestmark = pytest.mark.base

CELLS = 6
SLOPE = np.array([[-1.0, -1, 0, 0, 1, 1]]) / 4


def drawn(seed=0, inside=60, outside=90, *, each=1, detectors=2):
    """Scores of detectors that go together, with ties, cells, and groups that span cells and both sides."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(np.repeat(np.arange(CELLS), outside // CELLS))
    shared = rng.normal(0, 1, inside + outside)
    groups = rng.integers(0, (inside + outside) // each, inside + outside)
    common = rng.normal(0, 1, inside + outside)[groups] if each > 1 else 0
    scores = [(shared + common + rng.normal(0, 1, shared.size)).round(1) for _ in range(detectors)]
    scores = np.array(scores)
    scores[:, inside:] -= 0.3 * cells
    return scores[:, :inside], scores[:, inside:], cells, (groups[:inside], groups[inside:])


def same(found, expected):
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    assert found.degrees_of_freedom == pytest.approx(expected.degrees_of_freedom, rel=1e-9)


@pytest.mark.parametrize("each", [1, 3])
def test_one_cell_is_auroc_with_its_error(each):
    inside, outside, cells, groups = drawn(each=each)
    found = rank_sides(inside, outside, groups=groups if each > 1 else None).sums(cells, np.eye(CELLS))
    for cell in range(CELLS):
        own = cells == cell
        both = {"in_groups": groups[0], "out_groups": groups[1][own]} if each > 1 else {}
        one, other = (auroc(a, b[own], **both) for a, b in zip(inside, outside, strict=True))
        assert found.values[:, cell].tolist() == [one.value, other.value]
        same(found.spread(cell, [1, 0]), one)
        same(found.spread(cell, [0, 1]), other)
        same(found.spread(cell, [1, -1]), paired_test(one, other))


def test_two_detectors_are_told_apart_as_by_delong():
    inside, outside, _, _ = drawn()
    found = rank_sides(inside, outside).sums(np.zeros(outside.shape[1], int), [[1.0]])
    # DeLong et al. (1988), equation 5, by NumPy's covariances of the win shares.
    wins = np.sign(inside[:, :, None] - outside[:, None]) / 2 + 0.5
    joint = np.cov(wins.mean(axis=2)) / inside.shape[1] + np.cov(wins.mean(axis=1)) / outside.shape[1]
    assert found.covariance[0] == pytest.approx(joint, rel=1e-9)


def test_a_slope_errs_as_the_jackknife_says():
    inside, outside, cells, _ = drawn(inside=40, outside=72, detectors=1)

    def value(kept_in, kept_out):
        ranked = rank_sides(inside[:, kept_in], outside[:, kept_out])
        return float(ranked.sums(cells[kept_out], SLOPE).values[0, 0])

    every = np.arange(40), np.arange(72)
    parts = [value(np.delete(every[0], one), every[1]) for one in every[0]]
    variance = 39 / 40 * np.square(np.array(parts) - np.mean(parts)).sum()
    for cell in range(CELLS):
        own = np.flatnonzero(cells == cell)
        parts = [value(every[0], np.delete(every[1], one)) for one in own]
        variance += (len(own) - 1) / len(own) * np.square(np.array(parts) - np.mean(parts)).sum()
    found = rank_sides(inside, outside).sums(cells, SLOPE).spread(0, [1])
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)  # exact: a slope is linear in each image


@pytest.mark.parametrize("common", [False, True])
def test_the_weights_are_those_of_the_trends(common):
    rng = np.random.default_rng(1)
    present = rng.random((5, 4)) > 0.2
    present[:, 2] = False
    table = rng.random((5, 4))
    found, expected = shift_weights(present, common=common), shift_trend(table, present, common=common)
    for axis in ("semantic", "covariate"):
        (of_curve, of_slope), curve = found[axis], getattr(expected, f"{axis}_curve")
        values = (of_curve * table).sum(axis=(1, 2))
        assert values == pytest.approx([value or 0 for value in curve])
        assert [bool(one.any()) for one in of_curve] == [value is not None for value in curve]
        slope = getattr(expected, axis).slope
        assert (slope is None) if of_slope is None else (of_slope * table).sum() == pytest.approx(slope)


def test_images_without_a_cell_count_nowhere():
    inside, outside, cells, _ = drawn()
    kept = cells < 4
    some = rank_sides(inside, outside).sums(np.where(kept, cells, NOWHERE), SLOPE[:, :4])
    alone = rank_sides(inside, outside[:, kept]).sums(cells[kept], SLOPE[:, :4])
    assert np.array_equal(some.values, alone.values) and np.array_equal(some.covariance, alone.covariance)


def test_a_mean_of_cells_told_apart_without_a_mistake_has_the_interval_of_all_their_images():
    inside, outside = np.arange(30.0)[None] + 100, np.arange(40.0)[None]
    sums = rank_sides(inside, outside).sums(np.repeat([0, 1], 20), [[0.5, 0.5]])
    found = share_interval(float(sums.values[0, 0]), sums.spread(0, [1.0]))
    assert found == pytest.approx(auroc(inside[0], outside[0]).interval())


@pytest.mark.parametrize("each", [1, 2])
def test_a_cell_with_hardly_a_mistake_has_the_interval_of_auroc(each):
    inside, outside = np.append(np.arange(29.0) + 39, 30), np.arange(40.0)  # one in distribution loses to ten
    groups = np.arange(30) // each, 100 + np.arange(40) // each
    sums = rank_sides(inside[None], outside[None], groups=groups if each > 1 else None).sums(np.zeros(40, int), [[1.0]])
    found = share_interval(float(sums.values[0, 0]), sums.spread(0, [1.0]))
    expected = auroc(inside, outside, in_groups=groups[0], out_groups=groups[1])
    assert found == pytest.approx(expected.interval()) and found[0] == pytest.approx(1 - unseen((30 / each, 40 / each)))


def test_what_has_no_error_says_why():
    ranked = rank_sides([[3.0, 2], [3, 2]], [[1.0, 0, 2.5], [1, 0, 2.5]])
    found = ranked.sums([0, 0, 1], [[1, 0], [0, 1], [0, 0]])
    assert [found.spread(number, [1, 0]).standard_error for number in range(3)] == [None] * 3
    assert "no two samples" in found.spread(0, [1, 0]).reason  # all win, and that is no evidence
    assert found.spread(1, [1, 0]).reason == "a cell has fewer than 2 independent images"
    few = rank_sides([[1.0]], [[0.0, 2]]).sums([0, 0], [[1]])
    assert "2 independent in-distribution" in few.spread(0, [1]).reason
    same_twice = rank_sides([[3.0, 1], [3, 1]], [[2.0, 0], [2, 0]]).sums([0, 0], [[1]])
    assert same_twice.spread(0, [1, -1]).reason and same_twice.spread(0, [1, 0]).standard_error


scores = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=15)
placed = st.lists(st.tuples(st.integers(-3, 3).map(float), st.integers(-1, 3)), max_size=25)


def alone(inside, own, cell):
    """Whether a cell is what the plain metrics say of its images."""
    report = detection_metrics(inside, own)
    assert cell.n == own.size
    for name in ("auroc", "fpr_in_positive", "fpr_out_positive", "aupr_in", "aupr_out"):
        assert getattr(cell, name) == getattr(report, name), name
    assert cell.aupr_in_fixed == aupr_in(inside, own, prevalence=0.5).value


@given(scores, placed)
def test_every_cell_is_what_the_plain_metrics_say(inside, pairs):
    outside, cells = np.array([one for one, _ in pairs], float), np.array([cell for _, cell in pairs], int)
    for number, found in enumerate(detection_by_cell(inside, outside, cells, 4)):
        own = outside[cells == number]
        assert (found is None) == (own.size == 0)
        if found:
            alone(inside, own, found)


def test_cells_with_too_few_images_and_images_without_a_cell_count_nowhere():
    rng = np.random.default_rng(1)
    inside, outside = rng.normal(1, 1, 30), rng.normal(0, 1, 20)
    few, found = detection_by_cell(inside, outside, np.repeat([0, 1, NOWHERE], [9, 10, 1]), 2, least=10)
    assert few is None
    alone(inside, outside[9:19], found)
