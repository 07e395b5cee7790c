"""Learners with prompts in the image tower, against numbers recorded from the authors' code on a tiny seeded CLIP."""

from collections import Counter

import numpy as np
import pytest
import torch
from comparison import assert_close, images_of
from tiny_clip import as_tensor, reference, tiny_clip

from openworld.datasets.templates import PROMPTSRC, fill
from openworld.learners import IVLP, VPT, MaPLe, NameSets, PromptSRC
from openworld.learners.maple import image_prompts
from openworld.learners.promptsrc import average_sentences, gaussian_weights

IMAGE, TEXT = "image_encoder.VPT", "prompt_learner.ctx"
DEEP_IMAGE = "image_encoder.transformer.resblocks.{}.VPT_shallow"
DEEP_TEXT = "text_encoder.transformer.resblocks.{}.VPT_shallow"
MAPLE_TEXT = "prompt_learner.compound_prompts_text.{}"
MAPLE_MAPS = "prompt_learner.compound_prompt_projections.{}"


def recorded_under(stored, first, deep, start=1):
    """Names under which the prompts of block 0, 1, .. are recorded."""
    names, block = [first], start
    while f"param/{deep.format(block)}" in stored:
        names.append(deep.format(block))
        block += 1
    return names


def layout_of(learner, stored):
    """Our tensors' names, with the recorded names of their slices."""
    image = {"image": recorded_under(stored, IMAGE, DEEP_IMAGE)}
    if isinstance(learner, VPT):
        return image
    if not isinstance(learner, MaPLe):
        return {"text": recorded_under(stored, TEXT, DEEP_TEXT)} | image
    layout = {"text": recorded_under(stored, TEXT, MAPLE_TEXT, start=0)}
    for kind in ("weight", "bias"):
        deep = f"{MAPLE_MAPS}.{kind}"
        layout[f"maps_{kind}"] = recorded_under(stored, f"prompt_learner.proj.{kind}", deep, start=0)
    return layout


def stacked(stored, prefix, names):
    return np.stack([stored[f"{prefix}/{name}"] for name in names])


def case(learner, file, dtype):
    """Everything recorded in a file, and our tensors in it as leaves."""
    stored = reference(file)
    layout = layout_of(learner, stored)
    parameters = {
        name: as_tensor(stacked(stored, "param", theirs), dtype).requires_grad_(True) for name, theirs in layout.items()
    }
    return stored, layout, parameters


CASES = {
    "vpt_shallow": VPT(image_length=4, depth=1),
    "vpt_deep2": VPT(image_length=4, depth=2),
    "vpt_deep3": VPT(image_length=4, depth=3),
    "ivlp_d2": IVLP(text_length=4, image_length=4, text_depth=2, image_depth=2, words=None),
    "ivlp": IVLP(text_length=4, image_length=4, text_depth=3, image_depth=3, words=None),
    "maple_d2": MaPLe(context_length=4, depth=2, words=None),
    "maple": MaPLe(context_length=4, depth=3, words=None),
    "maple_wide": MaPLe(context_length=4, depth=3, words=None),
    "promptsrc": PromptSRC(depth=3, words=None),
}


@pytest.mark.parametrize("file", CASES)
def test_loss_gradients_and_logits(precision, file):
    key, clip, dtype, tolerance = precision
    learner = CASES[file]
    stored, layout, parameters = case(learner, file, dtype)
    images, labels, names = images_of(clip, dtype)
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    for name, theirs in layout.items():
        gradients = stacked(stored, f"{key}/grad", theirs)
        for ours, one in zip(parameters[name].grad, gradients, strict=True):
            assert_close(ours, one, tolerance)
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names)))
    answer = learner.answer(clip, parameters, images, bank)
    assert_close(answer.logits, stored[f"{key}/logits_eval"], tolerance)


@pytest.mark.parametrize("file", CASES)
def test_parameters_are_the_recorded_ones(file):
    clip = tiny_clip()
    learner = CASES[file]
    stored, _, parameters = case(learner, file, torch.float32)
    fresh = learner.start(clip, ("owl",), torch.Generator().manual_seed(0))
    assert {name: tensor.shape for name, tensor in fresh.items()} == {
        name: tensor.shape for name, tensor in parameters.items()
    }
    theirs = sum(array.size for name, array in stored.items() if name.startswith("param/"))
    assert sum(tensor.numel() for tensor in fresh.values()) == theirs


@pytest.mark.parametrize("file", [file for file in CASES if not file.startswith("vpt")])
def test_tokens(file):
    stored = reference(file)
    prepared = CASES[file].prepare(tiny_clip(), stored["class_names"].tolist())
    ours = (prepared[0] if file == "promptsrc" else prepared).tokens.numpy()
    assert np.array_equal(ours, stored["tokens/prompts"][:, : ours.shape[1]])


def test_features_of_both_towers(precision):
    key, clip, dtype, tolerance = precision
    stored, _, parameters = case(CASES["maple_wide"], "maple_wide", dtype)
    images, _, names = images_of(clip, dtype)
    prompts = dict(enumerate(image_prompts(parameters)))
    assert_close(clip.encode_image(images.pixels, prompts=prompts), stored[f"{key}/image_features"], tolerance)
    bank = CASES["maple_wide"].text_bank(clip, parameters, NameSets(tuple(names)))
    theirs = stored[f"{key}/text_features"]
    assert_close(bank.text, theirs / np.linalg.norm(theirs, axis=1, keepdims=True), tolerance)


def test_promptsrc_terms(precision):
    key, clip, dtype, tolerance = precision
    learner = CASES["promptsrc"]
    stored, _, parameters = case(learner, "promptsrc", dtype)
    images, labels, names = images_of(clip, dtype)
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    recorded = {"cross_entropy": "ce", "text": "text_l1_mean", "image": "image_l1_mean", "logits": "logits"}
    for ours, theirs in recorded.items():
        assert_close(terms[ours], stored[f"{key}/loss/{theirs}"], tolerance)
    assert_close(25 * terms["text"], stored[f"{key}/loss/text"], tolerance)
    assert_close(average_sentences(clip, names), stored[f"{key}/teacher/text_norm"], tolerance)


def test_promptsrc_reads_the_recorded_sentences():
    stored, clip = reference("promptsrc"), tiny_clip()
    names = stored["class_names"].tolist()

    def padded(sentence):
        tokens = clip.tokenizer(fill(sentence, names))
        return tuple(tuple(row) + (0,) * (77 - len(row)) for row in tokens)

    theirs = Counter(tuple(map(tuple, sentence)) for sentence in stored["tokens/teacher"].tolist())
    assert Counter(map(padded, PROMPTSRC)) == theirs


def test_promptsrc_averages_epochs_as_recorded():
    weights = gaussian_weights(10, mean=6, deviation=2)
    assert_close(
        torch.tensor(weights, dtype=torch.float64), reference("promptsrc")["f64/gpa_weights_E10_mean6_std2"], 1e-12
    )
