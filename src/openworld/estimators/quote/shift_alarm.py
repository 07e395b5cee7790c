"""Over time: are the images still like the source's? A score for every period, and the alarm that adds scores up.

Energy distances of periods are not 0 under one law. With n source and m period images, of which two lie M apart on
average, chance makes them M (1/n + 1/m). So every sign of `shift_signs` counts as x = sqrt(E / (M (1/n + 1/m))), which
hardly depends on m, and a period by its clearest sign, max (x - mean) / deviation. Means and deviations are those of
source-like sets: source and period both drawn anew from the source's images, with replacement, so that all energies
come of one matrix of distances; M is that of the drawn source's images, as it is of the real one's.

The scores are added up by the CUSUM of `alarm`, whose limit comes of the same draws. P-values of single periods would
not do: all periods of a year are compared with one sample of the source, and where that is an unlucky one all of them
are small. The simulated years of `alarm` have such a source each.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from openworld.core.types import Positive, checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import temperature_of
from openworld.estimators.quote.alarm import AlarmLimit, add_step, alarm_limit
from openworld.estimators.quote.null import Null
from openworld.estimators.quote.shift_signs import ROWS, ShiftSigns, energy, pairwise, sample, vectors_of

HIGHEST = 1.25  # of the statistic: scores lie little below their mean, and from 2 it would take weeks to fall
TINY = 1e-3  # of the mean distance: for a resampled source whose images are all one
FAR = (
    10  # times the mean distance: where an image lies so far from the others, drawing anew does not show what may come
)
SOURCES, TARGETS = 400, 600  # resampled sources, and periods, of which each is compared with every source


@dataclass(frozen=True)
class SignScale:
    """What chance makes of a sign. apart: mean distance of two source images; mean, deviation: of x."""

    apart: float
    mean: float
    deviation: float


@dataclass(frozen=True)
class ShiftTest:
    """Scores periods of about so many images, and says what a score adds to the alarm's statistic."""

    n: int  # source images that are compared
    scales: dict[str, SignScale]  # by the name of the sign
    limit: AlarmLimit  # for scores with their sign turned: high ones raise it

    def score(self, signs: ShiftSigns, n: int) -> tuple[float | None, str]:
        """Return the score of a period of n images, and its clearest sign; (None, "") where none can be compared.

        Under one law the score is about 1 on average, and 1 or less its standard deviation.
        """
        scores = {}
        for name, scale in self.scales.items():
            sign = signs[name]
            if sign is not None:
                chance = scale.apart * (1 / self.n + 1 / min(n, ROWS))
                scores[name] = (sqrt(max(0.0, sign.energy) / chance) - scale.mean) / scale.deviation
        if not scores:
            return None, ""
        name = max(scores, key=scores.__getitem__)
        return scores[name], name

    def statistic(self, before: float, score: float | None) -> float:
        """Return the alarm's statistic after a period, in limits; it stays without a score, and an alarm is above 1."""
        step = 0.0 if score is None else self.limit.step(-score, self.limit.null_n, 0.0)
        return add_step(before, step, HIGHEST)


@checked
def fit_shift_test(source: Outputs, n: Positive, *, rate: float = 0.05, over: int = 365, seed: int = 0) -> ShiftTest:
    """Find how far periods of n images lie from the source by chance, and the limit of the alarm.

    Source and seed are as for `shift_signs`, rate and over as for `alarm_limit`.
    """
    source.require(("labels",), "the comparison of source and periods")
    temperature = temperature_of(source).value
    generator = np.random.default_rng(seed)
    source, m = sample(source, generator), min(n, ROWS)
    uniform = np.full(source.n, 1 / source.n)
    first = (generator.multinomial(source.n, uniform, SOURCES) / source.n).astype(np.float32)
    second = (generator.multinomial(m, uniform, TARGETS) / m).astype(np.float32)
    scales, scores = {}, [np.zeros((SOURCES, TARGETS))]
    for name, rows in vectors_of(source, temperature).items():
        between = pairwise(rows)
        mean = float(between.mean(dtype=float))
        if mean <= 0 or float(between.mean(axis=1).max()) > FAR * mean:
            continue
        # (u - v)' D (u - v) of all pairs from u'D and v'D of each set
        apart = -energy(between, first)[:, None]  # of each source itself, as it will be of the real one
        energies = energy(between, second) - apart + 2 * (first @ between) @ second.T
        apart *= source.n / (source.n - 1)
        x = np.sqrt(np.maximum(energies, 0) / (np.maximum(apart, TINY * mean) * (1 / source.n + 1 / m)))
        scales[name] = SignScale(mean * source.n / (source.n - 1), float(x.mean()), float(x.std()))
        scores.append((x - scales[name].mean) / scales[name].deviation)
    largest = np.max(scores[1:] or scores, axis=0)
    null = Null(m, -largest, np.zeros_like(largest))
    return ShiftTest(source.n, scales, alarm_limit(null, m, rate=rate, over=over, jumps=False, seed=seed))
