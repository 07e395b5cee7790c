"""Detection metrics by cell: each is what the plain metrics say of the cell alone; IS-OOD's numbers; edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import aupr_in, auroc, detection_by_cell, detection_metrics
from openworld.metrics.by_cell import NOWHERE
from openworld.metrics.estimate import unseen

pytestmark = pytest.mark.base

scores = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=15)
placed = st.lists(st.tuples(st.integers(-3, 3).map(float), st.integers(-1, 3)), max_size=25)


def alone(inside, own, cell):
    """Whether a cell is what the plain metrics say of its images."""
    report, area = detection_metrics(inside, own), auroc(inside, own)
    assert cell.n == own.size
    for name in ("auroc", "fpr_in_positive", "fpr_out_positive", "aupr_in", "aupr_out"):
        assert getattr(cell, name) == getattr(report, name), name
    assert cell.aupr_in_fixed == aupr_in(inside, own, prevalence=0.5).value
    assert cell.interval == (None if area.interval() is None else pytest.approx(area.interval(), rel=1e-9))


@given(scores, placed)
def test_every_cell_is_what_the_plain_metrics_say(inside, pairs):
    outside, cells = np.array([one for one, _ in pairs], float), np.array([cell for _, cell in pairs], int)
    for number, found in enumerate(detection_by_cell(inside, outside, cells, 4)):
        own = outside[cells == number]
        assert (found is None) == (own.size == 0)
        if found:
            alone(inside, own, found)


def test_groups_widen_the_interval_as_those_of_auroc_do():
    rng = np.random.default_rng(0)
    inside, outside = np.repeat(rng.normal(1, 1, 40), 3), np.repeat(rng.normal(0, 1, 60), 3)
    groups = np.repeat(np.arange(40), 3), 40 + np.repeat(np.arange(60), 3)
    cells = rng.integers(0, 2, outside.size)
    found = detection_by_cell(inside, outside, cells, 2, groups=groups)
    for number, cell in enumerate(found):
        there = cells == number
        expected = auroc(inside, outside[there], in_groups=groups[0], out_groups=groups[1][there])
        assert cell.interval == expected.interval()
        alone_low, _ = detection_by_cell(inside, outside, cells, 2)[number].interval
        assert cell.interval[0] < alone_low


@pytest.mark.parametrize("each", [1, 2])
def test_cells_with_hardly_a_mistake_have_the_interval_of_auroc(each):
    inside, outside = np.append(np.arange(29.0) + 39, 30), np.arange(40.0)  # one in distribution loses to ten
    groups = np.arange(30) // each, 100 + np.arange(40) // each
    (cell,) = detection_by_cell(inside, outside, np.zeros(40, int), 1, groups=groups if each > 1 else None)
    expected = auroc(inside, outside, in_groups=groups[0], out_groups=groups[1])
    assert cell.interval == pytest.approx(expected.interval())
    assert cell.interval[0] == pytest.approx(1 - unseen((30 / each, 40 / each)))


def test_cells_with_too_few_images_and_images_without_a_cell_count_nowhere():
    rng = np.random.default_rng(1)
    inside, outside = rng.normal(1, 1, 30), rng.normal(0, 1, 20)
    few, found = detection_by_cell(inside, outside, np.repeat([0, 1, NOWHERE], [9, 10, 1]), 2, least=10)
    assert few is None
    alone(inside, outside[9:19], found)
