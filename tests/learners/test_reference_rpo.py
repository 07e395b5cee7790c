"""RPO against numbers recorded from the authors' code (mlvlab/RPO @ d770db6), underscores kept and cleaned."""

import pytest
from comparison import assert_close, images_of, leaf
from tiny_clip import reference

from openworld.learners import RPO, NameSets

KEYS = {"text": "text", "image": "img"}


def recorded(file, precision):
    """(recorded arrays, learner, parameters, images, labels)."""
    _, clip, dtype, _ = precision
    stored = reference(file)
    images, labels, _ = images_of(clip, dtype)
    parameters = {way: leaf(stored, f"prompt_learner.{key}_prompt", dtype) for way, key in KEYS.items()}
    return stored, RPO(prompts=4, keep_underscores=file == "rpo"), parameters, images, labels


@pytest.mark.parametrize("file", ["rpo", "rpo_clean"])
def test_loss_and_gradients(precision, file):
    key, clip, _, tolerance = precision
    stored, learner, parameters, images, labels = recorded(file, precision)
    prepared = learner.prepare(clip, stored["class_names"].tolist())
    terms = learner.loss(clip, parameters, images, labels, prepared)
    terms["total"].backward()
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    for way, theirs in KEYS.items():
        assert_close(parameters[way].grad, stored[f"{key}/grad/prompt_learner.{theirs}_prompt"], tolerance)


@pytest.mark.parametrize("file", ["rpo", "rpo_clean"])
def test_logits(precision, file):
    key, clip, _, tolerance = precision
    stored, learner, parameters, images, _ = recorded(file, precision)
    bank = learner.text_bank(clip, parameters, NameSets(tuple(stored["class_names"].tolist())))
    assert_close(learner.answer(clip, parameters, images, bank).logits, stored[f"{key}/logits_eval"], tolerance)


@pytest.mark.parametrize("file", ["rpo", "rpo_clean"])
def test_tokens(precision, file):
    _, clip, _, _ = precision
    stored, learner, *_ = recorded(file, precision)
    sentences = learner._sentences(stored["class_names"].tolist())
    for tokens, theirs in zip(clip.tokenizer(sentences), stored["tokens/prompts"], strict=True):
        assert tokens == theirs[: len(tokens)].tolist() and not theirs[len(tokens) :].any()
