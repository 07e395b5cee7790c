"""LoCoOp against AtsuMiyai/LoCoOp @ a311b39: tokens, logits, loss terms, gradient, scores of its own paper."""

import numpy as np
import torch
from comparison import assert_close, images_of, leaf
from tiny_clip import as_tensor, reference

from openworld.learners import LoCoOp, NameSets
from openworld.learners.engine.text_bank import cosine_logits

STORED = reference("locoop")
LEARNER = LoCoOp(context_length=4, top=3)


def test_tokens_are_theirs(clip):
    prompts, top = LEARNER.prepare(clip, STORED["class_names"].tolist())
    theirs = STORED["tokens/prompts"]
    assert np.array_equal(prompts.tokens, theirs[:, : prompts.tokens.shape[1]])
    assert not theirs[:, prompts.tokens.shape[1] :].any()
    assert top == 3


def test_loss_and_gradient(precision):
    key, clip, dtype, tolerance = precision
    images, labels, names = images_of(clip, dtype)
    parameters = {"context": leaf(STORED, "prompt_learner.ctx", dtype)}
    terms = LEARNER.loss(clip, parameters, images, labels, LEARNER.prepare(clip, names))
    terms["total"].backward()
    assert_close(terms["cross_entropy"], STORED[f"{key}/loss/ce"], tolerance)
    assert_close(-terms["background_entropy"], STORED[f"{key}/loss/neg_entropy"], tolerance)
    assert_close(terms["total"], STORED[f"{key}/loss/total"], tolerance)
    assert_close(parameters["context"].grad, STORED[f"{key}/grad/prompt_learner.ctx"], tolerance)


def test_answers_and_scores(precision):
    key, clip, dtype, tolerance = precision
    images, _, names = images_of(clip, dtype)
    parameters = {"context": as_tensor(STORED["param/prompt_learner.ctx"], dtype)}
    bank = LEARNER.text_bank(clip, parameters, NameSets(tuple(names)))
    logits = LEARNER.answer(clip, parameters, images, bank).logits
    patches = cosine_logits(clip.project_patches(images.patches), bank.text, bank.scale)
    assert_close(logits, STORED[f"{key}/logits_eval"], tolerance)
    assert_close(patches, STORED[f"{key}/logits_local_eval"], tolerance)
    for temperature in ("1", "0.1"):
        scale = 100 * float(temperature)  # their constant, not the model's scale
        whole = (logits / scale).softmax(dim=-1).amax(dim=-1)
        both = whole + (patches / scale).softmax(dim=-1).amax(dim=(1, 2))
        # Their scores are smaller for what is more in-distribution.
        assert_close(-whole, STORED[f"{key}/ood/mcm_T{temperature}"], tolerance)
        assert_close(-both, STORED[f"{key}/ood/glmcm_T{temperature}"], tolerance)


def test_background_patches_are_theirs():
    logits = torch.from_numpy(STORED["f64/logits_local_train"])
    labels = as_tensor(reference("inputs")["labels"]).long()
    own = logits.gather(-1, labels[:, None, None].expand(-1, logits.shape[1], 1))
    assert np.array_equal((logits > own).sum(dim=-1) < 3, STORED["patch_has_label_in_top3"])
