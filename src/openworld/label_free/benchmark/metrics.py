"""From outputs to rows: what is known of a model on its source set and under a condition, and what estimators say."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from openworld.estimators import Estimate, fuse
from openworld.estimators.engine.temperature import confidences, probabilities, temperature_of
from openworld.evaluations.estimates import Answers, own_temperature
from openworld.evaluations.runtime import Machine
from openworld.label_free.benchmark import cards
from openworld.label_free.benchmark.arrays import NO_ESTIMATE
from openworld.label_free.benchmark.cards import CLASSIFIERS, FIXED, FUSED, RAW, SCALED, TTC, UNSCALED
from openworld.label_free.benchmark.task import AccuracyTask
from openworld.metrics import expected_calibration_error, semantic_alignment
from openworld.results import METRICS, Result, Value, interval_of
from openworld.results.results import Place

OF_THE_SOURCE = {"n_source", "n_target", "mistakes", "temperature", "resampled", "resamples"}


def source_rows(source: Answers, place: Mapping[str, Place], seed: int) -> Iterator[Result]:
    """Yield the numbers of the judged model on the labelled source set."""
    scale = temperature_of(source.any).value
    numbers = [(cards.SOURCE_ACCURACY, {}, source.accuracy), (cards.TEMPERATURE, {}, scale)]
    numbers += [(cards.CALIBRATION, {"calibration": kind}, error) for kind, error in _own_errors(source, scale).items()]
    for metric, further, number in numbers:
        yield Result("", metric, Value(number), {**place, **further}, (seed,), (number,))


def condition_rows(target: Answers, estimates: Mapping[str, Estimate], place: Mapping[str, Place]) -> Iterator[Result]:
    """Yield the true accuracy under a condition, what every estimator says of it, and how often it warns."""
    yield Result("", cards.TRUE_ACCURACY, Value(target.accuracy), place)
    yield Result("", METRICS["images"], Value(float(target.any.n)), place)
    for label, estimate in estimates.items():
        value = Value(None, reason=NO_ESTIMATE)
        if estimate.error is not None:
            value = Value(estimate.accuracy, interval_of(estimate.interval, "images", target.any.n))
        yield Result(label, cards.ESTIMATED, value, place)
        if estimate.warnings:
            yield Result(label, cards.WARNINGS, Value(float(len(estimate.warnings))), place)


def note_of(estimate: Estimate) -> dict[str, Any]:
    """Return what an estimator says beside its number: no lists, and nothing that is known of the source anyway."""
    details = {
        name: value
        for name, value in estimate.details.items()
        if name not in OF_THE_SOURCE and isinstance(value, bool | int | float | str | None)
    }
    return {"warnings": estimate.warnings, "details": details}


def calibration_rows(
    task: AccuracyTask, target: Answers, scale: float, machine: Machine, place: Mapping[str, Place]
) -> Iterator[Result]:
    """Yield expected calibration errors of the judged model, raw and with T, and of each reference, with its tau."""
    for kind, error in _own_errors(target, scale).items():
        yield Result(CLASSIFIERS, cards.CALIBRATION, Value(error), {**place, "calibration": kind})
    for reference in task.references:
        if reference.is_model:
            tau = target.tau(reference.name, scale).value
            similarities = target.outputs[reference.name].reference
            yield Result(reference.name, cards.TEMPERATURE, Value(tau), place)
            # RAW is as the reference was trained; UNSCALED is what FRAP's Table 2 calls raw.
            scales = {RAW: own_temperature(reference, machine), UNSCALED: 1.0, TTC: tau, **FIXED}
            for kind, temperature in scales.items():
                error = Value(_error(similarities, temperature, target.labels))
                yield Result(reference.name, cards.CALIBRATION, error, {**place, "calibration": kind})


def alignment_rows(
    task: AccuracyTask, target: Answers, scale: float, similarity: np.ndarray | None, place: Mapping[str, Place]
) -> Iterator[Result]:
    """Yield the Semantic Alignment Score of the judged model, of each calibrated reference, and of the two fused."""
    if similarity is None:
        return
    base = probabilities(target.any.logits, scale)
    predicted = {CLASSIFIERS: base}
    for reference in task.references:
        if reference.is_model:
            name, outputs = reference.name, target.outputs[reference.name]
            alone = probabilities(outputs.reference, target.tau(name, scale).value)
            predicted |= {name: alone, f"{FUSED}{name}": fuse(base, alone)}
    for name, p in predicted.items():
        score = semantic_alignment(p, target.labels, similarity).value
        yield Result(name, cards.ALIGNMENT, Value(score), place)


def image_table(target: Answers, scale: float, number: int) -> dict[str, np.ndarray]:
    """Return what the judged model says of each image of a condition, by the condition's number."""
    outputs = target.any
    return {
        "target": np.full(outputs.n, number, np.int16),
        "id": target.rows.astype(np.int32),
        "label": target.labels.astype(np.int16),
        "prediction": outputs.predictions.astype(np.int16),
        "confidence": confidences(outputs.logits, scale).astype(np.float32),
    }


def _own_errors(answers: Answers, scale: float) -> dict[str, float]:
    """Return calibration errors of the judged model, raw and with T."""
    return {kind: _error(answers.any.logits, each, answers.labels) for kind, each in ((RAW, 1.0), (SCALED, scale))}


def _error(logits: np.ndarray, scale: float, labels: np.ndarray) -> float:
    return expected_calibration_error(confidences(logits, scale), logits.argmax(axis=1) == labels).value
