"""Labelled sets on which a model does otherwise than on its source, and what estimators say of them.

Estimates are read as shares of what the estimator says of source-like sets (`measure_null`), and the labelled sets are
drawn as those are: image by image, as many as the target has. What few images a class do to an estimator is then on
both sides of the ratio; exactly balanced sets, as benchmarks have them, would seem too good.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from scipy.special import chdtrc

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.estimators.engine.fitted import Estimator
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.quote.null import Null

DRAWS = 4  # of each labelled set
CHANCE = 0.001  # p-value above which a set's class counts count as a chance draw from the source's class shares
TINY = 1e-9


@checked
@dataclass(frozen=True, eq=False)
class LabelledShift:
    """A labelled set on which the model does otherwise than on the source.

    name: what it is called. family: its kind of shift; sets of one family are left out together. outputs: with labels.
    artificial: whether it is made of the source by formulas, such as corruptions.
    """

    name: str
    family: str
    outputs: Outputs
    artificial: bool = False

    def __post_init__(self):
        if not self.name or not self.family:
            raise OpenworldError(f"labelled shift {self.name!r} of family {self.family!r}: both need a name.")


@dataclass(frozen=True)
class ShiftReading:
    """What a labelled set of n images shows."""

    name: str
    family: str
    n: int
    accuracy: float  # true, in [0, 1]
    relative: Mapping[str, float]  # estimate over its mean on source-like sets; NaN where nothing can be said
    artificial: bool = False


def read_shifts(
    estimators: Mapping[str, Estimator],
    source: Outputs,
    shifts: Sequence[LabelledShift],
    nulls: Mapping[str, Null],
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> list[ShiftReading]:
    """Ask estimators about every labelled set; those without a null, of sets as large as the target, are not asked."""
    fitted = {name: estimator.fit(source) for name, estimator in estimators.items() if name in nulls}
    for shift in shifts:
        _require(shift, source, {name: getattr(estimators[name], "needs", ()) for name in fitted})
    generator = np.random.default_rng(seed)
    readings = []
    for place, shift in enumerate(shifts, 1):
        weights = _weights(shift.outputs, source)
        n = next(iter(nulls.values())).n if nulls else 1
        drawn = [shift.outputs.take(generator.choice(shift.outputs.n, n, p=weights)) for _ in range(DRAWS)]
        accuracy = float(np.mean([1 - outputs.mistakes / outputs.n for outputs in drawn]))
        relative = {
            name: _mean([fit.estimate(outputs, interval=False).accuracy for outputs in drawn]) / centre(nulls[name])
            for name, fit in fitted.items()
        }
        readings.append(ShiftReading(shift.name, shift.family, shift.outputs.n, accuracy, relative, shift.artificial))
        if progress:
            progress(place)
    return readings


def centre(null: Null) -> float:
    """Return the mean estimate of source-like sets, above 0."""
    return max(null.mean, TINY)


def _mean(accuracies: Sequence[float | None]) -> float:
    return nan if None in accuracies else float(np.mean(accuracies))


def _weights(outputs: Outputs, source: Outputs) -> np.ndarray:
    """Return how likely each image of a labelled set is drawn, float64[n]: classes as often as on the source."""
    counts, others = (np.bincount(labelled.labels, minlength=source.classes) for labelled in (outputs, source))
    both = np.stack([counts, others])[:, counts + others > 0].astype(np.float64)
    expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum()
    chi_squared = ((both - expected) ** 2 / expected).sum()
    # In shares of their own where these are others, beyond chance: then the classes themselves have shifted.
    moved = both.shape[1] > 1 and chdtrc(both.shape[1] - 1, chi_squared) < CHANCE
    weights = (others / np.maximum(counts, 1))[outputs.labels]
    if moved or not weights.any():
        weights = np.ones(outputs.n)
    return weights / weights.sum()


def _require(shift: LabelledShift, source: Outputs, needs: Mapping[str, Sequence[str]]) -> None:
    shift.outputs.require(("labels",), f"labelled shift {shift.name}")
    for name, wanted in needs.items():
        shift.outputs.require(tuple(wanted), f"{name} on labelled shift {shift.name}")
    if shift.outputs.classes != source.classes:
        raise OpenworldError(
            f"labelled shift {shift.name} has {shift.outputs.classes} classes and the source {source.classes}; score "
            "both with the same model for the same class names."
        )
