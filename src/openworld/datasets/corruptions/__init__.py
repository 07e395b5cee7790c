"""The 19 corruptions of ImageNet-C in five severities, written anew on NumPy, SciPy and Pillow.

foggy = corruptions.corrupted(images, "fog", 3, seed=0)     # an image set; features of it are kept like any other's
pixels = corruptions.CORRUPTIONS["fog"](picture, 3, np.random.default_rng(0))

Formulas and parameters are those of Hendrycks and Dietterich, "Benchmarking Neural Network Robustness to Common
Corruptions and Perturbations" (2019), for pictures of 32, 64 and 224 pixels, whichever is nearest; what differs (frost
is drawn, not photographed; levels are rounded, not cut) is said where it does. Lengths are in pixels of such pictures:
`cut=224` first scales and cuts a larger one as ImageNet-C does.
"""

from openworld.datasets.corruptions._corruption import SEVERITIES, SIDES, Corruption, nearest_side
from openworld.datasets.corruptions.corrupted import CORRUPTIONS, corrupted

__all__ = ["CORRUPTIONS", "SEVERITIES", "SIDES", "Corruption", "corrupted", "nearest_side"]
