"""Rows kept where they enter a block: the rest of the pass gives what the whole pass gives, prompts or none."""

import pytest
import torch
from tiny_clip import as_tensor, reference
from tiny_clip import tiny_clip as build_tiny_clip

from openworld.backbones import blocks
from openworld.backbones.prompts import pad_tokens

SENTENCES = ("a photo of a cat.", "an owl.", "a golden retriever, a type of dog.")


@pytest.fixture(scope="module")
def model():
    return build_tiny_clip(torch.float64)


@pytest.fixture(scope="module")
def pixels():
    return as_tensor(reference("inputs")["images"], torch.float64)


def rows_for(block, count, scale=1.0):
    """Learned rows for the blocks from `block` on."""
    generator = torch.Generator().manual_seed(block)
    shape = (3 - block, count, 64)
    rows = (scale * torch.randn(shape, generator=generator, dtype=torch.float64)).requires_grad_()
    return rows, dict(enumerate(rows, start=block))


@pytest.mark.parametrize("block", [0, 1, 2])
def test_without_prompts_both_towers_give_the_whole_pass(model, pixels, block):
    left = model.leave_image(model.enter_image(pixels, block), block)
    assert left.shape == (len(pixels), 1, 64)
    torch.testing.assert_close(model.project_patches(left[:, 0]), model.encode_image(pixels), rtol=1e-10, atol=1e-10)
    entered = model.enter_text(SENTENCES, block)
    torch.testing.assert_close(model.leave_text(entered), model.encode_text(SENTENCES), rtol=1e-10, atol=1e-10)
    some = model.leave_text(entered.select(torch.tensor([1, 0])))
    torch.testing.assert_close(some, model.encode_text(SENTENCES)[[1, 0]], rtol=1e-10, atol=1e-10)
    assert len(entered.select(torch.tensor([1]))) == 1 and len(entered) == 3


def test_image_prompts_from_the_first_block_are_those_of_encode_image(model, pixels):
    _, prompts = rows_for(0, 3)
    entered = model.leave_image(model.enter_image(pixels, 0), 0, prompts | {0: model.image.norm_in(prompts[0])})
    expected = model.encode_image(pixels, prompts)
    torch.testing.assert_close(model.project_patches(entered[:, 0]), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("block", [0, 1, 2])
@pytest.mark.parametrize("rows", [blocks.ROWS, 8], ids=["whole", "in parts"])
def test_text_prompts_stand_behind_the_start_token_without_positions(model, block, rows, monkeypatch):
    prompts, by_block = rows_for(block, 2)
    tokens = pad_tokens(model.tokenizer(SENTENCES))
    hidden = model.text.tokens(tokens) + model.text.positions[: tokens.shape[1]]
    for index, layer in enumerate(model.text.blocks):
        if index in by_block:
            behind = 1 if index == block else 3
            hidden = torch.cat([hidden[:, :1], by_block[index].expand(3, -1, -1), hidden[:, behind:]], dim=1)
        hidden = layer(index, hidden, model.text.attend)
    expected = model.text.finish(hidden[torch.arange(3), tokens.argmax(dim=1) + 2])
    (theirs,) = torch.autograd.grad(expected.square().sum(), prompts)
    monkeypatch.setattr(blocks, "ROWS", rows)
    packed = model.enter_text(SENTENCES, block).pack(model.text, 2)
    ours = model.leave_text(packed, by_block)
    torch.testing.assert_close(model.leave_text(model.enter_text(SENTENCES, block), by_block), ours)
    torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(torch.autograd.grad(ours.square().sum(), prompts)[0], theirs, rtol=1e-9, atol=1e-9)
