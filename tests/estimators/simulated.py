"""Models, references and partners that are right about as often as told; every number comes from the generator."""

import json
from pathlib import Path

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.estimators import Outputs

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "label_free.json").read_text())
CASES = {case["name"]: case for case in REFERENCE["cases"]}


def logits(rng, labels, classes, strength):
    """Noise of variance 1, and `strength` on the true class."""
    return rng.normal(size=(len(labels), classes)) + strength * np.eye(classes)[labels]


def outputs(seed, n=60, classes=4, strength=2.0, partners=0, knows=0.5):
    """A judged model, a reference model that knows less, with cosines around 0.2, and partners of rising strength."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    return Outputs(
        2 * logits(rng, labels, classes, strength),
        labels,
        0.2 + 0.02 * logits(rng, labels, classes, knows * strength),
        tuple(logits(rng, labels, classes, strength * (i + 1) / partners) for i in range(partners)),
    )


def save_scores(path, data, **further):
    """Save outputs, and further columns, as a file of scores; None leaves a column out."""
    columns = {"logits": data.logits, "labels": data.labels, "reference": data.reference, "embeddings": data.features}
    columns |= {f"partner_{place}": partner for place, partner in enumerate(data.partners, 1)} | further
    np.savez(path, **{name: column for name, column in columns.items() if column is not None})
    return path


def stored(case, temperature=1.0):
    """Source and target of a case of tests/reference/label_free.json, logits divided by a temperature."""
    inputs = CASES[case]["inputs"]
    return tuple(
        Outputs(np.array(inputs[f"{side}_logits"]) / temperature, inputs[f"{side}_labels"], inputs[f"fm_cos_{side}"])
        for side in ("src", "tgt")
    )


def refused(words, call, *given, **named):
    """Check that a call is refused in words that a pattern finds."""
    with pytest.raises(OpenworldError, match=words):
        call(*given, **named)
