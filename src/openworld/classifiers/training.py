"""Train a classifier from the beginning, and keep it as it was after some of the epochs.

Images are resized once, kept in memory where they fit, and moved a little each time.
"""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from openworld.backbones.devices import require_device
from openworld.backbones.preprocess import RESAMPLING, Preprocess
from openworld.classifiers import _timm
from openworld.classifiers.architectures import build
from openworld.classifiers.classifier import Classifier
from openworld.classifiers.recipe import Recipe
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.datasets.training_images import SeenImages, hashes_of

_LARGEST = 4 * 2**30  # bytes of pixels kept in memory; beyond, every epoch reads the files again
_LOOKED_AT = 4096  # images whose pixels give mean and standard deviation


class TrainingImages:
    """Pixels and labels of an image set, and the preprocessing that a network trained on them needs."""

    # Without a preprocessing of published weights, mean and standard deviation of each channel are those of the images.
    def __init__(self, images, recipe: Recipe, preprocess: Preprocess | None):
        size = recipe.resize or recipe.side, recipe.side, "shortest"
        plain = preprocess or Preprocess(*size, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), RESAMPLING["bilinear"])
        self._images, self._view = images, plain
        self._hashes, self._hashed = np.zeros((len(images), 2), np.uint64), np.zeros(len(images), bool)
        fits = len(images) * 3 * recipe.side**2 <= _LARGEST
        self._kept = self._read(range(len(images))) if fits else None
        self.labels = torch.from_numpy(np.asarray(images.labels))
        self.preprocess = preprocess or self._with_statistics()

    def __len__(self) -> int:
        return len(self.labels)

    def pixels(self, rows: Tensor) -> Tensor:
        return self._read(rows.tolist()) if self._kept is None else self._kept[rows]

    @property
    def seen(self) -> SeenImages:
        same, alike = self._hashes[self._hashed].T
        return SeenImages(same.copy(), alike.copy())

    def _read(self, rows) -> Tensor:
        side = self._view.crop
        pixels = np.empty((len(rows), side, side, 3), np.uint8)
        for place, row in enumerate(rows):
            image = self._view.resize_and_crop(self._images.image(row))
            pixels[place] = image
            if not self._hashed[row]:
                self._hashes[row], self._hashed[row] = hashes_of(image), True
        return torch.from_numpy(pixels).permute(0, 3, 1, 2)

    def _with_statistics(self) -> Preprocess:
        rows = torch.linspace(0, len(self) - 1, min(len(self), _LOOKED_AT), dtype=torch.float64).round().long()
        pixels = self.pixels(rows).double() / 255
        mean, std = pixels.mean(dim=(0, 2, 3)), pixels.std(dim=(0, 2, 3), correction=0)
        # Four digits say enough, and an image of one colour must not divide by zero.
        mean, std = ([round(value, 4) for value in values.tolist()] for values in (mean, std.clamp(min=1e-2)))
        view = self._view
        return Preprocess(view.resize, view.crop, view.mode, tuple(mean), tuple(std), view.resample)


def move_images(pixels: Tensor, flip: bool, shift: int) -> Tensor:
    """Return images uint8[B, 3, H, W] mirrored or not and moved by up to `shift` pixels each way, edges repeated."""
    count, _, height, width = pixels.shape
    rows, columns = _steps(count, height, shift), _steps(count, width, shift)
    if flip:
        columns = torch.where(torch.rand(count, 1) < 0.5, width - 1 - columns, columns)
    if not flip and not shift:
        return pixels
    # One gather: the result is uint8[B, H, W, 3] in memory, which is the order the convolutions want.
    image = torch.arange(count)[:, None, None]
    return pixels.permute(0, 2, 3, 1)[image, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def _steps(count: int, size: int, shift: int) -> Tensor:
    """int64[count, size]: which row each row is taken from."""
    moves = torch.randint(-shift, shift + 1, (count, 1)) if shift else torch.zeros(count, 1, dtype=torch.long)
    return (torch.arange(size) + moves).clamp(0, size - 1)


VERSION = 1
"""Raise it when the same seed, images and recipe give other weights."""


@checked
def train(
    architecture: str,
    images: Any,
    recipe: Recipe,
    *,
    seed: int,
    device: str | torch.device = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> dict[int, Classifier]:
    """Minimise cross-entropy on all images of an image set.

    Args:
        architecture: as for `build`.
        images: of `openworld.datasets`: N images, with labels of at least two classes.
        recipe: optimiser, epochs, sizes, and which epochs to keep.
        seed: of the first weights, the order of the images, their moves, and dropout. On a CPU the same seed and
            number of threads give the same bytes; on a GPU the last bits may differ.
        device: where to train.
        progress: called with (epochs done, epochs in all) after every epoch.

    Returns:
        {epoch: the classifier after so many epochs}, for `recipe.kept`; all on the CPU.

    Raises:
        OpenworldError: an empty set, an unknown architecture, a loss that is not finite, an image that cannot be read.
    """
    if len(images) == 0:
        raise OpenworldError(f"image set {images.name!r} is empty; there is nothing to train on.")
    require_device(str(device))
    device = torch.device(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build(architecture, len(images.classnames), recipe.side, pretrained=recipe.pretrained)
        preprocess = _timm.preprocess_of(network, recipe.side) if recipe.pretrained else None
        training_images = TrainingImages(images, recipe, preprocess)
        network = network.to(device, memory_format=torch.channels_last)  # ty: ignore[no-matching-overload]: stubs lack it
        weights, history, kept = list(network.parameters()), [], {}
        rate, decay = recipe.learning_rate, recipe.weight_decay
        if recipe.optimiser == "adam":
            optimiser = torch.optim.Adam(weights, lr=rate, weight_decay=decay)
        else:
            optimiser = torch.optim.SGD(weights, lr=rate, momentum=recipe.momentum, weight_decay=decay)

        for epoch in range(recipe.epochs):
            history.append(_epoch(network, optimiser, training_images, recipe, epoch, device))
            if epoch + 1 in recipe.kept:
                copied = copy.deepcopy(network).cpu()
                made = copied, images.classnames, training_images.preprocess, architecture, tuple(history)
                kept[epoch + 1] = Classifier(*made, training_images.seen)
            if progress:
                progress(epoch + 1, recipe.epochs)
        return kept


def _epoch(network, optimiser, training_images: TrainingImages, recipe: Recipe, epoch: int, device) -> dict[str, float]:
    """One pass in a new order; the mean loss, and the share of images named right on the way."""
    network.train()
    batches = _batches(len(training_images), recipe.batch_size)
    loss_sum, right, seen = 0.0, 0, 0
    for step, rows in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate(epoch + step / len(batches))
        pixels = move_images(training_images.pixels(rows), recipe.flip, recipe.shift).to(device)
        labels = training_images.labels[rows].to(device)
        optimiser.zero_grad(set_to_none=True)
        logits = network(training_images.preprocess.scale(pixels).contiguous(memory_format=torch.channels_last))
        loss = cross_entropy(logits, labels)
        loss.backward()
        optimiser.step()
        loss_sum, seen = loss_sum + float(loss.detach()) * len(rows), seen + len(rows)
        right += int((logits.detach().argmax(1) == labels).sum())
    if not math.isfinite(loss_sum):
        raise OpenworldError(
            f"training diverged in epoch {epoch + 1}: the loss is not finite; lower the learning rate "
            f"({recipe.learning_rate:g})."
        )
    return {"loss": loss_sum / seen, "accuracy": right / seen}


def _batches(count: int, size: int) -> list[Tensor]:
    """int64[b] of every step. A last batch of one image is left out, for batch normalisation cannot look at it."""
    batches = list(torch.randperm(count).split(size))
    return batches[:-1] if len(batches) > 1 and len(batches[-1]) == 1 else batches
