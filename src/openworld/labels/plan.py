"""Plan which images to label: labels are spent where the number depends on them, as far as anything shows where.

Batches add up: a later plan takes what is labelled as known, and the weight of each batch, its share of the labels, is
fixed in the plan before its own labels are seen, so that nothing depends on how they turn out. A pilot of a quarter of
the labels at random, then the rest: the second plan's proxies are recalibrated on the pilot, and its labels go where
they then tell most, if they tell more.

Of three designs with known inclusion probabilities, drawing in proportion to tau (see `inclusion`) is the best there is
if the proxies are right, and up to a third wider than plain random labels if they are not; a plain draw whose labels
are read with proxies is never wider by more than a few hundredths, because their weight is estimated. So the default
draws plainly until labels that came already, a pilot, show the gain: with residual influences e of its images, drawn
with probabilities p,

    R = sum e^2 / p (1 / q - 1)  /  sum e^2 / p (1 / (n / N) - 1)

is the variance of a draw with probabilities q over that of a plain one, whatever the proxies are worth.

Proxies are corrected by the labels of earlier batches, a line on the log-odds, held to the proxies where labels are few
(Platt, 1999, with a normal prior): log-odds t become offset + slope t, the offset near 0 and the slope near 1 unless
labels say otherwise. What is used for a batch is fixed before its own labels are seen, so nothing else changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from openworld.core.arrays import ArrayLike, as_fractions, as_labels, require_length
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import Range, checked
from openworld.labels.inclusion import (
    CERTAIN,
    draw_each,
    draw_from_strata,
    inclusion_probabilities,
    influence_spread,
    sizes,
    strata,
    worth_of_labels,
)
from openworld.labels.label_plan import AUTO, LabelPlan, PlanSettings
from openworld.labels.sample import expected_at, influences, joined
from openworld.labels.streams import LabelAnswers, ScoredStream, same_names
from openworld.metrics import SOFT_QUANTITIES, Outcomes
from openworld.metrics.estimate import ROUNDING

Streams = ScoredStream | tuple[ScoredStream, ...]
Earlier = Sequence[tuple[LabelPlan, LabelAnswers]]
PILOT = 25
"""Labels that a pilot needs to decide; fewer were not tried."""
GAIN = 0.9
"""R plus its standard error must lie below this: what strata cost (fewer degrees of freedom, and what no label of a
stratum shows) eats a smaller gain. Chosen on three worlds (`bench/label_designs.py`), tested on others.
"""
FEWEST = 2
STREAM = 0x6C6162656C
"""Begins the random numbers of draws, so that they are not those with which somebody simulated images at that seed."""
SURE = 1e-3  # log-odds of proxies that are surer are those of this
PRIOR = 1.0  # variance of the offset and of the slope before any label
STEPS, RIDGE = 200, np.eye(2) / PRIOR


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


@checked
def plan(
    streams: Streams,
    n: Annotated[int, Range(FEWEST)],
    *,
    of: str = "openworld_auc",
    settings: PlanSettings | None = None,
    earlier: Earlier = (),
) -> LabelPlan:
    """Draw n images to label.

    Args:
        streams: what one model says of N images, or (first, second) to measure the difference of two models.
        n: how many to label, 2 to N; the Poisson design draws about as many.
        of: what the draw serves, one of SOFT_QUANTITIES; "overall_accuracy" is plain accuracy. Of two models with
            names, only images whose names differ are drawn for it: the others cannot change the difference.
        settings: design, seed and the like.
        earlier: (plan, answers) of the batches before this one, in order; their labels recalibrate the proxies.
    Returns:
        LabelPlan; label `plan.chosen` and pass the answers to `estimate`.
    Raises:
        OpenworldError: more labels than images, an unknown quantity, proxies that expect nothing on one side.
    Source: Neyman (1934) for q; Zrnic and Candes (2024), "Active statistical inference", for proxies.

    >>> from openworld.labels import scored_stream
    >>> s = np.arange(40) / 40
    >>> drawn = plan(scored_stream(s, s / 2, (1 - s) / 2, s), 10)
    >>> len(drawn), float(drawn.inclusion.sum().round(9))
    (10, 10.0)
    """
    streams, settings, labelled = read_after(streams, of, earlier), settings or PlanSettings(), known_images(earlier)
    may = candidates(streams, of)
    may[labelled] = False
    if n > np.count_nonzero(may):
        raise OpenworldError(f"{n} labels were asked for, but there are {np.count_nonzero(may)} images to label.")
    tau = influence_spread(streams, of)
    settings = replace(settings, design=choice_of(streams, tau, n, of, settings, earlier).design)
    q = draw_probabilities(streams, tau, may, n, of, settings)
    generator = np.random.default_rng((STREAM, settings.seed))
    if settings.design == "poisson":
        stratum, chosen = np.where(may, 0, CERTAIN), draw_each(np.where(may, q, 0.0), generator)
    else:
        images = np.flatnonzero(may)
        ranked = images[np.argsort(q[images], kind="stable")]
        stratum = np.where(may, 0, CERTAIN) if settings.design == "random" else strata(ranked, q, n)
        drawn = sizes(stratum, q, n)
        chosen = draw_from_strata(stratum, drawn, generator)
        q = np.where(may, (drawn / np.bincount(stratum[may]))[stratum], 1.0)
    counts = [*(len(each) for each, _ in earlier), n]
    weights = tuple(count / sum(counts) for count in counts)
    prints = tuple(each.fingerprint for each, _ in earlier)
    return LabelPlan(streams, of, settings, chosen, q, stratum, np.where(may, tau, 0.0), labelled, prints, weights)


@checked
def choose_design(
    streams: Streams,
    n: Annotated[int, Range(FEWEST)],
    *,
    of: str = "openworld_auc",
    settings: PlanSettings | None = None,
    earlier: Earlier = (),
) -> DesignChoice:
    """Say how `plan` would draw n images to label, and why.

    Args:
        streams, n, of, settings, earlier: as for `plan`.
    Returns:
        DesignChoice; with `settings.design` "auto" at random, unless 25 labels or more of `earlier` show that drawing
        by the proxies needs clearly less variance.

    >>> from openworld.labels import closed_set_stream
    >>> choose_design(closed_set_stream([0.5, 0.9, 0.7]), 2, of="overall_accuracy").design
    'random'
    """
    streams = read_after(streams, of, earlier)
    return choice_of(streams, influence_spread(streams, of), n, of, settings or PlanSettings(), earlier)


@checked
def plan_from_draw(
    streams: Streams, chosen: ArrayLike, inclusion: ArrayLike | None = None, *, of: str = "openworld_auc"
) -> LabelPlan:
    """Describe labels that were drawn elsewhere, at random, as a plan.

    Args:
        streams: as for `plan`. chosen: int[n], the images that are labelled, each once.
        inclusion: float[N] in (0, 1], the probability with which each image was drawn, independently of the others;
            None: n images were drawn at random, all alike. Labels that came for another reason (a customer complained)
            are no draw, and nothing that is computed from them holds.
    """
    streams = read_streams(streams, of)
    size, chosen = len(streams[0]), as_labels(chosen, "chosen")
    if np.unique(chosen).size < chosen.size or chosen.max(initial=0) >= size:
        raise OpenworldError(f"chosen names an image twice, or one beyond the {size} there are; name each once.")
    design, q = "random", np.full(size, chosen.size / size)
    if inclusion is not None:
        design, q = "poisson", as_fractions(inclusion, "inclusion")
        require_length(q, "inclusion", size)
        if not q.min() > 0:
            raise OpenworldError("inclusion holds 0; an image that cannot be drawn leaves the number unknown.")
    tau, everywhere = influence_spread(streams, of), np.zeros(size, int)
    return LabelPlan(streams, of, PlanSettings(design), chosen, q, everywhere, tau, np.zeros(0, int))


def read_streams(streams: Streams, of: str) -> tuple[ScoredStream, ...]:
    streams = streams if isinstance(streams, tuple) else (streams,)
    if of not in SOFT_QUANTITIES:
        raise unknown_name("quantity", of, SOFT_QUANTITIES)
    if len(streams) not in (1, 2) or len({len(stream) for stream in streams}) > 1:
        lengths = ", ".join(str(len(stream)) for stream in streams)
        raise OpenworldError(f"streams of {lengths} images came, expected one model, or two on the same images.")
    return streams


def read_after(streams: Streams, of: str, earlier: Earlier) -> tuple[ScoredStream, ...]:
    """Return one or two models, their proxies recalibrated on the labels of earlier batches."""
    streams = read_streams(streams, of)
    before = earlier[-1][0].streams if earlier else streams
    pairs = zip(streams, before, strict=False)
    same = len(streams) == len(before) and all(np.array_equal(here.scores, other.scores) for here, other in pairs)
    if not same:
        raise OpenworldError("the earlier batch is of other models or images; plan all batches on the same scores.")
    if not earlier:
        return streams
    images, weights = known_images(earlier), _weights(earlier)
    return tuple(recalibrated(stream, images, _truth(earlier, model), weights) for model, stream in enumerate(streams))


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
    ratio, error = _variance_ratio(streams, q, int(np.count_nonzero(may)), n, of, earlier)
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
    same = same_names(streams, "joint_name") if of == "overall_accuracy" else None
    return np.ones(len(streams[0]), bool) if same is None else ~same


def known_images(earlier: Earlier) -> np.ndarray:
    """Return the images that earlier batches labelled, int64, in their order."""
    return np.concatenate([np.zeros(0, np.int64), *(plan.chosen for plan, _ in earlier)])


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
    psi, hat = (influences(of, models, softs, outcomes, images) for outcomes in (truth, expected))
    psi, hat = (part - np.average(part, weights=weights) for part in (psi, hat))
    variance = float(weights @ hat**2)
    trust = np.clip(float(weights @ (psi * hat)) / variance, 0, 1) if variance > ROUNDING**2 else 0.0
    square = weights * (psi - trust * hat) ** 2

    plain = square * (size / n - 1)
    if not plain.sum() > ROUNDING**2:
        return None, None
    by_expectations = square * (1 / q[images] - 1)
    ratio = by_expectations.sum() / plain.sum()
    error = np.sqrt(np.square(by_expectations - ratio * plain).sum()) / plain.sum()
    return float(ratio), float(error)


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
