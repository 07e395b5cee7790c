"""What the record of a judged model holds of each condition, estimates aside: accuracy, calibration, alignment."""

import numpy as np

from openworld.estimators import fuse
from openworld.estimators.engine.temperature import confidences, probabilities, source_temperature
from openworld.evaluations.accuracy_estimation.record import (
    BASE,
    FIXED_TAUS,
    FUSED,
    RAW,
    SCALED,
    TAU,
    TTC,
    UNSCALED,
    SourceRecord,
)
from openworld.evaluations.accuracy_estimation.task import AccuracyTask
from openworld.evaluations.estimates import Answers
from openworld.evaluations.references import own_temperature
from openworld.evaluations.runtime import Machine
from openworld.metrics import expected_calibration_error, semantic_alignment


def source_record(source: Answers) -> SourceRecord:
    """The source set in numbers."""
    outputs, scale = source.any, temperature_of(source)
    return SourceRecord(source.accuracy, outputs.n, outputs.mistakes, scale, _base_calibration(source, scale))


def temperature_of(source: Answers) -> float:
    """T of the judged model, as every estimator finds it."""
    return source.any.once("temperature", lambda: source_temperature(source.any.logits, source.labels)).value


def calibration(task: AccuracyTask, target: Answers, scale: float, machine: Machine) -> dict[str, dict[str, float]]:
    """Expected calibration error of the judged model, raw and with T, and of each reference model.

    Of a reference `RAW` is as it was trained, `UNSCALED` the softmax of bare similarities, which FRAP's Table 2 calls
    raw, `TTC` calibrated at test time, and `FIXED_TAUS` at temperatures that nobody fits.
    """
    by_model = {BASE: _base_calibration(target, scale)}
    for reference in task.references:
        if reference.is_model:
            tau = target.tau(reference.name, scale).value
            similarities = target.outputs[reference.name].reference
            scales = {RAW: own_temperature(reference, machine), UNSCALED: 1.0, TTC: tau, **FIXED_TAUS}
            errors = {name: _error(similarities, scale, target.labels) for name, scale in scales.items()}
            by_model[reference.name] = errors | {TAU: tau}
    return by_model


def alignment(
    task: AccuracyTask, target: Answers, scale: float, similarity: np.ndarray | None
) -> dict[str, float] | None:
    """Semantic Alignment Score of the judged model, of each calibrated reference model, and of the two fused."""
    if similarity is None:
        return None
    base = probabilities(target.any.logits, scale)
    predicted = {BASE: base}
    for reference in task.references:
        if reference.is_model:
            name, outputs = reference.name, target.outputs[reference.name]
            alone = probabilities(outputs.reference, target.tau(name, scale).value)
            predicted |= {name: alone, f"{FUSED}{name}": fuse(base, alone)}
    return {name: semantic_alignment(p, target.labels, similarity).value for name, p in predicted.items()}


def image_table(target: Answers, scale: float, number: int) -> dict[str, np.ndarray]:
    """What the judged model says of each image of a condition, by the condition's number."""
    outputs = target.any
    return {
        "target": np.full(outputs.n, number, np.int16),
        "id": target.rows.astype(np.int32),
        "label": target.labels.astype(np.int16),
        "prediction": outputs.predictions.astype(np.int16),
        "confidence": confidences(outputs.logits, scale).astype(np.float32),
    }


def _base_calibration(target: Answers, scale: float) -> dict[str, float]:
    logits, labels = target.any.logits, target.labels
    return {RAW: _error(logits, 1.0, labels), SCALED: _error(logits, scale, labels)}


def _error(logits: np.ndarray, scale: float, labels: np.ndarray) -> float:
    return expected_calibration_error(confidences(logits, scale), logits.argmax(axis=1) == labels).value
