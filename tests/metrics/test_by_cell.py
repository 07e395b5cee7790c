"""Detection metrics by cell: each is what the plain metrics say of the cell alone; IS-OOD's numbers; edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import aupr_in, detection_by_cell, detection_metrics
from openworld.metrics.by_cell import NOWHERE

pytestmark = pytest.mark.base

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
