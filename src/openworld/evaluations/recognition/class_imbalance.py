"""Other mixes of base and new images (OpenworldAUC, Hua et al., 2025): domain imbalance, and the sweep over ratios.

Imbalance (Table 3): every class of one half keeps one image in `factor`, the other half stays as it is. Forward shrinks
the new half, so that base images are `factor` times as many to a new one as they were; backward shrinks the base half.
The sweep (Tables 11 and 12) multiplies the natural share of new to base images by each of several ratios.

The paper draws once; a single draw of a fifth of the images moves a number by a point or more. So every mix is drawn
`resamples` times, from (seed, resample): the mean over the draws, with the standard deviation of one. Images are
drawn one by one as in the paper, not by the groups that make them dependent. Learners of one seed meet the same draws.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from openworld import metrics
from openworld.evaluations.recognition_metrics import Table, overall_accuracy, rows_of, sides
from openworld.metrics.thinning import thin
from openworld.results import METRICS, Metric, Result
from openworld.results.value import value_or

MIXED = ("base_accuracy", "new_accuracy", "harmonic_mean", "auroc", "overall_accuracy", "openworld_auc")
"""The numbers of a mix."""

VARIANCES = {
    name: Metric(f"{name}_variance", f"variance of {METRICS[name].title}", "squared points", 2, -1, (0.0, None))
    for name in MIXED
}
SHRUNK = {"forward": "new", "backward": "base"}  # which half has fewer images, by the paper's names of the two tasks
ALL_RATIOS = "all ratios"  # the mix that means and variances over the sweep are of

UNDEFINED = "it is not defined in every draw"
_READ = ("score", "correct", "label", "joint_prediction")


def mix_rows(
    table: Table, learner: str, *, factor: float, ratios: Sequence[float], resamples: int, seed: int
) -> Iterator[Result]:
    """Yield every number of every other mix: means over the draws, with the standard deviation of one draw."""
    base, new = ({name: np.asarray(half[name]) for name in _READ if name in half} for half in sides(table))
    for direction, side in SHRUNK.items():
        draws = []
        for resample in range(resamples):
            halves, generator = {"base": base, "new": new}, np.random.default_rng([seed, resample])
            halves[side] = rows_of(halves[side], thin(halves[side]["label"], factor, generator))
            draws.append(_numbers(**halves))
        yield from _means(draws, learner, {"mix": direction})

    sweeps = [_sweep(base, new, ratios, np.random.default_rng([seed, resample])) for resample in range(resamples)]
    for ratio, *draws in zip(ratios, *sweeps, strict=True):
        n_base, n_new = draws[0]["n_base"], draws[0]["n_new"]
        yield from _means(draws, learner, {"ratio": float(ratio), "new_share": n_new / (n_base + n_new)})
    if ratios:  # the last rows of Tables 11 and 12: of one draw as the tables print them, then averaged over the draws
        for name in MIXED:
            yield from _variation([[draw[name] for draw in sweep] for sweep in sweeps], name, learner)


def _sweep(base: Table, new: Table, ratios: Sequence[float], generator: np.random.Generator) -> list[dict]:
    """Return the numbers at every ratio, in one draw."""
    # A ratio above one keeps 1 / ratio of the base images, one below keeps that share of the new images: the first of
    # one order of each side, so that within a draw smaller samples are parts of larger ones.
    base_order, new_order = (generator.permutation(len(side["label"])) for side in (base, new))
    return [
        _numbers(
            rows_of(base, base_order[: _kept(len(base_order), min(1.0, 1 / ratio))]),
            rows_of(new, new_order[: _kept(len(new_order), min(1.0, ratio))]),
        )
        for ratio in ratios
    ]


def _kept(count: int, share: float) -> int:
    return max(1, round(count * share)) if count else 0


def _numbers(base: Table, new: Table) -> dict:
    """Return counts and MIXED of two sides; without groups, which only standard errors ask for."""
    areas = metrics.openworld_auc(base["score"], base["correct"], new["score"], new["correct"])
    named = ("n_base", "n_new", "base_accuracy", "new_accuracy", "harmonic_mean", "auroc")
    numbers = {name: getattr(areas, name) for name in named}
    return numbers | {"overall_accuracy": overall_accuracy(base, new), "openworld_auc": areas.value}


def _means(draws: Sequence[Mapping], learner: str, where: Mapping[str, str | float]) -> Iterator[Result]:
    """Yield the mean over draws of every number, with the deviation of one."""
    for name in MIXED:
        values = [draw[name] for draw in draws]
        if None in values:
            yield Result(learner, METRICS[name], value_or(None, UNDEFINED), where)
            continue
        alike = len(set(values)) == 1  # equal draws differ by no rounding
        deviation = None if len(values) < 2 else 0.0 if alike else float(np.std(values, ddof=1))
        mean = values[0] if alike else float(np.mean(values))
        yield Result(learner, METRICS[name], value_or(mean, "", deviation=deviation), where)


def _variation(sweeps: list[list[float | None]], name: str, learner: str) -> Iterator[Result]:
    """Yield mean and variance over the ratios of one number, means over the draws."""
    where, mean, variance = {"mix": ALL_RATIOS}, None, None
    if not any(value is None for sweep in sweeps for value in sweep):
        values = np.array(sweeps)
        mean = float(values.mean())
        variance = float(values.var(axis=1, ddof=1).mean()) if values.shape[1] > 1 else None
    yield Result(learner, METRICS[name], value_or(mean, UNDEFINED), where)
    reason = UNDEFINED if mean is None else "it takes two ratios at least"
    yield Result(learner, VARIANCES[name], value_or(variance, reason), where)
