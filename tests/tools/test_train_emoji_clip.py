"""The training script on a handful of concepts: losses fall, a resumed run repeats, the export is a CLIP."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from emoji_clip.augment import augment, informative_patches
from emoji_clip.captions import Captions, corpus, pad
from emoji_clip.export import as_quick_gelu, export_model
from emoji_clip.recipe import Recipe
from emoji_clip.tokens import END, START, train_tokenizer
from emoji_clip.train import Trainer
from emoji_clip.world import World

from openworld import backbones
from openworld.backbones.blocks import quick_gelu
from openworld.backbones.config import ImageConfig, TextConfig, TwoTowerConfig
from openworld.datasets.emoji.drawings import SOURCE_STYLES, TARGET_STYLES, Concept

NAMES = ("red apple", "blue car", "green tree", "grey cat", "old clock", "new moon")


@pytest.fixture(scope="module")
def world():
    concepts = tuple(
        Concept(
            str(index),
            name,
            tuple(name.split()),
            "symbols" if index == 4 else "things",
            "all-things",
            index == 5,
            None,
        )
        for index, name in enumerate(NAMES)
    )
    styles = SOURCE_STYLES + TARGET_STYLES
    random = np.random.default_rng(0)
    drawings = random.integers(0, 256, (len(NAMES), 8, 8, 4)).repeat(8, 1).repeat(8, 2).astype(np.uint8)
    concept = np.repeat(np.arange(len(NAMES)), len(styles))
    return World(concepts, drawings[concept], concept, np.array(styles * len(NAMES)))


@pytest.fixture(scope="module")
def tokenizer(world):
    return train_tokenizer(corpus(world.concepts), vocabulary=700)


def tiny(tokenizer):
    text = TextConfig(
        width=16,
        layers=1,
        heads=2,
        mlp_width=32,
        vocabulary=tokenizer.get_vocab_size(),
        positions=32,
        end_token=tokenizer.token_to_id(END),
    )
    image = ImageConfig(image_size=64, patch_size=8, width=16, layers=2, heads=2, mlp_width=32)
    return TwoTowerConfig(text=text, image=image, joint_dimension=8)


def trainer(world, tokenizer, **changes):
    given = {
        "samples": 400,
        "minutes": float("inf"),
        "batch": 16,
        "other_captions": 4,
        "other_classes": 2,
        "rate": 1e-2,
    }
    return Trainer(world, Captions(world.concepts, tokenizer), tiny(tokenizer), Recipe(**given | changes))


def test_losses_fall_and_the_last_phase_is_contrastive(world, tokenizer):
    run = trainer(world, tokenizer, joint_from=0.9)
    losses = [run.step() for _ in range(25)]
    assert run.progress == 1
    assert losses[-1]["text"] < losses[0]["text"]
    assert "joint" not in losses[0] and "joint" in losses[-1]


def test_a_resumed_run_takes_the_same_next_step(world, tokenizer, tmp_path):
    run = trainer(world, tokenizer)
    run.step()
    run.save(tmp_path / "checkpoint.pt")
    expected = run.step()
    resumed = trainer(world, tokenizer)
    resumed.resume(tmp_path / "checkpoint.pt")
    assert resumed.step() == expected


def test_target_styles_and_withheld_concepts_are_never_trained_on(world, tokenizer):
    data = trainer(world, tokenizer).data
    rows = np.concatenate(data.rows)
    assert set(world.style[rows]) == set(SOURCE_STYLES)
    assert 5 not in world.concept[rows]


def test_export_computes_what_training_computed(world, tokenizer, tmp_path):
    run = trainer(world, tokenizer)
    run.step()
    export_model(run.average, tokenizer, 12.0, tmp_path)
    loaded = backbones.load(str(tmp_path))
    pixels = torch.rand(3, 3, 64, 64)
    texts = ["a photo of a red apple.", "grey cat"]
    ids = torch.from_numpy(pad([encoding.ids for encoding in tokenizer.encode_batch(texts)]))
    assert loaded.logit_scale.item() == pytest.approx(12, rel=1e-3)
    torch.testing.assert_close(loaded.encode_image(pixels), run.average.image(pixels), rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(loaded.encode_text(texts), run.average.text(ids), rtol=1e-2, atol=1e-2)


def test_quick_gelu_is_a_scaled_silu(world, tokenizer):
    run = trainer(world, tokenizer)
    converted = as_quick_gelu(run.model)
    for block in (*converted.image.blocks, *converted.text.blocks):
        block.activation = quick_gelu
    pixels = torch.rand(2, 3, 64, 64)
    torch.testing.assert_close(converted.image(pixels), run.model.image(pixels))


def test_tokenizer_has_clips_layout(tokenizer):
    ids = tokenizer.encode("A photo  of 12 cafés").ids
    assert ids[0] == tokenizer.token_to_id(START)
    assert ids[-1] == tokenizer.token_to_id(END) == tokenizer.get_vocab_size() - 1
    assert tokenizer.encode("12").tokens[1:-1] == ["1</w>", "2</w>"]


def test_captions_are_the_tokens_of_their_text(world, tokenizer):
    captions = Captions(world.concepts, tokenizer)
    random = np.random.default_rng(0)
    for _ in range(50):
        ids = captions.draw(0, "grey", random)
        text = tokenizer.decode(ids).replace("</w>", " ")
        assert tokenizer.encode(text).ids == ids


def test_augmentation_keeps_range_shape_and_symbols(world):
    images = torch.from_numpy(world.images[:40])
    noise = torch.Generator().manual_seed(0)
    pixels, looks = augment(images, torch.zeros(40, dtype=torch.bool), 1.0, noise)
    assert pixels.shape == (40, 3, 64, 64)
    assert pixels.min() >= 0 and pixels.max() <= 1
    assert len({look for look in looks if look}) >= 3
    kept = informative_patches(pixels, 24, 8, noise)
    assert all(len(set(row)) == 24 and max(row) < 64 for row in kept.tolist())
