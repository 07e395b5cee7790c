"""Which way pixels are moved where a gradient is 0, which perturbations share a backward pass, and a cheaper one."""

import pytest
import torch
from torch import nn

from openworld.detectors.engine.perturbation import AffineBatchNorm, Perturbation


def test_no_gradient_counts_as_falling_unless_a_share_is_moved():
    images, gradient = torch.zeros(1, 3), torch.tensor([[0.0, 1.0, -3.0]])
    every, some = (Perturbation(step=0.5, share=share, in_pixels=False) for share in (1, 0.7))
    assert every.move(images, gradient, None).tolist() == [[-0.5, 0.5, -0.5]]
    assert some.move(images, gradient, None).tolist() == [[0.0, 0.5, 0.0]]


def test_temperature_is_part_of_the_direction_of_a_confidence_alone():
    for objective, directions in (("confidence", 2), ("largest logit", 1)):
        assert len({Perturbation(objective, temperature).direction for temperature in (1, 2)}) == directions


def learned(dimensions, **settings):
    layer = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[dimensions](5, **settings)
    layer(3 * torch.rand(6, 5, *[4] * dimensions) + 1)
    if layer.affine:
        nn.init.normal_(layer.weight)
        nn.init.normal_(layer.bias)
    return layer.eval()


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_normalisation_has_the_values_and_gradients_of_pytorch(dimensions, affine):
    torch.manual_seed(0)
    layer, rows = learned(dimensions, affine=affine, eps=1e-2), torch.randn(2, 5, *[4] * dimensions, requires_grad=True)
    expected = layer(rows)
    with AffineBatchNorm():
        found = layer(rows)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad(one.square().sum(), rows)[0] for one in (found, expected)]
    torch.testing.assert_close(*gradients)


def test_what_is_normalised_by_the_batch_is_left_alone():
    torch.manual_seed(0)
    rows = torch.randn(4, 5, 3, 3)
    for layer in (nn.BatchNorm2d(5), nn.BatchNorm2d(5, track_running_stats=False).eval()):
        expected = layer(rows)
        with AffineBatchNorm():
            torch.testing.assert_close(layer(rows), expected, rtol=0, atol=0)
