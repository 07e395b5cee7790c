"""LAID's losses and gradients, shift degrees and the level rule equal a stored float64 evaluation of the formulas."""

import pytest
import torch

from openworld.shifts import LAID, Decomposition, Levels, Triplets, deviation, shift_degrees, triplet_distances
from openworld.shifts import triplet_losses as losses_of

EXACT = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(params=[0, 1])
def case(stored, request):
    return stored["cases"][request.param]


def tensor(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def inputs(case) -> tuple[torch.Tensor, Triplets]:
    given = case["inputs"]
    return tensor(given["W"]), Triplets(*(tensor(given[k]) for k in ("standard", "semantic_shift", "covariate_shift")))


def test_distances(case):
    found = triplet_distances(*inputs(case))
    for name, key in (
        ("semantic_alike", "d_sem_std_cs"),
        ("semantic_other", "d_sem_std_ss"),
        ("covariate_alike", "d_cov_std_ss"),
        ("covariate_other", "d_cov_std_cs"),
    ):
        torch.testing.assert_close(getattr(found, name), tensor(case["expected"][key]), **EXACT)


@pytest.mark.parametrize(("hinge", "kind"), [(True, "hinge"), (False, "raw")])
def test_losses(case, hinge, kind):
    semantic, covariate = losses_of(triplet_distances(*inputs(case)), case["alpha"], hinge=hinge)
    assert float(semantic) == pytest.approx(case["expected"][f"L_sem_{kind}_mean"], abs=1e-12)
    assert float(covariate) == pytest.approx(case["expected"][f"L_cov_{kind}_mean"], abs=1e-12)


def test_orthogonality(case):
    assert float(deviation(inputs(case)[0])) == pytest.approx(case["expected"]["L_orth"], abs=1e-12)


@pytest.mark.parametrize(("hinge", "kind"), [(True, "hinge"), (False, "raw")])
def test_gradients(case, hinge, kind):
    matrix, batch = inputs(case)
    matrix.requires_grad_(True)
    LAID(margin=case["alpha"], weight=1.0, hinge=hinge).loss(matrix, batch)["total"].backward()
    torch.testing.assert_close(matrix.grad, tensor(case["expected"][f"grad_W_of_{kind}_plus_orth"]), **EXACT)


@pytest.mark.parametrize(("k", "key"), [(1, "nearest"), (10, "tenth_nearest_1based"), (11, "eleventh_if_0based")])
def test_degrees(stored, k, key):
    given, expected = stored["shift_degree"]["inputs"], stored["shift_degree"]["expected"]
    halves = Decomposition.of_matrix(tensor(given["W"]))
    found = shift_degrees(halves, tensor(given["test_features"]), tensor(given["id_features"]), k=k)
    assert found.semantic_degree == pytest.approx(expected["sem"][key], abs=1e-12)
    assert found.covariate_degree == pytest.approx(expected["cov"][key], abs=1e-12)


def test_levels(stored):
    example = stored["shift_degree"]["example_levels"]
    levels = Levels(example["edges_start"][1:])
    for half in ("sem", "cov"):
        degrees = stored["shift_degree"]["expected"][half]["tenth_nearest_1based"]
        assert levels.of(degrees).tolist() == example["levels"][half]
    assert levels.of(example["boundary"]["values"]).tolist() == example["boundary"]["levels"]
    assert len(levels) == 8
