"""Small readers of 32 x 32 grey images: two convolutional networks of different recipe, and the references.

cnn     three convolutions, dropout, Adam, images as they are: too sure of itself
wide    wider, batch normalisation, noise and erased squares while training, smoothed labels: not sure enough
slopes  histograms of gradients (as in HOG) under two dense layers: another kind, trained on spoiled images, too
dots    a linear model of 64 grey means
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

Reader = Callable[[np.ndarray], np.ndarray]
BATCH = 64


@dataclass(frozen=True)
class Recipe:
    """How a network is built and trained; `spoil` changes a batch of training images."""

    build: Callable[[int], nn.Module]
    epochs: int
    rate: float
    smoothing: float = 0.0
    spoil: Callable[[Tensor], Tensor] = lambda images: images


def cnn(classes: int) -> nn.Module:
    def stage(before: int, after: int) -> list[nn.Module]:
        return [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]

    body = [*stage(1, 12), *stage(12, 24), *stage(24, 48), nn.Flatten()]
    return nn.Sequential(*body, nn.Linear(768, 96), nn.ReLU(), nn.Dropout(0.3), nn.Linear(96, classes))


def wide(classes: int) -> nn.Module:
    def stage(before: int, after: int, stride: int) -> list[nn.Module]:
        return [nn.Conv2d(before, after, 3, stride, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]

    body = [*stage(1, 24, 2), *stage(24, 48, 1), nn.MaxPool2d(2), *stage(48, 96, 2)]
    return nn.Sequential(*body, nn.AvgPool2d(2), nn.Flatten(), nn.Linear(384, classes))


class Slopes(nn.Module):
    """Dense layers on the gradients of cells of 4 x 4 pixels, in eight directions."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.dense = nn.Sequential(nn.Linear(512, 192), nn.ReLU(), nn.Dropout(0.4), nn.Linear(192, classes))

    def forward(self, images: Tensor) -> Tensor:
        padded = functional.pad(images, (1, 1, 1, 1), mode="replicate")
        across = padded[..., 1:-1, 2:] - padded[..., 1:-1, :-2]
        down = padded[..., 2:, 1:-1] - padded[..., :-2, 1:-1]
        turns = torch.arange(8, dtype=torch.float32) * torch.pi / 4
        along = across * turns.cos()[:, None, None] + down * turns.sin()[:, None, None]
        cells = functional.avg_pool2d(along.relu() ** 2, 4).sqrt().flatten(1)
        return self.dense(functional.normalize(cells, dim=1) * 10)


def dots(classes: int) -> nn.Module:
    return nn.Sequential(nn.AvgPool2d(4), nn.Flatten(), nn.Linear(64, classes))


def noisy_and_erased(images: Tensor) -> Tensor:
    """Add noise of any strength up to 0.15, and black out a square of 8 x 8 of every other image."""
    spoiled = images + 0.15 * torch.rand(len(images), 1, 1, 1) * torch.randn_like(images)
    for number in range(0, len(spoiled), 2):
        row, column = torch.randint(0, 25, (2,)).tolist()
        spoiled[number, :, row : row + 8, column : column + 8] = 0
    return spoiled.clamp(0, 1)


def blurred_or_noisy(images: Tensor) -> Tensor:
    """Blur a third of the images, add noise to another third, and lower the contrast of a half."""
    drawn = torch.rand(len(images), 1, 1, 1)
    soft = functional.avg_pool2d(images, 3, 1, 1)
    loud = (images + 0.3 * torch.rand_like(drawn) * torch.randn_like(images)).clamp(0, 1)
    spoiled = torch.where(drawn < 1 / 3, soft, torch.where(drawn < 2 / 3, loud, images))
    factor = torch.where(torch.rand_like(drawn) < 0.5, 0.3 + 0.7 * torch.rand_like(drawn), torch.ones_like(drawn))
    return spoiled * factor + (1 - factor) * torch.rand_like(drawn) * 0.5


RECIPES = {
    "cnn": Recipe(cnn, 12, 1e-3),
    "wide": Recipe(wide, 8, 2e-3, smoothing=0.1, spoil=noisy_and_erased),
    "slopes": Recipe(Slopes, 16, 1e-3, spoil=blurred_or_noisy),
    "dots": Recipe(dots, 40, 1e-2),
}


def train(recipe: Recipe, images: np.ndarray, labels: np.ndarray, classes: int, *, seed: int) -> Reader:
    """Return a function of images float32[n, 32, 32] to logits float32[n, C]."""
    return reader(fitted(recipe, images, labels, classes, seed=seed))


def fitted(recipe: Recipe, images: np.ndarray, labels: np.ndarray, classes: int, *, seed: int) -> nn.Module:
    """Return a trained network, which reads float32[n, 1, ...]."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, inputs = recipe.build(classes), torch.from_numpy(images)[:, None]
        targets, steps = torch.from_numpy(labels), recipe.epochs * (len(labels) // BATCH + 1)
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, total_steps=steps)
        for _ in range(steps):
            rows = torch.randint(len(labels), (BATCH,))
            logits = network(recipe.spoil(inputs[rows]))
            loss = functional.cross_entropy(logits, targets[rows], label_smoothing=recipe.smoothing)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval()


def reader(network: nn.Module) -> Reader:
    """Return a network as a function of arrays: images -> what its last layer says."""

    @torch.inference_mode()
    def outputs(images: np.ndarray) -> np.ndarray:
        parts = torch.from_numpy(images)[:, None].split(256)
        return torch.cat([network(part) for part in parts]).numpy()

    return outputs
