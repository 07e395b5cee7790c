"""Gram: how far correlations of maps leave the range that they have on training images of the same class (Sastry and
Oore, 2020, "Detecting Out-of-Distribution Examples with Gram Matrices")."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError
from openworld.core.types import Range, checked
from openworld.detectors.engine.activations import Layer
from openworld.detectors.engine.bank import draws_by_place
from openworld.detectors.engine.statistics import ByLayer, PerLayer
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head

IMAGES = 8  # of which maps are alive in float64: a stage of a ResNet-50 has 6 MB of them an image
TINY = 1e-6  # added to the ends of a range, by which what lies beyond is divided, as in the released code


@dataclass(frozen=True)
class GramRows:
    """Called with a layer: row sums of (F^p F^p^T)^(1/p), signed, of each power p; float[N, powers * c].

    The matrix is not made: its row c adds up to the sum over positions of F_c^p times the sum over all maps of F^p.
    """

    powers: tuple[int, ...]

    def __call__(self, layer: Layer) -> Tensor:
        maps = layer.maps.flatten(2) if layer.maps.dim() > 2 else layer.maps[:, :, None]
        return torch.cat([self._rows(part.double()).to(layer.maps.dtype) for part in maps.split(IMAGES)])

    def _rows(self, maps: Tensor) -> Tensor:
        largest = maps.abs().amax(dim=(1, 2), keepdim=True).clamp(min=torch.finfo(maps.dtype).tiny)
        maps, rows = maps / largest, []  # the tenth power of 10,000 is beyond float32
        for power in self.powers:
            raised = maps**power
            sums = (raised * raised.sum(dim=1, keepdim=True)).sum(dim=2)
            rows.append(sums.sign() * sums.abs() ** (1 / power) * largest[:, 0] ** 2)
        return torch.cat(rows, dim=1)


@dataclass(frozen=True, eq=False)
class Ranges:
    """low, high: float[C, width], of images by predicted class; infinite for a class without one.

    rows: float[M, width] of images held out, predictions: int64[M]; offered: place of the next image.
    """

    low: Tensor
    high: Tensor
    rows: Tensor
    predictions: Tensor
    offered: int


@dataclass(frozen=True)
class ClassRanges:
    """Least and largest features by predicted class, and the features of some images, held out.

    share: of the images, held out by their place, of which the first `most` are kept.
    """

    share: float
    most: int
    seed: int

    needs: ClassVar[tuple[str, ...]] = ("features", "logits")
    by_place: ClassVar[bool] = True

    def add(self, total: Ranges | int | None, activations: Activations) -> Ranges:
        """The total with one more batch in it."""
        start = total.offered if isinstance(total, Ranges) else total or 0
        rows, predictions = activations.tensor("features"), activations.predictions
        held = draws_by_place(self.seed, start, len(rows)).to(rows.device) < self.share
        shape = (activations.logits.shape[1], rows.shape[1])
        places = predictions[~held, None].expand(-1, shape[1])
        low = rows.new_full(shape, torch.inf).scatter_reduce(0, places, rows[~held], "amin")
        high = rows.new_full(shape, -torch.inf).scatter_reduce(0, places, rows[~held], "amax")
        batch = Ranges(low, high, rows[held], predictions[held], start + len(rows))
        return self.merge(total, batch) if isinstance(total, Ranges) else batch

    def merge(self, first: Ranges, second: Ranges) -> Ranges:
        """The total of two shards."""
        low, high, rows, predictions = (
            part.to(first.low.device) for part in (second.low, second.high, second.rows, second.predictions)
        )
        return Ranges(
            torch.minimum(first.low, low),
            torch.maximum(first.high, high),
            torch.cat([first.rows, rows])[: self.most],
            torch.cat([first.predictions, predictions])[: self.most],
            second.offered,
        )


def deviation(rows: Tensor, predictions: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """How far float[N, width] lie outside the ranges float[C, width] by class, added up over the width, float[N]."""
    low, high = low.to(rows)[predictions], high.to(rows)[predictions]
    below, above = (low - rows).relu() / (low + TINY).abs(), (rows - high).relu() / (high + TINY).abs()
    return (below + above).sum(dim=1)


@checked
@dataclass(frozen=True)
class Gram(Fittable):
    """-sum over layers of deviation / expected deviation; ranges of Gram row sums are those of the predicted class.

    The deviation adds up, over the rows of the Gram matrices of all powers, (low - g) / |low| or (g - high) / |high|.

    Args:
        powers: p of (F^p F^p^T)^(1/p), F a layer's maps as rows. The paper has 1 to 10; 1 to 5 are OpenOOD's.
        share: of the training images, held out with `seed` to find the expected deviation, 1,000 at most; 0 for an
            expected deviation of 1. In [0, 1).
        layers: names of modules; none for the stages that `watch` finds.

    >>> maps = torch.tensor([[[[1.0, 1.0]]], [[[2.0, 2.0]]], [[[3.0, 3.0]]]])  # Gram rows 2, 8, 18
    >>> seen = Activations(outputs=torch.tensor([[1.0, 0.0]]).repeat(3, 1), layers={"last": Layer(maps)})
    >>> fitted = Gram((1,), share=0).fit(seen.take([0, 1]))
    >>> fitted.score(seen).round(decimals=4).tolist()  # 10 / 8 beyond the range
    [0.0, 0.0, -1.25]
    """

    powers: tuple[int, ...] = (1, 2, 3, 4, 5)
    share: Annotated[float, Range(0, 1, "[)")] = 0.1
    layers: tuple[str, ...] = ()
    seed: int = 0

    card = DetectorCard("Gram", "Sastry and Oore, 2020", "correlations of maps out of range", ("layers", "logits"))

    def __post_init__(self):
        if not self.powers:
            raise OpenworldError("powers are empty, expected whole numbers of 1 or more.")
        for power in self.powers:
            require_at_least(1, powers=power)

    @property
    def gathers(self) -> tuple:
        return (PerLayer(ClassRanges(self.share, 1000, self.seed), self.layers, GramRows(self.powers), logits=True),)

    def learn(self, head: Head | None, gathered: ByLayer) -> ByLayer:
        """Of every layer the ranges by predicted class, low and high, and the mean deviation of images held out."""
        return ByLayer(gathered.names, tuple(map(self._range, gathered.parts)))

    def _range(self, total: Ranges) -> tuple[Tensor, Tensor, float]:
        if not total.low.isfinite().any():
            raise OpenworldError(f"{self.name} holds out all training images; fit on more, or lower share.")
        # A class that no training image is taken for has the range of all images.
        low = torch.where(total.low.isfinite(), total.low, total.low.amin(dim=0))
        high = torch.where(total.high.isfinite(), total.high, total.high.amax(dim=0))
        expected = float(deviation(total.rows, total.predictions, low, high).mean()) if len(total.rows) else 0.0
        return low, high, expected or 1.0

    def concerns(self, gathered: ByLayer) -> tuple[str, ...]:
        """Classes that the model names no training image."""
        empty = (~gathered.parts[0].low.isfinite().all(dim=1)).nonzero().flatten().tolist()
        if not empty:
            return ()
        return (
            f"{self.name} has no training image that the model takes for {len(empty)} of "
            f"{len(gathered.parts[0].low)} classes, the first number {empty[0]}; for those the range is that of all.",
        )

    def read(self, state: ByLayer, activations: Activations) -> Tensor:
        layers = activations.layers_of(state.names, self.name).values()
        score = activations.logits.new_zeros(len(activations))
        for (low, high, expected), layer in zip(state.parts, layers, strict=True):
            rows = GramRows(self.powers)(layer)
            score = score - deviation(rows, activations.predictions, low, high) / expected
        return score
