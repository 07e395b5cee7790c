"""The pictures of a training: resized once, kept in memory where they fit, and moved a little each time."""

import numpy as np
import torch
from torch import Tensor

from openworld.backbones.preprocess import RESAMPLING, Preprocess
from openworld.classifiers.recipe import Recipe
from openworld.datasets.training_images import SeenPictures, hashes_of

_LARGEST = 4 * 2**30  # bytes of pixels kept in memory; beyond, every epoch reads the files again
_LOOKED_AT = 4096  # pictures whose pixels give mean and standard deviation


class TrainingPictures:
    """Pixels and labels of an image set, and the preprocessing that a network trained on them needs.

    preprocess: of published weights, where the training begins from them; else None, and mean and standard deviation
    of each channel are those of the pictures.
    """

    def __init__(self, images, recipe: Recipe, preprocess: Preprocess | None):
        size = recipe.resize or recipe.side, recipe.side, "shortest"
        plain = preprocess or Preprocess(*size, (0.0,) * 3, (1.0,) * 3, RESAMPLING["bilinear"])
        self._images, self._view = images, plain
        self._hashes, self._hashed = np.zeros((len(images), 2), np.uint64), np.zeros(len(images), bool)
        fits = len(images) * 3 * recipe.side**2 <= _LARGEST
        self._kept = self._read(range(len(images))) if fits else None
        self.labels = torch.from_numpy(np.asarray(images.labels))
        self.preprocess = preprocess or self._with_statistics()

    def __len__(self) -> int:
        return len(self.labels)

    def pixels(self, rows: Tensor) -> Tensor:
        """uint8[b, 3, side, side] of the pictures int64[b]."""
        return self._read(rows.tolist()) if self._kept is None else self._kept[rows]

    @property
    def seen(self) -> SeenPictures:
        """Of all pictures that were read."""
        same, alike = self._hashes[self._hashed].T
        return SeenPictures(same.copy(), alike.copy())

    def _read(self, rows) -> Tensor:
        side = self._view.crop
        pixels = np.empty((len(rows), side, side, 3), np.uint8)
        for place, row in enumerate(rows):
            picture = self._view.resize_and_crop(self._images.image(row))
            pixels[place] = picture
            if not self._hashed[row]:
                self._hashes[row], self._hashed[row] = hashes_of(picture), True
        return torch.from_numpy(pixels).permute(0, 3, 1, 2)

    def _with_statistics(self) -> Preprocess:
        rows = torch.linspace(0, len(self) - 1, min(len(self), _LOOKED_AT), dtype=torch.float64).round().long()
        pixels = self.pixels(rows).double() / 255
        mean, std = pixels.mean(dim=(0, 2, 3)), pixels.std(dim=(0, 2, 3), correction=0)
        # Four digits say enough, and a picture of one colour must not divide by zero.
        mean, std = ([round(value, 4) for value in values.tolist()] for values in (mean, std.clamp(min=1e-2)))
        view = self._view
        return Preprocess(view.resize, view.crop, view.mode, tuple(mean), tuple(std), view.resample)


def moved(pixels: Tensor, flip: bool, shift: int) -> Tensor:
    """Every picture mirrored or not and moved by up to `shift` pixels each way, its edges repeated.

    pixels: uint8[B, 3, H, W]. Draws from torch's global generator.
    """
    count, _, height, width = pixels.shape
    rows, columns = _steps(count, height, shift), _steps(count, width, shift)
    if flip:
        columns = torch.where(torch.rand(count, 1) < 0.5, width - 1 - columns, columns)
    if not flip and not shift:
        return pixels
    # One gather: the result is uint8[B, H, W, 3] in memory, which is the order the convolutions want.
    picture = torch.arange(count)[:, None, None]
    return pixels.permute(0, 2, 3, 1)[picture, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def _steps(count: int, size: int, shift: int) -> Tensor:
    """int64[count, size]: which row each row is taken from."""
    moves = torch.randint(-shift, shift + 1, (count, 1)) if shift else torch.zeros(count, 1, dtype=torch.long)
    return (torch.arange(size) + moves).clamp(0, size - 1)
