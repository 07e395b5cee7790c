"""Estimates on a target of any size, read block by block: memory holds one block and one sample, never the target.

Estimators whose error is a mean over images are exact: the means of the blocks add up, weighted by how many images each
speaks of (`of_images`). FRAP is one of them as soon as the temperature of its reference is known, which the sample
tells. The others look at the whole set at once (transport, shares of classes, agreement of models) and are given a
uniform sample. A target that fits into the sample is the sample, and nothing differs from `FittedEstimator.estimate`.
A target in order is cut into spans that follow each other, such as days: a sample of each, one in memory at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.estimators.average_confidence import AC
from openworld.estimators.calibrated_confidence import CBPE
from openworld.estimators.difference_of_confidences import DoC
from openworld.estimators.disagreement import GDE
from openworld.estimators.engine.fitted import Estimate, FittedEstimator
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.frap import FRAP
from openworld.estimators.importance import IM
from openworld.estimators.rap import RAP
from openworld.estimators.thresholded_confidence import ATCMaxConfidence, ATCNegativeEntropy

Blocks = Callable[[], Iterable[Outputs]]
"""Gives the blocks of a target anew each time it is called, always the same images in the same order."""

OF_IMAGES = (AC, DoC, IM, GDE, ATCMaxConfidence, ATCNegativeEntropy, CBPE, FRAP, RAP)
MEANS = ("dropped_mass", "target_confidence", "base_weight", "divergence")  # details that are means over images
ROWS, FEWEST, NUMBERS = 50_000, 5_000, 20_000_000  # of a sample: at most, at least, and numbers between the two
SPAN_ROWS = 10_000  # of a span's sample: an accuracy is then known to a point


@dataclass(frozen=True, eq=False)
class Sample:
    """Images drawn from a target of n without replacement, in its order; `rows` int64[m] says which they are."""

    outputs: Outputs
    rows: np.ndarray
    n: int

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return len(self.rows) == self.n


def of_images(fitted: FittedEstimator) -> bool:
    """Return whether the error is a mean over images, so that blocks add up to the whole."""
    has_shares = (
        getattr(fitted.estimator, "slices", None) == "given"
    )  # whose weights rest on the shares of the whole target
    return type(fitted.estimator) in OF_IMAGES and not has_shares


def sample_rows(outputs: Outputs) -> int:
    """Return how many images of such outputs a sample may hold: it stays small however many classes there are."""
    tables = 1 + (outputs.reference is not None) + len(outputs.partners)
    return min(ROWS, max(FEWEST, NUMBERS // (tables * outputs.classes)))


class Sampler:
    """Draws images from a target while it passes by, each as likely as any other; the blocks do not matter."""

    # Every image gets a lot, a random number, as it passes; the images of the lowest lots are the sample.

    def __init__(self, rows: int | None = None, *, seed: int = 0):  # rows: to hold; default `sample_rows` of a block
        self.rows, self.n, self._generator = rows, 0, np.random.default_rng(seed)
        self._outputs: Outputs | None = None
        self._places, self._lots = np.zeros(0, np.int64), np.zeros(0)

    def add(self, block: Outputs) -> None:
        """Let a block pass by; it must be like those before."""
        self.rows = self.rows or sample_rows(block)
        places, lots = np.arange(self.n, self.n + block.n), self._generator.random(block.n)
        self.n += block.n
        if self._outputs is not None:
            _require_alike(self._outputs, block)
            if len(self._lots) == self.rows:  # late blocks of a large target have few images to offer
                better = lots < self._lots.max()
                if not better.any():
                    return
                block, places, lots = block.take(better), places[better], lots[better]
            block = _joined(self._outputs, block)
        places, lots = np.concatenate([self._places, places]), np.concatenate([self._lots, lots])
        if len(lots) > self.rows:
            lowest = np.sort(np.argpartition(lots, self.rows - 1)[: self.rows])
            block, places, lots = block.take(lowest), places[lowest], lots[lowest]
        self._outputs, self._places, self._lots = block, places, lots

    @classmethod
    def after(cls, sample: Sample, rows: int, *, seed: int = 0) -> "Sampler":
        """Return a sampler that goes on where another of these settings ended, as if there had been no break."""
        sampler = cls(rows, seed=seed)
        lots = sampler._generator.random(sample.n)[sample.rows]
        sampler.n, sampler._outputs, sampler._places, sampler._lots = sample.n, sample.outputs, sample.rows, lots
        return sampler

    @property
    def sample(self) -> Sample:
        """What was drawn of all blocks so far."""
        if self._outputs is None:
            raise OpenworldError("the target holds no image; there is nothing to estimate.")
        return Sample(self._outputs, self._places, self.n)


def estimate_stream(
    fitted: Mapping[str, FittedEstimator],
    blocks: Blocks,
    sample: Sample,
    *,
    interval: bool = True,
    seed: int = 0,
    resamples: int = 200,
) -> dict[str, Estimate]:
    """Return what fitted estimators say about a target that is read block by block, by the same names.

    Where the uniform sample is not the whole target, `details["sampled"]` says how many images it holds,
    the interval is that of the sample, moved to the estimate, and there are no sample scores.
    """
    drawn: dict[str, Any] = {"interval": interval, "seed": seed, "resamples": resamples}
    guess = {name: fit.estimate(sample.outputs, **drawn) for name, fit in fitted.items()}
    if sample.whole:
        return guess
    sums = {name: _Sums(_pinned(fit, guess[name])) for name, fit in fitted.items() if of_images(fit)}
    for block in blocks():
        for total in sums.values():
            total.add(block)
    warning = f"estimated on a uniform sample of {len(sample.rows):,} of {sample.n:,} target images"
    estimates = {}
    for name, of_sample in guess.items():
        sampled = replace(of_sample, warnings=(*of_sample.warnings, warning))
        estimates[name] = sums[name].estimate(of_sample) if name in sums else sampled
    size = {"n_target": sample.n, "sampled": len(sample.rows)}
    return {name: replace(value, details=value.details | size, sample_scores=None) for name, value in estimates.items()}


def _joined(first: Outputs, second: Outputs) -> Outputs:
    """Return the outputs of both, one behind the other."""
    parts: dict[str, Any] = {}
    for name in (field.name for field in fields(Outputs)):
        before, after = getattr(first, name), getattr(second, name)
        if name == "partners":
            parts[name] = tuple(np.concatenate(pair) for pair in zip(before, after, strict=True))
        elif before is not None:
            parts[name] = np.concatenate([before, after])
    return Outputs(**parts)


def _require_alike(first: Outputs, second: Outputs) -> None:
    """Refuse blocks of other classes, or of which only some have labels, a reference, partners."""
    for name in (field.name for field in fields(Outputs)):
        before, after = (getattr(block, name) for block in (first, second))
        if (before is None) != (after is None):
            raise OpenworldError(f"some blocks of the target have {name}, others none; give it for all or none.")
        if isinstance(before, tuple) and len(before) != len(after):
            raise OpenworldError(f"blocks of the target have {len(before)} and {len(after)} {name}; give all the same.")
    if first.classes != second.classes:
        raise OpenworldError(f"blocks of the target have {first.classes} and {second.classes} classes.")


def _pinned(fitted: FittedEstimator, sampled: Estimate) -> FittedEstimator:
    """FRAP with the temperature that the sample gives its reference; anything else as it is."""
    estimator = fitted.estimator
    if not isinstance(estimator, FRAP) or estimator.tau != "dynamic" or "tau" not in sampled.details:
        return fitted
    at_rest = replace(estimator, tau=sampled.details["tau"])
    if estimator.tau_source == "target" and fitted.state is not None:  # its source waits for the target's tau
        return at_rest.fit(fitted.state[1])
    return replace(fitted, estimator=at_rest)


class _Sums:
    """Sums over the blocks seen so far: of errors and of details, each image counted that the estimator speaks of."""

    def __init__(self, fitted: FittedEstimator):
        self.fitted, self.n, self.spoken_of, self.error = fitted, 0, 0.0, 0.0
        self.details: dict[str, float] = {}

    def add(self, block: Outputs) -> None:
        estimate = self.fitted.estimate(block, interval=False)
        spoken_of = block.n * (1 - estimate.details.get("dropped_mass", 0.0))
        self.n, self.spoken_of = self.n + block.n, self.spoken_of + spoken_of
        self.error += 0.0 if estimate.raw_error is None else spoken_of * estimate.raw_error
        for name in set(MEANS) & estimate.details.keys():
            self.details[name] = self.details.get(name, 0.0) + block.n * estimate.details[name]

    def estimate(self, sampled: Estimate) -> Estimate:
        """Return the estimate with warnings, interval and further details of the sample."""
        details: dict[str, Any] = sampled.details | {name: total / self.n for name, total in self.details.items()}
        if not self.spoken_of:
            return replace(sampled, details=details)
        estimate = Estimate.of(self.error / self.spoken_of, details=details, warnings=sampled.warnings)
        if sampled.interval is None:
            return estimate
        moved = np.clip(np.array(sampled.interval) + estimate.accuracy - sampled.accuracy, 0, 1)
        return replace(estimate, interval=(float(moved[0]), float(moved[1])))


@dataclass(frozen=True, eq=False)
class Span:
    """Images of one key that follow each other. first: the place of the first of them in the target."""

    key: int
    first: int
    sample: Sample


def spans(
    pieces: Iterable[tuple[Outputs, np.ndarray]],
    *,
    rows: int = SPAN_ROWS,
    seed: int = 0,
    opened: Span | None = None,  # the last of pieces that came before, which goes on where its key does
    before: int = 0,  # how many images came before
) -> Iterator[Span]:
    """Cut a target, in blocks each with keys int64[n] that never fall, such as days, where the key changes."""
    key, first, rows_before, sampler = None, 0, before, None
    if opened is not None:
        key, first, sampler = opened.key, opened.first, Sampler.after(opened.sample, rows, seed=seed)
    for block, keys in pieces:
        edges = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
        for start, stop in pairwise(edges):
            value = int(keys[start])
            if value != key or sampler is None:
                if sampler is not None and key is not None:
                    yield Span(key, first, sampler.sample)
                if key is not None and value < key:
                    raise OpenworldError(
                        f"image {rows_before - before + start:,} comes before the ones above it; sort them by time."
                    )
                key, first, sampler = value, rows_before + start, Sampler(rows, seed=seed)
            sampler.add(block.take(slice(start, stop)))
        rows_before += block.n
    if sampler is not None and key is not None:
        yield Span(key, first, sampler.sample)
