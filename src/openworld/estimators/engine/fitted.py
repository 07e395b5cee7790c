"""What all estimators do alike: look at the source once, read a target, and turn the reading into an `Estimate`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, ClassVar, Protocol

import numpy as np

from openworld._arrays import MANY, require_at_least, require_at_most
from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.estimators.engine.bootstrap import LEAST, accuracy_interval
from openworld.estimators.engine.estimate import Estimate
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import source_temperature


@dataclass(frozen=True)
class SourceSummary:
    """What every fitted estimator remembers of the source.

    n, classes: how many images and classes. mistakes: k, None without labels. temperature: T of the judged model's
    logits, 1 where it was not fitted. warnings: sentences. pulls: float64[n], how far each source image pulls ln T; 0
    where T was not fitted.
    """

    n: int
    classes: int
    mistakes: int | None = None
    temperature: float = 1.0
    warnings: tuple[str, ...] = ()
    pulls: np.ndarray = field(default_factory=lambda: np.zeros(1), repr=False, compare=False)

    @property
    def error(self) -> float:
        """Source error k / n."""
        return self.mistakes / self.n


@dataclass(frozen=True, eq=False)
class RawEstimate:
    """What an estimator reads off a target.

    raw_error: the estimate, perhaps outside [0, 1]; None where nothing can be said, for which `warnings` give the
    reason. replicates: (resamples, generator) -> errors float[resamples], of
    bootstrap resamples of what `resampled` says in words. The rest goes into the `Estimate`.
    """

    raw_error: float | None
    replicates: Callable[[int, np.random.Generator], np.ndarray] | None
    resampled: str
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

    estimator: Estimator
    known: SourceSummary
    state: Any = None

    @checked
    def estimate(self, target: Outputs, *, interval: bool = True, seed: int = 0, resamples: int = 200) -> Estimate:
        """Accuracy of the judged model on the target, whose labels, if there are any, are not looked at.

        Args:
            target: outputs of the same model for the same classes, with what the estimator `needs` except labels.
            interval: whether to resample. seed, resamples: of the bootstrap.
        Raises:
            OpenworldError: another number of classes, something needed is missing, fewer than 20 resamples.
        """
        name, known = self.estimator.name, self.known
        require_at_least(LEAST if interval else 0, resamples=resamples)
        require_at_most(MANY, resamples=resamples)
        if target.classes != known.classes:
            raise OpenworldError(
                f"the target has {target.classes} classes, but {name} was fitted on {known.classes}; "
                "estimate with the same class names in the same order."
            )
        target.require(tuple(need for need in self.estimator.needs if need != "labels"), name)
        reading = self.estimator.read(known, self.state, target)
        resample = interval and reading.raw_error is not None
        drawn = reading.replicates(resamples, np.random.default_rng(seed)) if resample else None
        details = {"n_source": known.n, "n_target": target.n, "mistakes": known.mistakes}
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
    temperature = source.once("temperature", lambda: source_temperature(source.logits, source.labels))
    warnings = (temperature.warning,) if temperature.warning else ()
    return SourceSummary(source.n, source.classes, source.mistakes, temperature.value, warnings, temperature.pulls)


def finite(number: float | None) -> float | None:
    """A number for `details`; None for an infinite one, which JSON cannot hold."""
    return None if number is None or not isfinite(number) else float(number)
