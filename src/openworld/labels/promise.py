"""How wide an interval will be, before its labels are known: at best and at worst.

At best the proxies are right: the variance of an image's influence is what they leave open, tau^2. At worst they are
worth nothing, not even on average. The variance is then bounded by what a number can have: of a share p of m labels it
is p (1 - p) / m; of a number of pairs, from m and n labels of its sides, at most p (1 - p) / min(m, n) (Birnbaum and
Klose, 1957); of a difference at most 1 / m. Where images are drawn with unequal probabilities q, the bound grows by the
largest (n / N) / q: as much as a draw by proxies can lose to a plain one. A pilot narrows what is possible: values and
shares to its intervals, the loss to the ratio of variances that `design` finds plus twice its standard error.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Annotated

import numpy as np

from openworld.core.types import Fraction, Range, checked
from openworld.labels.estimate import ENOUGH, ENOUGH_TO_WEIGH, FIXED_TRUST, SIDES, LabelledNumber, estimate
from openworld.labels.inclusion import CERTAIN, count_of_strata, influence_spread
from openworld.labels.label_plan import AUTO, LabelPlan, PlanSettings
from openworld.labels.plan import FEWEST, Earlier, Streams, candidates, choice_of, draw_probabilities, read_after
from openworld.labels.sample import UNSEEN, influences
from openworld.labels.streams import ScoredStream
from openworld.metrics.estimate import ROUNDING, Spread, student_quantile

RARER = 0.7
"""Before any label, a side may be rarer than the proxies expect by this factor. Chosen on three worlds, tested on
others (`bench/label_designs.py`).
"""
USUAL = 100
"""The labels for which a design is chosen where the question is how many are needed."""


@dataclass(frozen=True)
class Promise:
    """Half-widths of the interval to come, as fractions.

    labels: how many it will rest on, with those of earlier batches. at_best: the mean over draws if the proxies hold;
    None where they say nothing: they are all alike, and no label corrected them. at_worst: what hardly any draw exceeds
    if they are worth nothing.
    """

    labels: int
    at_best: float | None
    at_worst: float


@checked
def promise(plan: LabelPlan, earlier: Earlier = (), *, level: Fraction = 0.95) -> Promise:
    """Return how wide the interval of a plan's number will be on these images, at best and at worst.

    Args:
        plan: from `plan`. earlier: (plan, answers) of the batches that it was made after: the number will rest on all.
        level: confidence, in (0, 1).
    Returns:
        Promise; of two models, that of their difference.
    Source: Birnbaum and Klose (1957), "Bounds for the variance of the Mann-Whitney statistic".

    >>> from openworld.labels import closed_set_stream, plan
    >>> found = promise(plan(closed_set_stream(np.full(1000, 0.9)), 100, of="overall_accuracy"))
    >>> found.at_best, round(found.at_worst, 3)  # 1.98 x sqrt(.25 / 100 x .9)
    (None, 0.094)
    """
    draws = [
        _Draw(weight, len(each), each.inclusion, each.stratum != CERTAIN, each.settings.design)
        for each, weight in zip([*(each for each, _ in earlier), plan], plan.batch_weights, strict=True)
    ]
    case = _Case.of_streams(plan.streams, plan.of, len(plan), plan.settings, earlier)
    return Promise(sum(draw.n for draw in draws), case.best(draws, level), case.worst(draws, level))


@checked
def labels_needed(
    streams: Streams,
    half_width: Annotated[float, Range(1e-9)],
    *,
    of: str = "openworld_auc",
    level: Fraction = 0.95,
    settings: PlanSettings | None = None,
    earlier: Earlier = (),
    at_worst: bool = False,
) -> int | None:
    """Return how many labels in all an interval of a certain half-width takes on these images.

    Args:
        half_width: a fraction, such as 0.03 for 3 points. at_worst: what is enough if the proxies are worth nothing;
            else what follows if they hold. Others as for `plan`.
    Returns:
        The smallest n, at most the number of images; None at best where the proxies say nothing.
    """
    streams, settings = read_after(streams, of, earlier), settings or PlanSettings()
    may = candidates(streams, of)
    most = max(int(np.count_nonzero(may)), FEWEST)
    case = _Case.of_streams(streams, of, min(USUAL, most), settings, earlier)
    settings = replace(settings, design=case.design)

    def half_width_of(n: int) -> float | None:
        q = draw_probabilities(streams, case.tau, may, n, of, settings)
        draws = [_Draw(1.0, n, q, may, settings.design)]
        return case.worst(draws, level) if at_worst else case.best(draws, level)

    if half_width_of(most) is None:
        return None
    low, high = FEWEST, most
    while low < high:
        middle = (low + high) // 2
        half = half_width_of(middle)
        low, high = (low, middle) if half is not None and half <= half_width else (middle + 1, high)
    return low


@dataclass(frozen=True, eq=False)
class _Draw:
    """A batch: its weight, how many labels, q float64[N] (1 where nothing is drawn), what may be drawn, its design."""

    weight: float
    n: int
    q: np.ndarray
    may: np.ndarray
    design: str

    @property
    def unseen(self) -> float:
        """Return the share of an average variance that is added for surprises that no label of a stratum shows."""
        count = count_of_strata(self.n) if self.design == "stratified" else 1
        return UNSEEN * count / self.n if count > 1 else 0.0

    @property
    def degrees(self) -> int:
        """Return how many labels show a variance."""
        return self.n - (count_of_strata(self.n) if self.design == "stratified" else 1)

    def variance(self, residual: np.ndarray, influence: np.ndarray) -> float:
        """Return that of the mean of residuals of mean squares float64[N], with those of influences beside them."""
        odds = (1 - self.q) / self.q
        return self.weight**2 * float(odds @ (residual + self.unseen * influence.mean())) / self.q.size**2

    def most(self, variance: float, loss: float) -> float:
        """Return the same at worst, of labels of this `variance`, where proxies lose at most `loss`."""
        share, count = self.may.mean(), np.count_nonzero(self.may)
        uneven = min(self.n / count / float(self.q[self.may].min()), loss)
        left = max(uneven - self.n / count, 0.0) + self.unseen * uneven
        return self.weight**2 * share**2 * variance * left / self.n


@dataclass(frozen=True, eq=False)
class _Case:
    """What is expected of a number, and what is possible."""

    streams: tuple[ScoredStream, ...]
    of: str
    tau: np.ndarray  # float64[N], what the proxies leave open of each image's influence
    hat: np.ndarray  # float64[N], what they expect of it
    says: bool  # whether the proxies say anything
    least: float  # share of the images of the rarest side that the number needs, at worst
    nearest: float  # the possible value nearest to one half
    loss: float  # the most that a draw by proxies loses to a plain one, in variance
    design: str  # of the next labels

    @classmethod
    def of_streams(cls, streams, of: str, n: int, settings: PlanSettings, earlier: Earlier) -> "_Case":
        """Read it off proxies that are recalibrated on earlier batches, and off their labels."""
        tau = influence_spread(streams, of)
        choice = choice_of(streams, tau, n, of, settings, earlier)
        pilot = choice_of(streams, tau, n, of, replace(settings, design=AUTO), earlier)
        ratio, error = pilot.ratio, pilot.standard_error
        loss = np.inf if ratio is None or error is None else max(ratio + 2 * error, 1.0)
        hat = influences(of, range(len(streams)), [stream.expectation for stream in streams]) * np.ones(tau.size)
        names = ("right",) if of == "overall_accuracy" else ("base", "base_right", "new_right")
        parts = [getattr(stream.expected, name) for stream in streams for name in names]
        says = bool(earlier) or any(float(np.ptp(part)) > ROUNDING for part in parts)
        shares = {side: float(getattr(streams[0].expected, side).mean()) * RARER for side in SIDES[of]}
        nearest = 0.5
        if earlier:
            (*before, (plan, answers)) = earlier
            quality = estimate(plan, answers, earlier=before)
            if SIDES[of]:
                low, high = quality.of("base_share").interval() or (0.0, 1.0)
                shares = {side: max({"base": low, "new": 1 - high}[side], share) for side, share in shares.items()}
            ends = quality.of(of).interval() if len(streams) == 1 else None
            nearest = 0.5 if ends is None else float(np.clip(0.5, *ends))
        return cls(streams, of, tau, hat, says, min(shares.values(), default=1.0), nearest, loss, choice.design)

    def best(self, draws: list[_Draw], level: float) -> float | None:
        """Return half the width of the interval, if the proxies hold."""
        if not self.says:
            return None
        left = self.tau**2 + (1 - self._trust(draws, 1.0)) ** 2 * self.hat**2
        error = sqrt(sum(draw.variance(left, self.tau**2 + self.hat**2) for draw in draws))
        values = [value for each in self.streams if (value := each.expectation.value_of(self.of)) is not None]
        groups = () if values[1:] else tuple(self._effective(draws, side) for side in SIDES[self.of] or ("",))
        spread = Spread(error, max(sum(draw.degrees for draw in draws), 1), None, groups)
        value = values[0] - values[1] if values[1:] else values[0]
        number = LabelledNumber(value, None, None, spread, spread, 0.0, 0, 0, 0, is_difference=bool(self.streams[1:]))
        low, high = (number.interval(level) if error > ROUNDING else None) or (value, value)
        return (high - low) / 2

    def worst(self, draws: list[_Draw], level: float) -> float:
        """Return half the width of the interval, if the proxies are worth nothing."""
        n = sum(draw.n for draw in draws)
        share = max(self.least, min(ENOUGH / n, 0.5)) if SIDES[self.of] else 1.0
        one = 1.0 if self.streams[1:] else self.nearest * (1 - self.nearest)
        error = sqrt(sum(draw.most(one / share, self.loss) for draw in draws))
        wrong = self._trust(draws, 0.0) * self.hat**2
        error += sqrt(sum(draw.variance(wrong, 0 * wrong) for draw in draws))
        return student_quantile(level, max(sum(draw.degrees for draw in draws), 1)) * error

    def _trust(self, draws: list[_Draw], of_many: float) -> float:
        """Return the weight that the proxies will have: `of_many` where there are labels enough to find it."""
        if sum(draw.n for draw in draws) >= ENOUGH_TO_WEIGH:
            return of_many
        return 0.0 if all(draw.design == "random" for draw in draws) else FIXED_TRUST

    def _effective(self, draws: list[_Draw], side: str) -> float:
        """Return Kish's number of labels of a side, as the proxies expect it."""
        expected = getattr(self.streams[0].expected, side) if side else np.ones(self.tau.size)
        heavier = sum(draw.weight**2 * float(expected @ (1 / draw.q)) for draw in draws) - float(expected.sum())
        return float(expected.sum()) ** 2 / max(heavier, ROUNDING)
