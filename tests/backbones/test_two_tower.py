"""What a model promises beyond its numbers: fingerprints, refusals, cards."""

import dataclasses

import torch
from tiny_clip import tiny_clip as build_tiny_clip


def test_the_fingerprint_follows_weights_and_configuration(tiny_clip):
    twin = build_tiny_clip(torch.float64)
    assert twin.fingerprint == tiny_clip.fingerprint and len(twin.fingerprint) == 64
    assert build_tiny_clip(torch.float32).fingerprint != tiny_clip.fingerprint
    changed = build_tiny_clip(torch.float64)
    changed.text.blocks[0].up.bias[0] += 1e-9
    assert changed.fingerprint != tiny_clip.fingerprint
    changed = build_tiny_clip(torch.float64)
    changed.config = dataclasses.replace(changed.config, family="siglip")
    assert changed.fingerprint != tiny_clip.fingerprint


def test_the_preprocess_fingerprint_follows_its_settings(tiny_clip):
    twin = build_tiny_clip(torch.float64)
    assert twin.preprocess_fingerprint == tiny_clip.preprocess_fingerprint
    twin.preprocess = dataclasses.replace(twin.preprocess, mode="squash")
    assert twin.preprocess_fingerprint != tiny_clip.preprocess_fingerprint


def test_many_sentences_run_in_chunks_with_the_same_result(tiny_clip, monkeypatch):
    texts = [f"a photo of {a} {b}." for a in ("a", "the", "one") for b in ("owl", "red panda", "sea turtle", "lamp")]
    whole = tiny_clip.encode_text(texts)
    monkeypatch.setattr("openworld.backbones.prompts.CHUNK", 5)
    torch.testing.assert_close(tiny_clip.encode_text(texts), whole, rtol=0, atol=1e-12)


def test_an_empty_sentence_has_an_embedding(tiny_clip):
    alone = tiny_clip.encode_text([""])
    torch.testing.assert_close(tiny_clip.encode_text(["owl", ""])[1:], alone, rtol=0, atol=1e-12)
