"""Seventeen looks for any image, drawn with NumPy, SciPy and Pillow: what a diffusion model does to styles, in small.

Most bear the name of a style of Syn-IS (Long et al., 2024, appendix D); the formulas are this project's own. Lengths
are shares of the shorter side, so a drawing of 64 pixels and a photo of 512 get the same look. `styled(images,
"blueprint")` and `restyled(images, tuple(STYLES))` are image sets; `STYLES["papercut"](image, draws)` are pixels.
"""

from openworld.datasets.styles._catalogue import STYLES, Style
from openworld.datasets.styles.styled import restyled, styled

__all__ = ["STYLES", "Style", "restyled", "styled"]
