"""OpenworldAUC by cell and level: against `openworld_auc` of the same images, empty levels, bad lengths."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.metrics import openworld_auc
from openworld.shifts import ShiftGrid, open_world_by_shift


def test_every_cell_and_level_is_the_metric_of_its_images():
    draw = np.random.default_rng(0)
    base = draw.normal(1, 1, 40), draw.random(40) < 0.8
    new = draw.normal(0, 1, 60), draw.random(60) < 0.6
    grid = ShiftGrid(draw.integers(0, 3, 60), draw.integers(0, 2, 60), (3, 4), 5)
    groups = np.arange(40) // 2, 100 + np.arange(60) // 2
    found = open_world_by_shift(base, new, grid, base_groups=groups[0], new_groups=groups[1])
    assert set(found.cells) == set(map(tuple, np.argwhere(grid.present).tolist())) and len(found.cells) == 6
    for (row, column), one in found.cells.items():
        there = (grid.covariate == row) & (grid.semantic == column)
        again = openworld_auc(*base, new[0][there], new[1][there], base_groups=groups[0], new_groups=groups[1][there])
        assert (one.value, one.n_base, one.n_new) == (again.value, again.n_base, again.n_new)
        assert one.interval() == again.interval()
    assert found.semantic[3] is None and found.covariate[2] is None
    assert found.semantic[1].n_new == (grid.semantic == 1).sum() and found.covariate[0].n_base == 40

    levels = draw.integers(0, 3, 40)
    same = open_world_by_shift(base, new, grid, base_covariate=levels)
    assert same.semantic == () and set(same.cells) == set(found.cells) and same.covariate[2] is None
    for level, one in enumerate(same.covariate[:2]):
        own, there = levels == level, grid.covariate == level
        again = openworld_auc(base[0][own], base[1][own], new[0][there], new[1][there])
        assert (one.value, one.n_base) == (again.value, own.sum())
    assert same.cells[0, 1].n_base == (levels == 0).sum()


def test_a_grid_of_other_images_is_refused():
    with pytest.raises(OpenworldError, match="new scores"):
        open_world_by_shift(([1.0], [1]), ([0.0], [1]), ShiftGrid([0, 0], [0, 0], (1, 1), 1))
