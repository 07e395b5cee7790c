"""A random CLIP and a few encoded images: enough to fit any learner in a second, too little to learn anything."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from openworld.backbones import ImageConfig, Preprocess, TextConfig, TwoTower, TwoTowerConfig
from openworld.features import Features
from openworld.learners.engine.costs import WordTokenizer

# All widths differ, so that a learner that takes one for another fails.
CONFIG = TwoTowerConfig(
    text=TextConfig(width=64, layers=3, heads=2, mlp_width=96, vocabulary=4096),
    image=ImageConfig(image_size=32, patch_size=8, width=48, layers=3, heads=3, mlp_width=80),
    joint_dimension=32,
)
NAMES = ("golden retriever", "ice_cream", "traffic light", "fried rice", "mountain bike", "owl", "lamp")
NEW = ("sea turtle", "violin", "lighthouse")
SHOTS, VIEWS = 4, 3


@dataclass(frozen=True, eq=False)
class World:
    """What a learner is tried on.

    Args:
        clip: a frozen backbone.
        shots: training images with everything that a learner may consume: embeddings, patches, pixels, and views of
            all three.
        new: names of classes that have no image.
    """

    clip: TwoTower
    shots: Features
    new: tuple[str, ...] = NEW


@cache
def small_world(dtype: torch.dtype = torch.float32) -> World:
    """Seven classes of four images with three views each, on a random CLIP of three blocks; always the same.

    >>> small_world().shots.views.shape
    (28, 3, 32)
    """
    clip = _random_clip().to(dtype)
    clip.log_scale.data = clip.log_scale.data.float()  # as `backbones.load` keeps it
    labels = np.repeat(np.arange(len(NAMES)), SHOTS)
    # One random pattern per class, under noise that differs from view to view.
    generator = np.random.default_rng(0)
    patterns = generator.integers(0, 256, (len(NAMES), 1, 3, 32, 32))
    noise = generator.integers(-60, 61, (len(labels), VIEWS, 3, 32, 32))
    pixels = (patterns[labels] + noise).clip(0, 255).astype(np.uint8)
    with torch.no_grad():
        scaled = clip.preprocess.scale(torch.from_numpy(pixels.reshape(-1, *pixels.shape[2:])))
        embeddings, patches = clip.encode_patches(scaled.to(dtype))
    views = embeddings.float().numpy().reshape(len(labels), VIEWS, -1)
    view_patches = patches.half().numpy().reshape(len(labels), VIEWS, *patches.shape[1:])
    rows = np.arange(len(labels))
    return World(
        clip,
        Features(
            embeddings=views[:, 0],
            labels=labels,
            groups=rows,
            rows=rows,
            classnames=NAMES,
            fingerprint="made up",
            views=views,
            patches=view_patches[:, 0],
            view_patches=view_patches,
            pixels=pixels[:, 0],
            view_pixels=pixels,
        ),
    )


def _random_clip() -> TwoTower:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        clip = TwoTower(
            CONFIG,
            tokenizer=WordTokenizer(CONFIG.text.vocabulary, CONFIG.text.positions),
            preprocess=Preprocess(32, 32, "shortest", (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)),
            name="small world",
        )
    clip.log_scale.data.fill_(math.log(100))
    return clip.requires_grad_(False).eval()
