"""Which way pixels are moved where a gradient is 0, and which perturbations share a backward pass."""

import torch

from openworld.detectors.engine.perturbation import Perturbation


def test_no_gradient_counts_as_falling_unless_a_share_is_moved():
    images, gradient = torch.zeros(1, 3), torch.tensor([[0.0, 1.0, -3.0]])
    every, some = (Perturbation(step=0.5, share=share, in_pixels=False) for share in (1, 0.7))
    assert every.move(images, gradient, None).tolist() == [[-0.5, 0.5, -0.5]]
    assert some.move(images, gradient, None).tolist() == [[0.0, 0.5, 0.0]]


def test_temperature_is_part_of_the_direction_of_a_confidence_alone():
    for objective, directions in (("confidence", 2), ("largest logit", 1)):
        assert len({Perturbation(objective, temperature).direction for temperature in (1, 2)}) == directions
