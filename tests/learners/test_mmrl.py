"""MMRL: how its maps and its projection start."""

import torch

from openworld.learners import MMRL


def start(learner, clip):
    return learner.start(clip, ("owl",), torch.Generator().manual_seed(0))


def test_maps_of_a_tower_start_as_copies_and_the_projection_at_random(clip):
    parameters = start(MMRL(depth=7, token_width=24), clip)  # of 3 blocks
    shapes = {name: tuple(tensor.shape) for name, tensor in parameters.items()}
    maps = {f"{tower}_maps_weight": (3, 64, 24) for tower in ("image", "text")}
    maps |= {f"{tower}_maps_bias": (3, 64) for tower in ("image", "text")}
    assert shapes == {"tokens": (5, 24), "projection": (64, 64)} | maps
    for name in maps:
        assert (parameters[name] == parameters[name][0]).all()
    assert not torch.equal(parameters["image_maps_weight"], parameters["text_maps_weight"])
    assert 0.1 < parameters["projection"].std() < 0.15  # 1 / sqrt(64)
