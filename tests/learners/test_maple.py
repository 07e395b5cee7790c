"""MaPLe: image prompts are functions of text prompts, by maps that start alike."""

from dataclasses import replace

import pytest
import torch
from comparison import images_of
from tiny_clip import CONFIG, tiny_clip

from openworld import OpenworldError
from openworld.backbones import TwoTower
from openworld.learners import MaPLe, NameSets, ZeroShot
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


def test_with_its_phrase_alone_it_reads_as_zero_shot(clip):
    learner, names = MaPLe(depth=1), NameSets(("owl", "ice_cream"), ("lamp",))
    ours = learner.text_bank(clip, start(learner, clip), names)
    theirs = ZeroShot().text_bank(clip, {}, names)
    torch.testing.assert_close(ours.text, theirs.text, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_prompt_and_map_learns_in_wide_numbers(dtype):
    clip, learner = tiny_clip(dtype), MaPLe()
    images, labels, names = images_of(clip, dtype)
    parameters = {name: tensor.requires_grad_(True) for name, tensor in start(learner, clip).items()}
    learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))["total"].backward()
    for tensor in parameters.values():
        assert tensor.grad.dtype == torch.float32
        assert (tensor.grad.flatten(1).abs().amax(dim=1) > 0).all()


def test_text_prompts_learn_from_both_towers(clip):
    learner = MaPLe()
    images, labels, names = images_of(clip, torch.float32)
    prepared, parameters = learner.prepare(clip, names), start(learner, clip)
    silent = {name: torch.zeros_like(tensor) for name, tensor in parameters.items() if name != "text"}
    gradients = []
    for maps in (silent, {}):
        text = parameters["text"].clone().requires_grad_(True)
        total = learner.loss(clip, parameters | maps | {"text": text}, images, labels, prepared)["total"]
        gradients.append(torch.autograd.grad(total, text)[0])
    assert (gradients[0] - gradients[1]).abs().amax(dim=(1, 2)).min() > 1e-3


def test_published_settings():
    assert MaPLe.published("dtd") == MaPLe(context_length=2, depth=9)
    plan = MaPLe.published("imagenet", "ood")
    assert (plan.depth, plan.schedule.epochs, plan.schedule.learning_rate) == (3, 2, 2.6e-3)
    plan = MaPLe.published("imagenet", "openpl")
    assert (plan.context_length, plan.depth, plan.words, plan.schedule.epochs) == (4, 9, None, 10)


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"context_length": 0}, {"words": ""}], ids=str)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(OpenworldError):
        MaPLe(**wrong)
