"""The 19 corruptions of ImageNet-C in five severities, written anew on NumPy, SciPy and Pillow.

Formulas and parameters are those of Hendrycks and Dietterich (2019) for images of 32, 64 and 224 pixels, whichever is
nearest; what differs (frost is drawn, not photographed; levels are rounded, not cut) is said where it does.
`corrupted(images, "fog", 3, seed=0, cut=224)` is an image set; `CORRUPTIONS["fog"](image, 3, draws)` are pixels.
"""

from openworld.datasets.corruptions.corrupted import CORRUPTIONS, SEVERITIES, SIDES, Corruption, corrupted, nearest_side

__all__ = ["CORRUPTIONS", "SEVERITIES", "SIDES", "Corruption", "corrupted", "nearest_side"]
