"""What a `TwoTower` refuses: calls on the tiny CLIP or on a SigLIP, and words that occur in the refusal."""

import pytest
import torch

from openworld import backbones
from openworld.core.errors import OpenworldError

SENTENCES = ["a photo of a cat.", "an owl."]
NARROW = torch.zeros(3, 32, 32)


def zeros(*shape):
    return torch.zeros(shape, dtype=torch.float64)


def encode(clip, shape, names=("owl",), **rows):
    return clip.encode_prompts(zeros(*shape), clip.prompt_names(list(names), 4), **rows)


def encode_in_middle(clip, **rows):
    prompts = clip.prompt_names(["owl", "lamp"], 4, position="middle")
    return clip.encode_prompts(zeros(3, 4, 64), prompts, **rows)


def encode_image(clip, prompts):
    return clip.encode_image(zeros(1, 3, 32, 32), prompts)


def leave_text(clip, prompts, room=None):
    entered = clip.enter_text(SENTENCES, 1)
    return clip.leave_text(entered if room is None else entered.pack(clip.text, room), prompts)


def read(clip, way, shape):
    record = clip.record_text(SENTENCES) if way == "text" else clip.record_image(zeros(1, 3, 32, 32))
    return getattr(clip, f"read_{way}")(zeros(*shape), record)


ROW, PUT = zeros(1, 64), "expected .* n at most 2.* blocks 0 to 2"
ONE_SHAPE, READ_ONLY = (
    r"one shape \[N, 64\] with N at least 1",
    r"read-only prompts of shape \[K, 64\] with K at least 1",
)
LONG = ["owl", "golden " * 59 + "retriever"]
CLIP = [
    (lambda clip: clip.encode_image(NARROW), r"expected pixels of shape \[B, 3, 32, 32\], got \[3, 32, 32\]"),
    (lambda clip: clip.record_image(zeros(1, 3, 16, 16)), r"expected pixels of shape \[B, 3, 32, 32\]"),
    (lambda clip: clip.encode_text([]), "at least one sentence"),
    (lambda clip: clip.encode_text("owl"), "at least one sentence, got 'owl'"),
    (lambda clip: clip.record_text("owl"), "at least one sentence, got 'owl'"),
    (lambda clip: clip.project_patches(zeros(1, 16, 32)), "patch rows of width 64, before the joint .*, got 32"),
    (lambda clip: clip.prompt_names(LONG, 18), "'X X .* is 81 tokens long.* at most 77"),
    (lambda clip: clip.prompt_names("owl", 4), "at least one class name, got 'owl'"),
    (lambda clip: clip.prompt_names([["owl"], []], 4), "at least one class name"),
    (lambda clip: clip.prompt_names(["owl"], 4, position="frnt"), "position of the name 'frnt'; did you mean 'front'"),
    (lambda clip: clip.prompt_names(["owl"], 4, fixed="of a", position="front"), "fixed words .* not at the front"),
    (lambda clip: clip.prompt_names([["owl", "lamp"], ["owl"]], 4), r"equally many names, got \[2, 1\]"),
    (lambda clip: clip.prompt_names([["owl"], ["lamp"]], 4, position="front"), "end of their .* not at the front"),
    (lambda clip: encode(clip, (3, 64)), r"expected a context of shape \[4, 64\].*got \[3, 64\]"),
    (lambda clip: encode(clip, (4, 64), [["owl"], ["lamp"]]), "2 lists of names need as many contexts"),
    (lambda clip: encode(clip, (3, 4, 64), [["owl"], ["lamp"]]), "2 lists of names need as many contexts"),
    (lambda clip: encode_in_middle(clip, replace={3: zeros(2, 64)}), f"at block 3; {PUT}"),
    (lambda clip: encode_in_middle(clip, replace={1: zeros(3, 64)}), f"at block 1; {PUT}"),
    (lambda clip: encode_in_middle(clip, replace={1: zeros(2, 2, 64)}), f"at block 1; {PUT}"),
    (lambda clip: encode_in_middle(clip, replace={1: zeros(2, 32)}), f"at block 1; {PUT}"),
    (lambda clip: encode_in_middle(clip, replace_per_class={1: zeros(2, 64)}), f"at block 1; {PUT}"),
    (lambda clip: encode_in_middle(clip, replace_per_class={1: zeros(3, 2, 64)}), f"at block 1; {PUT}"),
    (lambda clip: encode_in_middle(clip, replace_per_class={1: zeros(2, 2, 2, 64)}), f"at block 1; {PUT}"),
    (lambda clip: encode_image(clip, {0: ROW, 3: ROW}), r"for blocks \[0, 3\]; this tower has blocks 0 to 2"),
    (lambda clip: encode_image(clip, {1: ROW}), r"for blocks \[1\].*block 0 needs them"),
    *((lambda clip, shape=shape: encode_image(clip, {0: zeros(*shape)}), ONE_SHAPE)
      for shape in ((2, 8), (64,), (0, 64))),
    (lambda clip: encode_image(clip, {0: zeros(2, 64), 1: ROW}), ONE_SHAPE),
    *((lambda clip, shape=shape, way=way: read(clip, way, shape), READ_ONLY)
      for way in ("text", "image") for shape in ((4, 32), (0, 64), (64,))),
    (lambda clip: clip.enter_text(SENTENCES, 3), "block 3; this tower has blocks 0 to 2"),
    (lambda clip: clip.enter_image(zeros(1, 3, 32, 32), -1), "block -1"),
    *((lambda clip, blocks=blocks: leave_text(clip, dict.fromkeys(blocks, ROW)), "expected one shape")
      for blocks in ((2,), (0, 1), (1, 3))),
    (lambda clip: leave_text(clip, {1: ROW, 2: zeros(2, 64)}), "expected one shape"),
    (lambda clip: leave_text(clip, {1: ROW}, room=2), "1 learned rows for sentences .* packed with room for 2"),
    (lambda clip: clip.with_weights({"text.blocks.7.qkv.bias": zeros(192)}), "no weight 'text.blocks.7'"),
    (lambda clip: clip.with_weights({"words": zeros(1)}), "no weight 'words'"),
    (lambda clip: clip.with_weights({"text.projection.bias": zeros(64)}), "no weight 'text.projection.bias'"),
    (lambda clip: clip.with_weights({"text.norm_out.bias": zeros(3)}), r"is of shape \[64\], got \[3\]"),
]  # fmt: skip
PIXELS = torch.zeros(1, 3, 16, 16)
SIGLIP = [
    (lambda clip: clip.encode_patches(PIXELS), "class token"),
    (lambda clip: clip.project_patches(torch.zeros(1, 48)), "patch rows need .* class token"),
    (lambda clip: clip.encode_image(PIXELS, {0: torch.zeros(1, 48)}), "image prompts need .* class token"),
    (lambda clip: clip.record_image(PIXELS), "read-only prompts need .* class token"),
    (lambda clip: clip.enter_image(PIXELS, 0), "class token"),
    (lambda clip: clip.prompt_names(["owl"], 4), "causal text tower"),
    (lambda clip: clip.record_text(["owl"]), "read-only prompts need a causal"),
    (lambda clip: clip.enter_text(SENTENCES, 0), "causal text tower"),
]


@pytest.mark.parametrize(("call", "words"), CLIP)
def test_clip_refuses(tiny_clip, call, words):
    with pytest.raises(OpenworldError, match=words):
        call(tiny_clip)


def test_siglip_refuses_what_needs_a_causal_tower_or_a_class_token(siglip_checkpoint):
    siglip = backbones.load(siglip_checkpoint[0])
    for call, words in SIGLIP:
        with pytest.raises(OpenworldError, match=words):
            call(siglip)
