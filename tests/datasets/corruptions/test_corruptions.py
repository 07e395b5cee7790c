"""All corruptions at once: what holds for every one, and the numbers of other people's code."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES, SIDES, nearest_side
from openworld.datasets.published.catalogue import PUBLISHED_CORRUPTIONS

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "corruptions.json").read_text())
IMAGE = np.array(REFERENCE["image"], dtype=np.uint8).reshape(*REFERENCE["sides"], 3)

NOT_MONOTONE = {"glass_blur", "frost", "elastic_transform", "saturate", "spatter"}
"""Whose published parameters do not make each severity worse, in squared error, than the one before."""

WATER = ("spatter", (1, 2, 3))
"""A pixel in a hundred may be apart by more than a level: its distances to outlines are approximate here and there."""


def smooth_image(height=64, width=64) -> np.ndarray:
    """Soft blobs in colour: like a photo in that neighbours are alike."""
    rows, columns = np.mgrid[:height, :width]
    waves = [np.sin(rows / (6 + k)) * np.cos(columns / (9 - k)) * 80 + 110 + 15 * k for k in range(3)]
    return np.stack(waves, axis=2).astype(np.uint8)


def apply(name, severity, image=None, seed=0, side=None):
    image = smooth_image() if image is None else image
    return CORRUPTIONS[name](image, severity, np.random.RandomState(seed), side=side)


def squared_error(name, severity, side):
    plain = smooth_image(side, side).astype(float)
    errors = [((apply(name, severity, plain.astype(np.uint8), seed) - plain) ** 2).mean() for seed in range(2)]
    return np.mean(errors)


def test_there_are_fifteen_and_four_held_out():
    """Of ImageNet-C, in the order of its table; what is added comes behind them."""
    held_out = [name for name, card in CORRUPTIONS.items() if card.held_out]
    assert held_out == ["speckle_noise", "gaussian_blur", "spatter", "saturate"]
    assert list(CORRUPTIONS)[:19] == list(PUBLISHED_CORRUPTIONS) and list(PUBLISHED_CORRUPTIONS)[15:] == held_out
    assert {card.group for card in CORRUPTIONS.values()} == {"noise", "blur", "weather", "digital"}
    for card in CORRUPTIONS.values():
        assert set(card.parameters) == set(SIDES)
        assert all(len(own) == len(SEVERITIES) for own in card.parameters.values())


@pytest.mark.parametrize("name", REFERENCE["corrupted"])
def test_the_numbers_are_those_of_imagecorruptions(name):
    for severity in SEVERITIES:
        theirs = np.array(REFERENCE["corrupted"][name][severity - 1])
        ours = apply(name, severity, IMAGE, seed=severity, side=224)[::9, ::9].ravel().astype(int)
        apart = np.abs(ours - theirs)
        if name == WATER[0] and severity in WATER[1]:
            assert apart.mean() < 0.1 and np.quantile(apart, 0.99) <= 1
        else:
            assert apart.max() <= 1


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_size_and_type_are_kept_and_draws_decide(name):
    image = smooth_image(40, 70)
    first, again, other = (apply(name, 1, image, seed) for seed in (3, 3, 4))
    assert first.shape == image.shape and first.dtype == np.uint8
    assert np.array_equal(first, again)
    assert not np.array_equal(first, image)
    drawn = name.split("_")[-1] == "noise" or name in (
        {"glass_blur", "motion_blur", "snow", "frost", "fog", "elastic_transform", "spatter"}
    )
    assert np.array_equal(first, other) != drawn


@pytest.mark.parametrize("name", sorted(set(CORRUPTIONS) - NOT_MONOTONE))
@pytest.mark.parametrize("side", SIDES[:2])
def test_each_severity_is_worse_than_the_one_before(name, side):
    errors = [squared_error(name, severity, side) for severity in SEVERITIES]
    assert errors == sorted(errors)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_generator_a_pil_image_and_one_of_one_colour_will_do(name):
    image = Image.fromarray(smooth_image(32, 32)).convert("RGBA")
    assert CORRUPTIONS[name](image, 2, np.random.default_rng(0)).shape == (32, 32, 3)
    for level in (0, 255):
        plain = np.full((16, 16, 3), level, dtype=np.uint8)
        for severity, side in zip((1, 3, 5), SIDES, strict=True):
            assert apply(name, severity, plain, side=side).shape == plain.shape


@pytest.mark.parametrize(
    ("size", "side"), [((16, 500), 32), ((45, 60), 32), ((46, 60), 64), ((119, 200), 64), ((120, 120), 224)]
)
def test_parameters_are_those_of_the_nearest_size(size, side):
    assert nearest_side(*size) == side
    image = smooth_image(*size)
    found = apply("gaussian_noise", 5, image)
    assert np.array_equal(found, apply("gaussian_noise", 5, image, side=side))
    assert not np.array_equal(found, apply("gaussian_noise", 5, image, side=SIDES[SIDES.index(side) - 1]))


@pytest.mark.parametrize(
    ("image", "severity", "side", "message"),
    [
        (np.zeros((20, 20, 3)), 1, None, r"float64\[20, 20, 3\], expected uint8"),
        (np.zeros((20, 20), np.uint8), 1, None, r"uint8\[20, 20\]"),
        ([[0]], 1, None, "the image is list"),
        (np.zeros((15, 20, 3), np.uint8), 1, None, "20 x 15 pixels"),
        (np.zeros((20, 20, 3), np.uint8), 0, None, "severity is 0"),
        (np.zeros((20, 20, 3), np.uint8), 6, None, "severity is 6"),
        (np.zeros((20, 20, 3), np.uint8), 1, 100, "side is 100"),
    ],
)
def test_wrong_input_is_refused(image, severity, side, message):
    with pytest.raises(OpenworldError, match=message):
        CORRUPTIONS["fog"](image, severity, np.random.default_rng(0), side=side)
