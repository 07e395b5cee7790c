"""Learners at the ends of their settings are zero-shot CLIP or CoOp: the same logits, scores and text features."""

import pytest
import torch
from comparison import images_of
from tiny_clip import tiny_clip

from openworld.backbones.blocks import attend_earlier, run_blocks
from openworld.learners import IVLP, TCP, VPT, CoCoOp, CoOp, MaPLe, NameSets, ProGrad, TwoSFS, ZeroShot

NAMES = NameSets(("owl", "ice_cream", "golden retriever with a mountain bike in front of a lighthouse"), ("lamp",))
COOP = CoOp(context_length=4)


def without(part, parameters):
    """Parameters of which those whose name holds a part are zero."""
    return {name: torch.zeros_like(tensor) if part in name else tensor for name, tensor in parameters.items()}


def with_what_stands_there(clip, parameters, block):
    """TCP's class tokens equal to the rows at positions 1..N at the input of a block, which all names share."""
    context, tower = parameters["context"], clip.text
    start = tower.tokens.weight[clip.tokenizer(["a"])[0][0]]
    rows = torch.cat([start[None], context]) + tower.positions[: 1 + len(context)]
    rows = run_blocks(tower.blocks[:block], rows[None], attend_earlier)[0, 1:]
    return without("tokens_weight", parameters) | {"tokens_bias": rows.flatten()}


# Learner, what is made of the parameters that it starts with (None: nothing), and whether images are compared, too.
ZERO_SHOT = [
    *((IVLP(text_length=length, text_depth=1), None, False) for length in (1, 2, 4)),
    (MaPLe(depth=1), None, False),
    (ProGrad(context_length=4), None, True),
    (TwoSFS(), None, True),
    (VPT(image_length=4, depth=1), lambda clip, start: {"image": start["image"][:0]}, True),
]
AS_COOP = [
    (CoCoOp(words=None), lambda clip, start: without("shift", start), True),
    (
        IVLP(text_length=4, text_depth=1, image_depth=0, words=None),
        lambda clip, start: start | {"context": start["text"][0]},
        True,
    ),
    *((TCP(block=block), lambda clip, start, block=block: with_what_stands_there(clip, start, block), True)
      for block in (1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("learner", "other", "change", "images"),
    [*((learner, ZeroShot(), *case) for learner, *case in ZERO_SHOT)]
    + [(learner, COOP, *case) for learner, *case in AS_COOP],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_same_as_the_plain_learner(learner, other, change, images):
    clip = tiny_clip(torch.float64)
    start = learner.start(clip, NAMES.base, torch.Generator().manual_seed(0))
    parameters = {name: tensor.double() for name, tensor in start.items()}
    parameters = parameters if change is None else change(clip, parameters)
    banks = [one.text_bank(clip, parameters, NAMES) for one in (learner, other)]
    if not isinstance(learner, CoCoOp):
        torch.testing.assert_close(banks[0].text, banks[1].text, rtol=1e-10, atol=1e-12)
    if images:
        shown, _, _ = images_of(clip, torch.float64)
        ours, theirs = (
            one.answer(clip, parameters, shown, bank) for one, bank in zip((learner, other), banks, strict=True)
        )
        torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-10, atol=1e-9)
        torch.testing.assert_close(ours.baseness, theirs.baseness, rtol=1e-10, atol=1e-9)


def test_cocoop_with_a_network_that_answers_zero_learns_as_coop_does(clip, shots):
    images, labels, names = images_of(clip, torch.float32)
    learner, gradients = CoCoOp(words=None), []
    start = without("shift", learner.start(clip, names, torch.Generator().manual_seed(0)))
    context = start["context"].requires_grad_(True)
    for one in (learner, COOP):
        total = one.loss(clip, start, images, labels, one.prepare(clip, names))["total"]
        gradients.append(torch.autograd.grad(total, context)[0])
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)
