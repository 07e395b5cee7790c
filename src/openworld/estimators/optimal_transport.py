"""COT: the confidences of a target whose predicted classes must come as often as the true ones (Lu et al., 2023).

AC lets every image keep its best class. COT gives each class its share of the images, at the least loss of probability,
so that its error is never below AC's. An image costs 1 - p_c under class c, the L-infinity and half the L1 distance of
p and the class's corner. All target images are solved at once and exactly; the public code (luyuzhe111/COT @ 392c0ff)
draws its quotas and averages bootstrap batches of 10,000.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.types import Share, checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at, means
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import probabilities, response
from openworld.estimators.engine.transport import TransportPlan, quotas, transport

Marginal = Literal["source_labels", "uniform"] | tuple[Share, ...]
DRAWS, STEADY = 4, 50  # resamples, to see what chance alone adds; from so many classes on one is enough
NUMBERS = 20_000_000  # probabilities of a source that are kept for all sets that are drawn from it
NOISY = 0.01  # that much added error is worth a warning


@checked
@dataclass(frozen=True)
class COT(Estimator):
    """error = least mean of 1 - p_i,a(i) over labels a that give class c to its share m_c of the images.

    Args:
        marginal: "source_labels" (m_c = how often c is true on the source), "uniform", or C shares that add up to 1.
            They are rounded to whole images by largest remainder, which changes the error by C / (2 n) at most.
        calibrate: fit T on the source; False: T = 1.
    Where the classes of the target come in other shares than `marginal` says, the error is too high by some 0.1 (of an
    unsure model) to 0.4 (of a sure one) times their total variation.

    >>> source = Outputs([[3.0, 0.0], [0.0, 3.0]], labels=[0, 1])
    >>> target = Outputs(np.log([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]))
    >>> round(COT(calibrate=False).fit(source).estimate(target).error, 3)  # the third becomes a 1: (.1+.2+.7+.1) / 4
    0.275
    """

    marginal: Marginal = "source_labels"
    calibrate: bool = True

    name, paper, summary = "COT", "Lu et al., 2023", "mean confidence, classes in their source shares"
    needs = ("labels",)

    def __post_init__(self):
        require_marginal(self.marginal)

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the temperature; keep the source labels."""
        return FittedEstimator(self, look_at(source, self, self.calibrate), source.labels)

    def read(self, known: SourceSummary, state: np.ndarray, target: Outputs) -> RawEstimate:
        """Sample scores: probabilities of the labels that the images are given."""
        shares = marginal_shares(self.marginal, state, known.classes)
        plan = plan_of(target, known.temperature, shares)

        def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
            # the dual, 1 - mean worth of the images - sum_c m_c v_c, with the prices v kept (envelope theorem)
            prices = plan.prices[state] if self.marginal == "source_labels" else shares @ plan.prices
            source = prices + response(plan.given, target.logits, known.temperature) * known.pulls
            return 1 - means(plan.profits, resamples, generator) - means(source, resamples, generator)

        details, warnings = details_and_warnings(plan, target, known, self.marginal)
        return RawEstimate(
            1 - float(plan.given.mean()),
            replicates,
            "target and source images, to first order (prices of the classes kept)",
            details,
            plan.given,
            warnings,
        )


def require_marginal(marginal: Marginal) -> None:
    """Refuse shares that do not add up to 1."""
    if not isinstance(marginal, str) and abs((total := sum(marginal)) - 1) > 1e-6:
        raise OpenworldError(f"marginal adds up to {total:g}, expected 1: the share of each class.")


def marginal_shares(marginal: Marginal, labels: np.ndarray, classes: int) -> np.ndarray:
    """Shares float[C] of the classes, by name or as given."""
    if isinstance(marginal, str):
        counts = np.bincount(labels, minlength=classes) if marginal == "source_labels" else np.ones(classes)
        return counts / counts.sum()
    if len(marginal) != classes:
        raise OpenworldError(f"marginal has {len(marginal)} shares, but there are {classes} classes.")
    return np.asarray(marginal, np.float64)


def plan_of(target: Outputs, temperature: float, shares: np.ndarray) -> TransportPlan:
    """The transport of the target's probabilities, of logits over `temperature`, to shares of the classes."""
    wanted = quotas(shares, target.n)

    def find() -> TransportPlan:
        whole, rows = target.origin or (target, None)
        if whole.n * whole.classes > NUMBERS:
            whole, rows = target, None
        if rows is None:
            return transport(probabilities(whole.logits, temperature), wanted)
        key = ("probabilities", temperature)
        return transport(whole.once(key, lambda: probabilities(whole.logits, temperature)), wanted, rows)

    return target.once(("plan", temperature, wanted.tobytes()), find)


def details_and_warnings(
    plan: TransportPlan, target: Outputs, known: SourceSummary, marginal: Marginal
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return details for an `Estimate`, and what is to be said where chance alone adds to the error."""
    shared, temperature = known.n if marginal == "source_labels" else None, known.temperature
    bias = target.once(  # once for COT and COTT
        ("bias", temperature, shared), lambda: sampling_bias(probabilities(target.logits, temperature), shared)
    )
    images_of_class = np.bincount(plan.assigned, minlength=known.classes).tolist()
    details = {"sampling_bias": bias, "quotas": images_of_class, "prices": plan.prices.tolist()}
    if bias <= NOISY:
        return details, ()
    warning = (
        f"with {target.n} target and {known.n} source images of {known.classes} classes, chance alone moves the "
        f"classes' shares so far that the error is estimated about {100 * bias:.1f} points too high"
    )
    return details, (warning,)


def waive_bias(target: Outputs, temperature: float, n_source: int) -> None:
    """Take the sampling bias of this target for 0, where what chance adds is measured in another way."""
    target.once(("bias", temperature, n_source), float)


def sampling_bias(p: np.ndarray, n_source: int | None) -> float:
    """Return how much COT exceeds AC where only chance moves the shares of the classes, in [0, 1]."""
    # The mean over resamples whose mean probabilities become the quotas: about what COT is too high by for a calibrated
    # model and the right marginal. A marginal that is counted on the source errs by chance too: resamples are as small
    # as err by both chances.
    generator, n = np.random.default_rng(0), len(p)
    size = n if n_source is None else max(1, round(n * n_source / (n + n_source)))
    draws = DRAWS if p.shape[1] < STEADY else 1
    resampled = [quotas(p[generator.integers(0, n, size)].mean(axis=0), n) for _ in range(draws)]
    least = np.mean([transport(p, each).given.mean() for each in resampled])
    return max(0.0, float(p.max(axis=1).mean() - least))
