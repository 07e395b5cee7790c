"""OpenworldAUC where nobody says for sure which images are base: from real-valued outcomes of one stream of images.

With scores s and outcomes z (base), n (new), a (base and named right) and b (new and named right) of N images,

    theta = sum over pairs i != j of a_i b_j (1[s_i > s_j] + 1/2 1[s_i = s_j])  /  ( sum z  sum n )

For outcomes of 0 and 1 this is `openworld_auc` to the last bit. They may as well be probabilities, which makes it a
plug-in estimate, or the weighted, and then at times negative, pseudo-outcomes of Horvitz and Thompson (1952) and of
prediction-powered inference (Angelopoulos et al., 2023). An image never meets itself: the diagonal is left out.
One sort and two cumulated sums: O(N log N).

The influence of image i, by Hajek's projection of the pair sum and the delta method, with G^b(s) = 1/N of the b of the
other images below s (ties one half), G^a(s) = 1/N of the a above it, p and q the means of z and n:

    psi_i = ( a_i G^b(s_i) + b_i G^a(s_i) ) / (p q)  -  theta ( z_i / p + n_i / q ),     mean psi = 0

It is linear in the outcomes of image i, so it can be asked for other outcomes than those that G, p and q are from.
This does not estimate: what is drawn, labelled and concluded is in `openworld.labels`.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from openworld.core.arrays import ArrayLike, as_labels, as_scores, require_length, require_size
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics._sweep import place
from openworld.metrics.estimate import ROUNDING

SOFT_QUANTITIES = ("openworld_auc", "auroc", "base_accuracy", "new_accuracy", "base_share", "overall_accuracy")
"""What can be read off a `SoftOpenworldAUC`, by `value_of` and `influence`."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What N images are, or are expected to be; each float64[N], finite, of any sign.

    base: z, the share to which an image counts as base. new: the same of new, 1 - z where it is not given. base_right:
    a, base and its base name right. new_right: b, new and its new name right. right: its name among all names right;
    None where there is no such name.
    """

    base_right: np.ndarray
    new_right: np.ndarray
    base: np.ndarray
    new: np.ndarray
    right: np.ndarray | None = None
    __repr__ = short_repr

    def __len__(self) -> int:
        return self.base.size


@checked
def outcomes(
    base_right: ArrayLike,
    new_right: ArrayLike,
    base: ArrayLike,
    new: ArrayLike | None = None,
    right: ArrayLike | None = None,
) -> Outcomes:
    """Read the outcomes of N images; see `Outcomes`.

    Args:
        base_right, new_right, base, new, right: float[N]; new None for 1 - base.
    Raises:
        OpenworldError: NaN or infinite values, lengths that differ.

    >>> outcomes([1, 0], [0, 1], [1, 0]).new
    array([0., 1.])
    """
    base = _read(base, "base")
    new = 1 - base if new is None else _read(new, "new", base.size)
    named = _read(base_right, "base_right", base.size), _read(new_right, "new_right", base.size)
    return Outcomes(*named, base, new, None if right is None else _read(right, "right", base.size))


@dataclass(frozen=True, eq=False)
class Ranking:
    """N scores, sorted once."""

    order: np.ndarray  # int64[N]
    start: np.ndarray  # int64[N], where the ties of each sorted score start
    end: np.ndarray  # and end
    __repr__ = short_repr

    @classmethod
    def of(cls, scores: np.ndarray) -> "Ranking":
        order = np.argsort(scores)
        return cls(order, *place(scores[order], scores[order]))

    def twice_below(self, weights: np.ndarray) -> np.ndarray:
        """Twice what the other images below each image weigh, and once what those weigh that tie with it."""
        return self._twice(weights, upwards=True)

    def twice_above(self, weights: np.ndarray) -> np.ndarray:
        return self._twice(weights, upwards=False)

    def _twice(self, weights: np.ndarray, upwards: bool) -> np.ndarray:
        mass = np.zeros(weights.size + 1)
        np.cumsum(weights[self.order], out=mass[1:])
        beside = mass[self.start] + mass[self.end]
        twice = np.empty(weights.size)
        twice[self.order] = beside if upwards else 2 * mass[-1] - beside
        return twice - weights


@dataclass(frozen=True, eq=False)
class SoftOpenworldAUC:
    """OpenworldAUC (`value`) of real-valued outcomes; None with `reason` where the outcomes of a side add up to 0.

    With negative outcomes a number may leave [0, 1]. Parts are computed when first asked for.
    """

    value: float | None
    reason: str | None
    outcomes: Outcomes = field(repr=False)
    ranking: Ranking = field(repr=False)
    __repr__ = short_repr

    @property
    def base_accuracy(self) -> float | None:
        """Sum of a over sum of z."""
        return _ratio(self.outcomes.base_right.sum(), self.n_base)

    @property
    def new_accuracy(self) -> float | None:
        """Sum of b over sum of n."""
        return _ratio(self.outcomes.new_right.sum(), self.n_new)

    @property
    def base_share(self) -> float | None:
        """Sum of z over the sums of z and n."""
        return _ratio(self.n_base, self.n_base + self.n_new)

    @property
    def overall_accuracy(self) -> float | None:
        """Sum of `right` over the sums of z and n; None where there is no `right`."""
        right = self.outcomes.right
        return None if right is None else _ratio(right.sum(), self.n_base + self.n_new)

    @cached_property
    def auroc(self) -> float | None:
        """Base against new, however they are named."""
        if self.reason:
            return None
        twice = float(self.outcomes.base @ self.ranking.twice_below(self.outcomes.new))
        return twice / (2 * self.n_base * self.n_new)

    @cached_property
    def n_base(self) -> float:
        """Sum of z."""
        return float(self.outcomes.base.sum())

    @cached_property
    def n_new(self) -> float:
        """Sum of n."""
        return float(self.outcomes.new.sum())

    @checked
    def value_of(self, of: str) -> float | None:
        """Return one of SOFT_QUANTITIES; `openworld_auc` is the value."""
        if of not in SOFT_QUANTITIES:
            raise unknown_name("quantity", of, SOFT_QUANTITIES)
        return self.value if of == "openworld_auc" else getattr(self, of)

    @checked
    def influence(
        self, of: str = "openworld_auc", others: Outcomes | None = None, images: ArrayLike | None = None
    ) -> np.ndarray:
        """First-order effect of each image on a number, times N: psi.

        Args:
            of: one of SOFT_QUANTITIES.
            others: outcomes of the same images to put into psi; None: those that the number is from.
            images: int[n], the images that `others` tells of; None: all N.
        Returns:
            float64[N], or float64[n]; the mean is 0 over all images and their own outcomes.
        Raises:
            OpenworldError: the number is None.

        >>> result = soft_openworld_auc([3, 2, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1], [1, 1, 0, 0])
        >>> result.value, result.influence().tolist()  # one of two new images is named right, and both base beat it
        (0.5, [0.0, 0.0, -1.0, 1.0])
        """
        value = self.value_of(of)
        if value is None:
            raise OpenworldError(f"{of} has no influences: {self.reason or 'the images have no name among all names'}.")
        outcomes_seen = self.outcomes if others is None else others
        size = len(self.outcomes)
        if images is not None:
            images = as_labels(images, "images", np.size(outcomes_seen.base))
            if images.max(initial=0) >= size:
                raise OpenworldError(f"images holds {images.max()}, expected indices below {size}.")
        base, new = self.n_base / size, self.n_new / size
        if of in ("openworld_auc", "auroc"):
            above, below = self._others(of)
            if images is not None:
                above, below = above[images], below[images]
            first, second = _pair(outcomes_seen, of)
            return (first * below + second * above) / (base * new) - value * (
                outcomes_seen.base / base + outcomes_seen.new / new
            )
        if of == "base_accuracy":
            return (outcomes_seen.base_right - value * outcomes_seen.base) / base
        if of == "new_accuracy":
            return (outcomes_seen.new_right - value * outcomes_seen.new) / new
        part = outcomes_seen.base if of == "base_share" else outcomes_seen.right
        return (part - value * (outcomes_seen.base + outcomes_seen.new)) / (base + new)

    def _others(self, of: str) -> tuple[np.ndarray, np.ndarray]:
        """Return G^a above and G^b below each image's score."""
        if of not in self._kept:
            first, second = _pair(self.outcomes, of)
            twice = self.ranking.twice_above(first), self.ranking.twice_below(second)
            self._kept[of] = tuple(each / (2 * len(self.outcomes)) for each in twice)
        return self._kept[of]

    @cached_property
    def _kept(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        return {}


@checked
def soft_openworld_auc(
    scores: ArrayLike,
    base_right: ArrayLike,
    new_right: ArrayLike,
    base: ArrayLike,
    new: ArrayLike | None = None,
    *,
    right: ArrayLike | None = None,
) -> SoftOpenworldAUC:
    """OpenworldAUC with its parts and influences, from real-valued outcomes of one stream of images.

    Args:
        scores: float[N], larger = more base-like, any monotone scale.
        base_right, new_right, base, new, right: float[N] of any sign, as `Outcomes` says; new None for 1 - base.
    Returns:
        SoftOpenworldAUC; for outcomes of 0 and 1 its value is that of `openworld_auc`.
    Raises:
        OpenworldError: NaN or infinite values (with their indices), lengths that differ.
    Source: Hua et al. (2025), Proposition 4.2; pseudo-outcomes of Horvitz and Thompson (1952), Zrnic and Candes (2024).

    >>> soft_openworld_auc([2, 1, 0], [0.5, 0, 0], [0, 0.5, 1], [1, 0.5, 0]).value  # (.5 x .5 + .5 x 1) / (1.5 x 1.5)
    0.3333333333333333
    """
    scores = as_scores(scores, "scores")
    outcomes_read = outcomes(base_right, new_right, base, new, right)
    require_length(outcomes_read.base, "base", scores.size)
    return of_outcomes(Ranking.of(scores), outcomes_read)


def of_outcomes(ranking: Ranking, given: Outcomes) -> SoftOpenworldAUC:
    totals = float(given.base.sum()), float(given.new.sum())
    empty = [side for side, total in zip(("base", "new"), totals, strict=True) if not total > ROUNDING]
    if empty:
        return SoftOpenworldAUC(None, f"there is no {empty[0]} sample", given, ranking)
    twice = float(given.base_right @ ranking.twice_below(given.new_right))
    return SoftOpenworldAUC(twice / (2 * totals[0] * totals[1]), None, given, ranking)


def _pair(given: Outcomes, of: str) -> tuple[np.ndarray, np.ndarray]:
    """Return who must win against whom."""
    return (given.base, given.new) if of == "auroc" else (given.base_right, given.new_right)


def _ratio(part: float, whole: float) -> float | None:
    return float(part) / whole if whole > ROUNDING else None


def _read(values: ArrayLike, name: str, length: int | None = None) -> np.ndarray:
    array = require_size(as_scores(values, name), name)
    if length is not None:
        require_length(array, name, length)
    return array
