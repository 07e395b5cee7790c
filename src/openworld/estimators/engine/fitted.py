"""What all estimators do alike: look at the source once, read a target, and turn the reading into an `Estimate`.

An `Estimate` is one number, how sure it is, and everything that a reader needs to judge it. How sure is a bootstrap of
what remains of each image: a score, a bin, right or wrong. Nothing is fitted again: temperature and transport plan stay
as they are, thresholds are found anew. A share of n images is drawn from the binomial distribution that resampling
gives it, so that the target, however large, costs nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np

from openworld.core import representation
from openworld.core.arrays import MANY, require_at_least
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Range, checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import temperature_of

LEVEL = 0.95
LIMIT_FROM = 100_000  # values from which the mean of a resample is drawn from its normal limit
LEAST = 20  # resamples below which percentiles say nothing


@dataclass(frozen=True, eq=False)
class Estimate:
    """Accuracy of a model on images without labels, as an estimator sees it.

    accuracy, error: fractions in [0, 1] that add up to 1; None where nothing can be said, for which `warnings` give the
    reason. raw_error: the error before it was held in [0, 1].
    interval: (low, high) of the accuracy, 95 %, percentiles of a bootstrap; `details["resampled"]` says of what. It
    shows how much the estimate moves with other images of the same kind, not how wrong the method may be under this
    shift. None where it was not asked for. details: numbers by name, such as threshold, temperature, n_source,
    n_target. sample_scores: float[n_target], larger where the method finds a prediction more likely right; or None.
    warnings: sentences.

    JSON out and in: `Estimate(**openworld.runs.to_json(estimate))` is the same estimate.

    >>> Estimate.of(-0.1).accuracy
    1.0
    """

    accuracy: float | None
    error: float | None
    raw_error: float | None
    interval: tuple[float, float] | None = None
    details: dict[str, Any] = field(default_factory=dict)
    sample_scores: np.ndarray | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()

    __repr__ = short_repr

    def __post_init__(self):
        scores = None if self.sample_scores is None else np.asarray(self.sample_scores, np.float64)
        object.__setattr__(self, "sample_scores", scores)
        object.__setattr__(self, "interval", None if self.interval is None else tuple(self.interval))
        object.__setattr__(self, "warnings", tuple(self.warnings))

    def _repr_html_(self) -> str:
        details = ((name, f"{number:.4g}") for name, number in self.details.items() if isinstance(number, int | float))
        warnings = (("warning", warning) for warning in self.warnings)
        return representation.facts(
            f"Estimated accuracy {representation.percent(self.accuracy, self.interval)}", [*details, *warnings]
        )

    def require(self, name: str) -> float:
        """Return the accuracy that an estimator of this name gives, which must be there."""
        if self.accuracy is None:
            raise OpenworldError(f"{name} gives no accuracy: {'; '.join(self.warnings)}.")
        return self.accuracy

    @classmethod
    def of(cls, raw_error: float | None, **rest: Any) -> "Estimate":
        """Return the estimate of an error that may lie outside [0, 1], or None."""
        if raw_error is None:
            return cls(None, None, None, **rest)
        error = min(1.0, max(0.0, float(raw_error)))
        return cls(1 - error, error, float(raw_error), **rest)


@dataclass(frozen=True)
class SourceSummary:
    """What every fitted estimator remembers of a source of n images."""

    n: int
    classes: int
    mistakes: int | None = None  # None without labels
    temperature: float = 1.0  # of the judged model's logits; 1 where it was not fitted
    warnings: tuple[str, ...] = ()
    # how far each source image pulls ln T, float64[n]; 0 where T was not fitted
    pulls: np.ndarray = field(default_factory=lambda: np.zeros(1), repr=False, compare=False)

    @property
    def error(self) -> float:
        """Source error k / n."""
        if self.mistakes is None:
            raise OpenworldError("the source has no labels, so that its error is not known.")
        return self.mistakes / self.n


@dataclass(frozen=True, eq=False)
class RawEstimate:
    """What an estimator reads off a target; the rest goes into the `Estimate`."""

    raw_error: float | None  # perhaps outside [0, 1]; None where nothing can be said, as `warnings` explain
    replicates: Callable[[int, np.random.Generator], np.ndarray] | None  # float[resamples] errors
    resampled: str  # what replicates are bootstrap resamples of, in words
    details: dict[str, Any] = field(default_factory=dict)
    sample_scores: np.ndarray | None = None
    warnings: tuple[str, ...] = ()


class Estimator(Protocol):
    """What every estimator offers: a frozen dataclass of settings that says what it is and is fitted on a source.

    name, paper, summary: for tables; `name` is what specs say. needs: what `Outputs` must hold. Most have
    `read(known, state, target) -> RawEstimate` too, for `FittedEstimator`; what scores whole sets is a `Score` instead.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]

    def fit(self, source: Outputs) -> "FittedEstimator": ...


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """An estimator fitted on a source set: its settings, what is `known` of the source, and what it keeps of it."""

    estimator: Any  # settings with name, needs and `read(known, state, target) -> RawEstimate`
    known: SourceSummary
    state: Any = None

    @checked
    def estimate(
        self, target: Outputs, *, interval: bool = True, seed: int = 0, resamples: Annotated[int, Range(0, MANY)] = 200
    ) -> Estimate:
        """Accuracy of the judged model on the target, whose labels, if there are any, are not looked at.

        Args:
            target: outputs of the same model for the same classes, with what the estimator `needs` except labels.
            interval: whether to resample. seed, resamples: of the bootstrap.
        Raises:
            OpenworldError: another number of classes, something needed is missing, fewer than 20 resamples.
        """
        name, known = self.estimator.name, self.known
        require_at_least(LEAST if interval else 0, resamples=resamples)
        if target.classes != known.classes:
            raise OpenworldError(
                f"the target has {target.classes} classes, but {name} was fitted on {known.classes}; "
                "estimate with the same class names in the same order."
            )
        target.require(tuple(need for need in self.estimator.needs if need != "labels"), name)
        reading: RawEstimate = self.estimator.read(known, self.state, target)
        replicates = reading.replicates if interval and reading.raw_error is not None else None
        drawn = None if replicates is None else replicates(resamples, np.random.default_rng(seed))
        details: dict[str, Any] = {"n_source": known.n, "n_target": target.n, "mistakes": known.mistakes}
        details |= {"temperature": known.temperature} | reading.details
        if drawn is not None:
            details |= {"resampled": reading.resampled, "resamples": resamples}
        return Estimate.of(
            reading.raw_error,
            interval=None if drawn is None else accuracy_interval(drawn, reading.raw_error),
            details=details,
            sample_scores=reading.sample_scores,
            warnings=(*known.warnings, *reading.warnings),
        )


@checked
def look_at(source: Outputs, estimator: Estimator, calibrate: bool = False) -> SourceSummary:
    """Check that the source has what the estimator needs, and fit its temperature if it is to `calibrate`."""
    source.require(tuple(estimator.needs), estimator.name)
    if source.labels is None:
        return SourceSummary(source.n, source.classes)
    if not calibrate:
        return SourceSummary(source.n, source.classes, source.mistakes, pulls=np.zeros(source.n))
    temperature = temperature_of(source)
    warnings = (temperature.warning,) if temperature.warning else ()
    return SourceSummary(source.n, source.classes, source.mistakes, temperature.value, warnings, temperature.pulls)


def finite(number: float | None) -> float | None:
    """A number for `details`; None for an infinite one, which JSON cannot hold."""
    return None if number is None or not isfinite(number) else float(number)


def accuracy_interval(errors: np.ndarray, error: float | None = None) -> tuple[float, float] | None:
    """Return the 95 % interval of the accuracy from resampled errors float[R], as far as `error` itself; or None."""
    if len(errors) < LEAST:
        raise OpenworldError(f"resamples is {len(errors)}, expected {LEAST} or more (200 for an interval).")
    defined = errors[~np.isnan(errors)]  # of the others nothing can be said
    if 2 * len(defined) < len(errors):
        return None
    low, high = np.quantile(1 - np.clip(defined, 0, 1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    accuracies = [low, high] if error is None else [low, high, 1 - np.clip(error, 0, 1)]
    return float(min(accuracies)), float(max(accuracies))


def counts(n: int, resamples: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """How often each of n images is drawn, int64[n] that add up to n, once per resample."""
    return (np.bincount(generator.integers(0, n, n), minlength=n) for _ in range(resamples))


def means(values: np.ndarray, resamples: int, generator: np.random.Generator) -> np.ndarray:
    """Means of resamples of values float[n]: float[R]."""
    n = len(values)
    if n >= LIMIT_FROM:
        return generator.normal(values.mean(), values.std() / np.sqrt(n), resamples)
    return np.array([drawn @ values / n for drawn in counts(n, resamples, generator)])


def shares(share, n: int, generator: np.random.Generator, resamples: int | None = None) -> np.ndarray:
    """Resampled shares of n images, float[R]; `share` is one number for all resamples or float[R]."""
    return generator.binomial(n, share, resamples) / n
