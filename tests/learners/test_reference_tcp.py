"""TCP against the authors' code on the tiny CLIP, whose class tokens enter at block 1 of 3."""

import pytest
from comparison import assert_close, images_of, leaf
from tiny_clip import reference

from openworld.datasets.templates import TCP_BEHIND, TCP_TEACHER, fill
from openworld.learners import TCP, NameSets

THEIRS = {
    "context": "prompt_learner.ctx",
    "hidden_weight": "prompt_learner.meta_net.linear1.weight",
    "hidden_bias": "prompt_learner.meta_net.linear1.bias",
    "tokens_weight": "prompt_learner.meta_net.linear2.weight",
    "tokens_bias": "prompt_learner.meta_net.linear2.bias",
}
PETS = {"behind": TCP_BEHIND["oxford_pets"], "template": TCP_TEACHER["oxford_pets"]}
CASES = {"tcp": TCP(block=1), "tcp_wide": TCP(block=1), "tcp_pets": TCP(block=1, **PETS)}


@pytest.mark.parametrize("case", CASES)
def test_tcp(precision, case):
    key, clip, dtype, tolerance = precision
    stored, learner = reference(case), CASES[case]
    images, labels, names = images_of(clip, dtype)
    parameters = {ours: leaf(stored, theirs, dtype) for ours, theirs in THEIRS.items()}
    prepared = learner.prepare(clip, names)
    terms = learner.loss(clip, parameters, images, labels, prepared)
    terms["total"].backward()
    assert_close(prepared[1], stored[f"{key}/teacher/text_norm"], tolerance)
    assert_close(learner.class_tokens(parameters, prepared[1]), stored[f"{key}/class_prompts"], tolerance)
    assert_close(terms["cross_entropy"], stored[f"{key}/loss/ce"], tolerance)
    assert_close(terms["guidance"], stored[f"{key}/loss/score"], tolerance)
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    for ours, theirs in THEIRS.items():
        assert_close(parameters[ours].grad, stored[f"{key}/grad/{theirs}"], tolerance)
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names)))
    assert_close(learner.answer(clip, parameters, images, bank).logits, stored[f"{key}/logits_eval"], tolerance)


@pytest.mark.parametrize("case", CASES)
def test_tokens(clip, case):
    stored, learner, names = reference(case), CASES[case], reference("inputs")["class_names"].tolist()
    ours = learner.prepare(clip, names)[0].tokens.numpy()
    assert (ours == stored["tokens/prompts"][:, : ours.shape[1]]).all()
    assert not stored["tokens/prompts"][:, ours.shape[1] :].any()
    for sentence, theirs in zip(clip.tokenizer(fill(learner.template, names)), stored["tokens/teacher"], strict=True):
        assert sentence == theirs[: len(sentence)].tolist()
