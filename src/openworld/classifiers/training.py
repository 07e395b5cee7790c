"""Train a classifier from the beginning, and keep it as it was after some of the epochs."""

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.backbones.devices import require_device
from openworld.classifiers import _timm
from openworld.classifiers._training_images import TrainingPictures, moved
from openworld.classifiers.architectures import build
from openworld.classifiers.classifier import Classifier
from openworld.classifiers.recipe import Recipe

VERSION = 1
"""Raise it when the same seed, pictures and recipe give other weights."""


@checked
def train(
    architecture: str,
    images,
    recipe: Recipe,
    *,
    seed: int,
    device: str | torch.device = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> dict[int, Classifier]:
    """Minimise cross-entropy on all pictures of an image set.

    Args:
        architecture: as for `build`.
        images: of `openworld.datasets`: N pictures, with labels of at least two classes.
        recipe: optimiser, epochs, sizes, and which epochs to keep.
        seed: of the first weights, the order of the pictures, their moves, and dropout. On a CPU the same seed and
            number of threads give the same bytes; on a GPU the last bits may differ.
        device: where to train.
        progress: called with (epochs done, epochs in all) after every epoch.

    Returns:
        {epoch: the classifier after so many epochs}, for `recipe.kept`; all on the CPU.

    Raises:
        OpenworldError: an empty set, an unknown architecture, a loss that is not finite, a picture that cannot be read.
    """
    if len(images) == 0:
        raise OpenworldError(f"image set {images.name!r} is empty; there is nothing to train on.")
    require_device(str(device))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build(architecture, len(images.classnames), recipe.side, pretrained=recipe.pretrained)
        return _trained(network, architecture, images, recipe, torch.device(device), progress)


def _trained(network: nn.Module, architecture: str, images, recipe: Recipe, device, progress) -> dict[int, Classifier]:
    preprocess = _timm.preprocess_of(network, recipe.side) if recipe.pretrained else None
    pictures = TrainingPictures(images, recipe, preprocess)
    network = network.to(device, memory_format=torch.channels_last)
    optimiser, history, kept = _optimiser(network, recipe), [], {}
    for epoch in range(recipe.epochs):
        history.append(_epoch(network, optimiser, pictures, recipe, epoch, device))
        if epoch + 1 in recipe.kept:
            copied = copy.deepcopy(network).cpu()
            made = copied, images.classnames, pictures.preprocess, architecture, tuple(history)
            kept[epoch + 1] = Classifier(*made, pictures.seen)
        if progress:
            progress(epoch + 1, recipe.epochs)
    return kept


def _optimiser(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    weights = list(network.parameters())
    if recipe.optimiser == "adam":
        return torch.optim.Adam(weights, lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    rates = {"lr": recipe.learning_rate, "momentum": recipe.momentum, "weight_decay": recipe.weight_decay}
    return torch.optim.SGD(weights, **rates)


def _epoch(network, optimiser, pictures: TrainingPictures, recipe: Recipe, epoch: int, device) -> dict[str, float]:
    """One pass in a new order; the mean loss, and the share of pictures named right on the way."""
    network.train()
    batches = _batches(len(pictures), recipe.batch_size)
    loss_sum, right, seen = 0.0, 0, 0
    for step, rows in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate(epoch + step / len(batches))
        pixels = moved(pictures.pixels(rows), recipe.flip, recipe.shift).to(device)
        labels = pictures.labels[rows].to(device)
        loss, logits = _step(network, optimiser, pictures.preprocess.scale(pixels), labels)
        loss_sum, seen = loss_sum + loss * len(rows), seen + len(rows)
        right += int((logits.argmax(1) == labels).sum())
    if not math.isfinite(loss_sum):
        raise OpenworldError(
            f"training diverged in epoch {epoch + 1}: the loss is not finite; lower the learning rate "
            f"({recipe.learning_rate:g})."
        )
    return {"loss": loss_sum / seen, "accuracy": right / seen}


def _batches(count: int, size: int) -> list[Tensor]:
    """int64[b] of every step. A last batch of one picture is left out, for batch normalisation cannot look at it."""
    batches = list(torch.randperm(count).split(size))
    return batches[:-1] if len(batches) > 1 and len(batches[-1]) == 1 else batches


def _step(network: nn.Module, optimiser, pixels: Tensor, labels: Tensor) -> tuple[float, Tensor]:
    optimiser.zero_grad(set_to_none=True)
    logits = network(pixels.contiguous(memory_format=torch.channels_last))
    loss = cross_entropy(logits, labels)
    loss.backward()
    optimiser.step()
    return float(loss.detach()), logits.detach()
