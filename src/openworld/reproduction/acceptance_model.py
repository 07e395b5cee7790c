"""Preprocessing and weights of an acceptance: are they those of OpenAI's CLIP ViT-B/16 (Radford et al., 2021)?"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import torch
from PIL import Image

from openworld import datasets
from openworld.backbones import Preprocess, TwoTower
from openworld.reproduction.acceptance import Departure

SIDE = 224
MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""What CLIP's pictures are cut to, and normalised by (Radford et al., 2021)."""

VIT_B_16: Mapping[str, float | str] = {
    "image size": 224,
    "patch size": 16,
    "image width": 768,
    "image layers": 12,
    "text width": 512,
    "text layers": 12,
    "vocabulary": 49_408,
    "positions": 77,
    "joint dimension": 512,
    "activation": "quick_gelu",
    "parameters": 149_620_737,
    "logit scale": 100.0,
}
"""What is known of OpenAI's CLIP ViT-B/16."""

DRAWINGS = 100  # that weights which learned anything name far better than by chance
_LEAST_NAMED = 0.1  # of them; by chance it is one in 100
_LOOKED_AT = 3  # pictures of every data set that are prepared in plain form
_ALIKE = 1e-3


def preprocessing_departures(clip: TwoTower) -> Iterator[Departure]:
    """Sizes, filter and statistics that are not CLIP's; of a backbone of another library its pixels alone tell."""
    how = clip.preprocess
    if not isinstance(how, Preprocess):
        return
    ours = {"resize": how.resize, "crop": how.crop, "mode": how.mode, "filter": how.resample}
    expected = {"resize": SIDE, "crop": SIDE, "mode": "shortest", "filter": int(Image.Resampling.BICUBIC)}
    wrong = [f"{key} is {ours[key]}, CLIP's is {expected[key]}" for key in ours if ours[key] != expected[key]]
    for key, values, known in (("mean", how.mean, MEAN), ("std", how.std, DEVIATION)):
        if not np.allclose(values, known, atol=1e-6):
            wrong.append(f"{key} is {tuple(values)}, CLIP's is {known}")
    yield from (Departure("preprocessing", (), what) for what in wrong)


def pixels_departures(title: str, clip: TwoTower, images) -> Iterator[Departure]:
    """Pictures whose pixels are not those of the plain form."""
    for number in np.linspace(0, len(images) - 1, min(_LOOKED_AT, len(images))).astype(int):
        picture = images.image(int(number))
        ours, plain = np.asarray(clip.preprocess(picture)), plain_pixels(picture)
        if ours.shape != plain.shape:
            yield Departure("preprocessing", (), f"images become {ours.shape}, CLIP's are {plain.shape}")
            return
        apart = float(np.abs(ours - plain).max())
        if apart > _ALIKE:
            what = f"pixels of image {number} of {title} differ by {apart:.3g} from those of CLIP's preparation"
            yield Departure("preprocessing", (title,), what)
            return


def plain_pixels(picture: Image.Image) -> np.ndarray:
    """CLIP's preparation in a few lines of its own: shorter side to SIDE, bicubic, the middle, normalised."""
    width, height = picture.size
    short = min(width, height)
    size = (SIDE, SIDE * height // width) if width == short else (SIDE * width // height, SIDE)
    resized = np.asarray(picture.convert("RGB").resize(size, Image.Resampling.BICUBIC), dtype=np.float64) / 255
    top, left = (round((side - SIDE) / 2) for side in resized.shape[:2])
    cut = resized[top : top + SIDE, left : left + SIDE]
    return ((cut - np.array(MEAN)) / np.array(DEVIATION)).transpose(2, 0, 1)


def weights_departures(clip: TwoTower) -> Iterator[Departure]:
    """Shapes, counts and temperature that are not those of OpenAI's ViT-B/16; and weights that know nothing."""
    if not isinstance(clip, TwoTower):
        what = f"{clip.name} is read by another library, and cannot be held against OpenAI's ViT-B/16"
        yield Departure("weights", (), what)
        return
    ours = facts_of(clip)
    for what, expected in VIT_B_16.items():
        same = ours[what] == expected if isinstance(expected, str) else abs(ours[what] - expected) <= _ALIKE * expected
        if not same:
            yield Departure("weights", (), f"{what} is {ours[what]}, that of OpenAI's ViT-B/16 is {expected}")
    named = named_drawings(clip)
    if named < _LEAST_NAMED:
        share = f"{100 * named:.0f} % of {DRAWINGS} embedded drawings"
        yield Departure(
            "weights", (), f"{share} are named right, hardly more than by chance: these weights are not trained"
        )


def facts_of(clip: TwoTower) -> dict[str, float | str]:
    """Return the same facts of a backbone at hand."""
    image, text = clip.config.image, clip.config.text
    numbers = sum(tensor.numel() for name, tensor in clip.named_parameters() if name != "logit_bias")  # CLIP has none
    return {
        "image size": image.image_size,
        "patch size": image.patch_size,
        "image width": image.width,
        "image layers": image.layers,
        "text width": text.width,
        "text layers": text.layers,
        "vocabulary": text.vocabulary,
        "positions": text.positions,
        "joint dimension": clip.config.joint_dimension,
        "activation": image.activation,
        "parameters": numbers,
        "logit scale": round(float(clip.logit_scale), 4),
    }


@lru_cache(maxsize=2)
@torch.no_grad()
def named_drawings(clip: TwoTower) -> float:
    """The share of some embedded drawings, one of a class, that gets its own name of 100."""
    images = datasets.load("emoji-concepts", part="test")
    rows = np.unique(images.labels, return_index=True)[1][:DRAWINGS]
    pixels = torch.stack([clip.preprocess(images.image(int(row))) for row in rows]).to(clip.device, clip.dtype)
    texts = clip.encode_text([f"an icon of a {name}." for name in images.classnames])
    embeddings = torch.cat([clip.encode_image(some) for some in pixels.split(10)])
    said = (torch.nn.functional.normalize(embeddings) @ torch.nn.functional.normalize(texts).T).argmax(dim=1)
    return float((said.cpu().numpy() == images.labels[rows]).mean())
