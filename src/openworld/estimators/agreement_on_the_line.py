"""Agreement on the line: pairs of models that agree less on the target tell how much less right each of them is.

Baek et al. (2022), "Agreement-on-the-Line: Predicting the Performance of Neural Networks under Distribution Shift".
On the probit scale, the agreement of pairs on the target is a line in their agreement on the source, and where it is,
accuracy lies on the same line. The judged model and at least two partners are needed; the more, and the more different
in accuracy, the better. Where the line fits badly (R^2 < 0.95) the authors give no estimate; here a warning says so,
and `reject` does as they do.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, counts, look_at
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.score_regression import StraightLine

STRAIGHT = 0.95  # R^2 below which agreement is not on a line


class Rates(NamedTuple):
    """Of M models and their P pairs: source accuracies [M], source agreements [P], target agreements [P]."""

    accuracies: np.ndarray
    source: np.ndarray
    target: np.ndarray


@dataclass(frozen=True)
class _OnTheLine(Estimator):
    """An estimator that turns rates and a line into the `accuracies` of all models, the judged one first."""

    reject: bool = False

    def accuracies(self, rates: Rates, line: StraightLine, n_source: int, n_target: int) -> np.ndarray:
        raise NotImplementedError

    def fit(self, source: Outputs) -> FittedEstimator:
        """Note which source images each model names right and on which each pair agrees."""
        known = look_at(source, self)
        if len(source.partners) < 2:
            raise OpenworldError(f"{self.name} needs at least two partners, and came with one: a line has two ends.")
        answers = _answers(source)
        return FittedEstimator(self, known, (answers == source.labels, _agree(answers)))

    def read(self, known: SourceSummary, state: tuple[np.ndarray, np.ndarray], target: Outputs) -> RawEstimate:
        """No sample scores: the estimate is of the whole set."""
        right, agree_there = state  # bool[M, n], which images each model names right; bool[P, n], where pairs agree
        answers = _answers(target)
        if len(answers) != len(right):
            raise OpenworldError(
                f"the target has {len(answers) - 1} partners, expected {len(right) - 1} as on the source, in the same "
                "order."
            )
        agree, sizes = _agree(answers), (known.n, target.n)

        def rates_of(there: np.ndarray, here: np.ndarray) -> Rates:  # of images that weigh so much
            return Rates(right @ there, agree_there @ there, agree @ here)

        def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
            draws = zip(counts(known.n, resamples, generator), counts(target.n, resamples, generator), strict=True)
            rates = (rates_of(on_source / known.n, on_target / target.n) for on_source, on_target in draws)
            return np.array([1 - self.accuracies(each, fit_line(each, *sizes), *sizes)[0] for each in rates])

        rates = rates_of(np.full(known.n, 1 / known.n), np.full(target.n, 1 / target.n))
        line = fit_line(rates, *sizes)
        accuracies = self.accuracies(rates, line, *sizes)
        details = {"models": len(answers), "model_accuracies": accuracies.tolist(), **line._asdict()}
        warnings = _warnings(rates, line, *sizes)
        if self.reject and line.r_squared < STRAIGHT:
            return RawEstimate(None, None, "", details, warnings=warnings)
        return RawEstimate(1 - float(accuracies[0]), replicates, "source and target images", details, warnings=warnings)


@checked
@dataclass(frozen=True)
class ALineS(_OnTheLine):
    """Accuracy on the target = Phi(slope Phi^-1(accuracy on the source) + bias), with the line of the agreements.

    Args:
        reject: whether to give no estimate where the agreements do not lie on a line.

    >>> source = Outputs([[1, 0]] * 4, [0, 0, 0, 1], partners=([[1, 0]] * 2 + [[0, 1]] * 2, [[1, 0]] * 3 + [[0, 1]]))
    >>> round(ALineS().fit(source).estimate(source).accuracy, 6)  # the line is the diagonal
    0.75
    """

    name, paper, summary = "ALine-S", "Baek et al., 2022", "source accuracy moved along the line of agreements"
    needs = ("labels", "partners")

    def accuracies(self, rates: Rates, line: StraightLine, n_source: int, n_target: int) -> np.ndarray:
        """Return the accuracies of all models, float64[M]."""
        return ndtr(line.slope * _probit(rates.accuracies, n_source) + line.bias)


@checked
@dataclass(frozen=True)
class ALineD(_OnTheLine):
    """Accuracies of all models on the target at once, by least squares over pairs.

    Each pair's mean probit accuracy exceeds its probit agreement by slope times what it did on the source.

    Args:
        reject: whether to give no estimate where the agreements do not lie on a line.

    >>> source = Outputs([[1, 0]] * 4, [0, 0, 0, 1], partners=([[1, 0]] * 2 + [[0, 1]] * 2, [[1, 0]] * 3 + [[0, 1]]))
    >>> round(ALineD().fit(source).estimate(source).accuracy, 6)  # the line is the diagonal
    0.75
    """

    name, paper, summary = "ALine-D", "Baek et al., 2022", "all models' accuracies from their agreements at once"
    needs = ("labels", "partners")

    def accuracies(self, rates: Rates, line: StraightLine, n_source: int, n_target: int) -> np.ndarray:
        """Return the accuracies of all models, float64[M]."""
        models = len(rates.accuracies)
        halves = np.zeros((len(rates.source), models))
        for row, pair in zip(halves, combinations(range(models), 2), strict=True):
            row[list(pair)] = 0.5
        excess = halves @ _probit(rates.accuracies, n_source) - _probit(rates.source, n_source)
        return ndtr(np.linalg.lstsq(halves, _probit(rates.target, n_target) + line.slope * excess, rcond=None)[0])


def fit_line(rates: Rates, n_source: int, n_target: int) -> StraightLine:
    """Least squares of probit agreements; slope 1 where all pairs agree equally often on the source."""
    return StraightLine.through(_probit(rates.source, n_source), _probit(rates.target, n_target), flat=1.0)


def _answers(outputs: Outputs) -> np.ndarray:
    """Predicted classes of the judged model and its partners, int64[M, n]."""
    return np.stack([outputs.predictions, *(logits.argmax(axis=1) for logits in outputs.partners)])


def _agree(answers: np.ndarray) -> np.ndarray:
    return np.stack([first == second for first, second in combinations(answers, 2)])


def _probit(rates: np.ndarray, n: int) -> np.ndarray:
    """Phi^-1, with rates held half an image away from 0 and 1, where it is infinite."""
    return ndtri(np.clip(rates, 0.5 / n, 1 - 0.5 / n))


def _warnings(rates: Rates, line: StraightLine, n_source: int, n_target: int) -> tuple[str, ...]:
    warnings = []
    if line.r_squared < STRAIGHT:
        warnings.append(
            f"the agreements do not lie on a line (R^2 = {line.r_squared:.2f}, below {STRAIGHT}): the method's premise "
            "fails here, do not rely on it"
        )
    if not np.ptp(rates.source):
        warnings.append("all pairs agree equally often on the source, so that no slope can be fitted; 1 is used")
    nearest = (np.minimum(rate, 1 - rate).min() * n for rate, n in ((rates.source, n_source), (rates.target, n_target)))
    if min(nearest) < 0.5:
        warnings.append("a pair of models agrees on all images or on none; half an image was taken off")
    return tuple(warnings)
