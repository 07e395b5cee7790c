"""The likely cause of what moved in a period: class shares, new classes, appearance, meaning; or that none is seen.

A period of unlabelled images is compared with a labelled source by signs from the judged model's logits and, where both
sides have them, from features of the images:

    shares      total variation of the shares of the predicted classes, less what chance makes of it
    within      the largest of the differences (Kolmogorov-Smirnov) of confidences, of largest logits, and of distances
                to the nearest source features, the source weighted to the period's predicted classes; over what chance
                alone exceeds in one of a hundred cases
    coherence   whether the images of all predicted classes moved in one direction:  with D_c the mean of class c in the
                period less its mean on the source, at length 1, n_c its images, K_cd = sqrt(n_c n_d) D_c . D_d,
                z = sum_{c != d} K_cd / sqrt(2 sum_{c != d} K_cd^2),  of mean 0 and variance 1 if each D_c has a sign of
                its own; and the same of the half of the images that lie nearest to the source
    unlike      share of images that lie farther from the source than its own images lie from each other (in features),
                or have smaller largest logits: best-bin estimation (Garg et al., 2021)

Another appearance (a camera, a style, fog) moves all images alike: coherence is high, of the nearest half too. Images
of new classes, and new things under old names, move each predicted class to a side of its own; or if new classes have
something in common, the nearest half, which is of old ones, does not move together. Logits are linear in the features
of many models, so that those of the classes that are not predicted show coherence too. New classes are told from
another meaning of the old ones by the share of images that is unlike the source, a part or nearly all; in logits alone
the two look alike. Limits were chosen on streams of one image set and judged on others
(bench/period_causes.py).
"""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of, temperature_of
from openworld.estimators.open_world.posteriors import best_bin_share
from openworld.estimators.quote.class_shares import moved_shares

NONE, SHARES, NEW, APPEARANCE, MEANING, UNCLEAR = CAUSES = (
    "none seen",
    "class shares",
    "new classes",
    "appearance",
    "meaning",
    "unclear",
)
NEIGHBOURS = 3  # whose mean distance says how far an image lies from the source
ROWS = 5_000  # of the source that are neighbours; of more a regular sample
TINY = 1e-12
BLOCK = 2**22  # distances at a time
CHANCE = 1.628  # a distance of more than CHANCE sqrt(1/n + 1/m) comes by chance in one of a hundred cases


@dataclass(frozen=True)
class CauseLimits:
    """From where a sign counts; chosen on streams of known causes (bench/period_causes.py)."""

    shares: float = 0.1  # total variation beyond chance
    within: float = 1.15  # in units of its chance
    coherence: float = 3.4  # z beyond which classes move together
    apart: float = 1.6  # z up to which they do not, if they could have reached `power`, nor does the nearest half
    power: float = 6.0
    unlike: float = 0.08  # share of images unlike the source from which some are new
    mostly: float = 0.75  # from which they are no mere part


@dataclass(frozen=True)
class CauseSigns:
    """What a period of n images shows, as above."""

    n: int
    shares: float
    within: float
    coherence: float
    nearest: float  # coherence of the nearest half
    power: float  # largest coherence that so many images of so many classes can show
    unlike: float
    surer: bool  # than on the source
    view: str  # what it rests on: "features", or "logits" alone


@dataclass(frozen=True)
class Cause:
    """The likely cause of what moved."""

    cause: str  # one of `CAUSES`
    among: tuple[str, ...]  # what it may be, where the cause is unclear
    why: str  # what speaks for it, without a full stop
    signs: CauseSigns
    rows: tuple[int, ...] = ()  # of the period, the images that carry it, those first that do most


@dataclass(frozen=True, eq=False)
class CauseReader:
    """A source of m images with what periods are compared with; make it with `fit_causes`."""

    source: Outputs
    temperature: float
    moving: np.ndarray  # float64[m, K], features of length 1, or logits as `_other_logits` says
    means: np.ndarray  # float64[C, K] of the predicted classes, NaN where none is
    distances: np.ndarray  # float64[m] to the nearest others, or less the largest logits
    limits: CauseLimits = field(default_factory=CauseLimits)

    __repr__ = short_repr

    @checked
    def read(self, period: Outputs, *, count: int = 12) -> Cause:
        """Name the likely cause of what moved in a period, and the rows of `count` images that carry it."""
        view = self._view(period)
        far = -period.logits.max(axis=1) if self.source.features is None else _distances(view, self.moving)
        pulls = self._pulls(view, period.predictions)
        signs = self._compare(period, view, far, pulls)
        cause, among, why = decide_cause(signs, self.limits)

        if cause == NONE:
            rows = np.empty(0, np.int64)
        elif cause == SHARES:
            before, now = self._counts(period)
            grown = now / now.sum() - before / before.sum()
            rows = np.lexsort((-confidences_of(period, self.temperature), -grown[period.predictions]))
        elif cause == APPEARANCE:  # where all classes together moved
            means = np.nan_to_num(self.means)[period.predictions]
            rows = np.argsort(-((view - means) @ pulls.sum(axis=0)), kind="stable")
        else:
            rows = np.argsort(-far, kind="stable")
        return Cause(cause, among, why, signs, tuple(rows[:count].tolist()))

    def _view(self, period: Outputs) -> np.ndarray:
        if period.classes != len(self.means):
            raise OpenworldError(f"the period has {period.classes} classes and the source {len(self.means)}.")
        if self.source.features is None:
            return _other_logits(period)
        features = period.array("features", "a period whose source has features")
        if features.shape[1] != self.moving.shape[1]:
            raise OpenworldError(
                f"features of the period have {features.shape[1]} numbers and those of the source "
                f"{self.moving.shape[1]}; take them from one model."
            )
        return features

    def _counts(self, period: Outputs) -> tuple[np.ndarray, np.ndarray]:
        """Return how many images are given each class, int64[C], on the source and in the period."""
        here, there = (np.bincount(side.predictions, minlength=period.classes) for side in (self.source, period))
        return here, there

    def _compare(self, period: Outputs, view: np.ndarray, far: np.ndarray, pulls: np.ndarray) -> CauseSigns:
        before, now = self._counts(period)
        distance, chance = moved_shares(before, now)
        weights = (now / np.maximum(before, 1))[self.source.predictions]
        weights = weights if weights.any() else np.ones(len(weights))
        sure_before, sure = (confidences_of(side, self.temperature) for side in (self.source, period))
        largest = [side.logits.max(axis=1) for side in (self.source, period)]
        pairs = ((sure_before, sure), largest, (self.distances, far))
        differences = [largest_difference(at_home, weights, others) for at_home, others in pairs]
        effective = weights.sum() ** 2 / (weights**2).sum()
        within = max(differences) / min(1.0, CHANCE * sqrt(1 / effective + 1 / period.n))
        near = np.argsort(far, kind="stable")[: -(-period.n // 2)]
        return CauseSigns(
            n=period.n,
            shares=max(0.0, distance - chance),
            within=float(within),
            coherence=coherence(pulls),
            nearest=coherence(self._pulls(view[near], period.predictions[near])),
            power=coherence(np.linalg.norm(pulls, axis=1, keepdims=True)),
            unlike=unlike_share(-self.distances, -far),
            surer=bool(np.average(sure_before, weights=weights) < sure.mean()),
            view="logits" if self.source.features is None else "features",
        )

    def _pulls(self, view: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Return where the images of each predicted class moved, at the square root of their number."""
        counts = np.bincount(predicted, minlength=len(self.means))
        both = np.flatnonzero((counts > 0) & np.isfinite(self.means[:, 0]))
        if not both.size:
            return np.zeros((0, view.shape[1]))
        moved = np.array([view[predicted == name].mean(axis=0) - self.means[name] for name in both])
        lengths = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), TINY)
        return moved / lengths * np.sqrt(counts[both, None])


@checked
def fit_causes(source: Outputs, *, limits: CauseLimits = CauseLimits()) -> CauseReader:
    """Keep what periods are compared with; features of the source, if periods will have some from the same model."""
    source.require(("labels",), "the comparison of periods")
    bare = source.features is None
    moving = _other_logits(source) if bare else source.features
    means = np.full((source.classes, moving.shape[1]), np.nan)
    for name in np.unique(source.predictions):
        means[name] = moving[source.predictions == name].mean(axis=0)
    distances = -source.logits.max(axis=1) if bare else _distances(moving, moving, own=True)
    return CauseReader(source, temperature_of(source).value, moving, means, distances, limits)


def decide_cause(signs: CauseSigns, limits: CauseLimits = CauseLimits()) -> tuple[str, tuple[str, ...], str]:
    """Return the cause, those among which it lies where it is unclear, and what speaks for it."""
    within = f"within its names the model is {'surer' if signs.surer else 'less sure'} than on the source"
    moved = signs.within > limits.within
    together = signs.coherence > limits.coherence
    if together and signs.nearest > limits.apart:
        alike = f"images of all predicted classes moved in one direction (z {signs.coherence:.1f})"
        return APPEARANCE, (), alike + (f", and {within}" if moved else "; the model is about as sure as on the source")
    if not moved and not together and signs.shares <= limits.shares:
        return NONE, (), ""
    if not moved and signs.shares > limits.shares:
        shares = f"classes are predicted in other shares (total variation {signs.shares:.2f} beyond chance)"
        return SHARES, (), f"{shares}, and within its names the model is about as sure as on the source"
    if signs.power < limits.power:
        why = f"{within}; too few images of too few predicted classes to see whether they moved in one direction"
        return UNCLEAR, (NEW, APPEARANCE, MEANING), why
    if signs.unlike < limits.unlike:
        return UNCLEAR, (APPEARANCE, MEANING), "images moved, and hardly any lies farther from the source than its own"
    apart = signs.coherence <= limits.apart
    if signs.view == "logits":
        why = f"{within}, and predicted classes moved {'each its own way' if apart else 'hardly in one direction'}"
        return UNCLEAR, (NEW, MEANING) if apart else (NEW, APPEARANCE, MEANING), f"{why}; features would show more"
    likely = MEANING if signs.unlike > limits.mostly else NEW
    why = f"about {100 * signs.unlike:.0f} % of the images lie farther from the source than its own do"
    if not apart:
        return UNCLEAR, (likely, APPEARANCE), f"{why}, perhaps in one direction (z {signs.coherence:.1f})"
    return likely, (), f"{why}, each predicted class in a direction of its own"


def coherence(pulls: np.ndarray) -> float:
    """Return z of displacements float[C, K], which count by their lengths; 0 of fewer than two."""
    products = pulls @ pulls.T
    np.fill_diagonal(products, 0.0)
    size = sqrt(2 * float((products**2).sum()))
    return float(products.sum()) / size if size else 0.0


def largest_difference(values: np.ndarray, weights: np.ndarray, others: np.ndarray) -> float:
    """Return the largest difference of the distribution functions of weighted values and of others."""
    order, others = np.argsort(values), np.sort(others)
    reached = np.r_[0.0, np.cumsum(weights[order])] / weights.sum()
    points = np.r_[values, others]
    first = reached[np.searchsorted(values[order], points, side="right")]
    return float(np.abs(first - np.searchsorted(others, points, side="right") / len(others)).max())


def unlike_share(source: np.ndarray, period: np.ndarray) -> float:
    """Return the share of a period that is not of the source's law; scores are larger for source-like images."""
    # It is no less than the truth wherever some region of scores holds no image but such as the source's.
    return 1 - best_bin_share(source, period, np.quantile(source, np.linspace(0, 0.95, 39)))


def _other_logits(outputs: Outputs) -> np.ndarray:
    """Return logits less the mean of those of the classes that are not predicted; 0 for the predicted one."""
    # Its own logit falls whatever the cause, and with it in the mean all others would rise as one.
    rows, predictions = np.arange(outputs.n), outputs.predictions
    total = outputs.logits.sum(axis=1) - outputs.logits[rows, predictions]
    moved = outputs.logits - (total / (outputs.classes - 1))[:, None]
    moved[rows, predictions] = 0.0
    return moved


def _distances(rows: np.ndarray, known: np.ndarray, *, own: bool = False) -> np.ndarray:
    """Return mean cosine distances to the nearest known rows; `own`: rows are these, and none is its own neighbour."""
    step = -(-len(known) // ROWS)
    known, nearest = known[::step], np.empty(len(rows))
    size = max(1, BLOCK // len(known))
    for start in range(0, len(rows), size):
        distances = 1 - rows[start : start + size] @ known.T
        if own:
            places = np.arange(start, start + len(distances))
            distances[places[places % step == 0] - start, places[places % step == 0] // step] = np.inf
        wanted = max(1, min(NEIGHBOURS, len(known) - own))
        nearest[start : start + size] = np.partition(distances, wanted - 1, axis=1)[:, :wanted].mean(axis=1)
    return nearest
