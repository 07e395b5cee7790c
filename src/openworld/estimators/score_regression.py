"""From a score of a whole set to an accuracy: a line through labelled sets.

Nuclear norm, MaNo, SoftmaxCorr and MDE order sets by accuracy; to say how accurate a model is, they need sets of known
accuracy that differ as the target may: corrupted copies of the source set, for one, which keep its labels (Deng and
Zheng, 2021, "Are Labels Always Necessary for Classifier Accuracy Evaluation?"). Without such sets take another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.reading import wrong
from openworld.core.types import checked
from openworld.estimators.engine.fitted import FittedEstimator, RawEstimate, SourceSummary
from openworld.estimators.engine.outputs import Outputs

LEAST = 3  # sets below which a line has no residuals
FEW = 10
LOOSE = 0.8  # R^2 below which the score says little about accuracy


class Score(Protocol):
    """An estimator that scores a set: NuclearNorm(), MaNo(), SoftmaxCorr(), MDE()."""

    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]

    def score(self, outputs: Outputs) -> float | None: ...


class StraightLine(NamedTuple):
    """A line by least squares."""

    slope: float
    bias: float
    r_squared: float

    @classmethod
    def through(cls, x: np.ndarray, y: np.ndarray, *, flat: float) -> "StraightLine":
        """Fit it to points; the slope is `flat` where all x are equal."""
        dx, dy = x - x.mean(), y - y.mean()
        slope = float(dx @ dy / (dx @ dx)) if np.ptp(x) else flat
        rest = dy - slope * dx
        r_squared = 1 - float(rest @ rest / (dy @ dy)) if np.ptp(y) else 1.0
        return cls(slope, float(y.mean() - slope * x.mean()), r_squared)


@checked
@dataclass(frozen=True)
class ScoreRegression:
    """error = slope score + bias, by least squares over labelled sets; held in [0, 1], `raw_error` is not.

    Args:
        of: the score.

    >>> class Gap:  # mean distance of the two logits
    ...     name, needs = "gap", ()
    ...     def score(self, outputs): return float(abs(np.diff(outputs.logits)).mean())
    >>> sets = [Outputs([[gap, 0.0]] * 4, [1] * wrong + [0] * (4 - wrong)) for gap, wrong in ((3, 0), (2, 1), (1, 2))]
    >>> round(ScoreRegression(Gap()).fit(sets).estimate(Outputs([[2.5, 0.0]])).error, 3)
    0.125
    """

    of: Score

    def __post_init__(self):
        if isinstance(self.of, type) or not all(hasattr(self.of, part) for part in ("name", "needs", "score")):
            raise wrong(self.of, "a score, such as MaNo(), with name, needs and score(outputs)", "of")

    @property
    def name(self) -> str:
        """Of the score."""
        return self.of.name

    @property
    def needs(self) -> tuple[str, ...]:
        """What the score needs, of the labelled sets and of the target."""
        return tuple(self.of.needs)

    @checked
    def fit(self, sets: Sequence[Outputs]) -> FittedEstimator:
        """Score the labelled sets, such as the source and shifted copies of it, and fit the line.

        Raises:
            OpenworldError: fewer than three sets, one without labels or with no score, or other classes.
        """
        sets = [sets] if isinstance(sets, Outputs) else list(sets)
        if len(sets) < LEAST:
            raise OpenworldError(
                f"{self.name} is a score: it needs {LEAST} or more labelled sets of different accuracy to become an "
                f"error, and came with {len(sets)}; pass the source and shifted copies of it."
            )
        for outputs in sets:
            outputs.require(("labels", *self.needs), self.name)
            if outputs.classes != sets[0].classes:
                raise OpenworldError(f"the labelled sets have {sets[0].classes} and {outputs.classes} classes.")
        scores = [self.of.score(outputs) for outputs in sets]
        if None in scores:
            raise OpenworldError(f"{self.name} is undefined on labelled set {scores.index(None)}; give a larger one.")
        counts, mistakes = [outputs.n for outputs in sets], [outputs.mistakes for outputs in sets]
        of_sets = np.array(scores), np.array(mistakes) / np.array(counts)
        return FittedEstimator(self, SourceSummary(sum(counts), sets[0].classes, sum(mistakes)), of_sets)

    def read(self, known: SourceSummary, state: tuple[np.ndarray, np.ndarray], target: Outputs) -> RawEstimate:
        """No sample scores: the estimate is of the whole set. None without a score, or with one for all sets."""
        (scores, errors), score = state, self.of.score(target)
        line = StraightLine.through(scores, errors, flat=0.0)
        details = {"score": score, "sets": len(scores)} | line._asdict()
        if score is None or not np.ptp(scores):
            reason = "is undefined on the target" if score is None else "is the same for all labelled sets"
            return RawEstimate(
                None, None, "", details, warnings=(f"{self.name} {reason}: it says nothing of the error",)
            )
        return RawEstimate(
            line.slope * score + line.bias,
            lambda resamples, generator: _replicates(scores, errors, line, score, resamples, generator),
            "labelled sets, and one residual each",
            details,
            warnings=_warnings(scores, line, score, self.name),
        )


def _replicates(
    scores: np.ndarray,
    errors: np.ndarray,
    line: StraightLine,
    score: float,
    resamples: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Return predictions of lines through resampled sets, each with a residual: what another set's error may be."""
    x = scores - scores.mean()
    leverage = 1 / len(x) + x**2 / (x @ x)
    residuals = errors - line.slope * scores - line.bias
    residuals = residuals / np.sqrt(np.maximum(1 - leverage, 1e-12))  # as wide as those of a set outside the fit
    drawn = generator.integers(0, len(x), (resamples, len(x)))
    means = scores[drawn].mean(axis=1), errors[drawn].mean(axis=1)
    dx, dy = scores[drawn] - means[0][:, None], errors[drawn] - means[1][:, None]
    squares = (dx**2).sum(axis=1)
    slopes = (dx * dy).sum(axis=1) / np.where(squares > 0, squares, 1)  # of sets that are all the same one: 0
    return means[1] + slopes * (score - means[0]) + generator.choice(residuals, resamples)


def _warnings(scores: np.ndarray, line: StraightLine, score: float, name: str) -> tuple[str, ...]:
    warnings = []
    if len(scores) < FEW:
        warnings.append(f"the line rests on {len(scores)} labelled sets; {FEW} or more are advisable")
    if line.r_squared < LOOSE:
        warnings.append(f"{name} explains little of the labelled sets' errors (R^2 = {line.r_squared:.2f})")
    low, high = scores.min(), scores.max()
    if not low <= score <= high:
        warnings.append(
            f"the target's score {score:.4g} lies outside those of the labelled sets ({low:.4g} to {high:.4g}): the "
            "line is drawn beyond what it was fitted on"
        )
    return tuple(warnings)
