"""IVLP: the phrase it starts from, deep text prompts against a full pass, and what it is without parts."""

import pytest
import torch
from comparison import images_of
from tiny_clip import tiny_clip

from openworld import OpenworldError
from openworld.learners import IVLP, CoOp, NameSets, ZeroShot
from openworld.learners.engine.prompts import encode_prompted_text, split_phrase

NAMES = ("owl", "ice_cream", "traffic light", "golden retriever with a mountain bike in front of a lighthouse")


def prompts_of(learner, clip):
    return learner.start(clip, NAMES, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("length", [1, 2, 4])
def test_with_its_phrase_alone_it_reads_as_zero_shot(clip, length):
    learner = IVLP(text_length=length, text_depth=1)
    ours = learner.text_bank(clip, prompts_of(learner, clip), NameSets(NAMES))
    theirs = ZeroShot().text_bank(clip, {}, NameSets(NAMES))
    torch.testing.assert_close(ours.text, theirs.text, rtol=1e-4, atol=1e-5)


def test_without_deep_and_image_prompts_it_is_coop(clip):
    images, _, names = images_of(clip, torch.float32)
    learner, coop = IVLP(text_length=4, text_depth=1, image_depth=0, words=None), CoOp(context_length=4)
    parameters = prompts_of(learner, clip)
    assert parameters["image"].shape == (0, 2, 64)
    context = {"context": parameters["text"][0]}
    asked = NameSets(tuple(names))
    ours = learner.answer(clip, parameters, images, learner.text_bank(clip, parameters, asked))
    theirs = coop.answer(clip, context, images, coop.text_bank(clip, context, asked))
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-4, atol=1e-4)


def test_deep_text_prompts_and_their_gradients_as_in_a_full_pass():
    clip = tiny_clip(torch.float64)
    learner = IVLP()
    prompts = prompts_of(learner, clip)["text"].double().requires_grad_(True)
    sentences = clip.tokenizer([f"a photo of a {name.replace('_', ' ')}." for name in NAMES])
    tokens = torch.tensor([row + [0] * (77 - len(row)) for row in sentences])

    def edit(index, rows):
        new = prompts[index] + (clip.text.positions[1:3] if index == 0 else 0)
        return torch.cat([rows[:, :1], new.expand(len(rows), -1, -1), rows[:, 3:]], dim=1)

    full = clip.text(tokens, edit=edit)
    ours = encode_prompted_text(clip, prompts, learner.prepare(clip, NAMES))
    torch.testing.assert_close(ours, full, rtol=1e-9, atol=1e-9)
    weights = torch.randn(full.shape, dtype=full.dtype, generator=torch.Generator().manual_seed(0))
    gradients = [torch.autograd.grad((features * weights).sum(), prompts)[0] for features in (ours, full)]
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-9)


def test_columns_of_a_subset_are_those_of_its_own_bank(clip):
    images, _, names = images_of(clip, torch.float32)
    learner = IVLP(text_depth=2, image_depth=2)
    parameters = prompts_of(learner, clip)
    base, new = tuple(names[:3]), tuple(names[3:])
    every = learner.answer(clip, parameters, images, learner.text_bank(clip, parameters, NameSets(base, new))).logits
    for columns, half in ((slice(0, 3), base), (slice(3, None), new)):
        alone = learner.answer(clip, parameters, images, learner.text_bank(clip, parameters, NameSets(half))).logits
        torch.testing.assert_close(every[:, columns], alone, rtol=1e-4, atol=1e-4)


def test_a_phrase_is_split_where_its_words_end(clip):
    assert split_phrase(clip, "a photo  of a", 2) == ("a photo", "of a")
    assert split_phrase(clip, "a photo of a", 4) == ("a photo of a", "")
    with pytest.raises(OpenworldError, match="no first words of 'a photo of a' are 5 tokens long"):
        IVLP(text_length=5).start(clip, NAMES, torch.Generator())


def test_a_name_that_does_not_fit_is_refused(clip):
    with pytest.raises(OpenworldError, match="with 2 context tokens in front"):
        IVLP().prepare(clip, ("owl " * 80,))


def test_published_settings():
    assert IVLP.published("dtd") == IVLP(text_length=2, image_length=2, text_depth=12, image_depth=12)
    plan = IVLP.published("dtd", "openpl")
    assert (plan.text_length, plan.image_length, plan.text_depth, plan.words) == (4, 4, 9, None)
    assert (plan.schedule.epochs, plan.schedule.learning_rate, plan.schedule.batch_size) == (50, 2e-3, 4)


@pytest.mark.parametrize(
    "wrong", [{"text_depth": 0}, {"image_depth": -1}, {"image_length": 0}, {"words": " "}], ids=str
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(OpenworldError):
        IVLP(**wrong)
