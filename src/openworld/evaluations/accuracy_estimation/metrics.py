"""What the record of a judged model says of each condition, estimates aside: accuracy, calibration, alignment."""

import numpy as np

from openworld.estimators import fuse
from openworld.estimators.engine.temperature import confidences, probabilities, source_temperature
from openworld.evaluations.accuracy_estimation.task import Task
from openworld.evaluations.estimates import Answers
from openworld.evaluations.references import own_temperature
from openworld.evaluations.runtime import Machine
from openworld.metrics import expected_calibration_error, semantic_alignment


def source_told(source: Answers) -> dict:
    """The source set in numbers."""
    one, scale = source.any, temperature_of(source)
    return {
        "n": one.n,
        "mistakes": one.mistakes,
        "accuracy": source.accuracy,
        "temperature": scale,
        "ece": _base_calibration(source, scale),
    }


def temperature_of(source: Answers) -> float:
    """T of the judged model, as every estimator finds it."""
    return source.any.once("temperature", lambda: source_temperature(source.any.logits, source.labels)).value


def calibration(task: Task, said: Answers, scale: float, machine: Machine) -> dict[str, dict]:
    """Expected calibration error of the judged model ("base"), raw and with T, and of each reference model.

    Of a reference "raw" is as it was trained, "unscaled" the softmax of bare similarities, which FRAP's Table 2 calls
    raw, and "ttc" calibrated at test time.
    """
    found = {"base": _base_calibration(said, scale)}
    for one in task.references:
        if one.is_model:
            tau, similarities = said.tau(one.name, scale).value, said.outputs[one.name].reference
            scales = {"raw": own_temperature(one, machine), "unscaled": 1.0, "ttc": tau}
            errors = {name: _error(similarities, scale, said.labels) for name, scale in scales.items()}
            found[one.name] = errors | {"tau": tau}
    return found


def alignment(task: Task, said: Answers, scale: float, similarity: np.ndarray | None) -> dict[str, float] | None:
    """Semantic Alignment Score of the judged model, of each calibrated reference model, and of the two fused."""
    if similarity is None:
        return None
    base = probabilities(said.any.logits, scale)
    predicted = {"base": base}
    for one in task.references:
        if one.is_model:
            own = probabilities(said.outputs[one.name].reference, said.tau(one.name, scale).value)
            predicted |= {one.name: own, f"fused with {one.name}": fuse(base, own)}
    return {name: semantic_alignment(p, said.labels, similarity).value for name, p in predicted.items()}


def image_table(said: Answers, scale: float, target: int) -> dict[str, np.ndarray]:
    """What the judged model said of each picture of a condition, by the condition's number."""
    one = said.any
    return {
        "target": np.full(one.n, target, np.int16),
        "id": said.rows.astype(np.int32),
        "label": said.labels.astype(np.int16),
        "prediction": one.predictions.astype(np.int16),
        "confidence": confidences(one.logits, scale).astype(np.float32),
    }


def _base_calibration(said: Answers, scale: float) -> dict[str, float]:
    return {"raw": _error(said.any.logits, 1.0, said.labels), "scaled": _error(said.any.logits, scale, said.labels)}


def _error(logits: np.ndarray, scale: float, labels: np.ndarray) -> float:
    return expected_calibration_error(confidences(logits, scale), logits.argmax(axis=1) == labels).value
