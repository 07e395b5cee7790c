"""What a learner is select_images of some images, and what it answers."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld._short_repr import short_repr
from openworld.backbones import DualEncoder
from openworld.features import Features

Consumes = Literal["embeddings", "views", "patches", "pixels"]


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
    patches: Tensor | None = None
    pixels: Tensor | None = None
    draw: Tensor | None = None
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

    logits: Tensor
    baseness: Tensor
    base_logits: Tensor | None = None

    __repr__ = short_repr


def select_images(
    features: Features, clip: DualEncoder, consumes: Consumes, rows: np.ndarray, views: np.ndarray | None = None
) -> Images:
    """The images at `rows` of encoded features, or one view of each.

    Args:
        features: encoded with this backbone.
        clip: the backbone.
        consumes: what the learner is to be select_images.
        rows: int64[B].
        views: int64[B], which view of each image; None for the images as they are.

    Raises:
        OpenworldError: features of another backbone's width, or without what the learner consumes.
    """
    width, expected = features.embeddings.shape[1], clip.config.joint_dimension
    if width != expected:
        raise OpenworldError(
            f"the features have {width} dimensions, but {clip.name!r} gives {expected}; encode the images with it."
        )

    def read(plain: str, augmented: str) -> np.ndarray:
        name = plain if views is None else augmented
        array = getattr(features, name)
        if array is None:
            raise OpenworldError(
                f"a learner that consumes {consumes!r} needs {name} of every image, and the features hold none; "
                "encode with `encoding_for(learner, Encoding(views=...))`."
            )
        return array[rows] if views is None else array[rows, views]

    return Images(
        embeddings=_wide(read("embeddings", "views"), clip),
        patches=_wide(read("patches", "view_patches"), clip) if consumes == "patches" else None,
        pixels=_pixels(read("pixels", "view_pixels"), clip) if consumes == "pixels" else None,
    )


def _wide(array: np.ndarray, clip: DualEncoder) -> Tensor:
    return torch.as_tensor(array, device=clip.device, dtype=torch.promote_types(clip.dtype, torch.float32))


def _pixels(array: np.ndarray, clip: DualEncoder) -> Tensor:
    return clip.preprocess.scale(torch.as_tensor(array, device=clip.device)).to(clip.dtype)
