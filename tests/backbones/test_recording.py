"""Read-only rows: equal to the masked pass over all rows, which is written out here, and invisible to other rows."""

import pytest
import torch
import torch.nn.functional as F

from openworld import backbones
from openworld.backbones.blocks import join_heads, run_blocks, split_heads
from openworld.core.errors import OpenworldError

NAMES = ["owl", "golden retriever", "traffic light", "ice cream", "lamp (dog)"]
SENTENCES = [f"a photo of a {name}." for name in NAMES]


@pytest.fixture(params=["tiny", "loaded"])
def model(request, tiny_clip, clip_checkpoint):
    return tiny_clip if request.param == "tiny" else backbones.load(clip_checkpoint[0], dtype=torch.float64)


def random_rows(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def masked(mask):
    """Attention under a mask bool[B, T, T], True where a row sees a column."""

    def attend(index, block, query, key, value):
        query, key, value = (split_heads(rows, block.heads) for rows in (query, key, value))
        return join_heads(F.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None]))

    return attend


def masked_image(model, prompts, pixels):
    """(originals, prompts) after the last block: prompts appended, their columns seen by no row."""
    tower = model.image
    rows = torch.cat([tower.embed(pixels), tower.norm_in(prompts).expand(len(pixels), -1, -1)], dim=1)
    mask = torch.ones(len(rows), rows.shape[1], rows.shape[1], dtype=torch.bool)
    mask[:, :, -len(prompts) :] = False
    return run_blocks(tower.blocks, rows, masked(mask)).split([rows.shape[1] - len(prompts), len(prompts)], dim=1)


def masked_text(model, prompts, sentences):
    """(all rows, rows of the prompts) after the last block: prompts over the rows behind each end token."""
    tower, tokens = model.text, model.tokenizer(sentences)
    rows = torch.zeros(len(tokens), tower.config.positions, tower.config.width, dtype=torch.float64)
    mask = torch.ones(len(rows), rows.shape[1], rows.shape[1], dtype=torch.bool).tril()
    pieces = []
    for one, ids in enumerate(tokens):
        own = tower.tokens(torch.tensor(ids)) + tower.positions[: len(ids)]
        pieces.append(F.pad(torch.cat([own, prompts]), (0, 0, 0, rows.shape[1] - len(ids) - len(prompts))))
        mask[one, :, len(ids) :] = False
    rows = run_blocks(tower.blocks, torch.stack(pieces), masked(mask))
    places = torch.tensor([[len(ids) + k for k in range(len(prompts))] for ids in tokens])
    return rows, rows[torch.arange(len(rows))[:, None], places]


def value_and_gradient(features, rows):
    weights = random_rows(*features.shape, seed=5).detach()
    return features.detach(), torch.autograd.grad((features * weights).sum(), rows)[0]


def test_images_equal_the_masked_pass(model):
    size, width = model.config.image.image_size, model.config.image.width
    pixels, prompts = random_rows(3, 3, size, size).detach(), random_rows(4, width, seed=1)
    originals, rows = masked_image(model, prompts, pixels)
    ours = value_and_gradient(model.read_image(prompts, model.record_image(pixels)), prompts)
    for one, other in zip(ours, value_and_gradient(model.image.finish(rows), prompts), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10 * other.abs().max().item())
    torch.testing.assert_close(model.image.finish(originals[:, 0]), model.encode_image(pixels), rtol=0, atol=1e-10)


def test_sentences_equal_the_masked_pass(model):
    prompts = random_rows(4, model.config.text.width)
    originals, rows = masked_text(model, prompts, SENTENCES)
    ours = value_and_gradient(model.read_text(prompts, model.record_text(SENTENCES)), prompts)
    for one, other in zip(ours, value_and_gradient(model.text.finish(rows), prompts), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10 * other.abs().max().item())
    ends = torch.tensor([len(tokens) - 1 for tokens in model.tokenizer(SENTENCES)])
    pooled = model.text.finish(originals[torch.arange(len(ends)), ends])
    torch.testing.assert_close(pooled, model.encode_text(SENTENCES), rtol=0, atol=1e-10)


def test_parts_give_the_same(tiny_clip, monkeypatch):
    prompts = random_rows(2, 64)
    whole = value_and_gradient(tiny_clip.read_text(prompts, tiny_clip.record_text(SENTENCES)), prompts)
    monkeypatch.setattr("openworld.backbones.blocks.ROWS", 5)
    monkeypatch.setattr("openworld.backbones.two_tower.CHUNK", 2)
    parts = value_and_gradient(tiny_clip.read_text(prompts, tiny_clip.record_text(SENTENCES)), prompts)
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12 * one.abs().max().item())


def test_a_recording_holds_keys_and_values_alone(tiny_clip):
    recording = tiny_clip.record_text(SENTENCES)
    assert len(recording) == len(SENTENCES) and recording.length == max(map(len, tiny_clip.tokenizer(SENTENCES)))
    assert [tuple(part.shape) for block in recording.memory for part in block] == 6 * [(5, recording.length, 64)]
    assert recording.visible.sum(dim=1).tolist() == [len(tokens) for tokens in tiny_clip.tokenizer(SENTENCES)]
    assert not any(part.requires_grad for block in recording.memory for part in block)


def test_prompts_fill_the_last_position_and_no_more(tiny_clip):
    recording = tiny_clip.record_text(SENTENCES)
    room = 77 - recording.length
    assert tiny_clip.read_text(torch.zeros(room, 64, dtype=torch.float64), recording).shape == (5, room, 64)
    with pytest.raises(OpenworldError, match=f"{room + 1} read-only prompts .* at most {room} prompts"):
        tiny_clip.read_text(torch.zeros(room + 1, 64, dtype=torch.float64), recording)
