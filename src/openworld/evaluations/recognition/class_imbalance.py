"""Other mixes of base and new images (OpenworldAUC, Hua et al., 2025): domain imbalance, and the sweep over ratios.

Imbalance (Table 3): every class of one half keeps one image in `factor`, the other half stays as it is. Forward shrinks
the new half, so that base images are `factor` times as many to a new one as they were; backward shrinks the base half.
The sweep (Tables 11 and 12) multiplies the natural share of new to base images by each of several ratios.

The paper draws once; a single draw of a fifth of the images moves a number by a point or more. So every mix is drawn
`resamples` times, from (seed, resample): means, the standard deviation of one draw, and all values are kept. Images are
drawn one by one as in the paper, not by the groups that make them dependent; the interval over images, of the mean over
all possible draws, is clustered by group. Learners of one seed meet the same draws.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from openworld import metrics
from openworld.evaluations.recognition.record import (
    MIXED,
    SHRUNK,
    ExpectedAUC,
    MixNumbers,
    RatioMix,
    ShrunkMix,
    Variation,
)
from openworld.evaluations.recognition_metrics import Table, headline, rows_of, sides
from openworld.metrics import seed_spread
from openworld.metrics.thinning import kept_share, thin

_READ = ("score", "correct", "label", "joint_prediction")


def other_mixes(table: Table, *, factor: float, ratios: Sequence[float], resamples: int, seed: int) -> dict:
    """What a record says of other mixes.

    Args:
        table: per-image table, as `image_table` gives it.
        factor: of the imbalance, at least 1.
        ratios: of the sweep, above 0.
        resamples: draws of every mix, at least 1.
        seed: of the draws.

    Returns:
        The fields of a record: imbalance (Table 3); ratio_sweep, the rows of Tables 11 and 12: per ratio the counts,
        the mean of each of MIXED over the draws, and its spread; ratio_variation, their last rows: mean and variance
        over the ratios. Both of these are of one draw, as the tables print them, and then averaged over the draws.
        (Fractions: the printed variance, in squared points, is 10,000 times as large.)
    """
    base, new = (_slim(half) for half in sides(table))
    sweeps = [_sweep(base, new, ratios, np.random.default_rng([seed, resample])) for resample in range(resamples)]
    return {
        "imbalance": imbalance(table, factor, resamples, seed),
        "ratio_sweep": tuple(RatioMix(**_join(draws)) for draws in zip(*sweeps, strict=True)),
        "ratio_variation": {name: _variation([[point[name] for point in sweep] for sweep in sweeps]) for name in MIXED},
    }


def imbalance(table: Table, factor: float = 5.0, resamples: int = 20, seed: int = 0) -> dict[str, ShrunkMix]:
    """Every number with one half shrunk, for "forward" and "backward".

    Args:
        table, factor, resamples, seed: as of `other_mixes`.
    """
    halves = dict(zip(("base", "new"), sides(table), strict=True))
    return {name: _shrink(halves, side, factor, resamples, seed) for name, side in SHRUNK.items()}


def _shrink(halves: Mapping[str, Table], side: str, factor: float, resamples: int, seed: int) -> ShrunkMix:
    slim = {name: _slim(half) for name, half in halves.items()}
    draws = []
    for resample in range(resamples):
        generator = np.random.default_rng([seed, resample])
        rows = thin(slim[side]["label"], factor, generator)
        draws.append(_numbers(**slim | {side: rows_of(slim[side], rows)}))
    joined, values = _join(draws), [draw["openworld_auc"] for draw in draws]
    return ShrunkMix(
        factor=factor,
        **joined,
        standard_deviation=joined["spread"].openworld_auc,
        interval=None if None in values else seed_spread(values).interval(),  # None where all draws are alike
        values=tuple(values),
        expected=_expected(halves, side, factor),
    )


def _expected(halves: Mapping[str, Table], side: str, factor: float) -> ExpectedAUC:
    """Return the value over all draws, images weighted by their chance to be drawn (see `metrics.thinning`)."""
    weights = {f"{side}_weights": kept_share(halves[side]["label"], factor)}
    scored = [halves[name][column] for name in ("base", "new") for column in ("score", "correct")]
    groups = {f"{name}_groups": half["group"] for name, half in halves.items()}
    expected = metrics.openworld_auc(*scored, **weights, **groups)
    return ExpectedAUC(expected.value, expected.reason, expected.interval())


def _variation(sweeps: list[list[float | None]]) -> Variation:
    """Return the variation of one number; None where it is undefined, or there are less than two ratios."""
    if not sweeps[0] or any(value is None for sweep in sweeps for value in sweep):
        return Variation(None, None)
    values = np.array(sweeps)
    variance = float(values.var(axis=1, ddof=1).mean()) if values.shape[1] > 1 else None
    return Variation(float(values.mean()), variance)


def _sweep(base: Table, new: Table, ratios: Sequence[float], generator: np.random.Generator) -> list[dict]:
    """The numbers at every ratio, in one draw.

    A ratio above one keeps 1 / ratio of the base images, one below keeps that share of the new images: the first of one
    order of each side, so that within a draw smaller samples are parts of larger ones.
    """
    base_order, new_order = (generator.permutation(len(side["label"])) for side in (base, new))
    return [
        {"ratio": ratio}
        | _numbers(
            rows_of(base, base_order[: _kept(len(base_order), min(1.0, 1 / ratio))]),
            rows_of(new, new_order[: _kept(len(new_order), min(1.0, ratio))]),
        )
        for ratio in ratios
    ]


def _kept(count: int, share: float) -> int:
    return max(1, round(count * share)) if count else 0


def _slim(half: Table) -> dict[str, np.ndarray]:
    """The columns that numbers are made of: a few draws of a wide table take longer than all of their numbers."""
    return {name: np.asarray(half[name]) for name in _READ if name in half}


def _numbers(base: Table, new: Table) -> dict:
    """Counts and MIXED of two sides; without groups, which only standard errors ask for."""
    outcome = metrics.openworld_auc(base["score"], base["correct"], new["score"], new["correct"])
    counts = {"n_base": outcome.n_base, "n_new": outcome.n_new}
    return counts | headline(base, new, outcome) | {"openworld_auc": outcome.value}


def _join(draws: Sequence[dict]) -> dict:
    """Numbers of several draws of one mix: what they share, their means, and under `spread` standard deviations."""
    shared = {name: value for name, value in draws[0].items() if name not in MIXED}
    values = {name: [draw[name] for draw in draws] for name in MIXED}
    means = {name: _mean(each) for name, each in values.items()}
    spread = MixNumbers(**{name: _deviation(each) for name, each in values.items()})
    return shared | {"resamples": len(draws)} | means | {"spread": spread}


def _mean(values: list[float | None]) -> float | None:
    if None in values:
        return None
    return values[0] if len(set(values)) == 1 else float(np.mean(values))  # equal draws differ by no rounding


def _deviation(values: list[float | None]) -> float | None:
    if None in values or len(values) < 2:
        return None
    return 0.0 if len(set(values)) == 1 else float(np.std(values, ddof=1))
