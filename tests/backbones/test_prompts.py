"""Prompted text passes: equal to the plain pass over all positions, in value and gradient, and to published code."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tiny_clip import as_tensor, reference

from openworld import backbones
from openworld.backbones import blocks
from openworld.backbones.blocks import run_blocks
from openworld.backbones.packing import lengthen
from openworld.backbones.prompts import common_prefix

LAYOUTS = [
    {"fixed": "of a"},
    {"position": "middle"},
    {"position": "front"},
    {"position": "middle", "suffix": ", a type of pet."},
    {"position": "front", "suffix": ""},
    {"position": "middle", "keep_underscores": True},
]
NAMES = ["owl", "golden retriever", "traffic light", "owl", "mountain bike", "ice_cream", "lamp (dog)"]


def plain_pass(model, context, prompts):
    """Every sentence at full length in its own row: the definition."""
    tower = model.text
    tokens = F.pad(prompts.tokens, (0, tower.config.positions - prompts.tokens.shape[1]))
    rows = tower.tokens(tokens)
    first, last = rows[:, :1], rows[:, 1 + prompts.context_length :]
    rows = torch.cat([first, context.expand(len(tokens), -1, -1), last], dim=1) + tower.positions
    rows = run_blocks(tower.blocks, rows, tower.attend)
    return tower.finish(rows[torch.arange(len(rows)), tower.pooled_position(tokens)])


def plain_pass_in_layout(model, context, names, *, suffix=".", fixed="", position="end", keep_underscores=False):
    """One sentence at a time, its rows put together by hand, at full length."""
    tower, features = model.text, []
    before = {"end": len(context), "middle": len(context) // 2, "front": 0}[position]
    for name in names:
        spoken = name.replace("_", " ")
        written = name if keep_underscores else spoken
        # The name is tokenised together with what follows it; its own length counts where a context goes behind it.
        tail = model.tokenizer([f"{written}{suffix}"])[0][1:]
        cut = len(model.tokenizer([spoken])[0]) - 2
        head = model.tokenizer([fixed])[0][1:-1] + tail[:cut]
        words = [tower.tokens(torch.tensor(ids)) for ids in ([tower.config.vocabulary - 2], head, tail[cut:])]
        rows = torch.cat([words[0], context[:before], words[1], context[before:], words[2]])
        rows = run_blocks(tower.blocks, (rows + tower.positions[: len(rows)])[None], tower.attend)
        features.append(tower.finish(rows[0, -1]))
    return torch.stack(features)


def random_context(model, *shape):
    noise = torch.randn(*shape, model.config.text.width, generator=torch.Generator().manual_seed(3))
    return (0.02 * noise).to(model.dtype).requires_grad_()


def value_and_gradient(encode, context):
    features = encode(context)
    weights = torch.randn(features.shape, generator=torch.Generator().manual_seed(4)).to(features.dtype)
    return features.detach(), torch.autograd.grad((features * weights).sum(), context)[0]


@pytest.mark.parametrize(
    ("names", "length"), [(NAMES, 1), (NAMES, 16), (NAMES[:1], 1), (NAMES[:1] * 3, 16), (NAMES[3:5], 1)]
)
def test_equals_the_plain_pass(tiny_clip, clip_checkpoint, names, length):
    for model in (tiny_clip, backbones.load(clip_checkpoint[0], dtype=torch.float64)):
        prompts, context = model.prompt_names(names, length), random_context(model, length)
        fast = value_and_gradient(lambda c: model.encode_prompts(c, prompts), context)  # noqa: B023
        plain = value_and_gradient(lambda c: plain_pass(model, c, prompts), context)  # noqa: B023
        for ours, theirs in zip(fast, plain, strict=True):
            assert (ours - theirs).abs().max() <= 1e-10 * theirs.abs().max()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("length", [1, 5])
def test_every_layout_equals_the_plain_pass(tiny_clip, layout, length):
    prompts, context = tiny_clip.prompt_names(NAMES, length, **layout), random_context(tiny_clip, length)
    fast = value_and_gradient(lambda c: tiny_clip.encode_prompts(c, prompts), context)
    plain = value_and_gradient(lambda c: plain_pass_in_layout(tiny_clip, c, NAMES, **layout), context)
    for ours, theirs in zip(fast, plain, strict=True):
        assert (ours - theirs).abs().max() <= 1e-10 * theirs.abs().max()
    groups = torch.stack([context, 2 * context])
    torch.testing.assert_close(tiny_clip.encode_prompts(groups, prompts)[0], fast[0], rtol=0, atol=1e-10)


def test_words_without_context_are_the_plain_sentence(tiny_clip):
    prompts = tiny_clip.prompt_names(NAMES, 0, ", a type of pet.", fixed="a photo of a")
    features = tiny_clip.encode_prompts(torch.zeros(0, 64, dtype=torch.float64), prompts)
    sentences = [f"a photo of a {name.replace('_', ' ')}, a type of pet." for name in NAMES]
    torch.testing.assert_close(features, tiny_clip.encode_text(sentences), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("groups", "budget"), [(None, 1), (3, 40)])
def test_parts_give_the_same(tiny_clip, monkeypatch, budget, groups):
    prompts = tiny_clip.prompt_names(NAMES, 4, position="middle")
    lead = () if groups is None else (groups,)
    context = random_context(tiny_clip, *lead, 4)
    deep = random_context(tiny_clip, *lead, 2).detach()
    per_class = random_context(tiny_clip, *lead, len(NAMES), 2).detach()

    def encode(context):
        per_name = {2: per_class * context.mean()}
        return tiny_clip.encode_prompts(context, prompts, replace={1: deep}, replace_per_class=per_name)

    whole = value_and_gradient(encode, context)
    monkeypatch.setattr("openworld.backbones.blocks.ROWS", budget)
    for one, other in zip(value_and_gradient(encode, context), whole, strict=True):
        assert (one - other).abs().max() <= 1e-12 * other.abs().max()
    with torch.no_grad():
        torch.testing.assert_close(encode(context), whole[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("position", "budget"), [("end", 10**6), ("middle", 20)])
def test_contexts_can_be_mapped_over(tiny_clip, monkeypatch, position, budget):
    """torch.func.vmap runs several trainings as one pass; an operation without a rule for it would warn."""
    monkeypatch.setattr("openworld.backbones.blocks.ROWS", budget)
    prompts = tiny_clip.prompt_names(NAMES, 4, position=position)
    contexts = random_context(tiny_clip, 2, 4).detach()
    gradient = torch.func.grad(lambda context: tiny_clip.encode_prompts(context, prompts).square().sum())
    together, alone = torch.func.vmap(gradient)(contexts), torch.stack([gradient(context) for context in contexts])
    assert (together - alone).abs().max() <= 1e-12 * alone.abs().max()


def test_tokens_are_those_of_coop(tiny_clip):
    prompts = tiny_clip.prompt_names(reference("coop")["class_names"].tolist(), 4)
    expected = as_tensor(reference("coop")["tokens/prompts"])
    assert torch.equal(F.pad(prompts.tokens, (0, 77 - prompts.tokens.shape[1])), expected.long())


def test_rows_may_be_replaced_again_and_differ_by_group(tiny_clip):
    """Against one group and one class at a time, where rows per class are rows for all."""
    prompts, contexts = tiny_clip.prompt_names(NAMES, 4), random_context(tiny_clip, 2, 4)
    per_class = {1: random_context(tiny_clip, 2, len(NAMES), 3), 2: random_context(tiny_clip, len(NAMES), 1)}
    deep = random_context(tiny_clip, 2, 3)
    together = tiny_clip.encode_prompts(contexts, prompts, replace={2: deep}, replace_per_class=per_class)
    for group in range(2):
        for one, name in enumerate(NAMES):
            rows = {1: per_class[1][group, one], 2: torch.cat([per_class[2][one], deep[group, 1:]])}
            alone = tiny_clip.encode_prompts(contexts[group], tiny_clip.prompt_names([name], 4), replace=rows)
            torch.testing.assert_close(together[group, one], alone[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("rows", [blocks.ROWS, 12], ids=["at once", "in parts"])
def test_lists_of_names_are_read_each_behind_its_own_context(tiny_clip, rows, monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", rows)
    lists, contexts = [NAMES[:4], NAMES[2:6], NAMES[:0:-2] + NAMES[:1]], random_context(tiny_clip, 3, 5)
    together = value_and_gradient(lambda c: tiny_clip.encode_prompts(c, tiny_clip.prompt_names(lists, 5)), contexts)

    def apart(contexts):
        pairs = zip(contexts, lists, strict=True)
        return torch.stack([tiny_clip.encode_prompts(one, tiny_clip.prompt_names(names, 5)) for one, names in pairs])

    for ours, theirs in zip(together, value_and_gradient(apart, contexts), strict=True):
        assert (ours - theirs).abs().max() <= 1e-10 * theirs.abs().max()


@given(st.lists(st.integers(1, 12), min_size=1, max_size=30).map(sorted), st.integers(0, 40))
def test_lengthened_sentences_make_fewer_buckets_for_few_rows(lengths, spare):
    longer = lengthen(lengths, spare)
    assert longer == sorted(longer) and set(longer) <= set(lengths)
    assert all(before <= after for before, after in zip(lengths, longer, strict=True))
    buckets_less = len(set(lengths)) - len(set(longer))
    assert sum(longer) - sum(lengths) <= spare * buckets_less and lengthen(lengths, 0) == lengths


def test_the_common_prefix_leaves_each_sentence_a_token_of_its_own_behind_the_start_token():
    for sentences, shared in (
        ([[0, 5, 6, 7, 9], [0, 5, 6, 8, 9]], 2),
        ([[0, 5, 6, 9], [0, 5, 6, 9]], 2),
        ([[0, 5, 9], [0, 6, 9]], 0),
        ([[0, 5, 6, 7, 9], [0, 5, 9]], 1),
        ([[0, 5, 6, 7, 9]], 3),
    ):
        assert common_prefix(sentences) == shared, sentences
