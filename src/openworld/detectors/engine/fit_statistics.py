"""How detectors learn: gather what they ask for of training images in one pass, perhaps shard by shard, and learn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.reading import wrong
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fitted import ROWS, FittedDetector, OODDetector, is_sequential, solvable
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.serialization import (
    GATHERED,
    OURS,
    classes_beside,
    detector_of,
    put_together,
    read,
    settings_of,
    take_apart,
    write,
)
from openworld.detectors.engine.statistics import begins_by_place
from openworld.detectors.engine.texts import Texts

ORDER_MATTERS = (
    "{} remembers the images that it scores: its scores depend on their order and on which others there are, so that "
    "they are no property of an image alone."
)


@dataclass(frozen=True, eq=False)
class FitStatistics:
    """What detectors ask for of some training images, a shard or all of them; made by `gather`.

    Args:
        detectors: by a label of yours.
        totals: what each statistic has gathered, in the order in which the detectors ask for them; empty for no image.
        head, texts: of the images. least: the smallest feature, where a detector wants it not to be negative.
        width: how many numbers a feature has, None where there were none.

    >>> from openworld.detectors import KNN
    >>> shards = [gather({"KNN": KNN(1)}, [Activations(torch.eye(2)[[place]])], start=place) for place in (0, 1)]
    >>> shards[0].merge(shards[1]).fit()["KNN"].state.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    detectors: Mapping[str, OODDetector]
    totals: tuple = ()
    head: Head | None = None
    texts: Texts | None = None
    least: float | None = None
    width: int | None = None

    __repr__ = short_repr

    @checked
    def merge(self, following: "FitStatistics") -> "FitStatistics":
        """What would have been gathered of both in one pass, these images before those that follow.

        Sums are those of one pass to rounding in float64; banks are the same.
        Raises:
            OpenworldError: other detectors or settings, another head or width of features, shards of a sample that do
                not follow one another, a statistic that cannot be merged.
        """
        if dict(self.detectors) != dict(following.detectors):
            raise OpenworldError("the shards were gathered for other detectors or settings; gather both for the same.")
        if self.head and following.head and not self.head.equals(following.head):
            raise OpenworldError("the heads of the shards differ; gather both with the same classifier.")
        if None not in (self.width, following.width) and self.width != following.width:
            raise OpenworldError(f"the shards' features have {self.width} and {following.width} numbers each.")
        least = [smallest for smallest in (self.least, following.least) if smallest is not None]
        totals = self.totals or following.totals
        if self.totals and following.totals:
            statistics = statistics_of(self.detectors)
            for statistic in statistics:
                if not hasattr(statistic, "merge"):
                    raise OpenworldError(
                        f"{type(statistic).__name__} has no `merge`; gather all training images in one pass."
                    )
            pairs = zip(statistics, self.totals, following.totals, strict=True)
            totals = tuple(statistic.merge(first, second) for statistic, first, second in pairs)
        head, texts, width = (getattr(self, part) or getattr(following, part) for part in ("head", "texts", "width"))
        return FitStatistics(self.detectors, totals, head, texts, min(least, default=None), width)

    def fit(self) -> dict[str, FittedDetector]:
        """Fitted detectors by their labels; raises OpenworldError as `fit_together`."""
        return {label: self._fit(label, totals) for label, totals in self._totals_by_label().items()}

    def fit_able(self) -> tuple[dict[str, FittedDetector], dict[str, str]]:
        """Fitted detectors by their labels, and of those that cannot learn from these images why."""
        fitted, refused = {}, {}
        for label, totals in self._totals_by_label().items():
            try:
                learned = self._fit(label, totals)
                # A bank that several settings read is held once.
                alike = (other.state for other in fitted.values() if type(other.detector) is type(learned.detector))
                same = (state for state in alike if _is_same(state, learned.state))
                fitted[label] = replace(learned, state=next(same, learned.state))
            except OpenworldError as error:
                refused[label] = str(error)
        return fitted, refused

    def _totals_by_label(self) -> dict[str, list]:
        """What each detector learns from."""
        # Read once: statistics that are equal to themselves alone are others with every look.
        statistics = {label: tuple(detector.gathers) for label, detector in self.detectors.items()}
        if not self.totals and (learning := [label for label, wanted in statistics.items() if wanted]):
            raise OpenworldError(f"there is no training image, but {learning[0]} learns from some; pass features.")
        order = dict.fromkeys(statistic for wanted in statistics.values() for statistic in wanted)
        totals = dict(zip(order, self.totals, strict=bool(self.totals)))
        return {label: [totals[statistic] for statistic in wanted] for label, wanted in statistics.items()}

    def save(self, path: Path | str) -> None:
        """Write one safetensors file, which `load_gathered` reads."""
        tensors: dict[str, Tensor] = {}
        pairs = zip(statistics_of(self.detectors), self.totals, strict=bool(self.totals))
        form = {
            "detectors": {label: settings_of(detector) for label, detector in self.detectors.items()},
            "totals": [
                take_apart(total, f"totals.{place}", tensors, classes_beside(statistic))
                for place, (statistic, total) in enumerate(pairs)
            ],
            "head": take_apart(self.head, "head", tensors, OURS),
            "texts": take_apart(self.texts, "texts", tensors, OURS),
            "least": self.least,
            "width": self.width,
        }
        write(path, GATHERED, form, tensors)

    def _fit(self, label: str, gathered: list) -> FittedDetector:
        detector: Any = self.detectors[label]  # of which `learn` and `concerns` are asked where it has them
        state, concerns = None, []
        if gathered:
            with solvable(detector.name):
                state = detector.learn(self.head, *gathered)
            concerns += detector.concerns(*gathered) if hasattr(detector, "concerns") else ()
        if is_sequential(detector):
            concerns.append(ORDER_MATTERS.format(detector.name))
        if self.least is not None and self.least < 0 and getattr(detector, "expects_positive", False):
            concerns.append(
                f"{detector.name} is made for features that are not negative, such as those behind a ReLU; the "
                f"smallest here is {self.least:.3g}."
            )
        return FittedDetector(detector, state, self.head, self.texts, tuple(concerns), self.width)


@checked
def gather(detectors: Mapping[str, OODDetector], batches: Iterable[Activations], *, start: int = 0) -> FitStatistics:
    """Gather what several detectors learn from in one pass over training images; what they share is gathered once.

    Args:
        detectors: detectors by a label of yours: {"KNN": KNN(), "KNN, 200": KNN(k=200)}.
        batches: what was seen of the training images, in any number of parts; each part is looked at once.
        start: of a shard, how many training images come before it; banks that are samples draw by it.
    Raises:
        OpenworldError: something a detector needs is missing in the first batch.
    """
    statistics = {label: tuple(detector.gathers) for label, detector in detectors.items()}
    positive = any(getattr(detector, "expects_positive", False) for detector in detectors.values())
    totals = {
        statistic: start if begins_by_place(statistic) else None
        for wanted in statistics.values()
        for statistic in wanted
    }
    first, smallest, images = None, [], 0
    for batch in batches:
        if not isinstance(batch, Activations):
            raise wrong(batch, "Activations", "batches")
        first = batch if first is None else first
        images += len(batch)
        for part in batch.split(ROWS) if len(batch) else ():
            for label, wanted in statistics.items():
                _require_to_learn(detectors[label], wanted, part)
            totals = {statistic: statistic.add(total, part) for statistic, total in totals.items()}
            if positive and part.features is not None:
                smallest.append(float(part.features.min()))
    context = Activations() if first is None else first
    width = None if context.features is None else context.features.shape[1]
    gathered, least = tuple(totals.values()) if images else (), min(smallest, default=None)
    return FitStatistics(detectors, gathered, context.head, context.texts, least, width)


@checked
def fit_together(detectors: Mapping[str, OODDetector], batches: Iterable[Activations]) -> dict[str, FittedDetector]:
    """Fit several detectors in one pass over the training images; what they share is gathered once.

    Args:
        detectors, batches: as for `gather`.
    Returns:
        fitted detectors by the same labels.
    Raises:
        OpenworldError: something a detector needs is missing in the first batch, no training image for one that
            learns, and what each `learn` says.
    """
    return gather(detectors, batches).fit()


@checked
def load_gathered(path: Path | str, *, kinds: Iterable[type] = (), device: str = "cpu") -> FitStatistics:
    """Read what `FitStatistics.save` wrote; arguments and errors as for `load_together`."""

    def build(form: dict, tensors: dict[str, Tensor]) -> FitStatistics:
        detectors = {label: detector_of(entry, kinds) for label, entry in form["detectors"].items()}
        pairs = zip(statistics_of(detectors), form["totals"], strict=bool(form["totals"]))
        totals = tuple(put_together(total, tensors, classes_beside(statistic)) for statistic, total in pairs)
        head, texts = (put_together(form[part], tensors, OURS) for part in ("head", "texts"))
        return FitStatistics(detectors, totals, head, texts, form["least"], form["width"])

    return read(path, GATHERED, device, build)


def fit(
    detector: OODDetector, features: Tensor | Activations | None, labels: Tensor | None, head: Head | None
) -> FittedDetector:
    """Fit one detector; what every detector's own `fit` calls."""
    activations = features if isinstance(features, Activations) else Activations(features, head=head, labels=labels)
    return fit_together({detector.name: detector}, [activations])[detector.name]


@dataclass(frozen=True)
class DetectorCard:
    """What a detector says of itself: see `OODDetector`."""

    name: str
    paper: str
    summary: str
    needs: tuple[str, ...]


class Fittable:
    """What every detector of ours inherits: its fit, its card's entries as attributes, and that nothing is gathered."""

    card: ClassVar[DetectorCard]
    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **arguments: Any):
        super().__init_subclass__(**arguments)
        if "card" in vars(cls):  # not that of the base: a class without one may name these attributes itself
            for name, value in vars(cls.card).items():
                setattr(cls, name, value)

    def fit(
        self, features: Tensor | Activations | None = None, labels: Tensor | None = None, head: Head | None = None
    ) -> FittedDetector:
        """Fit on training images, of which `needs` says what is looked at.

        Where there is no `learn` nothing is learned: head and texts are remembered, and features, if given, are looked
        at for negative ones by a detector that is made for none.

        Args:
            features: float[N, D], or all that was `Activations` of N images. labels: int[N]. head: the last layer.
        Raises:
            OpenworldError: something that the detector needs is missing, and what its `learn` says.
        """
        return fit(self, features, labels, head)

    @property
    def gathers(self) -> tuple:
        """Statistics of training images that it learns from."""
        return ()

    def read(self, state: Any, activations: Activations) -> Tensor:
        """Return the scores float[N] of images, larger = more in-distribution, by what was learned."""
        raise NotImplementedError


def statistics_of(detectors: Mapping[str, OODDetector]) -> tuple:
    """What all of them ask for, each once: what `FitStatistics.totals` are the totals of."""
    return tuple(dict.fromkeys(statistic for detector in detectors.values() for statistic in detector.gathers))


def _is_same(state: Any, other: Any) -> bool:
    if isinstance(state, tuple) and isinstance(other, tuple):
        return len(state) == len(other) and all(map(_is_same, state, other))
    if not (isinstance(state, Tensor) and isinstance(other, Tensor)):
        return False
    return state.shape == other.shape and state.dtype == other.dtype and torch.equal(state, other)


def _require_to_learn(detector: OODDetector, statistics: tuple, part: Activations) -> None:
    """What the statistics look at, and the head where it is made use of: refused with the first batch, not the last."""
    needs = [need for statistic in statistics for need in statistic.needs]
    needs += [need for need in detector.needs if statistics and need in ("head", "logits")]
    for need in dict.fromkeys(needs):
        part.require(need, detector.name)
        if need == "labels" and part.labels is None:
            raise OpenworldError(f"{detector.name} needs labels of the training images; pass labels=...")
