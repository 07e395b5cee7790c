"""Estimators of a run, fitted on the source of one model: what they are given, and what they say.

Beside the logits FRAP and its kin are given how similar reference models find images and class names.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.nn.functional import normalize

from openworld.datasets import templates
from openworld.estimators import (
    Estimate,
    FittedEstimator,
    Outputs,
    ReferenceTemperature,
    ScoreRegression,
    dirichlet_reference,
    reference_temperature,
    uniform_reference,
)
from openworld.estimators.engine.temperature import probabilities
from openworld.evaluations.classifiers import of_reference
from openworld.evaluations.entries import EstimatorSpec, ReferenceSpec
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import logits_of
from openworld.evaluations.runtime import Machine, backbone, encoded
from openworld.learners.engine.text_features import encode_names


@dataclass(frozen=True, eq=False)
class Answers:
    """What models say of the n images that could be read."""

    rows: np.ndarray  # int64[n] numbers among all images
    labels: np.ndarray  # int64[n]; in the outputs where they may be known
    outputs: dict[str, Outputs]  # of the judged model and its partners, by the name of a reference; "" without one

    @property
    def any(self) -> Outputs:
        return next(iter(self.outputs.values()))

    @property
    def accuracy(self) -> float:
        return int((self.any.predictions == self.labels).sum()) / len(self.labels)

    def tau(self, reference: str, temperature: float) -> ReferenceTemperature:
        """Return the temperature at which a reference comes nearest to the judged model, as FRAP finds it."""
        outputs = self.outputs[reference]
        base, similar = probabilities(outputs.logits, temperature), outputs.reference
        assert similar is not None  # outputs by the name of a reference have it
        return outputs.once(("tau", temperature), lambda: reference_temperature(base, similar))


Fits = Sequence[tuple[EstimatorSpec, Mapping[str | None, FittedEstimator]]]
"""Estimators, fitted; a score has a line for each corruption, without sets of it, and one of all sets (None)."""


def fit_all(specs: Sequence[EstimatorSpec], source: Answers, shifts: Mapping[str, Answers]) -> Fits:
    """Fit every estimator on the labelled source set; scores on `shifts`, {corruption: that set under it}."""
    return [(spec, _fit(spec, source, shifts)) for spec in specs]


def estimate_all(fits: Fits, target: Answers, corruption: str | None = None, resamples: int = 0) -> dict[str, Estimate]:
    """Return label -> what an estimator that has seen nothing of the corruption says; 0 resamples: no interval."""
    options: dict[str, Any] = {"interval": resamples > 0} | ({"resamples": resamples} if resamples else {})
    return {
        spec.label: fitted.get(corruption, fitted[None]).estimate(outputs_for(spec, target), **options)
        for spec, fitted in fits
    }


def outputs_for(spec: EstimatorSpec, answers: Answers) -> Outputs:
    return answers.outputs[spec.reference] if spec.reference else answers.any


def seconds_alone(
    specs: Iterable[EstimatorSpec], source: Answers, shifts: Mapping[str, Answers], target: Answers, device: str
) -> dict[str, Any]:
    """Time each estimator alone, so that it cannot use what others have found: for the clocks of a record."""
    seconds: dict[str, dict[str, float]] = {"fit": {}, "estimate": {}}
    for spec in specs:
        labelled, unlabelled = _forgetful(spec, source), _forgetful(spec, target)
        sets = [_forgetful(spec, shift) for shift in shifts.values()] if spec.is_score else []
        started = time.perf_counter()
        fitted = spec.build().fit(sets if spec.is_score else labelled)
        fitted_at = time.perf_counter()
        fitted.estimate(unlabelled, interval=False)
        seconds["fit"][spec.label] = fitted_at - started
        seconds["estimate"][spec.label] = time.perf_counter() - fitted_at
    return {"seconds": seconds, "device": device}


def _fit(spec: EstimatorSpec, source: Answers, shifts: Mapping[str, Answers]) -> dict[str | None, FittedEstimator]:
    if not spec.is_score:
        return {None: spec.build().fit(outputs_for(spec, source))}
    sets = {corruption: outputs_for(spec, shift) for corruption, shift in shifts.items()}
    kind: Any = spec.build().of

    def score(outputs: Outputs) -> float | None:  # looks at every set once, however many lines are drawn through it
        return outputs.once(("score", spec.label), lambda: kind.score(outputs))

    once: Any = SimpleNamespace(name=kind.name, needs=kind.needs, score=score)
    line = ScoreRegression(once)
    return {out: line.fit([outputs for name, outputs in sets.items() if name != out]) for out in (*sets, None)}


def _forgetful(spec: EstimatorSpec, answers: Answers) -> Outputs:
    return replace(outputs_for(spec, answers))


def similarities(
    reference: ReferenceSpec, selection: ImageSelection, rows: np.ndarray, dataset: str, machine: Machine
) -> np.ndarray:
    """Return float[n, C] of the rows int64[n]: cosines in the sentences of `dataset`, or logits of a classifier."""
    if reference.backbone:
        text = class_texts(reference, selection.load().classnames, dataset, machine)
        embeddings = torch.from_numpy(encoded(selection.load(), reference.backbone, machine).embeddings)
        return (normalize(embeddings, dim=-1) @ text.mT).numpy()
    if reference.classifier:
        return logits_of(selection, of_reference(reference), machine)[rows]
    images = selection.load()
    if reference.name == "uniform":
        return uniform_reference(len(rows), len(images.classnames))
    # Drawn anew for each set of images.
    return dirichlet_reference(len(rows), len(images.classnames), seed=int(images.fingerprint[:8], 16))


def own_temperature(reference: ReferenceSpec, machine: Machine) -> float:
    """Return the temperature that it speaks with by itself: 1 / its logit scale; 1 for a classifier."""
    return 1 / float(backbone(reference.backbone, machine.device).logit_scale) if reference.backbone else 1.0


def class_texts(reference: ReferenceSpec, names: Sequence[str], dataset: str, machine: Machine) -> torch.Tensor:
    """Return features of class names in the sentences of a reference, float32[C, D] on the CPU, of length 1."""
    sentences = {"usual": (templates.TEMPLATES.get(dataset, templates.PHOTO),), "ensemble": templates.ensemble(dataset)}
    chosen = sentences[reference.templates] if isinstance(reference.templates, str) else reference.templates
    return _text(reference.backbone, chosen, tuple(names), machine.device)


@lru_cache(maxsize=8)
@torch.no_grad()
def _text(name: str, sentences: tuple[str, ...], names: tuple[str, ...], device: str) -> torch.Tensor:
    return encode_names(backbone(name, device), names, sentences).cpu()
