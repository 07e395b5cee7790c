"""CoCoOp against the authors' code on the tiny CLIP, all six images in one step."""

import pytest
import torch
from comparison import assert_close, images_of, leaf
from tiny_clip import reference

from openworld.learners import CoCoOp, NameSets

THEIRS = {
    "context": "prompt_learner.ctx",
    "hidden_weight": "prompt_learner.meta_net.linear1.weight",
    "hidden_bias": "prompt_learner.meta_net.linear1.bias",
    "shift_weight": "prompt_learner.meta_net.linear2.weight",
    "shift_bias": "prompt_learner.meta_net.linear2.bias",
}


@pytest.mark.parametrize("case", ["cocoop", "cocoop_wide"])
def test_cocoop(precision, case):
    key, clip, dtype, tolerance = precision
    stored = reference(case)
    images, labels, names = images_of(clip, dtype)
    learner = CoCoOp(words=None)
    parameters = {ours: leaf(stored, theirs, dtype) for ours, theirs in THEIRS.items()}
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    for ours, theirs in THEIRS.items():
        assert_close(parameters[ours].grad, stored[f"{key}/grad/{theirs}"], tolerance)
    with torch.no_grad():
        bank = learner.text_bank(clip, parameters, NameSets(tuple(names)))
        assert_close(learner.answer(clip, parameters, images, bank).logits, stored[f"{key}/logits_eval"], tolerance)


def test_tokens(clip):
    theirs = reference("cocoop")["tokens/prompts"]
    ours = CoCoOp(words=None).prepare(clip, reference("inputs")["class_names"].tolist()).tokens.numpy()
    assert (ours == theirs[:, : ours.shape[1]]).all()
    assert not theirs[:, ours.shape[1] :].any()
