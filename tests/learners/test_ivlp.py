"""IVLP: the phrase it starts from, deep text prompts against a full pass, and what it is without parts."""

import pytest
import torch
from comparison import images_of

from openworld import OpenworldError
from openworld.learners import IVLP, CoOp, NameSets, ZeroShot
from openworld.learners.engine.prompts import split_phrase

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


def test_a_phrase_is_split_where_its_words_end(clip):
    assert split_phrase(clip, "a photo  of a", 2) == ("a photo", "of a")
    assert split_phrase(clip, "a photo of a", 4) == ("a photo of a", "")
    with pytest.raises(OpenworldError, match="no first words of 'a photo of a' are 5 tokens long"):
        IVLP(text_length=5).start(clip, NAMES, torch.Generator())
