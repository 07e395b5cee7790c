"""Seventeen looks for any picture, drawn with NumPy, SciPy and Pillow: what a diffusion model does to styles, in small.

blue = styles.styled(images, "blueprint")                   # an image set; features of it are kept like any other's
every = styles.restyled(images, tuple(styles.STYLES))       # every picture in every style, one image set
pixels = styles.STYLES["papercut"](picture, np.random.RandomState(0))

Most bear the name of a style of Syn-IS ("Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites
Paradox", Long et al., 2024, appendix D); the formulas are this project's own. Lengths are shares of the picture's
shorter side, so a drawing of 64 pixels and a photo of 512 get the same look.
"""

from openworld.datasets.styles._catalogue import STYLES
from openworld.datasets.styles._style import Style
from openworld.datasets.styles.styled import restyled, styled

__all__ = ["STYLES", "Style", "restyled", "styled"]
