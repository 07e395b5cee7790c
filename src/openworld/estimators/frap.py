"""FRAP: a reference model, brought to the judged model's scale and fused with it, stands in for the true labels.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), sections 3 to 5.4. No code was
published, and several equations are lost in print; each open choice is a setting, its default the reading that fits
the paper's tables best. With p_b = softmax(z / T), p_f = softmax(cosines / tau) and q their fusion, the score of an
image is <p_b, q>; as many source scores lie below the threshold as source images are named wrong.

Confidence-weighted fusion (CWF, section 4.1) is one distribution between the two models'; each reading is an option:

    weights    "linear": w_b = c_b / (c_b + c_f), with c the largest probability of each; "softmax": of (c_b, c_f)
    fusion     "arithmetic": w_b p_b + w_f p_f, which minimises sum w KL(p || q), and sum w ||p - q||^2 too;
               "geometric": p_b^w_b p_f^w_f, normalised, which minimises sum w KL(q || p)

References that know nothing show what an estimator owes to a good one (section 5.5): rows drawn from a Dirichlet
distribution are taken for similarities. A uniform reference is its limit, and has a closed form: the score becomes
w_b ||p_b||^2 + w_f / C.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from scipy.special import expit, logsumexp

from openworld.core.arrays import LARGEST, MANY, as_distributions, require_at_most
from openworld.core.errors import OpenworldError
from openworld.core.types import Positive, Range, checked
from openworld.estimators.engine.checks import check_reference
from openworld.estimators.engine.fitted import (
    Estimator,
    FittedEstimator,
    RawEstimate,
    SourceSummary,
    look_at,
    means,
    shares,
)
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.reference_calibration import ReferenceTemperature, divergence, reference_temperature
from openworld.estimators.engine.temperature import blocks, probabilities
from openworld.estimators.engine.threshold import Cut, Rule

Weighting = Literal["linear", "softmax"]
Fusion = Literal["arithmetic", "geometric"]
Scored = tuple[np.ndarray, ReferenceTemperature, float]


@checked
@dataclass(frozen=True)
class FRAP(Estimator):
    """Fused Reference Alignment Prediction, and what its ablations change.

    Args:
        tau: "dynamic" calibrates the reference on the unlabelled images (TTC); a number fixes its temperature, such as
            1 / the reference model's own logit scale (CLIP: 0.01).
        tau_source: where source scores take a dynamic tau from: "own", calibrated on the source; "target", the
            target's, so that the threshold is found anew for each target.
        reference: what stands in for the labels: "fused", "foundation" (p_f alone), "pseudo-labels" (the reference's
            own answers: error = share of images on which they differ; neither tau nor rule matter).
        rule: "midpoint" or "reference", of the threshold; None: no threshold, error = 1 - mean score.
        weighting: "linear" or "softmax" of the confidences. fusion: "arithmetic" or "geometric" mean.
        calibrate: fit T on the source; False: T = 1.

    >>> uniform = np.zeros((4, 2))  # says nothing: the score orders images by the judged model's confidence alone
    >>> source = Outputs([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0], [4.0, 0.0]], labels=[0, 1, 1, 0], reference=uniform)
    >>> FRAP().fit(source).estimate(Outputs([[1.2, 0.0], [5.0, 0.0]], reference=uniform[:2])).error
    0.5
    """

    tau: Annotated[float, Range(1 / LARGEST)] | Literal["dynamic"] = "dynamic"
    tau_source: Literal["own", "target"] = "own"
    reference: Literal["fused", "foundation", "pseudo-labels"] = "fused"
    rule: Rule | None = "midpoint"
    weighting: Weighting = "linear"
    fusion: Fusion = "arithmetic"
    calibrate: bool = True

    name, paper, summary = (
        "FRAP",
        "FRAP, equation 1 and section 5.4",
        "agreement with a fused reference model, thresholded",
    )
    needs = ("labels", "reference")

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit T, and tau and the scores of the source unless they wait for the target's tau."""
        known = look_at(source, self, self.calibrate)
        known = replace(known, warnings=(*known.warnings, *check_reference(source).warnings))
        if self.rule is None or self.reference == "pseudo-labels":
            return FittedEstimator(self, known)
        waits = self.tau == "dynamic" and self.tau_source == "target"
        return FittedEstimator(self, known, (source.wrong, source if waits else self._score(known, source)))

    def read(
        self, known: SourceSummary, state: tuple[np.ndarray, Outputs | Scored] | None, target: Outputs
    ) -> RawEstimate:
        """Sample scores: <p_b, q>; of pseudo-labels 1 where the reference agrees and 0 where it does not."""
        if self.reference == "pseudo-labels":
            agree = target.predictions == target.array("reference").argmax(axis=1)
            error = int((~agree).sum()) / target.n
            return RawEstimate(
                error,
                lambda resamples, generator: shares(error, target.n, generator, resamples),
                "target images",
                sample_scores=agree,
            )
        scores, tau, base_weight = self._score(known, target)
        details = {"tau": tau.value, "divergence": tau.divergence, "base_weight": base_weight}
        if state is None or self.rule is None:  # without a threshold the mean score is the accuracy
            return RawEstimate(
                1 - float(scores.mean()),
                lambda resamples, generator: 1 - means(scores, resamples, generator),
                "target images, T and tau kept",
                details | {"informative": tau.informative},
                scores,
                (tau.warning,) if tau.warning else (),
            )
        wrong, source = state
        of_source, source_tau, _ = self._score(known, source, tau) if isinstance(source, Outputs) else source
        warnings = tuple(sorted({each.warning for each in (source_tau, tau) if each.warning}))
        details |= {"informative": source_tau.informative and tau.informative}
        cut = Cut.between(of_source, wrong, self.rule)
        return cut.read(scores, "T and tau", warnings, source_tau=source_tau.value, **details)

    def _score(self, known: SourceSummary, outputs: Outputs, tau: ReferenceTemperature | None = None) -> Scored:
        """Return scores float64[n], the tau behind them, and the mean weight of the judged model in the fusion."""
        base, similar = probabilities(outputs.logits, known.temperature), outputs.array("reference")
        if tau is None and self.tau == "dynamic":  # what FRAP's variants have in common, and nearly all of their time
            tau = outputs.once(("tau", known.temperature), lambda: reference_temperature(base, similar))
        elif tau is None:
            tau = ReferenceTemperature(float(self.tau), divergence(base, similar, float(self.tau)))
        scores, weights = np.empty(outputs.n), np.empty(outputs.n)
        for rows in blocks(*base.shape):
            reference = probabilities(similar[rows], tau.value)
            stand_in = reference
            if self.reference != "foundation":
                stand_in = fuse(base[rows], reference, weighting=self.weighting, fusion=self.fusion)
            scores[rows] = np.einsum("ij,ij->i", base[rows], stand_in)
            weights[rows] = base_weights(base[rows], reference, self.weighting)
        return scores, tau, float(weights.mean()) if self.reference == "fused" else 0.0


@checked
def base_weights(base: np.ndarray, reference: np.ndarray, weighting: Weighting = "linear") -> np.ndarray:
    """Weight of the judged model for each image, float64[n] in (0, 1); the reference's is 1 minus it.

    Args:
        base, reference: float64[n, C], probabilities of the judged and of the reference model.
    Raises:
        OpenworldError: rows that are no probabilities, shapes that differ.

    >>> base_weights(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]]))
    array([0.6])
    """
    of_base, of_reference = (rows.max(axis=1) for rows in _pair(base, reference))
    return of_base / (of_base + of_reference) if weighting == "linear" else expit(of_base - of_reference)


@checked
def fuse(
    base: np.ndarray, reference: np.ndarray, *, weighting: Weighting = "linear", fusion: Fusion = "arithmetic"
) -> np.ndarray:
    """The fused distribution q, float64[n, C]; rows add up to 1.

    Args:
        base, reference: float64[n, C], probabilities of the judged and of the reference model, the latter calibrated.
    Source: FRAP, section 4.1.

    >>> fuse(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]])).round(2).tolist()  # .6 * (.9, .1) + .4 * (.4, .6)
    [[0.7, 0.3]]
    """
    base, reference = _pair(base, reference)
    weights = base_weights(base, reference, weighting)[:, None]
    if fusion == "arithmetic":
        return weights * base + (1 - weights) * reference
    # a probability that underflowed to 0 keeps its logarithm finite, or a class refused by both would be 0 / 0
    least = np.finfo(np.float64).tiny
    logs = weights * np.log(np.maximum(base, least)) + (1 - weights) * np.log(np.maximum(reference, least))
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _pair(base, reference) -> tuple[np.ndarray, np.ndarray]:
    base, reference = as_distributions(base, "base"), as_distributions(reference, "reference")
    if base.shape != reference.shape:
        raise OpenworldError(f"reference has shape {reference.shape}, expected {base.shape} like base.")
    return base, reference


@checked
def uniform_reference(n: Positive, classes: Positive) -> np.ndarray:
    """Every class equally similar to every image: zeros float64[n, classes]."""
    require_at_most(MANY, numbers=n * classes)
    return np.zeros((n, classes))


@checked
def dirichlet_reference(n: Positive, classes: Positive, *, seed: int) -> np.ndarray:
    """Rows drawn from Dirichlet(1, ..., 1), float64[n, classes] in [0, 1]; another seed for source and target.

    >>> dirichlet_reference(2, 3, seed=0).sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """
    require_at_most(MANY, numbers=n * classes)
    return np.random.default_rng(seed).dirichlet(np.ones(classes), n)
