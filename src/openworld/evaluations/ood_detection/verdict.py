"""The verdict on an OOD-detection run: does either shift raise the AUROC, who is best where, who is blind.

A direction is claimed for an axis where most detectors' slopes are significant, after Holm's correction over all of
them, on the common cells, for over all cells the mix may make a trend; where it does, the verdict says so. The best
detector was chosen on the images that it is scored on; whether it is above the next is tested on the same images.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.leads import DIFFERENCE, ranked
from openworld.evaluations.ood_detection.results import (
    AUROC,
    CELLS,
    COMMON,
    along,
    best_cells,
    cell_values,
    curve,
    is_below_chance,
    is_blind,
    is_mixed,
    slope_of,
    slope_tests,
    whole_pool,
)
from openworld.evaluations.ood_detection.tables import counted, reach
from openworld.report.sentences import counted as number_of
from openworld.report.sentences import listed, span
from openworld.report.shift_axes import AXES
from openworld.results import Comparison, Results

NAMED = 3  # models or detectors that a sentence names


def verdict(found: Results, facts: ShiftFacts) -> tuple[str, ...]:
    """Sentences: semantic shift, covariate shift, the best detectors, blind cells, and what this rests on."""
    if not facts.present().any():
        return (
            f"No cell holds {facts.least} images, so nothing can be said of shift by cell; give a larger pool, fewer "
            "levels, or a lower `least`.",
            _evidence(facts),
        )
    parts = (*(axis_sentence(found, facts, axis) for axis in AXES), _best(found, facts), _blind(found, facts))
    return (*filter(None, parts), _evidence(facts))


def axis_sentence(found: Results, facts: ShiftFacts, axis: str) -> str:
    """Whether shift along an axis raises the AUROC, by how much for whom, and whether the mix of cells makes it."""
    tests = slope_tests(found, axis)
    if any(test.difference is None for test in tests):
        return f"{axis.capitalize()} shift: fewer than two levels have a cell, so nothing can be said."
    common, other = tests[0].where["cells"] == COMMON, "columns" if axis == "covariate" else "rows"
    verbs = {1: "raises the AUROC", -1: "lowers the AUROC", 0: "does not significantly move the AUROC one way"}
    where = f" Read on the {other} that all its levels share." * common
    first = f"{axis.capitalize()} shift ({AXES[axis]}) {verbs[direction(tests)]}: {_sizes(found, facts, tests, axis)}."
    return f"{first}{where} {_warning(found, facts, tests, axis)}".rstrip()


def direction(tests: Sequence[Comparison]) -> int:
    """1 or -1 where it is that of the significant slopes of more than half of the detectors, else 0."""
    signs = [np.sign(test.difference) * test.differs for test in tests]
    return next((sign for sign in (1, -1) if 2 * signs.count(sign) > len(signs)), 0)


def _sizes(found: Results, facts: ShiftFacts, tests: Sequence[Comparison], axis: str) -> str:
    """Points per level, model by model, or on average where there are many."""
    both = list(zip(facts.detectors, tests, strict=True))
    if len(facts.models) > NAMED:
        return _size(found, facts, both, axis)
    parts = []
    for model in facts.models:
        who = f"of {model} " * (len(facts.models) > 1)
        parts.append(f"{who}{_size(found, facts, [pair for pair in both if pair[0].model == model], axis)}")
    return "; ".join(parts)


def _size(found: Results, facts: ShiftFacts, both: Sequence[tuple[Detector, Comparison]], axis: str) -> str:
    """The mean slope, from where to where, and for how many detectors it is significant."""
    slope = slope_of(AUROC).write(fmean(test.difference for _, test in both))
    curves = [reach(curve(found, facts, one, axis, test.where["cells"])) for one, test in both]
    near, far = (AUROC.write(fmean(ends)) for ends in zip(*curves, strict=True))
    up, down = (sum(test.differs and sign * test.difference > 0 for _, test in both) for sign in (1, -1))
    ways = " and ".join([f"up for {up}"] * bool(up) + [f"down for {down}"] * bool(down))
    sure = (
        f"significantly {ways} of {len(both)} detectors" if ways else f"significant for none of {len(both)} detectors"
    )
    if len(both) == 1:
        sure = "which is significant" if ways else "which is not significant"
    return f"{slope} points per level, from {near} to {far} ({sure})"


def _warning(found: Results, facts: ShiftFacts, tests: Sequence[Comparison], axis: str) -> str:
    """What the mix of cells does; "" where it does nothing."""
    if tests[0].where["cells"] != COMMON:
        other = "column" if axis == "covariate" else "row"
        return f"No {other} is present at all levels, so the mix of cells may make this trend."
    everything, common = ([along(found, facts, one, axis, cells) for one in facts.detectors] for cells in CELLS)
    mixed, count = sum(map(is_mixed, everything, common)), len(common)
    if not mixed:
        return ""
    slope = slope_of(AUROC).write(fmean(value.value for value in everything))
    whose = "" if count == 1 else f"for {mixed} of {count} detectors "
    return (
        f"But over all cells that are present it would be {slope}, {whose}a trend that the mix of cells makes, because "
        "N/A cells are missing from some levels only."
    )


def _best(found: Results, facts: ShiftFacts) -> str:
    best, *others = ranked(found, facts) or [None]
    if not others:
        return ""
    cells = best_cells(found, facts)
    counts = {one: int(where.sum()) for one, where in cells.items()}
    leaders = sorted((one for one in facts.detectors if one != best and counts[one]), key=lambda one: -counts[one])
    value = whole_pool(found, facts, best)
    first = (
        f"{best.title} has the largest AUROC against the whole pool, "
        f"{AUROC.write(value.value)} {AUROC.write_interval(value.over())}".rstrip()
        + f", and in {counts[best]} of {int(facts.present().sum())} cells"
    )
    named = [f"{one.title} in {counts[one]} ({_where(cells[one])})" for one in leaders[:NAMED]]
    named += [f"{len(leaders) - NAMED} more in some"] * (len(leaders) > NAMED)
    return f"{first}; {listed(named)}.{_ahead(found, best)}" if named else f"{first}.{_ahead(found, best)}"


def _ahead(found: Results, best: Detector) -> str:
    """Whether the best is significantly above the next; "" where that cannot be tested."""
    tests = [one for one in found.comparisons if one.metric.key == "auroc" and one.entity == best.title]
    test = tests[0]
    if test.interval is None:
        return ""
    size = f"{DIFFERENCE.write(test.difference)} {DIFFERENCE.write_interval(test.interval)}"
    verb = "is significantly" if test.differs else "is not significantly"
    many = f", corrected for {len(tests)} comparisons" * (len(tests) > 1)
    return f" {best.title} {verb} above the next, {test.other}: {size} points over {test.interval.over}{many}."


def _where(cells: np.ndarray) -> str:
    """In which part of the grid most of some cells lie: nearer or farther on either axis."""
    if cells.sum() == 1:
        return _levels(cells)
    parts = []
    for place, name in ((1, AXES["semantic"]), (0, AXES["covariate"])):
        levels = np.nonzero(cells)[place]
        near = int((levels < cells.shape[place] / 2).sum())
        if 2 * near != len(levels):
            parts.append(f"{'near' if 2 * near > len(levels) else 'far'} in {name}")
    return f"mostly {' and '.join(parts)}" if parts else "here and there"


def _blind(found: Results, facts: ShiftFacts) -> str:
    """Where every detector is blind, and which is least and most often."""
    cells = {one: cell_values(found, facts, one) for one in facts.detectors}
    blind = {one: _mask(facts, values, is_blind) for one, values in cells.items()}
    everywhere, present = np.logical_and.reduce(list(blind.values())), int(facts.present().sum())
    counts = {one: int(where.sum()) for one, where in blind.items()}
    worst, least = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    meaning = "blind: the 95 % interval over images reaches down to 50, chance"
    below = _below(facts, {one: _mask(facts, values, is_below_chance) for one, values in cells.items()})
    if len(counts) == 1:
        return f"It is blind in {counts[worst]} of {present} cells ({meaning}).{below}"
    where = f" ({_levels(everywhere)})" if everywhere.any() else ""
    first = f"In {int(everywhere.sum()) or 'none'} of {present} cells every detector is blind{where}"
    second = f"such cells are fewest for {least.title} ({counts[least]}), most for {worst.title} ({counts[worst]})"
    return f"{first}; {second} ({meaning}).{below}"


def _mask(facts: ShiftFacts, values: Mapping, holds) -> np.ndarray:
    """bool[R, C], cells whose value `holds`."""
    return np.array([holds(values[place]) for place in np.ndindex(facts.shape)]).reshape(facts.shape)


def _levels(cells: np.ndarray) -> str:
    """The levels that some cells span."""
    rows, columns = np.nonzero(cells)
    return f"semantic level {span(columns.tolist())}, covariate level {span(rows.tolist())}"


def _below(facts: ShiftFacts, below: Mapping[Detector, np.ndarray]) -> str:
    counts = {one: int(cells.sum()) for one, cells in below.items()}
    most = max(counts, key=counts.__getitem__)
    if not counts[most]:
        return ""
    who, cells = "it" if len(counts) == 1 else most.title, number_of(counts[most], "cell")
    return f" In {cells} {who} is below chance: it ranks their images above the in-distribution ones."


def seeds_text(facts: ShiftFacts) -> str:
    """Seeds of every model, those that are alike together."""
    by_count: dict[int, list[str]] = {}
    for model in facts.models:
        by_count.setdefault(len(facts.seeds(model)), []).append(model)
    parts = [number_of(count, "seed") for count in by_count]
    if len(parts) == 1:
        return parts[0]
    whose = [listed(models) if len(models) <= NAMED else f"{len(models)} models" for models in by_count.values()]
    return listed([f"{part} of {models}" for part, models in zip(parts, whose, strict=True)])


def _evidence(facts: ShiftFacts) -> str:
    pool, source, present = facts.first.pool, facts.first.source, facts.present()
    cells, detectors = f"{int(present.sum())} of {present.size} cells", number_of(len(facts.detectors), "detector")
    models = listed(facts.models) if len(facts.models) <= NAMED else f"{len(facts.models)} models"
    several = len(facts.detectors) > 1
    chosen = " The best detector was chosen on the images that it is scored on, which flatters it." * several
    return (
        f"This rests on {source.n:,} in-distribution images of {source.classes} classes against a pool of {pool.n:,} "
        f"in {cells} ({counted(facts)}), {detectors} of {models}, {seeds_text(facts)}. "
        f"Levels cut this pool's own degrees.{chosen}"
    )
