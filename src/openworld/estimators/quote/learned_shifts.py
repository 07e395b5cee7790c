"""Learn from labelled shifts of the same model which estimator to quote, and how to correct it.

Every estimator sees only a part of what a shift costs, and how large a part depends on the model. Labelled sets on
which the model does worse, or corrupted copies of the source, show it:

    accuracy = source accuracy (estimate / its mean on source-like sets) ^ power,    never above the source

with the power of least mean absolute error over the labelled sets; of several estimators the one that then errs least.
What this is worth shows on shifts that it was not learned on: each family of shifts (noise, blur, ...) is left out
once, and the errors on it are those to expect of a target whose shift is again of another kind. With two families it
cannot be seen whether the power carries over to a third kind; so three are needed. Corruptions are alike in what they
do: on styles and kinds of objects, what was learned on them errs twice as much as on a corruption left out, and so
errors count double unless three families are no artificial ones.

Estimates are read as shares of what the estimator says of source-like sets (`measure_null`), and the labelled sets are
drawn as those are: image by image, as many as the target has. What few images a class do to an estimator is then on
both sides of the ratio; exactly balanced sets, as benchmarks have them, would seem too good.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot, nan

import numpy as np
from scipy.special import chdtrc, stdtrit

from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.estimators.engine.checks import check_reference
from openworld.estimators.engine.fitted import Estimate, Estimator
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.quote.decision import Quote, Z, held
from openworld.estimators.quote.null import Null

CANDIDATES = ("DoC", "ATC-MC", "COT", "COTT")
"""Among these is chosen, and two views where the reference passes its checks, unless somebody names others."""

POWERS = np.arange(5, 41)[:, None] / 10
FAMILIES, SETS = 3, 5  # at least, of all labelled sets, and of those of about the target's accuracy
WITHIN, SHARE = 0.1, 0.8  # a number is quoted where this share of the errors to expect lies within this
WIDE = 0.25  # an interval that is wider than this to either side says too little
NEAR = 0.15  # accuracies this far apart are about the same
CAUTION = 2.0  # by how much the errors on other shifts exceed those on corruptions left out (bench/quoted/labelled.py)
DRAWS = 4  # of each labelled set
CHANCE = 0.001  # p-value above which a set's class counts count as a chance draw from the source's class shares
TINY = 1e-9


@checked
@dataclass(frozen=True, eq=False)
class LabelledShift:
    """A labelled set on which the model does otherwise than on the source.

    name: what it is called. family: its kind of shift; sets of one family are left out together. outputs: with labels.
    artificial: whether it is made of the source by formulas, such as corruptions.
    """

    name: str
    family: str
    outputs: Outputs
    artificial: bool = False

    def __post_init__(self):
        if not self.name or not self.family:
            raise OpenworldError(f"labelled shift {self.name!r} of family {self.family!r}: both need a name.")


@dataclass(frozen=True)
class ShiftReading:
    """What a labelled set of n images shows."""

    name: str
    family: str
    n: int
    accuracy: float  # true, in [0, 1]
    relative: Mapping[str, float]  # estimate over its mean on source-like sets; NaN where nothing can be said
    artificial: bool = False


def read_shifts(
    estimators: Mapping[str, Estimator],
    source: Outputs,
    shifts: Sequence[LabelledShift],
    nulls: Mapping[str, Null],
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> list[ShiftReading]:
    """Ask estimators about every labelled set; those without a null, of sets as large as the target, are not asked."""
    fitted = {name: estimator.fit(source) for name, estimator in estimators.items() if name in nulls}
    for shift in shifts:
        shift.outputs.require(("labels",), f"labelled shift {shift.name}")
        for name in fitted:
            needs = tuple(getattr(estimators[name], "needs", ()))
            shift.outputs.require(needs, f"{name} on labelled shift {shift.name}")
        if shift.outputs.classes != source.classes:
            raise OpenworldError(
                f"labelled shift {shift.name} has {shift.outputs.classes} classes and the source {source.classes}; "
                "score both with the same model for the same class names."
            )
    generator = np.random.default_rng(seed)
    readings = []
    for place, shift in enumerate(shifts, 1):
        weights = _weights(shift.outputs, source)
        n = next(iter(nulls.values())).n if nulls else 1
        drawn = [shift.outputs.take(generator.choice(shift.outputs.n, n, p=weights)) for _ in range(DRAWS)]
        accuracy = float(np.mean([1 - outputs.mistakes / outputs.n for outputs in drawn]))
        relative = {}
        for name, fit in fitted.items():
            every = [fit.estimate(outputs, interval=False).accuracy for outputs in drawn]
            answers = [answer for answer in every if answer is not None]
            relative[name] = float(np.mean(answers)) / centre(nulls[name]) if len(answers) == len(every) else nan
        readings.append(ShiftReading(shift.name, shift.family, shift.outputs.n, accuracy, relative, shift.artificial))
        if progress:
            progress(place)
    return readings


def centre(null: Null) -> float:
    """Return the mean estimate of source-like sets, above 0."""
    return max(null.mean, TINY)


def _weights(outputs: Outputs, source: Outputs) -> np.ndarray:
    """Return how likely each image of a labelled set is drawn, float64[n]: classes as often as on the source."""
    counts, others = (np.bincount(labelled.array("labels"), minlength=source.classes) for labelled in (outputs, source))
    both = np.stack([counts, others])[:, counts + others > 0].astype(np.float64)
    expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum()
    chi_squared = ((both - expected) ** 2 / expected).sum()
    # In shares of their own where these are others, beyond chance: then the classes themselves have shifted.
    moved = both.shape[1] > 1 and chdtrc(both.shape[1] - 1, chi_squared) < CHANCE
    weights = (others / np.maximum(counts, 1))[outputs.labels]
    if moved or not weights.any():
        weights = np.ones(outputs.n)
    return weights / weights.sum()


@dataclass(frozen=True)
class LeftOut:
    """A labelled set, its true accuracy, and what was learned on the other families estimates."""

    name: str
    family: str
    n: int
    accuracy: float
    estimated: float

    @property
    def error(self) -> float:
        """Estimated minus true accuracy."""
        return self.estimated - self.accuracy


@dataclass(frozen=True)
class LearnedShifts:
    """An estimator and a power, learned from labelled shifts.

    estimator: name of the one that errs least. powers: of every candidate. source: accuracy there. means, spreads: mean
    and standard deviation of error on source-like sets, of every candidate. left_out: the labelled sets in the order
    given. caution: by how much errors on a target may exceed those on sets left out.
    """

    estimator: str
    powers: Mapping[str, float]
    source: float
    means: Mapping[str, float] = field(repr=False)
    spreads: Mapping[str, float] = field(repr=False)
    left_out: tuple[LeftOut, ...] = field(repr=False)
    caution: float = 1.0

    @property
    def power(self) -> float:
        """Of the estimator that is quoted."""
        return self.powers[self.estimator]

    @property
    def families(self) -> int:
        """How many families there are."""
        return len({shift.family for shift in self.left_out})

    @property
    def artificial(self) -> bool:
        """Whether it rests on corruptions, or the like."""
        return self.caution > 1

    @property
    def mean_error(self) -> float:
        """Mean absolute error on sets left out."""
        return float(np.mean([abs(shift.error) for shift in self.left_out]))

    @checked
    def quote(self, estimates: Mapping[str, Estimate]) -> Quote:
        """Correct the estimates of a target, and say whether the number may be relied on.

        Args:
            estimates: of one target, by the estimators' names; those of all candidates.
        Returns:
            A `Quote`; where there is no number, its bounds are those of all corrected estimators together.
        Raises:
            OpenworldError: the estimate of a candidate is missing.
        """
        for name in self.powers:
            if name not in estimates:
                raise OpenworldError(f"{name} is missing; give estimates of {', '.join(self.powers)}.")
        answers = {
            name: float(_correct(self.source, accuracy / self.means[name], power))
            for name, power in self.powers.items()
            if (accuracy := estimates[name].accuracy) is not None
        }
        if self.estimator not in answers:
            return Quote(None, None, 0.0, 1.0, f"{self.estimator}, chosen on them, can say nothing of this target")
        answer = answers[self.estimator]
        off = self.caution * np.array([shift.error for shift in self._near(answer)])
        wide = stdtrit(self.families - 1, 0.975) * float(np.sqrt(np.mean(off**2)))
        half = hypot(wide, Z * self.spreads[self.estimator])
        doubt = self._doubt(answers, np.abs(off), half)
        if doubt:
            return Quote(None, None, held(min(answers.values()) - half), held(max(answers.values()) + half), doubt)
        return Quote(self.estimator, answer, held(answer - half), held(answer + half), self.why)

    @property
    def why(self) -> str:
        """What speaks for the number, without a full stop."""
        return (
            f"chosen on {len(self.left_out)} labelled sets of {self.families} families and corrected by them (power "
            f"{self.power:g}); on families left out it was off by {100 * self.mean_error:.1f} points on average"
        )

    def _near(self, answer: float) -> list[LeftOut]:
        """Sets of about this accuracy, as estimated; the nearest ones where these are few or of few families."""
        ordered = sorted(self.left_out, key=lambda shift: abs(shift.estimated - answer))
        near: list[LeftOut] = []
        for shift in ordered:
            enough = len(near) >= SETS and len({each.family for each in near}) >= FAMILIES
            if enough and abs(shift.estimated - answer) > NEAR:
                break
            near.append(shift)
        return near

    def _doubt(self, answers: Mapping[str, float], off: np.ndarray, half: float) -> str:
        """Return why the number cannot be relied on; empty where it can."""
        answer, lowest = answers[self.estimator], min(shift.estimated for shift in self.left_out)
        least, most = (pick(answers, key=lambda name: answers[name]) for pick in (min, max))
        if answer < lowest - WITHIN:
            return f"it reads {100 * answer:.0f} %, and the lowest labelled set {100 * lowest:.0f} %: none is as bad"
        if answers[most] - answers[least] > WITHIN:
            return (
                f"{least} says {100 * answers[least]:.0f} % and {most} {100 * answers[most]:.0f} %, both corrected by "
                "the labelled sets: this shift is like none of them"
            )
        if np.quantile(off, SHARE) > WITHIN:
            return (
                f"of {len(off)} labelled sets that read about as low, {int((off > WITHIN).sum())} were missed by more "
                f"than {100 * WITHIN / self.caution:.0f} points when their family was left out"
            )
        if half > WIDE:
            return f"the interval would be {100 * half:.0f} points to either side: more families would narrow it"
        return ""


@checked
def learn_from_shifts(
    estimators: Mapping[str, Estimator],
    source: Outputs,
    shifts: Sequence[LabelledShift],
    nulls: Mapping[str, Null],
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> LearnedShifts:
    """Choose among estimators, and learn the power that corrects each.

    Args:
        estimators: candidates by any name. source: with labels, and with what they need. shifts: five or more of three
            families or more, with what the estimators need. nulls: of `measure_null`, for sets as large as the target;
            a candidate without one is left out. seed: of the draws from labelled sets. progress: called with how
            many labelled sets are read.
    Raises:
        OpenworldError: too few sets or families, sets without labels or of other classes, no candidate that can say
            something of every set.

    >>> from openworld.estimators import AC, measure_null
    >>> def drawn(logit, right):  # 100 images, of which so many are named right
    ...     labels = np.arange(100) % 2
    ...     return Outputs(logit * np.eye(2)[np.where(np.arange(100) < right, labels, 1 - labels)], labels)
    >>> source, estimators = drawn(2.2, 90), {"AC": AC()}
    >>> shifts = [LabelledShift(kind, kind, drawn(2.2 - s / 5, 90 - 6 * s)) for s, kind in enumerate("abcde")]
    >>> found = learn_from_shifts(estimators, source, shifts, measure_null(estimators, source, 100))
    >>> found.estimator, found.families, found.mean_error < 0.05
    ('AC', 5, True)
    """
    _require(shifts)
    readings = read_shifts(estimators, source, shifts, nulls, seed=seed, progress=progress)
    return learn(1 - source.mistakes / source.n, readings, nulls)


def learn(source: float, readings: Sequence[ShiftReading], nulls: Mapping[str, Null]) -> LearnedShifts:
    """Choose estimator and power on all sets, and on all but each family in turn; `source`: accuracy there."""
    _require(readings)
    relative = {name: np.array([reading.relative[name] for reading in readings]) for name in readings[0].relative}
    answers = {name: _correct(source, ratio, POWERS) for name, ratio in relative.items() if not np.isnan(ratio).any()}
    if not answers:
        names = ", ".join(relative) or "no estimator"
        raise OpenworldError(f"{names} can say nothing of some labelled set; give larger sets, or other estimators.")
    true = np.array([reading.accuracy for reading in readings])
    families = np.array([reading.family for reading in readings])
    estimated = np.empty(len(readings))
    for family in np.unique(families):
        out = families == family
        name, places = _choose(answers, true, ~out)
        estimated[out] = answers[name][places[name], out]
    best, places = _choose(answers, true, np.ones(len(true), bool))
    natural = {reading.family for reading in readings if not reading.artificial}
    return LearnedShifts(
        estimator=best,
        powers={name: float(POWERS[place, 0]) for name, place in places.items()},
        source=source,
        means={name: centre(nulls[name]) for name in answers},
        spreads={name: nulls[name].spread for name in answers},
        left_out=tuple(
            LeftOut(reading.name, reading.family, reading.n, reading.accuracy, float(value))
            for reading, value in zip(readings, estimated, strict=True)
        ),
        caution=1.0 if len(natural) >= FAMILIES else CAUTION,
    )


def candidates(source: Outputs, shifts: Sequence[LabelledShift]) -> tuple[str, ...]:
    """Return names to choose among: `CANDIDATES`, and two views where all sets have a usable reference."""
    views = all(outputs.reference is not None for outputs in (source, *(shift.outputs for shift in shifts)))
    return (*CANDIDATES, "two-views") if views and not check_reference(source).warnings else CANDIDATES


def _correct(source: float, relative, power):
    return source * np.clip(relative, 0, 1) ** power


def _choose(answers: Mapping[str, np.ndarray], true: np.ndarray, rows: np.ndarray) -> tuple[str, dict[str, int]]:
    """Return the best estimator, and each one's place in POWERS, by mean absolute error over some of the sets."""
    errors = {name: np.abs(row - true)[:, rows].mean(axis=1) for name, row in answers.items()}
    return min(errors, key=lambda name: errors[name].min()), {name: int(row.argmin()) for name, row in errors.items()}


def _require(shifts: Sequence[LabelledShift] | Sequence[ShiftReading]) -> None:
    names = sorted({shift.family for shift in shifts})
    if len(shifts) < SETS or len(names) < FAMILIES:
        raise OpenworldError(
            f"{len(shifts)} labelled set(s) came, of the families {', '.join(names)}; learning needs {SETS} sets of "
            f"{FAMILIES} families, each left out in turn: add sets of another kind of shift."
        )
