"""Signs that a target is not of the source's law, each with a p-value; and the fall of accuracy that they would miss.

Every sign compares the two sets by one vector an image, and all by one statistic, the energy distance (Szekely and
Rizzo, 2004), which is 0 only where two laws are equal:

    E = 2 E|X - Y| - E|X - X'| - E|Y - Y'| = -(u - v)' D (u - v)

with the distances D of all images from each other and the weights u = 1/n of source and v = 1/m of target images. Under
one law the images of both sides may be dealt anew, so that p = (1 + deals with an E as large) / (1 + deals) holds
exactly (a permutation test); the same deals serve all signs. The vectors are those of `vectors_of`; "methods", how far
DoC lies above COT against source-like sets (`quote.decision`), is not by dealing anew. A sign speaks where its p-value
is below .05 after Holm's correction for all signs, or below .01 by itself.

What speaks of none does not show that nothing has changed. So sets are drawn from the source in which its mistakes are
more frequent, as many images as the target has, and each is tested in the same way: the least fall of accuracy that is
seen in nine of ten such sets is the fall that may hide.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences, temperature_of
from openworld.metrics import holm

OUTPUTS, CONFIDENCES, NAMED, REFERENCE, PARTNER, EMBEDDINGS, APPEARANCE, METHODS = SIGNS = (
    "outputs",
    "confidences",
    "named classes",
    "agreement with the reference",
    "agreement with a partner",
    "embeddings",
    "appearance",
    "methods",
)
ROWS = 1_000  # images of a side that are compared, a uniform sample of more; time grows with the square
DEALS = 999
LEVEL, ALONE = 0.05, 0.01  # p-values below which a sign speaks: after Holm's correction, and by itself
FALLS = (0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
SETS, SEEN = 50, 0.9  # drawn for each of these falls, and the share of them in which it must be seen
TIE = 1e-6  # share of the mean distance by which equal energies may differ in single precision


@dataclass(frozen=True)
class ShiftSign:
    """One way in which source and target may differ."""

    name: str  # one of `SIGNS`
    p: float  # p-value under one law, in (0, 1]
    distance: float  # energy less its mean under one law, over 2 E|X - Y|
    change: float | None = None  # mean of the target less that of the source, of confidences and agreements
    energy: float = 0.0  # 0 or more; of methods 0


@dataclass(frozen=True)
class ShiftSigns:
    """All signs of one target, in the order of `SIGNS`."""

    signs: tuple[ShiftSign, ...]
    unseen: float  # the least of FALLS that they see in nine of ten sets; 1 where none, or the source has no mistake

    @property
    def adjusted(self) -> dict[str, float]:
        """p-values after Holm's correction (1979), by name."""
        corrected = zip(self.signs, holm([sign.p for sign in self.signs]), strict=True)
        return {sign.name: p for sign, p in corrected if p is not None}

    @property
    def speaking(self) -> tuple[ShiftSign, ...]:
        """Those that speak of a shift, the clearest first."""
        adjusted = self.adjusted
        clear = [sign for sign in self.signs if sign.p < ALONE or adjusted[sign.name] < LEVEL]
        return tuple(sorted(clear, key=lambda sign: (sign.p, -sign.distance)))

    def __getitem__(self, name: str) -> ShiftSign | None:
        return next((sign for sign in self.signs if sign.name == name), None)


@checked
def shift_signs(source: Outputs, target: Outputs, *, deals: int = DEALS, seed: int = 0) -> ShiftSigns:
    """Compare what both sets know of their images, dealt anew so many times; no label of the target is looked at."""
    source.require(("labels",), "the comparison of source and target")
    temperature = temperature_of(source).value
    generator = np.random.default_rng(seed)
    source, target = (sample(side, generator) for side in (source, target))
    here, other = vectors_of(source, temperature), vectors_of(target, temperature)
    weights = np.repeat(np.array([1 / source.n, -1 / target.n], np.float32), [source.n, target.n])
    dealt = np.stack([weights, *(generator.permutation(weights) for _ in range(deals))])
    signs, distances, limits = [], {}, {}
    for name in [name for name in here if name in other]:
        both = np.concatenate([here[name], other[name]])
        if name == APPEARANCE:  # of unlike units
            both = both / np.maximum(both.std(axis=0), 1e-6)
        between = pairwise(both)
        energies = energy(between, dealt)
        scale = 2 * float(between[: source.n, source.n :].mean()) or 1.0
        reached = (energies[1:] >= energies[0] - TIE * scale).sum()
        signs.append(
            ShiftSign(
                name,
                float(1 + reached) / (1 + deals),
                float(energies[0] - energies[1:].mean()) / scale,
                float(other[name].mean() - here[name].mean()) if both.shape[1] == 1 else None,
                float(energies[0]),
            )
        )
        distances[name] = between[: source.n, : source.n]
        limits[name] = float(np.quantile(energies[1:], 1 - ALONE)) + TIE * scale
    return ShiftSigns(tuple(signs), _unseen_fall(source, target.n, distances, limits, generator))


def vectors_of(outputs: Outputs, temperature: float) -> dict[str, np.ndarray]:
    """Return the vectors float32[n, K] of the images by the name of the sign that compares them."""
    logits = outputs.logits / temperature
    predictions = outputs.predictions
    vectors = {
        OUTPUTS: logits - logits.mean(axis=1, keepdims=True),  # at the source's temperature
        CONFIDENCES: confidences(outputs.logits, temperature)[:, None],
        NAMED: np.eye(outputs.classes)[predictions],
    }
    if outputs.reference is not None:
        vectors[REFERENCE] = (outputs.reference.argmax(axis=1) == predictions)[:, None]
    for place, partner in enumerate(outputs.partners, 1):
        vectors[PARTNER if place == 1 else f"{PARTNER} {place}"] = (partner.argmax(axis=1) == predictions)[:, None]
    if outputs.features is not None:
        vectors[EMBEDDINGS] = outputs.features
    if outputs.appearance is not None:
        vectors[APPEARANCE] = outputs.appearance
    return {name: np.asarray(rows, np.float32) for name, rows in vectors.items()}


def pairwise(rows: np.ndarray) -> np.ndarray:
    """Return Euclidean distances float32[n, n] of rows float32[n, K]; exactly 0 between equal rows."""
    rows = rows - rows.mean(axis=0, dtype=np.float64)  # products of what lies far from 0 lose digits
    squares = np.einsum("ij,ij->i", rows, rows)
    between = squares[:, None] + squares[None] - 2 * rows @ rows.T
    between[between < 1e-12 * squares.max(initial=0)] = 0.0  # what is left of a difference of equal numbers
    return np.sqrt(between, out=between).astype(np.float32)


def energy(between: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return energy distances float64[B] from distances float32[n, n], for first less second weights float32[B, n]."""
    return -np.einsum("bi,bi->b", weights @ between, weights, dtype=np.float64)


def sample(outputs: Outputs, generator: np.random.Generator) -> Outputs:
    """Return at most `ROWS` images, drawn uniformly, in their order."""
    if outputs.n <= ROWS:
        return outputs
    return outputs.take(np.sort(generator.choice(outputs.n, ROWS, replace=False)))


def _unseen_fall(
    source: Outputs,
    m: int,
    distances: Mapping[str, np.ndarray],
    limits: Mapping[str, float],
    generator: np.random.Generator,
) -> float:
    """Return the least of FALLS that is seen in nine of ten sets of m images with more of the mistakes."""
    wrong, accuracy = source.wrong, 1 - source.mistakes / source.n

    def is_seen(fall: float) -> bool:
        law = np.where(wrong, (1 - accuracy + fall) / wrong.sum(), (accuracy - fall) / max((~wrong).sum(), 1))
        first = generator.multinomial(source.n, np.full(source.n, 1 / source.n), SETS) / source.n
        second = generator.multinomial(m, law / law.sum(), SETS) / m
        weights, seen = (first - second).astype(np.float32), np.zeros(SETS, bool)
        for name, between in distances.items():
            seen |= energy(between, weights) > limits[name]
        return seen.mean() >= SEEN

    falls = [fall for fall in FALLS if fall <= accuracy] if wrong.any() else []
    place = bisect_left(falls, True, key=is_seen)
    return falls[place] if place < len(falls) else 1.0
