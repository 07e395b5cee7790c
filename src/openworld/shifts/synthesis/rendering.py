"""A painter that needs no diffusion model: images that exist, redrawn in the built-in styles.

With the drawings of the embedded world it makes a real small twin of Syn-IS: labels are concepts, styles are those of
`openworld.datasets.styles`, and everything before and after the painting is the same code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.image_set import ImageSet
from openworld.datasets.styles import STYLES
from openworld.datasets.styles.styled import VERSION, redrawn
from openworld.shifts.synthesis.planning import Commission
from openworld.shifts.synthesis.prompts import Prompts, PromptStyle


def rendered_styles() -> tuple[PromptStyle, ...]:
    """Return the built-in styles as sentences, in the order of `openworld.datasets.styles.STYLES`.

    >>> rendered_styles()[7].prompt
    'a blueprint of a {}.'
    """
    return tuple(PromptStyle(name, style.sentence) for name, style in STYLES.items())


@dataclass(frozen=True, eq=False)
class RenderedPainter:
    """Takes one of a label's images, chosen by the seed, and redraws it in the style."""

    images: ImageSet  # whose class names are the labels that can be painted

    @property
    def about(self) -> Mapping[str, Any]:
        """What it is; it redraws: images of a label show one original, whatever the style."""
        return {"name": "rendered", "version": VERSION, "images": self.images.fingerprint, "redraws": True}

    def fitting(self) -> int:
        """Return 64: images are drawn one by one, so this is how often the journal is written."""
        return 64

    def paint(self, commissions: Sequence[Commission]) -> list[Image.Image]:
        """Return an image for each; refuse an unknown style, and a label that is no class or has no image."""
        images = []
        for order in commissions:
            if order.style not in STYLES:
                raise unknown_name("style", order.style, STYLES)
            indices = self._own(order.label)
            original = self.images.image(indices[order.seed % len(indices)])
            images.append(redrawn(original, order.style, order.seed))
        return images

    def require(self, prompts: Prompts) -> None:
        """Refuse prompts, before any is painted, some of which `paint` would refuse."""
        for style in prompts.styles:
            if style.name not in STYLES:
                raise unknown_name("style", style.name, STYLES)
        for label in prompts.labels:
            self._own(label)

    def _own(self, label: str) -> np.ndarray:
        """Return the places of a label's images."""
        if label not in self.images.classnames:
            raise unknown_name("class", label, self.images.classnames)
        indices = np.flatnonzero(self.images.labels == self.images.classnames.index(label))
        if not len(indices):
            raise OpenworldError(f"{self.images.name!r} has no image of {label!r}; leave that label out.")
        return indices
