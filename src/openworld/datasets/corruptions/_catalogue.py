"""Every corruption by name."""

from openworld.datasets.corruptions import _blur, _digital, _noise, _weather
from openworld.datasets.corruptions._corruption import Corruption

CORRUPTIONS: dict[str, Corruption] = {
    "gaussian_noise": _noise.GAUSSIAN_NOISE,
    "shot_noise": _noise.SHOT_NOISE,
    "impulse_noise": _noise.IMPULSE_NOISE,
    "defocus_blur": _blur.DEFOCUS_BLUR,
    "glass_blur": _blur.GLASS_BLUR,
    "motion_blur": _blur.MOTION_BLUR,
    "zoom_blur": _blur.ZOOM_BLUR,
    "snow": _weather.SNOW,
    "frost": _weather.FROST,
    "fog": _weather.FOG,
    "brightness": _weather.BRIGHTNESS,
    "contrast": _digital.CONTRAST,
    "elastic_transform": _digital.ELASTIC_TRANSFORM,
    "pixelate": _digital.PIXELATE,
    "jpeg_compression": _digital.JPEG_COMPRESSION,
    "speckle_noise": _noise.SPECKLE_NOISE,
    "gaussian_blur": _blur.GAUSSIAN_BLUR,
    "spatter": _weather.SPATTER,
    "saturate": _digital.SATURATE,
}
"""Name -> corruption, the fifteen of ImageNet-C first, then its four held out."""
