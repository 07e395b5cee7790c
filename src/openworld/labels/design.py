"""Which design: draw by expectations where labels show that they are worth it, and all images alike where nothing does.

Drawing in proportion to tau (see `inclusion`) is the best there is if the proxies are right, and up to a third wider
than plain random labels if they are not; a plain draw whose labels are read with proxies is never wider by more than a
few hundredths, because their weight is estimated. So the default draws plainly until labels that came already, a
pilot, show the gain: with residual influences e of its images, drawn with probabilities p,

    R = sum e^2 / p (1 / q - 1)  /  sum e^2 / p (1 / (n / N) - 1)

is the variance of a draw with probabilities q over that of a plain one, whatever the proxies are worth.

Proxies are corrected by the labels of earlier batches, a line on the log-odds, held to the proxies where labels are few
(Platt, 1999, with a normal prior): log-odds t become offset + slope t, the offset near 0 and the slope near 1 unless
labels say otherwise. What is used for a batch is fixed before its own labels are seen, so nothing else changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld.labels.answers import LabelAnswers
from openworld.labels.inclusion import inclusion_probabilities, worth_of_labels
from openworld.labels.label_plan import AUTO, LabelPlan, PlanSettings
from openworld.labels.sample import expected_at, influences, joined
from openworld.labels.scored_stream import ScoredStream, same_names
from openworld.metrics import Outcomes
from openworld.metrics.estimate import ROUNDING

Earlier = Sequence[tuple[LabelPlan, LabelAnswers]]
PILOT = 25
"""Labels that a pilot needs to decide; fewer were not tried."""
GAIN = 0.9
"""R plus its standard error must lie below this: what strata cost (fewer degrees of freedom, and what no label of a
stratum shows) eats a smaller gain. Chosen on three worlds (`bench/label_designs.py`), tested on others.
"""


@dataclass(frozen=True)
class DesignChoice:
    """How the next labels are drawn, and what that rests on.

    design: one of DESIGNS. reason: in a clause; "" where the settings name the design. labels: how many labels it rests
    on. ratio: R, the variance by expectations over that of a plain draw, with its standard error; None where there is
    no pilot.
    """

    design: str
    reason: str
    labels: int = 0
    ratio: float | None = None
    standard_error: float | None = None


def choice_of(
    streams: tuple[ScoredStream, ...], tau: np.ndarray, n: int, of: str, settings: PlanSettings, earlier: Earlier
) -> DesignChoice:
    """Return the design of the next n labels, of recalibrated streams and their `influence_spread` tau."""
    if settings.design != AUTO:
        return DesignChoice(settings.design, "")
    labels = known_images(earlier).size
    if not labels:
        return DesignChoice("random", "no label shows yet that the stream's expectations are worth anything")
    if labels < PILOT:
        return DesignChoice("random", f"{labels} labels are too few to show what the expectations are worth", labels)
    may = candidates(streams, of)
    q = draw_probabilities(streams, tau, may, n, of, settings)
    ratio, error = _variance_ratio(streams, q, np.count_nonzero(may), n, of, earlier)
    if ratio is None:
        return DesignChoice("random", f"the first {labels} labels do not tell what the expectations are worth", labels)
    more = f"by the first {labels} labels, drawing by expectations has {ratio:.2f} ± {error:.2f} times the variance"
    if ratio + error < GAIN:
        return DesignChoice("stratified", f"{more} of a plain draw", labels, ratio, error)
    return DesignChoice("random", f"{more} of a plain draw, and strata pay below {GAIN:.2f}", labels, ratio, error)


def draw_probabilities(
    streams: tuple[ScoredStream, ...], tau: np.ndarray, may: np.ndarray, n: int, of: str, settings: PlanSettings
) -> np.ndarray:
    """Return inclusion probabilities before strata are cut, float64[N]; 1 where nothing is to be drawn."""
    q = np.ones(tau.size)
    if settings.design == "random":
        q[may] = n / np.count_nonzero(may)
        return q
    sides = None
    if of != "overall_accuracy":
        expected = streams[0].expected
        sides = replace(expected, base=expected.base[may], new=expected.new[may])
    worth = worth_of_labels(tau[may], settings.even, sides, n, settings.labels_per_side)
    q[may] = inclusion_probabilities(worth, n)
    return q


def candidates(streams: tuple[ScoredStream, ...], of: str) -> np.ndarray:
    """Return where a label can change the number, bool[N]."""
    same = same_names(streams, "joint_name") if len(streams) == 2 and of == "overall_accuracy" else None
    return np.ones(len(streams[0]), bool) if same is None else ~same


def known_images(earlier: Earlier) -> np.ndarray:
    """Return the images that earlier batches labelled, int64, in their order."""
    return np.concatenate([np.zeros(0, np.int64), *(plan.chosen for plan, _ in earlier)])


def recalibrated_streams(streams: tuple[ScoredStream, ...], earlier: Earlier) -> tuple[ScoredStream, ...]:
    """Return streams whose proxies agree with the labels of earlier batches."""
    if not earlier:
        return streams
    images, weights = known_images(earlier), _weights(earlier)
    return tuple(recalibrated(stream, images, _truth(earlier, model), weights) for model, stream in enumerate(streams))


def _weights(earlier: Earlier) -> np.ndarray:
    """What each labelled image stands for, float64[n]."""
    return np.concatenate([1 / plan.inclusion[plan.chosen] for plan, _ in earlier])


def _truth(earlier: Earlier, model: int) -> Outcomes:
    return joined([answers.outcomes(model) for _, answers in earlier])


def _variance_ratio(streams, q: np.ndarray, size: int, n: int, of: str, earlier: Earlier):
    """Return R and its standard error; None where the pilot shows no variance, or has no answers on it."""
    images, weights, models = known_images(earlier), _weights(earlier), range(len(streams))
    truth = [_truth(earlier, model) for model in models]
    if of == "overall_accuracy" and truth[0].right is None:
        return None, None
    softs = [stream.expectation for stream in streams]
    expected = [expected_at(stream, images) for stream in streams]
    psi, hat = (influences(of, models, softs, given, images) for given in (truth, expected))
    psi, hat = (part - np.average(part, weights=weights) for part in (psi, hat))
    own = float(weights @ hat**2)
    trust = np.clip(float(weights @ (psi * hat)) / own, 0, 1) if own > ROUNDING**2 else 0.0
    square = weights * (psi - trust * hat) ** 2

    plain = square * (size / n - 1)
    if not plain.sum() > ROUNDING**2:
        return None, None
    by_expectations = square * (1 / q[images] - 1)
    ratio = by_expectations.sum() / plain.sum()
    error = np.sqrt(np.square(by_expectations - ratio * plain).sum()) / plain.sum()
    return float(ratio), float(error)


SURE = 1e-3  # log-odds of proxies that are surer are those of this
PRIOR = 1.0  # variance of the offset and of the slope before any label
STEPS, RIDGE = 200, np.eye(2) / PRIOR


def recalibrated(stream: ScoredStream, images: np.ndarray, truth: Outcomes, weights: np.ndarray) -> ScoredStream:
    """Return a stream whose proxies agree better with labels of images int64[n], of weights float64[n]."""
    hat, weights = stream.expected, weights / weights.mean()
    base = _corrected(hat.base, images, truth.base, weights)
    base_named = _corrected(_share(hat.base_right, hat.base), images, truth.base_right, weights * truth.base)
    new_named = _corrected(_share(hat.new_right, hat.new), images, truth.new_right, weights * truth.new)
    right = hat.right
    if right is not None and truth.right is not None:
        right = _corrected(right, images, truth.right, weights)
    return replace(stream, expected=Outcomes(base * base_named, (1 - base) * new_named, base, 1 - base, right))


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return how likely a name is right within its side; one half where the side is out of the question."""
    return np.divide(part, whole, out=np.full(part.size, 0.5), where=whole > 0)


def _corrected(hat: np.ndarray, images: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return probabilities float64[N] after a line on their log-odds was fitted to the outcomes of some."""
    clipped = np.clip(hat, SURE, 1 - SURE)
    odds = np.log(clipped / (1 - clipped))
    features = np.stack([np.ones(images.size), odds[images]])
    line = prior = np.array([0.0, 1.0])
    # No step overshoots: a logistic likelihood is curved at most a quarter as much as a linear fit (Boehning, 1992).
    step = np.linalg.inv((features * weights / 4) @ features.T + RIDGE)
    for _ in range(STEPS):
        slope = features @ (weights * (truth - _logistic(line @ features))) - RIDGE @ (line - prior)
        line = line + step @ slope
    return _logistic(line[0] + line[1] * odds)


def _logistic(odds: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(odds / 2)
