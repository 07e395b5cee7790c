"""MaPLe: image prompts are functions of text prompts, by maps that start alike."""

from dataclasses import replace

import torch
from tiny_clip import CONFIG, tiny_clip

from openworld.backbones import TwoTower
from openworld.learners import MaPLe
from openworld.learners.maple import image_prompts


def start(learner, clip):
    return learner.start(clip, ("owl",), torch.Generator().manual_seed(0))


def test_maps_start_as_copies_but_the_first(clip):
    parameters = start(MaPLe(), clip)
    weight, bias = parameters["maps_weight"], parameters["maps_bias"]
    assert weight.shape == (3, 64, 64) and bias.shape == (3, 64)
    assert torch.equal(weight[1], weight[2]) and torch.equal(bias[1], bias[2])
    assert not torch.equal(weight[0], weight[1])
    assert weight.abs().max() <= 1 / 8  # PyTorch's own start: uniform within 1 / sqrt(64)


def test_image_prompts_by_hand():
    parameters = {
        "text": torch.tensor([[[1.0, 2.0]], [[0.0, 1.0]]]),
        "maps_weight": torch.tensor([[[1.0, 1.0], [2.0, 0.0], [0.0, 0.0]], [[5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]]),
        "maps_bias": torch.tensor([[0.0, 0.0, 4.0], [1.0, 1.0, 1.0]]),
    }
    assert image_prompts(parameters).tolist() == [[[3.0, 2.0, 4.0]], [[7.0, 9.0, 11.0]]]


def test_towers_of_different_depth_share_the_blocks_that_both_have():
    clip = TwoTower(replace(CONFIG, text=replace(CONFIG.text, layers=2)), tokenizer=tiny_clip().tokenizer)
    assert [len(tensor) for tensor in start(MaPLe(), clip).values()] == [2, 2, 2]
    clip = TwoTower(replace(CONFIG, image=replace(CONFIG.image, layers=1)), tokenizer=tiny_clip().tokenizer)
    assert [len(tensor) for tensor in start(MaPLe(), clip).values()] == [1, 1, 1]
