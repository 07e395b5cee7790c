"""What every backbone offers: images and sentences in, unnormalised embeddings of one joint space out.

`TwoTower` offers more (contexts behind which names are read, rows among the patches, patch features, recordings), since
its towers are ours; models that another library runs (`foreign`) offer this. Whoever needs no more takes a
`DualEncoder`, and so runs on all of them.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from PIL import Image
from torch import Tensor


class Preparation(Protocol):
    """From an image of any size to what the model reads, in two steps: one on the CPU, one where the model is."""

    def prepare(self, image: Image.Image) -> np.ndarray:
        """An image of any size and mode as an array, of one shape and dtype for all images."""

    def scale(self, pixels: Tensor) -> Tensor:
        """Prepared images, stacked, [..., *shape] as the floating numbers that `encode_image` reads."""


class EncoderConfig(Protocol):
    """The sizes that every backbone has: the joint dimension D, and `image.image_size`, the side of its images."""

    @property
    def joint_dimension(self) -> int: ...

    @property
    def image(self) -> Any: ...


class DualEncoder(Protocol):
    """A frozen model that embeds images and sentences in one space; logits are `logit_scale` times the cosine.

    name: what `load` was given. tokenizer: how texts are read (`positions`, `spell`), for the audit of class names;
    None where the library does not tell. preprocess: how images become pixels.
    """

    name: str

    @property
    def tokenizer(self) -> Any:
        """How texts are read."""

    @property
    def preprocess(self) -> Preparation:
        """How images become pixels."""

    @property
    def config(self) -> EncoderConfig:
        """Sizes."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    @property
    def dtype(self) -> torch.dtype:
        """The floating type of the weights; pixels must come in it."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of configuration and weights as they are in memory."""

    @property
    def preprocess_fingerprint(self) -> str:
        """SHA-256 (hex) of how images are prepared."""

    @property
    def logit_scale(self) -> Tensor:
        """What cosines are multiplied by, 0-d, above 0, at least float32."""

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Scaled images float[B, ...] to unnormalised joint embeddings float[B, D]."""

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        """C sentences to unnormalised joint embeddings float[C, D].

        Raises OpenworldError for an empty list and for a sentence longer than the model reads: none is cut off.
        """
