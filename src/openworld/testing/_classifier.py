"""A small convolutional classifier of three colours, and all that a detector may look at of images it is shown.

Made in a moment: random convolutions, and a head that is fitted to what they give. Images it knows show a colour,
strange ones nothing but noise, so that every detector whose scores have the right sign tells the two apart.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from openworld.detectors import Activations, Perturbation, Sampling, Texts, WatchedModel, linear_probe, watch

COLOURS, WIDTH, SIZE = 3, 24, 8
PIXEL_STD = (0.2, 0.3, 0.4)


class ColourNet(nn.Module):
    """Two convolutions with a ReLU after each, the mean over positions, a linear layer; widths all differ."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 10, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2))
        self.last = nn.Sequential(nn.Conv2d(10, WIDTH, 3, padding=1), nn.ReLU())
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(WIDTH, COLOURS)

    def forward(self, images: Tensor) -> Tensor:
        """Logits float[N, 3] of float[N, 3, 8, 8]."""
        return self.head(self.drop(self.features(images)))

    def features(self, images: Tensor) -> Tensor:
        """float[N, 24], not negative."""
        return self.last(self.stem(images)).mean(dim=(2, 3))


def small_images(seed: int, count: int = 90, *, known: bool = True) -> tuple[Tensor, Tensor]:
    """float32[count, 3, 8, 8] and labels int64[count]: two colours, the left one the class, in noise; or noise alone.

    >>> images, labels = small_images(0, 4)
    >>> images.shape, labels.tolist()
    (torch.Size([4, 3, 8, 8]), [0, 1, 2, 0])
    """
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % COLOURS
    noise = 0.3 * torch.randn(count, 3, SIZE, SIZE, generator=generator)
    if not known:
        return noise, labels
    brightness = 1 + torch.rand(count, 1, 1, 1, generator=generator)
    colours = torch.eye(COLOURS)[labels, :, None, None].repeat(1, 1, SIZE, SIZE)
    # Another colour on the right: maps of one rank would leave nothing to RankFeat.
    colours[..., SIZE // 2 :] = 0.6 * colours.roll(1, dims=1)[..., SIZE // 2 :]
    return brightness * colours + noise, labels


@cache
def small_classifier(device: str = "cpu") -> WatchedModel:
    """Names almost every colour right, and is not too sure of it; always the same. Another is beside it."""
    images = small_images(0, 2)[0].to(device)
    net, other = (_colour_net(seed).to(device) for seed in (3, 4))
    return watch(net, images, pixel_std=PIXEL_STD, members=[other])


def _colour_net(seed: int) -> ColourNet:
    images, labels = small_images(0, 300)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = ColourNet().eval().requires_grad_(False)
    head = linear_probe(net.features(images), labels, penalty=1e-3)
    assert head.bias is not None
    net.head.weight.copy_(head.weight)
    net.head.bias.copy_(head.bias)
    return net


def small_seen(
    seed: int,
    count: int = 90,
    *,
    known: bool = True,
    perturbations: tuple[Perturbation, ...] = (),
    samplings: tuple[Sampling, ...] = (),
    device: str = "cpu",
) -> Activations:
    """All that any detector may look at: features, head, logits, labels, maps, moved images, texts, own score, ...

    Args:
        seed, count, known: as for `small_images`.
        perturbations: how images are to be moved: `(detector.perturbation,)` of one that has it.
        samplings: where several logits come from: `(detector.sampling,)` of one that has it.

    >>> seen = small_seen(0, 3)
    >>> seen.features.shape, seen.maps.late.shape, seen.patches.shape, seen.predictions.tolist()
    (torch.Size([3, 24]), torch.Size([3, 24, 4, 4]), torch.Size([3, 16, 24]), [0, 1, 2])
    """
    images, labels = (part.to(device) for part in small_images(seed, count, known=known))
    model = small_classifier(device)
    batch = model.see(
        images,
        labels,
        maps=True,
        perturbations=perturbations,
        samplings=samplings,
        layers=model.layers,
        layer_gradients=True,
    )
    assert batch.maps is not None and batch.maps.late is not None
    return replace(batch, texts=_texts(device), patches=batch.maps.late.flatten(2).mT, own=batch.energy)


@cache
def _texts(device: str) -> Texts:
    """What colours look like, as if it were their names; negative ones lie halfway to what noise looks like."""
    net: Any = small_classifier(device).module
    images, labels = (part.to(device) for part in small_images(0, 300))
    noise = net.features(small_images(0, 21, known=False)[0].to(device))
    texts = torch.stack([net.features(images[labels == colour]).mean(dim=0) for colour in range(COLOURS)])
    negative = normalize(noise, dim=1) + normalize(texts, dim=1).repeat(7, 1)
    return Texts(texts, negative, conjugated=negative.roll(1, dims=0) + negative)
