"""What a learner is shown of some images, what it answers, and what its frozen part makes of their views."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from openworld.backbones import DualEncoder, TwoTower
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.features import Features

Consumes = Literal["embeddings", "views", "patches", "pixels"]
Tensors = dict[str, Tensor]
"""Tensors by name: parameters, and terms of a loss."""


@dataclass(frozen=True)
class Images:
    """B images on the backbone's device; in training, all of the same augmented view where a learner takes views.

    Args:
        embeddings: float[B, D], global embeddings by the frozen backbone, not normalised, never in half precision.
        patches: float[B, P, W], patch rows of the image tower before the joint projection; None unless consumed.
        pixels: float[B, 3, H, W], normalised, in the backbone's type; None unless consumed.
        draw: what the learner drew at random for this step; None for learners that draw nothing.
        rows: float[B, ..], what the learner's `lift` makes of the pixels, in training; None where it has none.
    """

    embeddings: Tensor
    patches: Tensor | Any = None  # who consumes them may rely on them
    pixels: Tensor | Any = None
    draw: Tensor | Any = None
    rows: Tensor | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.embeddings)


@dataclass(frozen=True)
class Answer:
    """What a fitted learner says about N images.

    Args:
        logits: float[N, C] over base names, then new names, scale included.
        baseness: float[N], larger = more like a base class.
        base_logits: float[N, C of base], for learners that tell base images apart by other logits than those columns;
            None for the others.
    """

    logits: Any  # within a learner tensors, of a `FittedLearner` arrays
    baseness: Any
    base_logits: Any = None

    __repr__ = short_repr


def select_images(
    features: Features, clip: DualEncoder, consumes: Consumes, rows: np.ndarray, views: np.ndarray | None = None
) -> Images:
    """Return the images at `rows` int64[B] of encoded features, or one view (`views` int64[B]) of each."""
    width, expected = features.embeddings.shape[1], clip.config.joint_dimension
    if width != expected:
        raise OpenworldError(f"features have {width} numbers, {clip.name!r} gives {expected}; encode images with it.")

    def read(plain: str, augmented: str) -> np.ndarray:
        name = plain if views is None else augmented
        array = getattr(features, name)
        if array is None:
            raise OpenworldError(
                f"a learner that consumes {consumes!r} needs {name} of every image, and the features hold none; "
                "encode with `encoding_for(learner, Encoding(views=...))`."
            )
        return array[rows] if views is None else array[rows, views]

    pixels = None
    if consumes == "pixels":
        pixels = torch.as_tensor(read("pixels", "view_pixels"), device=clip.device)
        pixels = clip.preprocess.scale(pixels).to(clip.dtype)
    return Images(
        embeddings=_wide(read("embeddings", "views"), clip),
        patches=_wide(read("patches", "view_patches"), clip) if consumes == "patches" else None,
        pixels=pixels,
    )


def _wide(array: np.ndarray, clip: DualEncoder) -> Tensor:
    return torch.as_tensor(array, device=clip.device, dtype=torch.promote_types(clip.dtype, torch.float32))


MOST = 2**31  # bytes kept, in the main memory; views beyond them are lifted anew whenever they come


def lifting(learner: Any, clip: TwoTower) -> Callable[[Sequence[Hashable], Tensor], Tensor]:
    """Return a function from keys of B views and their pixels float[B, 3, H, W] to what `lift` makes of them."""
    # A training run sees the same few views again and again: each is lifted once, while there is room.
    held: dict[Hashable, Tensor] = {}
    room = MOST

    def rows(keys: Sequence[Hashable], pixels: Tensor) -> Tensor:
        nonlocal room
        missing, made = [place for place, key in enumerate(keys) if key not in held], {}
        if missing:
            lifted = learner.lift(clip, pixels[missing])
            made = {keys[place]: row for place, row in zip(missing, lifted.cpu(), strict=True)}
            size = lifted.numel() * lifted.element_size()
            if size <= room:
                room -= size
                held.update(made)
        return torch.stack([made[key] if key in made else held[key] for key in keys]).to(pixels.device)

    return rows
