"""What all detectors do alike: gather, learn, and score any number of images in parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.detectors.gathering import Least
from openworld.detectors.head import Head
from openworld.detectors.seen import Seen, require_finite
from openworld.detectors.texts import Texts

ROWS = 4096  # images scored at a time: bounds what N x C and N x D intermediates take


@dataclass(frozen=True, eq=False)
class Fitted:
    """A detector bound to what it learned.

    Args:
        detector: its settings. state: what it learned, None for nothing.
        head, texts: of the fit; images to be scored that bring none of their own use these.
        warnings: sentences about the training images.
    """

    detector: Any
    state: Any = None
    head: Head | None = None
    texts: Texts | None = None
    warnings: tuple[str, ...] = ()

    def score(self, features: Tensor | Seen) -> Tensor:
        """How much images look like the training data: larger = more in-distribution.

        Args:
            features: float[N, D], or all that was `Seen` of N images.
        Returns:
            float[N] on the same device.
        Raises:
            OpenworldError: something that the detector `needs` is missing, another number of features than in the
                fit, a score that is NaN or infinite.
        """
        return score_together({"score": self}, features)["score"]

    def read(self, seen: Seen) -> Tensor:
        """Scores of images that are known to bring all that is needed; small numbers of them."""
        scores = self.detector.read(self.state, seen)
        require_finite(
            scores, f"{self.detector.name} gives", "the method is not made for such features; see its documentation"
        )
        return scores


def fit(detector, features: Tensor | Seen | None, labels: Tensor | None, head: Head | None) -> Fitted:
    """Fit one detector; what every detector's own `fit` calls."""
    seen = features if isinstance(features, Seen) else Seen(features, head=head, labels=labels)
    return fit_together({detector.name: detector}, [seen])[detector.name]


def fit_together(detectors: Mapping[str, Any], batches: Iterable[Seen]) -> dict[str, Fitted]:
    """Fit several detectors in one pass over the training images; what they share is gathered once.

    Args:
        detectors: detectors by a label of yours: {"KNN": KNN(), "KNN, 200": KNN(k=200)}.
        batches: what was seen of the training images, in any number of parts; each part is looked at once.
    Returns:
        fitted detectors by the same labels.
    Raises:
        OpenworldError: something a detector needs is missing in the first batch, no training image for one that
            learns, and what each `learn` says.
    """
    wanted = {label: tuple(detector.gathers) for label, detector in detectors.items()}
    positive = [label for label, detector in detectors.items() if getattr(detector, "expects_positive", False)]
    totals, first, least, images = {}, None, None, 0
    for batch in batches:
        first = batch if first is None else first
        images += len(batch)
        for part in batch.split(ROWS):
            totals = _with_one_more(totals, detectors, wanted, part)
            if positive and part.features is not None and len(part):
                least = Least().add(least, part)
    if not images and any(wanted.values()):
        raise OpenworldError(f"there is no training image, but {_first(wanted)} learns from some; pass features.")
    context = Seen() if first is None else first
    fitted = {label: _learned(detector, wanted[label], totals, context) for label, detector in detectors.items()}
    negative = least is not None and least < 0
    return {label: _warned(one, least) if negative and label in positive else one for label, one in fitted.items()}


@torch.no_grad()
def score_together(fitted: Mapping[str, Fitted], features: Tensor | Seen) -> dict[str, Tensor]:
    """Scores of all detectors for the same images: what they share (logits, softmax, norms) is computed once.

    Args:
        fitted: fitted detectors by a label of yours. features: as for `Fitted.score`.
    Returns:
        float[N] by the same labels, larger = more in-distribution.
    """
    parts = {label: [] for label in fitted}
    whole = features if isinstance(features, Seen) else Seen(features)
    for part in whole.split(ROWS):
        completed = {}
        for label, one in fitted.items():
            shown = _completed(part, one, completed)
            for need in one.detector.needs:
                shown.require(need, one.detector.name)
            parts[label].append(one.read(shown))
    return {label: torch.cat(found) for label, found in parts.items()}


def _with_one_more(totals: dict, detectors: Mapping[str, Any], wanted: Mapping[str, tuple], part: Seen) -> dict:
    if not len(part):
        return totals
    for label, statistics in wanted.items():
        _require_to_learn(detectors[label], statistics, part)
    asked = dict.fromkeys(statistic for statistics in wanted.values() for statistic in statistics)
    return {statistic: statistic.add(totals.get(statistic), part) for statistic in asked}


def _require_to_learn(detector, statistics: tuple, part: Seen) -> None:
    """What the statistics look at, and the head where it is made use of: refused with the first batch, not the last."""
    needs = [need for statistic in statistics for need in statistic.needs]
    needs += [need for need in detector.needs if statistics and need in ("head", "logits")]
    for need in dict.fromkeys(needs):
        part.require(need, detector.name)
        if need == "labels" and part.labels is None:
            raise OpenworldError(f"{detector.name} needs labels of the training images; pass labels=...")


def _learned(detector, statistics: tuple, totals: dict, context: Seen) -> Fitted:
    gathered = [totals[statistic] for statistic in statistics]
    state = detector.learn(context.head, *gathered) if statistics else None
    concerns = detector.concerns(*gathered) if statistics and hasattr(detector, "concerns") else ()
    return Fitted(detector, state, context.head, context.texts, tuple(concerns))


def _warned(one: Fitted, least: float) -> Fitted:
    sentence = (
        f"{one.detector.name} is made for features that are not negative, such as those behind a ReLU; the smallest "
        f"here is {least:.3g}."
    )
    return replace(one, warnings=(*one.warnings, sentence))


def _completed(part: Seen, one: Fitted, completed: dict[tuple, Seen]) -> Seen:
    """The part with head and texts of the fit where it brings none; one for all detectors that were fitted together."""
    head, texts = part.head or one.head, part.texts or one.texts
    key = (id(head), id(texts))
    if key not in completed:
        same = head is part.head and texts is part.texts
        completed[key] = part if same else replace(part, head=head, texts=texts)
    return completed[key]


def _first(wanted: Mapping[str, tuple]) -> str:
    return next(label for label, statistics in wanted.items() if statistics)
