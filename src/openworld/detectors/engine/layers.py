"""Any statistic of features, gathered of every layer apart: what detectors that look at several layers learn from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from openworld._errors import OpenworldError
from openworld.detectors.engine.activations import Activations, Layer


@dataclass(frozen=True, eq=False)
class LayerTotals:
    """names: of the layers; empty for no image yet. totals: one for each. start: training images that come before."""

    names: tuple[str, ...]
    totals: tuple
    start: int = 0

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Yield the name and the total of every layer."""
        return zip(self.names, self.totals, strict=True)


@dataclass(frozen=True)
class PerLayer:
    """A statistic of what `of` makes of layers, "pooled", "influence" or a call, in place of features; () for all."""

    statistic: Any
    layers: tuple[str, ...] = ()
    of: Any = "pooled"
    logits: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """Layers, with their gradient for the influence, and what the statistic needs beside features."""
        gradients = ("layer gradients",) if self.of == "influence" else ()
        return ("layers", *gradients, *(need for need in self.statistic.needs if need != "features"))

    def begin(self, start: int) -> LayerTotals:
        """The total of no image, where `start` images come before."""
        return LayerTotals((), (), start)

    def add(self, total: LayerTotals | None, activations: Activations) -> LayerTotals:
        """The total with one more batch in it."""
        total = self.begin(0) if total is None else total
        seen = self._seen(activations)
        if total.names and total.names != tuple(seen):
            raise OpenworldError(f"batches bring the layers {total.names} and {tuple(seen)}; give all the same.")
        begun = getattr(self.statistic, "begin", lambda start: None)
        before = total.totals or tuple(begun(total.start) for _ in seen)
        totals = tuple(map(self.statistic.add, before, seen.values()))
        return replace(total, names=tuple(seen), totals=totals)

    def merge(self, first: LayerTotals, second: LayerTotals) -> LayerTotals:
        """The total of two shards."""
        if not first.names or not second.names:
            return first if first.names else second
        if first.names != second.names:
            raise OpenworldError(f"the shards bring the layers {first.names} and {second.names}; gather both alike.")
        return replace(first, totals=tuple(map(self.statistic.merge, first.totals, second.totals)))

    def _seen(self, activations: Activations) -> dict[str, Activations]:
        """Every layer as if it were the features."""
        layers = activations.layers_of(self.layers, type(self.statistic).__name__)
        outputs = activations.logits if self.logits else None
        rows = {name: rows_of(layer, self.of) for name, layer in layers.items()}
        return {name: Activations(part, outputs=outputs, labels=activations.labels) for name, part in rows.items()}


def rows_of(layer: Layer, of: Any) -> Tensor:
    """What is looked at of a layer, float[N, width]; `of` as in `PerLayer`."""
    return getattr(layer, of) if isinstance(of, str) else of(layer)
