"""What several encodings want of the pictures of a set: each picture is read once, and each look at it is taken once.

A look is the picture itself or one augmented view of it. Encodings with the same draw share their views.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import torch
from PIL import Image

from openworld._errors import OpenworldError
from openworld.backbones.dual_encoder import DualEncoder
from openworld.features.augment import random_resized_crop

Computed = Mapping[tuple[int, str], np.ndarray]
"""(place of a look, "embeddings" or "patches") -> what the backbone gives for the batch."""


@dataclass(frozen=True, eq=False)
class SharedReading:
    """The looks that encodings take at each image of a set, in the backbone's size."""

    clip: DualEncoder
    images: object
    encodings: tuple

    @cached_property
    def views(self) -> dict[tuple, slice]:
        """Every draw that is wanted -> the places of its views among a picture's looks; the picture has place 0."""
        draws = dict.fromkeys(encoding.draw for encoding in self.encodings if encoding.views)
        starts = accumulate((views for views, *_ in draws), initial=1)
        return {draw: slice(start, start + draw[0]) for draw, start in zip(draws, starts, strict=False)}

    @cached_property
    def with_patches(self) -> set[int]:
        """The places of the looks whose patch rows are wanted."""
        wanted = [encoding for encoding in self.encodings if encoding.patches]
        views = [self.views[encoding.draw] for encoding in wanted if encoding.views]
        return {0 for _ in wanted} | {place for part in views for place in range(part.start, part.stop)}

    def read(self, row: int) -> np.ndarray | None:
        """[1 + V, ...] of a picture, every look as `Preparation.prepare` gives it; None where it cannot be read."""
        try:
            image = self.images.image(row)
        except OpenworldError:
            return None
        size, views = self.clip.config.image.image_size, []
        for count, scale, seed in self.views:
            generator = np.random.default_rng([seed, row])
            views += [random_resized_crop(image, size, generator, scale=scale) for _ in range(count)]
        return np.stack([self.clip.preprocess.prepare(picture) for picture in (image, *views)])

    def stack(self, images: Sequence[np.ndarray | None]) -> np.ndarray:
        """Return what was read as [B, 1 + V, ...], black where nothing could be."""
        if any(image is None for image in images):
            black = self.clip.preprocess.prepare(Image.new("RGB", (64, 64)))
            blank = np.stack([black] * (1 + sum(views for views, *_ in self.views)))
            images = [blank if image is None else image for image in images]
        if images[0].dtype != np.uint8 and any(encoding.pixels for encoding in self.encodings):
            raise OpenworldError(
                f"{self.clip.name!r} prepares images in a way of its own, whose pixels are not kept; learners that "
                "look at pixels need a backbone of `openworld list backbones`."
            )
        return np.stack(images)

    @torch.no_grad()
    def forward(self, pixels: torch.Tensor) -> Computed:
        """Return what the backbone gives for every look of prepared images [B, 1 + V, ...]."""
        # A look goes through the tower with the same look of the other images of its batch and nothing else, and
        # `encode_patches` gives the embeddings of `encode_image` to the last bit: what is computed for one encoding
        # does not depend on the others.
        arrays = {}
        for place, look in enumerate(pixels.to(self.clip.device, non_blocking=True).unbind(1)):
            scaled = self.clip.preprocess.scale(look).to(self.clip.dtype)
            if place in self.with_patches:
                embeddings, patches = self.clip.encode_patches(scaled)
                arrays[place, "patches"] = patches.half().cpu().numpy()
            else:
                embeddings = self.clip.encode_image(scaled)
            arrays[place, "embeddings"] = embeddings.float().cpu().numpy()
        return arrays

    def arrays_of(self, encoding, computed: Computed, pixels: np.ndarray) -> dict[str, np.ndarray]:
        """What one encoding keeps of a batch."""
        kinds = ("embeddings", "patches") if encoding.patches else ("embeddings",)
        arrays = {kind: computed[0, kind] for kind in kinds}
        views = self.views[encoding.draw] if encoding.views else slice(0)
        if encoding.views:
            names = {"embeddings": "views", "patches": "view_patches"}
            places = range(views.start, views.stop)
            arrays |= {names[kind]: np.stack([computed[place, kind] for place in places], axis=1) for kind in kinds}
        if encoding.pixels:
            arrays["pixels"] = pixels[:, 0]
        if encoding.pixels and encoding.views:
            arrays["view_pixels"] = pixels[:, views]
        return arrays
