"""DePT on KgCoOp against the authors' code on the tiny CLIP (float64 1e-9, float32 5e-5)."""

import pytest
from comparison import assert_close, images_of, leaf
from tiny_clip import as_tensor, reference

from openworld.learners import DePT, NameSets

THEIRS = {
    "context": "prompt_learner.ctx",
    "image_scale": "film_lp_img.scale",
    "image_shift": "film_lp_img.bias",
    "text_scale": "film_lp_text.scale",
    "text_shift": "film_lp_text.bias",
    "head_weight": "linear_probe_proj.weight",
    "head_bias": "linear_probe_proj.bias",
}


@pytest.fixture(params=["dept", "dept_wide"])
def stored(request):
    return reference(request.param)


def test_loss_and_gradients(precision, stored):
    key, clip, dtype, tolerance = precision
    images, labels, names = images_of(clip, dtype)
    learner, parameters = DePT(words=None), {ours: leaf(stored, theirs, dtype) for ours, theirs in THEIRS.items()}
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    assert_close(terms["cross_entropy"], stored[f"{key}/loss/ce_similarity"], tolerance)
    assert_close(terms["head_cross_entropy"], stored[f"{key}/loss/ce_linear"], tolerance)
    assert_close(terms["guidance"], stored[f"{key}/loss/kg"], tolerance)
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    for ours, theirs in THEIRS.items():
        assert_close(parameters[ours].grad, stored[f"{key}/grad/{theirs}"], tolerance)


def test_answers(precision, stored):
    key, clip, dtype, tolerance = precision
    images, _, names = images_of(clip, dtype)
    learner, parameters = DePT(words=None), {ours: leaf(stored, theirs, dtype) for ours, theirs in THEIRS.items()}
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names)))
    answer = learner.answer(clip, parameters, images, bank)
    assert_close(answer.base_logits, stored[f"{key}/logits_eval"], tolerance)
    assert_close(answer.logits, stored[f"{key}/logits_eval_new"], tolerance)
    assert_close(answer.logits, stored[f"{key}/logits_train"], tolerance)


def test_features(precision, stored):
    key, clip, dtype, tolerance = precision
    images, _, names = images_of(clip, dtype)
    learner = DePT(words=None)
    prompts, teacher = learner.prepare(clip, names)
    assert_close(images.embeddings, stored[f"{key}/image_features"], tolerance)
    assert_close(teacher, stored[f"{key}/teacher/text_norm"], tolerance)
    text = clip.encode_prompts(as_tensor(stored["param/prompt_learner.ctx"], dtype), prompts)
    assert_close(text, stored[f"{key}/text_features"], tolerance)


def test_tokens(precision, stored):
    _, clip, _, _ = precision
    learner, names = DePT(words=None), stored["class_names"].tolist()
    ours, theirs = learner.prepare(clip, names)[0].tokens.numpy(), stored["tokens/prompts"]
    assert (ours == theirs[:, : ours.shape[1]]).all() and not theirs[:, ours.shape[1] :].any()
    sentences = clip.tokenizer([learner.template.format(name.replace("_", " ")) for name in names])
    for ours, theirs in zip(sentences, stored["tokens/teacher"], strict=True):
        assert ours == theirs[: len(ours)].tolist() and not theirs[len(ours) :].any()
