"""GalLoP against MarcLafon/gallop @ f75999e: tokens, cosines, loss terms, gradients, answers, its own scores."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from comparison import assert_close, images_of, leaf
from tiny_clip import as_tensor, reference

from openworld.learners import GalLoP, NameSets
from openworld.learners.gallop import closest_patch_cosines, joint_projection

TENSORS = {"global": "global_prompt", "local": "local_prompts", "projection": "local_proj.linear.weight"}


@pytest.fixture(params=["gallop", "gallop_near_identity", "gallop_k20"])
def stored(request):
    return reference(request.param)


def learner_of(stored):
    return GalLoP(top=tuple(stored["setting/topk"].tolist()), keep_underscores=True)


def parameters_of(stored, dtype):
    return {ours: leaf(stored, theirs, dtype) for ours, theirs in TENSORS.items()}


def test_tokens_are_theirs(clip, stored):
    prompts = learner_of(stored).prepare(clip, stored["class_names"].tolist())
    assert prompts.context_length == stored["setting/n_token_context"]
    # They put the context behind the start token of the name tokenised alone.
    ours, theirs = prompts.tokens[:, 5:], stored["tokens/class_names_alone"][:, 1:]
    assert np.array_equal(ours, theirs[:, : ours.shape[1]])
    assert not theirs[:, ours.shape[1] :].any()


def test_all_contexts_start_from_their_phrase(clip, stored):
    parameters = learner_of(stored).start(clip, ("owl",), torch.Generator())
    phrase = clip.text.tokens.weight[torch.from_numpy(stored["tokens/template"][0, 1:5].astype(np.int64))]
    assert all(torch.equal(context, phrase) for name in ("global", "local") for context in parameters[name])
    assert torch.equal(parameters["projection"], torch.eye(64))


def test_loss_and_gradients(precision, stored):
    key, clip, dtype, tolerance = precision
    images, labels, names = images_of(clip, dtype)
    images = replace(images, draw=as_tensor(stored["draw/global_prompt_index"]).long()[:, None])
    learner, parameters = learner_of(stored), parameters_of(stored, dtype)
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    for name in ("global", "local", "total"):
        assert_close(terms[name], stored[f"{key}/loss/{name}"], tolerance)
    for ours, theirs in TENSORS.items():
        assert_close(parameters[ours].grad, stored[f"{key}/grad/{theirs}"], tolerance)


def test_answers_and_scores(precision, stored):
    key, clip, dtype, tolerance = precision
    images, _, names = images_of(clip, dtype)
    learner = learner_of(stored)
    parameters = {name: tensor.detach() for name, tensor in parameters_of(stored, dtype).items()}
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names)))
    logits = learner.answer(clip, parameters, images, bank).logits
    assert_close(logits, stored[f"{key}/logits_eval"], tolerance)
    assert_close(logits.softmax(dim=-1), stored[f"{key}/probs_eval"], tolerance)
    normalize = torch.nn.functional.normalize
    whole = (normalize(images.embeddings, dim=-1) @ bank.text.mT).softmax(dim=-1).amax(dim=-1)
    cosines = normalize(images.patches @ bank.projection, dim=-1) @ bank.local.mean(dim=0).mT
    parts = cosines.softmax(dim=-1).amax(dim=(1, 2))
    # Their scores are smaller for what is more in-distribution.
    assert_close(-whole, stored[f"{key}/ood/MCM"], tolerance)
    assert_close(-parts, stored[f"{key}/ood/L-MCM"], tolerance)
    assert_close(-whole - parts, stored[f"{key}/ood/GL-MCM"], tolerance)


def test_closest_patches(precision, stored):
    key, clip, dtype, tolerance = precision
    images, _, _ = images_of(clip, dtype)
    text = torch.nn.functional.normalize(as_tensor(stored[f"{key}/text_features_local"], dtype), dim=-1).transpose(0, 1)
    patches = images.patches @ joint_projection(clip, as_tensor(stored["param/local_proj.linear.weight"], dtype))
    cosines = torch.nn.functional.normalize(patches, dim=-1)[None] @ text[:, None].mT
    assert_close(cosines.permute(1, 2, 3, 0), stored[f"{key}/cosines_local_train"], tolerance)
    closest = closest_patch_cosines(patches, text, stored["setting/topk"].tolist())
    assert_close(clip.logit_scale * closest.permute(1, 2, 0), stored[f"{key}/logits_local_train"], tolerance)
