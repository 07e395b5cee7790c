"""Features that see looks: parts of stated shares, the statistics by hand; and images in looks as a grid."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from openworld import OpenworldError
from openworld.backbones import load
from openworld.backbones.blocks import attend_all
from openworld.datasets import ImageSet
from openworld.features import encode
from openworld.shifts import LOOKS, AppearanceEncoder, image_grid, in_looks


@pytest.fixture(scope="module")
def clip():
    return load("embedded")


def drawn(number: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, (64, 64, 3), np.uint8))


@pytest.fixture(scope="module")
def images() -> ImageSet:
    return ImageSet("noise", "", ("one", "two", "three"), [0, 1, 2], [0, 1, 2], "noise of three seeds", drawn)


def test_parts_have_their_shares(clip, images):
    seeing = AppearanceEncoder(clip, share=0.6)
    rows = seeing.encode_image(torch.stack([clip.preprocess(drawn(number)) for number in range(2)]))
    assert rows.shape == (2, seeing.width) == (2, 128 + 6 * 192)
    sizes = [part.square().sum(dim=1) for part in rows.split([128, *[192] * 6], dim=1)]
    torch.testing.assert_close(torch.stack(sizes, dim=1), torch.tensor([[0.4, *[0.1] * 6]] * 2))


@torch.no_grad()
def test_statistics_are_those_of_the_patches(clip):
    pixels = torch.stack([clip.preprocess(drawn(number)) for number in range(2)])
    found = AppearanceEncoder(clip, depths=(1,), share=0.5).encode_image(pixels)
    patches = clip.image.blocks[0](0, clip.image.embed(pixels), attend_all)[:, 1:]
    parts = (clip.encode_image(pixels), patches.mean(dim=1), patches.std(dim=1, correction=0))
    cosines = [torch.cosine_similarity(*pair) for pair in zip(found.split([128, 192, 192], 1), parts, strict=True)]
    torch.testing.assert_close(torch.stack(cosines), torch.ones(3, 2))


def test_it_encodes_image_sets_in_the_place_of_the_backbone_and_settings_are_in_its_fingerprint(clip, images, tmp_path):
    seeing = AppearanceEncoder(clip)
    assert seeing.depths == (0, 1, 2)
    plain, wide = (encode(one, images, cache=tmp_path) for one in (clip, seeing))
    assert wide.embeddings.shape == (3, seeing.width) and plain.fingerprint != wide.fingerprint
    cosines = torch.cosine_similarity(*(torch.tensor(one.embeddings[:, :128]) for one in (plain, wide)))
    torch.testing.assert_close(cosines, torch.ones(3))
    other = SimpleNamespace(name="", config=clip.config, preprocess=None, fingerprint="of another")
    others = (AppearanceEncoder(clip, depths=(0, 1)), AppearanceEncoder(clip, share=0.5), AppearanceEncoder(other))
    assert len({one.fingerprint for one in (clip, seeing, *others)}) == 5


def test_a_grid_has_a_column_for_each_look(clip, images, tmp_path):
    done = []
    sets = in_looks(images, ("plain", "monochrome", "fog 3"))
    grid = image_grid(clip, sets, cache=tmp_path, progress=lambda *counts: done.append(counts))
    assert grid.shape == (3, 3, 128) and done == [(1, 3), (2, 3), (3, 3)]
    assert np.array_equal(grid[:, 2], encode(clip, sets[2], cache=tmp_path).embeddings)
    assert len({one.fingerprint for one in in_looks(images)}) == len(LOOKS)
    for look in ("sketch", "fog 3"):
        ((one,), (other,)) = (in_looks(images, (look,), seed=seed) for seed in (0, 1))
        assert one.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda clip, images: AppearanceEncoder(clip, depths=()), r"depths are \[\]"),
        (lambda clip, images: AppearanceEncoder(clip, depths=(1, 1)), "each once"),
        (lambda clip, images: AppearanceEncoder(clip, depths=(6,)), "some of 0 to 5"),
        (lambda clip, images: in_looks(images, ("sketchy",)), "did you mean 'sketch'"),
        (lambda clip, images: in_looks(images, ("fog",)), "did you mean 'fog 3'"),
        (lambda clip, images: image_grid(clip, ()), "give the same things"),
        (lambda clip, images: image_grid(clip, (images, images.subset([0]))), "other numbers of them"),
    ],
)
def test_refusals(clip, images, call, message):
    with pytest.raises(OpenworldError, match=message):
        call(clip, images)
