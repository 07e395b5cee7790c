"""VPT: rows among the patches, block by block; the text left as it is."""

import torch
from comparison import images_of

from openworld.learners import VPT, NameSets, ZeroShot

SHALLOW, DEEP = VPT(image_length=4, depth=1), VPT(image_length=4)


def prompts_of(learner, clip):
    return learner.start(clip, ("owl",), torch.Generator().manual_seed(0))


def test_without_prompts_it_is_zero_shot(clip):
    images, _, names = images_of(clip, torch.float32)
    asked = NameSets(tuple(names[:5]), tuple(names[5:]))
    bank, plain = SHALLOW.text_bank(clip, {}, asked), ZeroShot().text_bank(clip, {}, asked)
    assert torch.equal(bank.text, plain.text)
    ours = SHALLOW.answer(clip, {"image": torch.empty(0, 4, 64)}, images, bank)
    theirs = ZeroShot().answer(clip, {}, images, plain)
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-4, atol=1e-4)
