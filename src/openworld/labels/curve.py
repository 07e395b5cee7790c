"""A few labels for a dynamic robustness curve: its area, the accuracy at its levels, and the difference to zero-shot.

An image may stand at several levels, and one label says at which of them it is named right. With w_t the weights of the
trapezoids and N_t the images of level t, the area is the mean over the N images of

    c_i = N  sum_t  w_t 1[i at t] right_it / N_t

and the difference to zero-shot that of c_i - c_i of zero-shot, which is 0 without a label wherever both give one name.
So an area needs labels of all kinds of images, and the difference only of those that the two name differently at some
level. Means of images drawn with known probabilities are unbiased whatever the proxies say; WA, EVM and VS are none and
are not read from a few labels.
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import ClassVar, Literal

import numpy as np

from openworld.core.arrays import ArrayLike, as_array, as_fractions, as_groups, as_table
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Fraction, Positive, checked
from openworld.labels.estimate import ENOUGH, ENOUGH_TO_WEIGH, LabelledNumber
from openworld.labels.inclusion import (
    CERTAIN,
    draw_from_strata,
    inclusion_probabilities,
    sizes,
    strata,
    worth_of_labels,
)
from openworld.labels.sample import Batch, best_trust, spread_of
from openworld.metrics import area_weights
from openworld.metrics.estimate import Spread, student_quantile

EVEN = 0.2  # share of the labels that goes to all images alike
FEW_LABELS_TRUST = 1.0  # of the proxies, which know at how many levels an image weighs, whatever their quality
NO_LABEL = -1
"""The class of an image that shows none of the names."""


@dataclass(frozen=True, eq=False)
class CurveStream:
    """What a model, and perhaps its zero-shot, say of images by level; a row per image and level.

    levels: float64[T]. images: the N images' own names. image, level: int64[rows], which of them a row is. name,
    zero_shot: int64[rows], the class that each gives. expected, zero_shot_expected: float64[rows], the proxies: how
    likely each is right.
    """

    levels: np.ndarray
    images: np.ndarray
    image: np.ndarray
    level: np.ndarray
    name: np.ndarray
    expected: np.ndarray
    zero_shot: np.ndarray | None = None
    zero_shot_expected: np.ndarray | None = None
    __repr__ = short_repr

    @cached_property
    def differs(self) -> np.ndarray:
        """bool[rows], whether the two give other names."""
        if self.zero_shot is None:
            raise OpenworldError("this stream has no zero_shot; give its logits to `curve_stream` to compare with it.")
        return self.name != self.zero_shot

    def over_images(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return c of every image, float64[N], of weights of the levels float64[T] and a number for each row."""
        share = (weights * len(self.images) / np.bincount(self.level, minlength=len(self.levels)))[self.level]
        return np.bincount(self.image, share * rows, len(self.images))


@dataclass(frozen=True, eq=False)
class CurvePlan:
    """Which images to label. chosen: int64[n], in the order to label; images: their own names.

    stratum: int64[N], -1 where no label is needed. inclusion: float64[N], the probability with which each was drawn.
    spread: float64[N], how much its label may change the number. of: what the draw serves.
    """

    stream: CurveStream = field(repr=False)
    of: str
    seed: int
    chosen: np.ndarray
    stratum: np.ndarray
    inclusion: np.ndarray
    spread: np.ndarray
    is_poisson: ClassVar[bool] = False
    __repr__ = short_repr

    def __len__(self) -> int:
        return self.chosen.size

    @property
    def images(self) -> np.ndarray:
        """The chosen images' own names."""
        return self.stream.images[self.chosen]

    @cached_property
    def batch(self) -> Batch:
        """The draw as the errors of labels read it."""
        return Batch(self, 1.0, self.chosen, (), len(self))  # ty: ignore[invalid-argument-type]: it is read alike

    @checked
    def half_width(self, level: Fraction = 0.95) -> float:
        """Half the width of the interval to be expected on these images, if the proxies hold."""
        inside = self.stratum != CERTAIN
        squares = np.bincount(self.stratum[inside], self.spread[inside] ** 2) / self.batch.held
        variance, _ = _variance(self, self.batch.factors * squares)
        return student_quantile(level, max(len(self) - 1, 1)) * sqrt(variance)


@checked
def curve_stream(
    level: ArrayLike, logits: ArrayLike, zero_shot: ArrayLike | None = None, image: ArrayLike | None = None
) -> CurveStream:
    """Read a stream by level.

    Args:
        level: float[rows] in [0, 1], two values or more. logits: float[rows, C], -inf for names that a level lacks.
        zero_shot: the same of the model to compare with; None for none. image: integers or text [rows], which image
            each row is; None: each is one of its own.
    Raises:
        OpenworldError: shapes that differ, fewer than two levels, an image twice at one level, a row without a name.

    >>> stream = curve_stream([0, 0, 1, 1], [[1, 0], [0, 1], [1, 0], [1, 0]], image=["a", "b", "a", "c"])
    >>> stream.images.tolist(), stream.name.tolist()
    (['a', 'b', 'c'], [0, 1, 0, 0])
    """
    level = as_fractions(level, "level")
    tables = [_shares(logits, "logits", level.size)]
    if zero_shot is not None:
        tables.append(_shares(zero_shot, "zero_shot", level.size, tables[0].shape[1]))
    images = np.arange(level.size) if image is None else as_groups(image, "image", level.size)
    levels, level_of = np.unique(level, return_inverse=True)
    images, image_of = np.unique(images, return_inverse=True)
    if levels.size < 2:
        raise OpenworldError(f"level holds {levels.size} value(s); a curve needs two levels or more.")
    pairs = np.unique(image_of * levels.size + level_of).size
    if pairs < level.size:
        raise OpenworldError(f"{level.size - pairs} rows name an image twice at one level; give each once a level.")
    names, together = [table.argmax(axis=1) for table in tables], np.asarray(sum(tables)) / len(tables)
    expected = [together[np.arange(level.size), name] for name in names]
    return CurveStream(levels, images, image_of, level_of, names[0], expected[0], *names[1:], *expected[1:])


@checked
def plan_curve(
    stream: CurveStream, n: Positive, *, of: Literal["auc", "delta_auc"] = "auc", seed: int = 0
) -> CurvePlan:
    """Draw n images to label, in strata of what their labels may change.

    Args:
        stream: from `curve_stream`. n: how many labels. seed: of the draw.
        of: "auc", the area and all levels; or "delta_auc", the difference to zero-shot alone, for which only images
            that the two name differently are drawn.
    Raises:
        OpenworldError: more labels than images to draw from, no zero-shot to compare with.

    >>> stream = curve_stream([0, 0, 1, 1], [[1, 0]] * 4, [[1, 0], [0, 1]] * 2, image=["a", "b", "a", "b"])
    >>> plan_curve(stream, 1, of="delta_auc").images.tolist()  # of "a" both say the same
    ['b']
    """
    may, tau = _worth(stream, of)
    count = int(may.sum())
    if n > count:
        kind = "images that the two name differently" if of == "delta_auc" else "images"
        raise OpenworldError(f"{n} labels were asked for, but there are {count} {kind}; ask for at most so many.")
    q = np.zeros(may.size)
    q[may] = inclusion_probabilities(worth_of_labels(tau[may], EVEN, None, n, 0.0), n)
    order = np.flatnonzero(may)[np.argsort(tau[may], kind="stable")]
    stratum = strata(order, q, n)
    drawn = sizes(stratum, q, n)
    chosen = draw_from_strata(stratum, drawn, np.random.default_rng(seed))
    inclusion = np.where(may, (drawn / np.bincount(stratum[may]))[stratum], 1.0)
    return CurvePlan(stream, of, seed, chosen, stratum, inclusion, np.where(may, tau, 0.0))


@dataclass(frozen=True, eq=False)
class LabelledCurve:
    """What the labels of a plan say; each number with its interval over the draw, and over images like these."""

    plan: CurvePlan
    classes: np.ndarray = field(repr=False)
    __repr__ = short_repr

    @cached_property
    def auc(self) -> LabelledNumber:
        """The area under the curve, from the stream's first level to its last."""
        return self._number(area_weights(self.plan.stream.levels), difference=False)

    @cached_property
    def delta_auc(self) -> LabelledNumber:
        """The area less that of zero-shot; delta_pn is the same number."""
        return self._number(area_weights(self.plan.stream.levels), difference=True)

    @cached_property
    def accuracy(self) -> tuple[LabelledNumber, ...]:
        """The accuracy at every level."""
        return tuple(self._number(weights, difference=False) for weights in np.eye(self.plan.stream.levels.size))

    def _number(self, weights: np.ndarray, *, difference: bool) -> LabelledNumber:
        plan = self.plan
        reason = self._refusal(difference)
        if reason:
            none = Spread(None, None, reason)
            return LabelledNumber(None, reason, None, none, none, 0.0, len(plan), 0, 0, difference)
        right, hat = self._outcomes(weights, difference)
        batch, drawn = plan.batch, hat[plan.chosen]
        trust = best_trust([(batch, right, drawn)]) if len(plan) >= ENOUGH_TO_WEIGH else FEW_LABELS_TRUST
        residual = right - trust * drawn
        means = np.bincount(batch.stratum, residual) / batch.drawn
        value = (trust * hat[plan.stratum != CERTAIN].sum() + batch.held @ means) / plan.stratum.size
        variance, degrees = _variance(plan, batch.cross(residual, residual))
        second = float((right**2 / plan.inclusion[plan.chosen]).sum()) / plan.stratum.size
        images = max(second - value**2, 0.0) / max(plan.stratum.size - 1, 1)
        value = float(value if difference else np.clip(value, 0, 1))
        like = spread_of(variance + images, degrees if variance > images else float(max(len(plan) - 1, 1)), ())
        these = Spread(0.0, degrees) if (batch.drawn == batch.held).all() else spread_of(variance, degrees, ())
        return LabelledNumber(value, None, None, these, like, trust, len(plan), 0, 0, difference)

    def _refusal(self, difference: bool) -> str | None:
        plan = self.plan
        if plan.of == "delta_auc" and not difference:
            return "this plan labels only images that the two name differently; it tells their difference alone"
        count = int((plan.stratum != CERTAIN).sum())
        if len(plan) < min(ENOUGH, count):
            return f"{len(plan)} labels came, {min(ENOUGH, count)} are needed"
        return None

    def _outcomes(self, weights: np.ndarray, difference: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return c of the labelled images, float64[n], and what the proxies expect of all, float64[N]."""
        stream = self.plan.stream
        truth = np.full(len(stream.images), NO_LABEL)
        truth[self.plan.chosen] = self.classes
        of_row = truth[stream.image]
        right, expected = (stream.name == of_row).astype(float), stream.expected
        if difference:
            differs = stream.differs
            right, expected = right - (stream.zero_shot == of_row), differs * (expected - stream.zero_shot_expected)
        return stream.over_images(weights, right)[self.plan.chosen], stream.over_images(weights, expected)


@checked
def estimate_curve(plan: CurvePlan, classes: ArrayLike) -> LabelledCurve:
    """Read the labels of a plan.

    Args:
        plan: from `plan_curve`. classes: int[n], the true class of each of `plan.chosen`, in its order, as a column of
            the logits; -1 (`NO_LABEL`) of an image that shows none of the names, which nobody names right.
    Returns:
        LabelledCurve; a number that too few labels speak of is None with a reason.
    Raises:
        OpenworldError: another number of classes than chosen images, other numbers than whole ones.
    Source: Horvitz and Thompson (1952); Angelopoulos et al. (2023), "PPI++"; Satterthwaite (1946).

    >>> stream = curve_stream([0, 0, 1, 1], [[1, 0]] * 4, [[1, 0], [0, 1]] * 2, image=["a", "b", "a", "b"])
    >>> drawn = plan_curve(stream, 1, of="delta_auc")
    >>> estimate_curve(drawn, [0]).delta_auc.value  # of one image of two, at both levels, zero-shot is wrong
    0.5
    """
    classes = as_groups(classes, "classes", len(plan))
    if classes.dtype.kind not in "iu" or classes.min(initial=0) < NO_LABEL:
        raise OpenworldError("classes must be columns of the logits, from 0, or -1 where an image shows none of them.")
    return LabelledCurve(plan, classes)


def _shares(values: ArrayLike, name: str, rows: int, classes: int | None = None) -> np.ndarray:
    """Return softmax float64[rows, C] of logits that may be -inf."""
    with np.errstate(over="ignore"):  # wider floats may become infinite, which is refused below
        table = as_array(values, name).astype(np.float64)
    if table.ndim != 2 or len(table) != rows or classes not in (None, table.shape[1]):
        raise OpenworldError(f"{name} has shape {table.shape}, expected ({rows}, {classes or 'C'}): a row each level.")
    as_table(np.where(np.isneginf(table), 0.0, table), name, (2,))
    top = table.max(axis=1, keepdims=True)
    if np.isneginf(top).any():
        raise OpenworldError(f"{name} holds a row of -inf alone; every image needs a name at its level.")
    share = np.exp(table - top)
    return share / share.sum(axis=1, keepdims=True)


def _worth(stream: CurveStream, of: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which images may be drawn, bool[N], and how much a label of each may change the number, float64[N]."""
    weights, p = area_weights(stream.levels), stream.expected
    if of == "auc":
        return np.ones(len(stream.images), bool), stream.over_images(weights, np.sqrt(p * (1 - p)))
    either = p + stream.zero_shot_expected if stream.zero_shot is not None else p
    spread = np.sqrt(np.maximum(either - (2 * p - either) ** 2, 0)) * stream.differs
    return np.bincount(stream.image, stream.differs, len(stream.images)) > 0, stream.over_images(weights, spread)


def _variance(plan: CurvePlan, terms: np.ndarray) -> tuple[float, float]:
    """Return the variance over the draw, of what strata add to it, and Satterthwaite's degrees of freedom."""
    loose, total = float((terms**2 / np.maximum(plan.batch.drawn - 1, 1)).sum()), float(terms.sum())
    most = float(max(len(plan) - 1, 1))
    return total, min(total**2 / loose, most) if loose > 0 else most
