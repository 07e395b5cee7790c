"""What a run of open-world quality by shift says, in sentences made from its numbers and tests."""

from collections.abc import Sequence

import numpy as np

from openworld.evaluations.recognition_by_shift.numbers import TOLD, Levels, Test, estimate_errors, mean_of
from openworld.evaluations.recognition_by_shift.run import PARTS, OpenWorldShiftRun
from openworld.report.sentences import listed
from openworld.report.shift_axes import AXES
from openworld.report.text import bracketed, percent, signed


def open_world_shift_verdict(levels: Levels) -> list[str]:
    """The best learner and how it fares along both axes, tuning against not tuning, estimates, and the evidence."""
    run = levels.run
    best = best_learner(levels)
    sentences = [_leader(levels, best), *(_along(levels, best, view, axis) for view, axis in TOLD)]
    sentences += [_turned(levels, best)]
    sentences += [_tuning(levels, view, axis) for view, axis in TOLD]
    sentences += [_estimates(run)] if run.estimators else []
    return [*filter(None, sentences), _evidence(run)]


def best_learner(levels: Levels) -> str:
    """The one with the highest OpenworldAUC against all new pictures."""
    return max(levels.run.learners, key=lambda name: levels.overall[name].value or 0.0)


def _leader(levels: Levels, best: str) -> str:
    one, others = levels.overall[best], len(levels.run.learners) - 1
    among = f" of {others + 1} learners" if others else ""
    number = f"{percent(one.value)} {bracketed(one.interval())}".strip()
    return f"Against all new pictures {best} has the highest OpenworldAUC{among}, {number}."


def _along(levels: Levels, best: str, view: str, axis: str) -> str:
    """From the nearest level to the farthest, with the parts."""
    known = [level for level, one in enumerate(levels.of(best, view, axis)) if one is not None]
    if len(known) < 2:
        return ""
    ends = {part: [levels.values(best, view, axis, part)[level] for level in (known[0], known[-1])] for part in PARTS}
    moved = [part for part in PARTS if part != "openworld_auc" and (part != "base_accuracy" or view != "near")]
    parts = listed([f"{PARTS[part]} {_from_to(ends[part])}" for part in moved])
    together = " if base pictures change their looks too" if view != "near" else ""
    whole = _from_to(ends["openworld_auc"])
    return f"From the nearest to the farthest level of {AXES[axis]}{together}, its OpenworldAUC: {whole} ({parts})."


def _turned(levels: Levels, best: str) -> str:
    """Who leads when base pictures change their looks, too, where that is somebody else."""
    known = {name: _mean(levels.values(name, "same_looks", "covariate")) for name in levels.run.learners}
    if None in known.values():
        return ""
    other = max(known, key=known.get)
    if other == best:
        return ""
    return (
        f"If base pictures change their looks too, {other} has the highest OpenworldAUC, mean of the levels: "
        f"{percent(known[other])}, and {best} {percent(known[best])}."
    )


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None


def _tuning(levels: Levels, view: str, axis: str) -> str:
    """At which levels learners are shown to differ from the one that tunes nothing."""
    found = levels.tests(view, axis)
    if not found:
        return ""
    told = [f"{name} is {words}" for name, tests in found.items() if (words := _differing(tests))]
    together = ", base pictures in the same looks" if view != "near" else ""
    said = "; ".join(told) if told else "no learner is shown to differ"
    return f"Against {levels.run.yardstick}, level by level of {AXES[axis]}{together}: {said}."


def _differing(tests: Sequence[Test]) -> str:
    """Levels by the verdict there; empty where nothing is shown.

    >>> _differing([Test(0.1, 0.01), Test(-0.1, 0.02), Test(-0.2, 0.04), Test(None, None)])
    'better at 0 and worse at 1 and 2'
    """
    places = {word: [str(level) for level, test in enumerate(tests) if test.sign == sign] for word, sign in _SIGNS}
    return " and ".join(f"{word} at {listed(levels)}" for word, levels in places.items() if levels)


_SIGNS = (("better", 1), ("worse", -1))


def _estimates(run: OpenWorldShiftRun) -> str:
    """Who errs least, and whether that holds as the shift grows."""
    errors = {name: mean_of(np.abs(estimate_errors(run, name))) for name in run.estimators}
    known = {name: value for name, value in errors.items() if value is not None}
    if not known:
        return "No estimator could say anything."
    best = min(known, key=known.get)
    off = estimate_errors(run, best)
    told = [f"Of the label-free estimates {best} errs least: {percent(known[best])} points over cells and learners"]
    for axis in AXES:
        by_level = [mean_of(np.abs(off), axis, level) for level in range(len(run.level_counts(axis)))]
        ends = [value for value in by_level if value is not None]
        told.append(f"{_from_to((ends[0], ends[-1]))} along {AXES[axis]}")
    bias = mean_of(off)
    return f"{told[0]} ({'; '.join(told[1:])}), mean signed error {signed(bias)}."


def _evidence(run: OpenWorldShiftRun) -> str:
    told, seeds = run.any, len(run.seeds)
    sides = f"{told['n_base_images']:,} base and {int(run.counts.sum()):,} new pictures"
    return (
        f"This rests on {sides}, of {told['n_base_classes']} and {told['n_new_classes']} classes, and {seeds} "
        f"seed{'s' * (seeds > 1)}; degrees are those of one model, and levels are of this pool."
    )


def _from_to(ends) -> str:
    return f"{percent(ends[0])} to {percent(ends[1])}"
