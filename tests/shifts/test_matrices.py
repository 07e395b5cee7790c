"""Orthogonal matrices: uniform draws, the nearest one, rotations that a free matrix stands for."""

import pytest
import torch

from openworld.shifts import deviation, nearest_orthogonal, random_orthogonal
from openworld.shifts.matrices import turned


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("width", [1, 2, 9])
def test_random(generator, width):
    drawn = [random_orthogonal(width, generator) for _ in range(20)]
    assert max(float(deviation(one)) for one in drawn) < 1e-20
    assert {round(float(torch.linalg.det(one))) for one in drawn} == {-1, 1}  # both orientations
    torch.testing.assert_close(nearest_orthogonal(drawn[0]), drawn[0])


def test_no_orthogonal_matrix_is_nearer(generator):
    matrix = torch.randn(5, 5, generator=generator, dtype=torch.float64)
    best = nearest_orthogonal(matrix)
    assert float(deviation(best)) < 1e-20
    others = [random_orthogonal(5, generator) for _ in range(50)]
    others += [turned(best, 1e-3 * torch.randn(5, 5, generator=generator, dtype=torch.float64)) for _ in range(50)]
    assert all((matrix - best).norm() <= (matrix - other).norm() for other in others)


def test_turned_stays_orthogonal(generator):
    start = random_orthogonal(6, generator)
    free = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    assert float(deviation(turned(start, free))) < 1e-20
    torch.testing.assert_close(turned(start, torch.zeros(6, 6, dtype=torch.float64)), start)
