"""VPT: rows among the patches, block by block; the text left as it is."""

import pytest
import torch
from comparison import images_of
from tiny_clip import tiny_clip

from openworld import OpenworldError
from openworld.learners import VPT, NameSets, ZeroShot

SHALLOW, DEEP = VPT(image_length=4, depth=1), VPT(image_length=4)


def prompts_of(learner, clip):
    return learner.start(clip, ("owl",), torch.Generator().manual_seed(0))


def test_prompts_at_every_block_that_a_tower_has(clip):
    assert prompts_of(SHALLOW, clip)["image"].shape == (1, 4, 64)
    assert prompts_of(DEEP, clip)["image"].shape == (3, 4, 64)


def test_rows_have_no_order_and_still_change_the_image(clip):
    images, _, names = images_of(clip, torch.float32)
    bank = SHALLOW.text_bank(clip, {}, NameSets(tuple(names)))
    prompts = prompts_of(SHALLOW, clip)["image"]
    one, turned, none = (
        SHALLOW.answer(clip, {"image": rows}, images, bank).logits for rows in (prompts, prompts.flip(1), prompts[:0])
    )
    torch.testing.assert_close(one, turned, rtol=1e-4, atol=1e-4)
    assert (one - none).abs().max() > 0.1


def test_without_prompts_it_is_zero_shot(clip):
    images, _, names = images_of(clip, torch.float32)
    asked = NameSets(tuple(names[:5]), tuple(names[5:]))
    bank, plain = SHALLOW.text_bank(clip, {}, asked), ZeroShot().text_bank(clip, {}, asked)
    assert torch.equal(bank.text, plain.text)
    ours = SHALLOW.answer(clip, {"image": torch.empty(0, 4, 64)}, images, bank)
    theirs = ZeroShot().answer(clip, {}, images, plain)
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_block_learns_in_wide_numbers(dtype):
    clip = tiny_clip(dtype)
    images, labels, names = images_of(clip, dtype)
    prompts = prompts_of(DEEP, clip)["image"].requires_grad_(True)
    total = DEEP.loss(clip, {"image": prompts}, images, labels, DEEP.prepare(clip, names))["total"]
    total.backward()
    assert total.dtype == prompts.grad.dtype == torch.float32
    assert (prompts.grad.flatten(1).abs().amax(dim=1) > 0).all()


def test_published_settings():
    assert VPT.published("dtd") == VPT(image_length=8, depth=12)
    plan = VPT.published("imagenet", "openpl")
    assert (plan.image_length, plan.schedule.epochs, plan.schedule.learning_rate) == (4, 10, 2e-3)


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"image_length": 0}, {"template": "a photo."}], ids=str)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(OpenworldError):
        VPT(**wrong)
