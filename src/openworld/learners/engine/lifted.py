"""What a learner's frozen part makes of the views of images: computed once each, and kept while they fit.

A learner that tunes or prompts upper blocks alone says in `lift(clip, pixels)` what its lower blocks make of an image.
A training run sees the few views of an image again and again.
"""

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from openworld.backbones import TwoTower

MOST = 2**31  # bytes kept, in the main memory; views beyond them are lifted anew whenever they come


class Lifted:
    """Lifted views of one learner and one backbone, by any key that tells views apart."""

    def __init__(self, learner, clip: TwoTower):
        self._learner, self._clip = learner, clip
        self._known: dict[Hashable, Tensor] = {}
        self._room = MOST

    def rows(self, keys: Sequence[Hashable], pixels: Tensor) -> Tensor:
        """float[B, ..], lifted, of B views with their keys and pixels float[B, 3, H, W]."""
        missing = [place for place, key in enumerate(keys) if key not in self._known]
        made = {}
        if missing:
            lifted = self._learner.lift(self._clip, pixels[missing])
            made = {keys[place]: row for place, row in zip(missing, lifted.cpu(), strict=True)}
            size = lifted.numel() * lifted.element_size()
            if size <= self._room:
                self._room -= size
                self._known |= made
        return torch.stack([made[key] if key in made else self._known[key] for key in keys]).to(pixels.device)
