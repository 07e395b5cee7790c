"""ProDA against ml-stat-Sustech/CLIP_Calibration @ 5b68fb1, a third party's port: the authors' code is not public."""

from dataclasses import replace

import numpy as np
import pytest
from comparison import assert_close, images_of, leaf
from tiny_clip import as_tensor, reference

from openworld.learners import NameSets, ProDA
from openworld.learners.engine.text_features import encode_behind

LEARNER = ProDA(contexts=8, context_length=4, keep_underscores=True)


@pytest.fixture(params=["proda_port", "proda_port_clean"])
def stored(request):
    return reference(request.param)


def test_tokens_are_theirs(clip, stored):
    prompts, alone = LEARNER.prepare(clip, stored["class_names"].tolist())
    for ours, theirs in ((prompts["end"], stored["tokens/prompts"]), (alone, stored["tokens/context_only"])):
        assert np.array_equal(ours.tokens, theirs[:, : ours.tokens.shape[1]])
        assert not theirs[:, ours.tokens.shape[1] :].any()


def test_positions_are_theirs(stored):
    places = [("front", "middle", "end").index(LEARNER._position(context)) for context in range(8)]
    assert places == stored["setting/position_0front_1middle_2end"].tolist()


def test_loss_and_gradient(precision, stored):
    key, clip, dtype, tolerance = precision
    images, labels, _ = images_of(clip, dtype)
    images = replace(images, draw=as_tensor(stored["draw/prompts_in_this_step"]).long())
    parameters = {"contexts": leaf(stored, "prompt_learner.ctx", dtype)}
    prepared = LEARNER.prepare(clip, stored["class_names"].tolist())
    terms = LEARNER.loss(clip, parameters, images, labels, prepared)
    terms["total"].backward()
    assert_close(terms["cross_entropy"], stored[f"{key}/loss/ce_upper"], tolerance)
    assert_close(terms["orthogonality"], stored[f"{key}/loss/orthogonality"], tolerance)
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    assert_close(parameters["contexts"].grad, stored[f"{key}/grad/prompt_learner.ctx"], tolerance)
    alone = encode_behind(clip, parameters["contexts"], prepared[1])[:, 0]
    assert_close(alone, stored[f"{key}/context_only_features"], tolerance)


def test_answers(precision, stored):
    key, clip, dtype, tolerance = precision
    images, _, _ = images_of(clip, dtype)
    parameters = {"contexts": as_tensor(stored["param/prompt_learner.ctx"], dtype)}
    bank = LEARNER.text_bank(clip, parameters, NameSets(tuple(stored["class_names"].tolist())))
    assert_close(bank.text, stored[f"{key}/text_features_mean"], tolerance)
    assert_close(LEARNER.answer(clip, parameters, images, bank).logits, stored[f"{key}/logits_eval"], tolerance)
