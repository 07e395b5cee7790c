"""The training augmentation: its draws, its limits, its repeatability."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from openworld.features import random_resized_crop
from openworld.features.augment import _crop_box

SIZES = st.tuples(st.integers(1, 300), st.integers(1, 300))


@given(size=SIZES, seed=st.integers(0, 1000), low=st.floats(0.05, 1))
def test_boxes_lie_inside_and_keep_the_share_asked_for(size, seed, low):
    left, top, right, bottom = _crop_box(size, (low, 1.0), np.random.default_rng(seed))
    assert 0 <= left < right <= size[0]
    assert 0 <= top < bottom <= size[1]


def test_shares_and_ratios_fill_their_range():
    generator = np.random.default_rng(0)
    boxes = np.array([_crop_box((200, 200), (0.08, 1.0), generator) for _ in range(2000)])
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    shares, ratios = widths * heights / 40_000, widths / heights
    assert shares.min() < 0.1
    assert shares.max() > 0.95
    assert 0.74 < ratios.min() < 0.78
    assert 1.28 < ratios.max() < 1.36


def test_an_image_of_one_colour_stays_so_and_flips_are_half():
    image = Image.fromarray(np.tile(np.arange(64, dtype=np.uint8), (64, 1)))
    flipped = 0
    for seed in range(400):
        view = np.asarray(random_resized_crop(image, 16, np.random.default_rng(seed))).astype(int)
        flipped += view[:, 0].mean() > view[:, -1].mean()
    assert 160 < flipped < 240


def test_nothing_outside_the_crop_shines_through():
    """As torchvision does it: cut, then resized, so that the bicubic filter sees the crop alone."""
    pixels = np.full((40, 40), 255, np.uint8)
    for seed in range(20):
        left, top, right, bottom = _crop_box((40, 40), (0.3, 0.3), np.random.default_rng(seed))
        inside = pixels.copy()
        inside[top:bottom, left:right] = 0
        view = random_resized_crop(Image.fromarray(inside), 64, np.random.default_rng(seed), scale=(0.3, 0.3))
        assert not np.asarray(view).any()
