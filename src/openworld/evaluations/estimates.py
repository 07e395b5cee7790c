"""Estimators of a run, fitted on the source of one model: what they are given, and what they say."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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


@dataclass(frozen=True, eq=False)
class Answers:
    """What models say of the n images that could be read: int64[n] numbers among all images, and their classes.

    `outputs` are those of the judged model and its partners, with the similarities of each reference by its name; under
    "" where there is no reference. Labels are in them where they may be known.
    """

    rows: np.ndarray
    labels: np.ndarray
    outputs: dict[str, Outputs]

    @property
    def any(self) -> Outputs:
        """The outputs with the first reference."""
        return next(iter(self.outputs.values()))

    @property
    def accuracy(self) -> float:
        """The share of images that the judged model names right."""
        return int((self.any.predictions == self.labels).sum()) / len(self.labels)

    def tau(self, reference: str, temperature: float) -> ReferenceTemperature:
        """Return the temperature at which a reference comes nearest to the judged model, as FRAP finds it."""
        outputs = self.outputs[reference]
        base = probabilities(outputs.logits, temperature)
        return outputs.once(("tau", temperature), lambda: reference_temperature(base, outputs.reference))


@dataclass(frozen=True, eq=False)
class Fits:
    """Estimators by label; a score has a line for each corruption, without sets of it, and one of all sets (None)."""

    specs: Sequence[EstimatorSpec]
    fitted: Mapping[str, Mapping[str | None, FittedEstimator]]

    def estimates(self, target: Answers, corruption: str | None, resamples: int) -> dict[str, Estimate]:
        """Return label -> what an estimator that has seen nothing of the corruption says; 0 resamples: no interval."""
        options = {"interval": resamples > 0} | ({"resamples": resamples} if resamples else {})
        found = {}
        for spec in self.specs:
            fitted = self.fitted[spec.label]
            estimator = fitted.get(corruption, fitted[None])
            found[spec.label] = estimator.estimate(outputs_for(spec, target), **options)
        return found


def fit_all(specs: Sequence[EstimatorSpec], source: Answers, shifts: Mapping[str, Answers]) -> Fits:
    """Fit every estimator on the labelled source set; scores on `shifts`, {corruption: that set under it}."""
    return Fits(specs, {spec.label: _fit(spec, source, shifts) for spec in specs})


def outputs_for(spec: EstimatorSpec, answers: Answers) -> Outputs:
    """Return outputs with the similarities of the estimator's reference."""
    return answers.outputs[spec.reference] if spec.reference else answers.any


def seconds_alone(
    specs: Iterable[EstimatorSpec], source: Answers, shifts: Mapping[str, Answers], target: Answers, device: str
) -> dict[str, Any]:
    """Time each estimator alone, so that it cannot use what others have found: for the clocks of a record."""
    seconds: dict[str, dict[str, float]] = {"fit": {}, "estimate": {}}
    for spec in specs:
        known, unlabelled = _forgetful(spec, source), _forgetful(spec, target)
        sets = [_forgetful(spec, shift) for shift in shifts.values()] if spec.is_score else []
        started = time.perf_counter()
        fitted = spec.build().fit(sets if spec.is_score else known)
        fitted_at = time.perf_counter()
        fitted.estimate(unlabelled, interval=False)
        seconds["fit"][spec.label] = fitted_at - started
        seconds["estimate"][spec.label] = time.perf_counter() - fitted_at
    return {"seconds": seconds, "device": device}


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
