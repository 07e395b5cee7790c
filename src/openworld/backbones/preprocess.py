"""From an image to the pixels a model expects, with the sizes, filter and statistics its checkpoint states.

CLIP: shorter side to size with the bicubic filter, then centre crop. SigLIP: squash to a square. Rounding is that of
torchvision's Resize and CenterCrop, which CLIP's authors used: the longer side is truncated, the crop's corner is
rounded half to even.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from openworld.backbones.checkpoint_config import read_description
from openworld.backbones.published_files import PREPROCESSING
from openworld.core.errors import OpenworldError
from openworld.core.types import AboveZero, Range, checked

Side = Annotated[int, Range(1, 2**14)]
OPENAI_MEAN, OPENAI_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
# What transformers' processors do where their file does not say it.
_CLIP_USUAL = {"size": 224, "crop_size": 224, "image_mean": OPENAI_MEAN, "image_std": OPENAI_STD, "resample": 3}
_SIGLIP_USUAL = {"size": 224, "image_mean": (0.5,) * 3, "image_std": (0.5,) * 3, "resample": 3}
RESAMPLING = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


@checked
@dataclass(frozen=True)
class Preprocess:
    """Resize, crop, scale to [0, 1], subtract `mean` and divide by `std` (per channel, RGB).

    resize: side in pixels the image is brought to. crop: side of the square kept from its centre.
    mode: "shortest" resizes the shorter side and keeps the aspect, "squash" resizes both sides.

    >>> half = Preprocess(2, 2, "squash", (0.5,) * 3, (0.5,) * 3)
    >>> half(Image.new("RGB", (5, 9), (255, 0, 255)))[:, 0, 0]
    tensor([ 1., -1.,  1.])
    """

    resize: Side
    crop: Side
    mode: Literal["shortest", "squash"]
    mean: tuple[float, float, float]
    std: tuple[AboveZero, AboveZero, AboveZero]
    resample: Annotated[int, Range(0, 5)] = RESAMPLING["bicubic"]

    def __call__(self, image: Image.Image) -> Tensor:
        """An image of any size to float32[3, crop, crop]."""
        return self.scale(torch.from_numpy(self.prepare(image)))

    def prepare(self, image: Image.Image) -> np.ndarray:
        """An image of any size to uint8[3, crop, crop], which `scale` normalises."""
        return np.array(self.resize_and_crop(image)).transpose(2, 0, 1)

    def resize_and_crop(self, image: Image.Image) -> Image.Image:
        """An image of any size to an RGB image of crop x crop pixels."""
        image = image.convert("RGB")
        image = image.resize(self._resized(*image.size), self.resample)
        left, top = (round((side - self.crop) / 2) for side in image.size)
        return image.crop((left, top, left + self.crop, top + self.crop))

    def scale(self, pixels: Tensor) -> Tensor:
        """uint8[..., 3, H, W] to normalised float32[..., 3, H, W], on the device it lies on."""
        mean, std = (torch.tensor(values, device=pixels.device).view(3, 1, 1) for values in (self.mean, self.std))
        return (pixels.float() / 255 - mean) / std

    def _resized(self, width: int, height: int) -> tuple[int, int]:
        if self.mode == "squash":
            return self.resize, self.resize
        if width <= height:
            return self.resize, int(self.resize * height / width)
        return int(self.resize * width / height), self.resize


def openai_preprocess(side: int) -> Preprocess:
    """What OpenAI's own code does to images, for a model that reads `side` x `side` pixels."""
    return Preprocess(side, side, "shortest", OPENAI_MEAN, OPENAI_STD)


def read_preprocess(folder: Path, layout: str = "hugging_face") -> Preprocess:
    """Return the preprocessing stated by a folder, in the first of the files that its layout has."""
    for name in PREPROCESSING[layout]:
        read = _from_open_clip if name == "open_clip_config.json" else _from_hugging_face
        if (folder / name).is_file() and (settings := read_description(folder / name, read)):
            return settings
    raise OpenworldError(f"{folder} does not say how images are prepared; add the model's preprocessor_config.json.")


def _from_hugging_face(whole: dict) -> Preprocess | None:
    """Read preprocessor_config.json, or the processor_config.json that newer versions of transformers write."""
    if "processor_class" in whole and "image_processor" not in whole and "size" not in whole:
        return None  # of the tokenizer alone
    settings = whole.get("image_processor", whole)
    kind = settings.get("image_processor_type") or settings.get("feature_extractor_type") or ""
    usual: Any = _SIGLIP_USUAL if kind.startswith("Siglip") else _CLIP_USUAL if kind.startswith("CLIP") else {}
    settings = {**usual, **settings}
    off = [name for name in ("do_resize", "do_rescale", "do_normalize") if settings.get(name) is False]
    if off:
        raise OpenworldError(f"it switches off {', '.join(off)}; expected images that are resized and normalised.")
    size, resample = settings["size"], settings.get("resample", RESAMPLING["bicubic"])
    if isinstance(size, int):
        size = {"height": size, "width": size} if kind.startswith("Siglip") else {"shortest_edge": size}
    statistics = tuple(settings["image_mean"]), tuple(settings["image_std"])
    if "shortest_edge" in size:
        resize, mode = size["shortest_edge"], "shortest"
    elif size.get("height") and size.get("height") == size.get("width"):
        resize, mode = size["height"], "squash"
    else:
        raise OpenworldError(f"expected a square image size in preprocessor_config.json, got {size}.")
    # The square kept from the centre: what is said, else all of an image that was made square.
    cropped = settings.get("do_center_crop", mode == "shortest" or "crop_size" in settings)
    if not cropped and mode == "shortest":
        raise OpenworldError("it keeps the aspect of images and does not crop them; expected a square in the end.")
    crop = settings.get("crop_size", resize) if cropped else resize
    return Preprocess(resize, crop if isinstance(crop, int) else crop["height"], mode, *statistics, resample)


def _from_open_clip(whole: dict) -> Preprocess | None:
    if "preprocess_cfg" not in whole:
        return None
    settings = whole["preprocess_cfg"]
    image_size = settings.get("size") or whole["model_cfg"]["vision_cfg"].get("image_size", 224)
    image_size = image_size[0] if isinstance(image_size, list) else image_size
    mode = settings.get("resize_mode", "shortest")
    interpolation = settings.get("interpolation", "bicubic")
    if mode not in ("shortest", "squash") or interpolation not in RESAMPLING:
        raise OpenworldError(f"unknown resize mode {mode!r} with {interpolation!r}; known modes: shortest, squash.")
    mean, std = tuple(settings.get("mean", OPENAI_MEAN)), tuple(settings.get("std", OPENAI_STD))
    return Preprocess(image_size, image_size, mode, mean, std, RESAMPLING[interpolation])
