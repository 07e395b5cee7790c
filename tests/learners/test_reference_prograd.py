"""ProGrad against the authors' code on the tiny CLIP, where the two gradients agree and where they do not."""

import pytest
import torch
from comparison import assert_close, images_of, leaf
from tiny_clip import as_tensor, reference

from openworld.learners import NameSets, ProGrad

LEARNER = ProGrad(context_length=4, words=None)


@pytest.mark.parametrize("case", ["prograd", "prograd_b"])
def test_prograd(precision, case):
    key, clip, dtype, tolerance = precision
    stored = reference(case)
    images, labels, names = images_of(clip, dtype)
    labels = as_tensor(stored["input/labels"]).long() if "input/labels" in stored else labels
    parameters = {"context": leaf(stored, "prompt_learner.ctx", dtype)}
    prepared = LEARNER.prepare(clip, names)
    assert_close(prepared[1], stored[f"{key}/teacher/text_features_norm"], tolerance)
    terms = LEARNER.loss(clip, parameters, images, labels, prepared)
    for ours, theirs in {"cross_entropy": "ce", "knowledge": "kl", "total": "total"}.items():
        assert_close(terms[ours], stored[f"{key}/loss/{theirs}"], tolerance)
    for term, theirs in {"cross_entropy": "grad_ce", "knowledge": "grad_kl"}.items():
        (gradient,) = torch.autograd.grad(terms[term], list(parameters.values()), retain_graph=True)
        assert_close(gradient, stored[f"{key}/{theirs}/prompt_learner.ctx"], tolerance)
    projected = LEARNER.gradient(terms, parameters)["context"]
    assert_close(projected, stored[f"{key}/grad_projected/prompt_learner.ctx"], tolerance)
    bank = LEARNER.text_bank(clip, parameters, NameSets(tuple(names)))
    assert_close(LEARNER.answer(clip, parameters, images, bank).logits, stored[f"{key}/logits_eval"], tolerance)


def test_tokens(clip):
    stored, names = reference("prograd"), reference("inputs")["class_names"].tolist()
    ours = LEARNER.prepare(clip, names)[0].tokens.numpy()
    assert (ours == stored["tokens/prompts"][:, : ours.shape[1]]).all()
    assert not stored["tokens/prompts"][:, ours.shape[1] :].any()
