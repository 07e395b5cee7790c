"""The verdict on an OOD-detection run: does either shift raise the AUROC, who is best where, who is blind.

A direction is claimed for an axis where most detectors' slopes are significant, after Holm's correction over all of
them, on the common cells, for over all cells the mix may make a trend; where it does, the verdict says so. The best
detector was chosen on the images that it is scored on: its tests are corrected for all pairs of detectors.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

import numpy as np

from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.measurements import AUROC, CELLS, COMMON, slope_of
from openworld.evaluations.ood_detection.results import DetectionResults, is_blind, is_mixed
from openworld.evaluations.ood_detection.tables import counted_images, reach
from openworld.report.sentences import HOLM, below_chance, counted, few, leads, listed, possessive, span
from openworld.report.shift_axes import AXES
from openworld.results import Comparison, Result, Value, against_chance, find_comparison, standing

NAMED = 3  # models or detectors that a sentence names
SLOPE = slope_of(AUROC)


def verdict(results: DetectionResults) -> tuple[str, ...]:
    """Sentences: semantic shift, covariate shift, the best detectors, blind cells, and what this rests on."""
    facts = results.facts
    if not facts.present().any():
        return (
            f"No cell holds {facts.least} images, so nothing can be said of shift by cell; give a larger pool, fewer "
            "levels, or a lower `least`.",
            _evidence(facts),
        )
    sentences = (*(axis_sentence(results, axis) for axis in AXES), _best(results), _blind(results))
    return (*filter(None, sentences), _evidence(facts))


def axis_sentence(results: DetectionResults, axis: str) -> str:
    """Whether shift along an axis raises the AUROC, by how much for whom, and whether the mix of cells makes it."""
    tests = results.slope_tests(axis)
    if any(test.difference is None for test in tests):
        return f"{axis.capitalize()} shift: fewer than two levels have a cell, so nothing can be said."
    other, verbs = "column" if axis == "covariate" else "row", {1: "raises the AUROC", -1: "lowers the AUROC"}
    verb = verbs.get(direction(tests), "does not significantly move the AUROC one way")
    first = f"{axis.capitalize()} shift ({AXES[axis]}) {verb}: {_sizes(results, tests, axis)}."
    if tests[0].where["cells"] != COMMON:
        return f"{first} No {other} is present at all levels, so the mix of cells may make this trend."
    return f"{first} Read on the {other}s that all its levels share. {_mix(results, axis)}".rstrip()


def direction(tests: Sequence[Comparison]) -> int:
    """1 or -1 where it is that of the significant slopes of more than half of the detectors, else 0."""
    signs = [np.sign(test.difference) * test.differs for test in tests]
    return next((sign for sign in (1, -1) if 2 * signs.count(sign) > len(signs)), 0)


def _sizes(results: DetectionResults, tests: Sequence[Comparison], axis: str) -> str:
    """Points per level, model by model, or on average where there are many."""
    pairs, models = list(zip(results.facts.detectors, tests, strict=True)), results.facts.models
    if len(models) == 1 or len(models) > NAMED:
        return _size(results, pairs, axis)
    by_model = {model: [pair for pair in pairs if pair[0].model == model] for model in models}
    return "; ".join(f"of {model} {_size(results, sizes, axis)}" for model, sizes in by_model.items())


def _size(results: DetectionResults, pairs: Sequence[tuple[Detector, Comparison]], axis: str) -> str:
    """The mean slope, from where to where, and for how many detectors it is significant."""
    slope = SLOPE.write(fmean(test.difference for _, test in pairs))
    ends = [reach(results.curve(detector, axis, test.where["cells"])) for detector, test in pairs]
    near, far = (AUROC.write(fmean(end)) for end in zip(*ends, strict=True))
    up, down = (sum(test.differs and sign * test.difference > 0 for _, test in pairs) for sign in (1, -1))
    ways = " and ".join([f"up for {up}"] * bool(up) + [f"down for {down}"] * bool(down))
    if len(pairs) == 1:
        sure = "which is significant" if ways else "which is not significant"
    else:
        sure = f"{f'significantly {ways}' if ways else 'significant for none'} of {len(pairs)} detectors"
    return f"{slope} points per level, from {near} to {far} ({sure})"


def _mix(results: DetectionResults, axis: str) -> str:
    """What the mix of cells does; "" where it does nothing."""
    detectors = results.facts.detectors
    everything, common = ([results.trend(detector, axis, cells) for detector in detectors] for cells in CELLS)
    mixed = sum(map(is_mixed, everything, common))
    if not mixed:
        return ""
    slope = SLOPE.write(fmean(value.value for value in everything))
    whose = "" if len(detectors) == 1 else f"for {mixed} of {len(detectors)} detectors "
    return (
        f"But over all cells that are present it would be {slope}, {whose}a trend that the mix of cells makes, because "
        "N/A cells are missing from some levels only."
    )


def _best(results: DetectionResults) -> str:
    facts = results.facts
    areas = {detector.title: results.whole_pool(detector) for detector in facts.detectors}
    tests = against_chance(Result(name, AUROC, area) for name, area in areas.items())
    turned = below_chance(tests, "in-distribution")
    best, *others = results.ranked() or [None]
    if not others:
        return turned
    cells = results.best_cells()
    counts = {detector: int(where.sum()) for detector, where in cells.items()}
    others = [detector for detector in counts if detector != best and counts[detector]]
    leaders = sorted(others, key=counts.get, reverse=True)
    value, present = results.whole_pool(best), int(facts.present().sum())
    number = f"{AUROC.write(value.value)} {AUROC.write_interval(value.over())}".rstrip()
    leading = [test for test in results.rows.comparisons if test.metric.key == "auroc"]
    found = standing({name: area.value for name, area in areas.items()}, partial(find_comparison, leading))
    sentence = leads(found, "AUROC against the whole pool", number, "detectors", "largest")
    if not any(test.better for test in tests):
        sentence = (
            f"No detector is shown to be above chance against the whole pool (AUROC 50; {HOLM}): the largest AUROC is "
            f"{possessive(best.title)}, {number}"
        )
    sentence += f"; of {present} cells {best.title} has the largest AUROC in {counts[best]}"
    named = [f"{detector.title} in {counts[detector]} ({_where(cells[detector])})" for detector in leaders[:NAMED]]
    named += [f"{len(leaders) - NAMED} more in some"] * (len(leaders) > NAMED)
    return f"{', '.join([sentence, *filter(None, [listed(named)] if named else [])])}. {turned}".rstrip()


def _where(cells: np.ndarray) -> str:
    """Say in which part of the grid most of some cells lie: nearer or farther on either axis."""
    if cells.sum() == 1:
        return _levels(cells)
    parts = []
    for place, name in ((1, AXES["semantic"]), (0, AXES["covariate"])):
        levels = np.nonzero(cells)[place]
        near = int((levels < cells.shape[place] / 2).sum())
        if 2 * near != len(levels):
            parts.append(f"{'near' if 2 * near > len(levels) else 'far'} in {name}")
    return f"mostly {' and '.join(parts)}" if parts else "here and there"


def _blind(results: DetectionResults) -> str:
    """Where every detector is blind, and which is least and most often."""
    blind, present = _masks(results, is_blind), int(results.facts.present().sum())
    everywhere = np.logical_and.reduce(list(blind.values()))
    counts = {detector: int(cells.sum()) for detector, cells in blind.items()}
    worst, least = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    meaning = "blind: the 95 % interval over images reaches down to 50, chance"
    if len(counts) == 1:
        return f"It is blind in {counts[worst]} of {present} cells ({meaning}).{_below(results)}"
    where = f" ({_levels(everywhere)})" if everywhere.any() else ""
    first = f"In {int(everywhere.sum()) or 'none'} of {present} cells every detector is blind{where}"
    second = f"such cells are fewest for {least.title} ({counts[least]}), most for {worst.title} ({counts[worst]})"
    return f"{first}; {second} ({meaning}).{_below(results)}"


def _below(results: DetectionResults) -> str:
    detectors = results.facts.detectors
    tests = against_chance(
        Result(detector.title, AUROC, area) for detector in detectors for area in results.cells(detector).values()
    )
    counts = Counter(test.entity for test in tests if test.worse)
    if not counts:
        return ""
    ((most, count),) = counts.most_common(1)
    who, cells = "it" if len(detectors) == 1 else most, counted(count, "cell")
    return f" In {cells} {who} is below chance ({HOLM}): it ranks their images above the in-distribution ones."


def _masks(results: DetectionResults, holds: Callable[[Value], bool]) -> dict[Detector, np.ndarray]:
    """bool[R, C], cells in which something holds of a detector's AUROC."""
    return {
        detector: np.array([*map(holds, results.cells(detector).values())]).reshape(results.facts.shape)
        for detector in results.facts.detectors
    }


def _levels(cells: np.ndarray) -> str:
    """The levels that some cells span."""
    rows, columns = np.nonzero(cells)
    return f"semantic level {span(columns.tolist())}, covariate level {span(rows.tolist())}"


def seeds_text(facts: ShiftFacts) -> str:
    """Seeds of every model, those that are alike together."""
    by_count: dict[int, list[str]] = {}
    for model in facts.models:
        by_count.setdefault(len(facts.seeds(model)), []).append(model)
    parts = {counted(count, "seed"): few(models, "models", NAMED) for count, models in by_count.items()}
    return listed([f"{seeds} of {models}" for seeds, models in parts.items()] if len(parts) > 1 else list(parts))


def _evidence(facts: ShiftFacts) -> str:
    pool, source, present = facts.first.pool, facts.first.source, facts.present()
    chosen = " The best detector was chosen on the images that it is scored on, which flatters it."
    classes = f" of {source.classes} classes" if facts.has_models else ""
    whose = f" of {few(facts.models, 'models', NAMED)}, {seeds_text(facts)}" if facts.has_models else ""
    measured = facts.first.levels["semantic"].edges is not None
    cut = " Levels cut this pool's own degrees." if measured else " Levels are those that were given."
    return (
        f"This rests on {source.n:,} in-distribution images{classes} against a pool of {pool.n:,} "
        f"in {int(present.sum())} of {present.size} cells ({counted_images(facts)}), "
        f"{counted(len(facts.detectors), 'detector')}{whose}.{cut}{chosen * (len(facts.detectors) > 1)}"
    )
