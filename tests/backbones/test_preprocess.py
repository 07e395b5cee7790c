"""Images to pixels: hand checks, and transformers' image processors (PIL) as the oracle."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import CLIPImageProcessorPil, SiglipImageProcessorPil

from openworld import backbones
from openworld.backbones.preprocess import Preprocess, read_preprocess
from openworld.core.errors import OpenworldError

# Left out: margins of 4n + 3 pixels, whose half torchvision rounds up and transformers down.
SIZES = [(16, 16), (40, 24), (24, 40), (64, 64), (18, 33), (5, 3), (300, 20)]


def image(width, height):
    random = np.random.default_rng(0)
    return Image.fromarray(random.integers(0, 256, (height, width, 3), dtype=np.uint8))


@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_equals_transformers(family, request):
    folder = request.getfixturevalue(f"{family}_checkpoint")[0]
    theirs = {"clip": CLIPImageProcessorPil, "siglip": SiglipImageProcessorPil}[family].from_pretrained(folder)
    for size in SIZES:
        expected = theirs(image(*size), return_tensors="pt").pixel_values[0]
        torch.testing.assert_close(read_preprocess(folder)(image(*size)), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("width", "left"), [(8, 0), (9, 0), (10, 1), (11, 2), (12, 2), (13, 2)])
def test_the_crop_corner_is_rounded_half_to_even_like_torchvision(width, left):
    ramp = np.zeros((8, width, 3), dtype=np.uint8)
    ramp[:, :, 0] = np.arange(width)
    cropped = Preprocess(8, 8, "shortest", (0.0,) * 3, (1.0,) * 3).resize_and_crop(Image.fromarray(ramp))
    assert np.asarray(cropped)[0, :, 0].tolist() == list(range(left, left + 8))


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK"])
def test_other_colour_modes_become_rgb(clip_checkpoint, mode):
    assert backbones.load(clip_checkpoint[0]).preprocess(image(20, 30).convert(mode)).shape == (3, 16, 16)


def test_images_that_are_not_square_are_refused(copy_of_clip):
    (copy_of_clip / "preprocessor_config.json").write_text(
        '{"size": {"height": 16, "width": 8}, "image_mean": [0, 0, 0], "image_std": [1, 1, 1]}'
    )
    with pytest.raises(OpenworldError, match="square"):
        read_preprocess(copy_of_clip)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"image_processor_type": "CLIPImageProcessor"}, (224, 224, "shortest", 0.48145466)),
        ({"image_processor_type": "SiglipImageProcessor"}, (224, 224, "squash", 0.5)),
        (
            {"feature_extractor_type": "CLIPFeatureExtractor", "size": 336, "crop_size": 336},
            (336, 336, "shortest", None),
        ),
        ({"image_processor_type": "SiglipImageProcessor", "size": 384}, (384, 384, "squash", None)),
        (
            {
                "image_processor_type": "CLIPImageProcessor",
                "size": {"height": 378, "width": 378},
                "do_center_crop": False,
            },
            (378, 378, "squash", None),
        ),
        (
            {"processor_class": "CLIPProcessor", "image_processor": {"image_processor_type": "CLIPImageProcessor"}},
            (224, 224, "shortest", None),
        ),
    ],
)
def test_what_a_processor_leaves_out_is_what_transformers_does(tmp_path, settings, expected):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    found = read_preprocess(tmp_path)
    assert (found.resize, found.crop, found.mode) == expected[:3]
    assert expected[3] in (None, found.mean[0])


@pytest.mark.parametrize("off", ["do_resize", "do_rescale", "do_normalize", "do_center_crop"])
def test_steps_that_are_switched_off_are_refused(tmp_path, off):
    settings = {"image_processor_type": "CLIPImageProcessor", off: False}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    with pytest.raises(OpenworldError, match="preprocessor_config.json"):
        read_preprocess(tmp_path)
