"""Estimators of a run, fitted on the source of one model: what they are given, and what they say."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld.estimators import (
    Estimate,
    FittedEstimator,
    Outputs,
    ReferenceTemperature,
    ScoreRegression,
    reference_temperature,
)
from openworld.estimators.engine.temperature import probabilities
from openworld.evaluations.entries import EstimatorSpec
from openworld.evaluations.estimator_seconds import Seconds


@dataclass(frozen=True, eq=False)
class Answers:
    """Of the n pictures that could be read.

    Args:
        rows, labels: int64[n], their numbers among all pictures, and their classes.
        outputs: of the judged model and its partners, with the similarities of each reference by its name; under ""
            where there is no reference. Labels are in them where they may be known.
    """

    rows: np.ndarray
    labels: np.ndarray
    outputs: dict[str, Outputs]

    @property
    def any(self) -> Outputs:
        """With the first reference."""
        return next(iter(self.outputs.values()))

    @property
    def accuracy(self) -> float:
        """Of the judged model, in [0, 1]."""
        return int((self.any.predictions == self.labels).sum()) / len(self.labels)

    def tau(self, reference: str, temperature: float) -> ReferenceTemperature:
        """The temperature at which a reference comes nearest to the judged model's probabilities; as FRAP finds it."""
        outputs = self.outputs[reference]
        base = probabilities(outputs.logits, temperature)
        return outputs.once(("tau", temperature), lambda: reference_temperature(base, outputs.reference))


@dataclass(frozen=True, eq=False)
class Fits:
    """Fitted estimators by label; a score has a line for each corruption, without sets of it, and one of all sets.

    Args:
        specs: what is fitted, in the order of the tables.
        fitted: label -> corruption or None -> estimator.
    """

    specs: Sequence[EstimatorSpec]
    fitted: Mapping[str, Mapping[str | None, FittedEstimator]]

    def of(self, spec: EstimatorSpec, corruption: str | None) -> FittedEstimator:
        """The estimator that has seen nothing of the corruption."""
        known = self.fitted[spec.label]
        return known.get(corruption, known[None])

    def estimates(self, target: Answers, corruption: str | None, resamples: int) -> dict[str, Estimate]:
        """label -> the answer of an estimator."""
        return {spec.label: self.estimate(spec, target, corruption, resamples) for spec in self.specs}

    def estimate(self, spec: EstimatorSpec, target: Answers, corruption: str | None, resamples: int) -> Estimate:
        """An estimator's answer on a target; an interval where there are resamples."""
        options = {"interval": resamples > 0} | ({"resamples": resamples} if resamples else {})
        return self.of(spec, corruption).estimate(outputs_for(spec, target), **options)


def fit_all(specs: Sequence[EstimatorSpec], source: Answers, shifts: Mapping[str, Answers]) -> Fits:
    """Fit every estimator.

    Args:
        specs: with their references named.
        source: the labelled source set.
        shifts: corruption -> the labelled source set under it; for scores.
    """
    return Fits(specs, {spec.label: _fit(spec, source, shifts) for spec in specs})


def outputs_for(spec: EstimatorSpec, answers: Answers) -> Outputs:
    """Outputs with the similarities of the estimator's reference."""
    return answers.outputs[spec.reference] if spec.reference else answers.any


def seconds_alone(
    specs: Iterable[EstimatorSpec], source: Answers, shifts: Mapping[str, Answers], target: Answers, device: str
) -> Seconds:
    """Time each estimator alone, so that it cannot use what others have found."""
    seconds = Seconds({}, {}, device)
    for spec in specs:
        known, unlabelled = _forgetful(spec, source), _forgetful(spec, target)
        sets = [_forgetful(spec, shift) for shift in shifts.values()] if spec.is_score else []
        started = time.perf_counter()
        fitted = spec.build().fit(sets if spec.is_score else known)
        fitted_at = time.perf_counter()
        fitted.estimate(unlabelled, interval=False)
        seconds.fit[spec.label] = fitted_at - started
        seconds.estimate[spec.label] = time.perf_counter() - fitted_at
    return seconds


@dataclass(frozen=True, eq=False)
class _Once:
    """A score that looks at every set once, however many lines are drawn through it."""

    of: object
    label: str

    @property
    def name(self) -> str:
        return self.of.name

    @property
    def needs(self) -> tuple[str, ...]:
        return self.of.needs

    def score(self, outputs: Outputs) -> float | None:
        return outputs.once(("score", self.label), lambda: self.of.score(outputs))


def _fit(spec: EstimatorSpec, source: Answers, shifts: Mapping[str, Answers]) -> dict[str | None, FittedEstimator]:
    if not spec.is_score:
        return {None: spec.build().fit(outputs_for(spec, source))}
    sets = {corruption: outputs_for(spec, shift) for corruption, shift in shifts.items()}
    line = ScoreRegression(_Once(spec.build().of, spec.label))
    return {out: line.fit([outputs for name, outputs in sets.items() if name != out]) for out in (*sets, None)}


def _forgetful(spec: EstimatorSpec, answers: Answers) -> Outputs:
    """What the estimator sees, with nothing found in it yet."""
    return replace(outputs_for(spec, answers))
