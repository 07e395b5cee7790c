"""The verdict on a run of incremental shift: does either shift raise the AUROC, who is best where, who is blind.

A direction is claimed for an axis where most detectors' slopes are shown, after Holm's correction over all of them, on
the common cells, for over all cells the mix may make a trend; where it does, this is said. Who is best was chosen on
the pictures it is judged on; whether it is above the next is tested on the same pictures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.gaps import lead
from openworld.evaluations.ood_detection.numbers import (
    Slope,
    blind,
    curves,
    ends,
    firsts,
    leader,
    mixed,
    overall,
    shown,
    slope,
    turned,
)
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.evaluations.ood_detection.wording import NAMED, bracketed_points, counted, number, seeds_told
from openworld.report.sentences import listed, span
from openworld.report.shift_axes import AXES
from openworld.report.text import percent, signed


def shift_verdict(run: ShiftRun) -> list[str]:
    """Sentences: semantic shift, covariate shift, the best detectors, blind cells, and what this rests on."""
    if not run.cells.present.any():
        none = (
            f"No cell holds {run.least} pictures, so nothing can be said of shift by cell; give a larger pool, fewer "
        )
        return [f"{none}levels, or a lower `least`.", _evidence(run)]
    parts = (*(axis_sentence(run, axis) for axis in AXES), _best(run), _blind(run), _evidence(run))
    return [sentence for sentence in parts if sentence]


@dataclass(frozen=True)
class AxisTrend:
    """The slopes of all detectors along an axis, over all cells and on common ones."""

    everything: tuple[Slope, ...]
    common: tuple[Slope, ...]

    @classmethod
    def of(cls, run: ShiftRun, axis: str) -> "AxisTrend":
        """Of a run."""
        both = [[slope(run.cells, one, axis, common=common) for one in run.judged] for common in (False, True)]
        return cls(*map(tuple, both))

    @property
    def judged(self) -> tuple[Slope, ...]:
        """What the direction is read from: common cells, where there are any."""
        return self.common if any(one.slope.value is not None for one in self.common) else self.everything

    @property
    def signs(self) -> list[int]:
        """1 or -1 for those of `judged` whose slope is shown, else 0."""
        return shown(self.judged)

    @property
    def mixed(self) -> int:
        """For how many detectors the mix of cells makes the trend."""
        return sum(map(mixed, self.everything, self.common))


def direction(signs: Sequence[int]) -> int:
    """1 or -1 where it is that of more than half of the detectors, else 0."""
    return next((sign for sign in (1, -1) if 2 * signs.count(sign) > len(signs)), 0)


def axis_sentence(run: ShiftRun, axis: str) -> str:
    """Whether shift along an axis raises the AUROC, by how much for whom, and whether the mix of cells makes it."""
    found = AxisTrend.of(run, axis)
    if _mean(found.judged) is None:
        return f"{axis.capitalize()} shift: fewer than two levels have a cell, so nothing can be said."
    common, other = found.judged is found.common, "columns" if axis == "covariate" else "rows"
    verb = {1: "raises the AUROC", -1: "lowers the AUROC", 0: "is not shown to move the AUROC one way"}
    where = f" Read on the {other} that all its levels share." * common
    told = (
        f"{axis.capitalize()} shift ({AXES[axis]}) {verb[direction(found.signs)]}: {_sizes(run, found, axis)}.{where}"
    )
    return f"{told} {_warning(found, other)}".rstrip()


def _sizes(run: ShiftRun, found: AxisTrend, axis: str) -> str:
    """Points per level, model by model, or on average where there are many."""
    models, common = run.models, found.judged is found.common
    if len(models) > NAMED:
        return _size(found.judged, found.signs, _reached(run, run.judged, axis, common))
    parts = []
    for model in models:
        places = [place for place, one in enumerate(run.judged) if one.model == model]
        reached = _reached(run, [run.judged[place] for place in places], axis, common)
        who = f"of {model} " * (len(models) > 1)
        own = ([of[place] for place in places] for of in (found.judged, found.signs))
        parts.append(f"{who}{_size(*own, reached)}")
    return "; ".join(parts)


def _size(slopes: Sequence[Slope], signs: Sequence[int], reached: str) -> str:
    """The mean slope and for how many detectors it is beyond doubt."""
    up, down = signs.count(1), signs.count(-1)
    clear = " and ".join([f"up for {up}"] * bool(up) + [f"down for {down}"] * bool(down))
    sure = f"clearly {clear} of {len(signs)} detectors" if clear else f"clear for none of {len(signs)} detectors"
    if len(signs) == 1:
        sure = "which is clear" if clear else "which is not clear"
    return f"{signed(_mean(slopes))} points per level,{reached} ({sure})"


def _reached(run: ShiftRun, judged: Sequence[Judged], axis: str, common: bool) -> str:
    """From where to where, mean over some detectors."""
    found = [ends(curves(run.cells, one, axis, common=common)) for one in judged]
    near, far = (float(np.mean(values)) for values in zip(*found, strict=True))
    return f" from {percent(near)} to {percent(far)}"


def _warning(found: AxisTrend, other: str) -> str:
    """What the mix of cells does; "" where it does nothing."""
    if found.judged is not found.common:
        return f"No {other[:-1]} is present at all levels, so the mix of cells may make this trend."
    if not found.mixed:
        return ""
    count, mean = len(found.common), _mean(found.everything)
    whose = "" if count == 1 else f"for {found.mixed} of {count} detectors "
    return (
        f"Beware: over all cells that are there it would be {signed(mean)}, {whose}a trend that the mix of cells "
        "makes, as N/A cells are missing from some levels only."
    )


def _mean(slopes: Sequence[Slope]) -> float | None:
    values = [one.slope.value for one in slopes]
    return None if None in values or not values else float(np.mean(values))


def _best(run: ShiftRun) -> str:
    best = leader(run)
    if best is None or len(run.judged) == 1:
        return ""
    found, present = firsts(run.cells, run.judged), int(run.cells.present.sum())
    counts = {one: int(cells.sum()) for one, cells in found.items()}
    others = sorted((one for one in run.judged if one != best and counts[one]), key=lambda one: -counts[one])
    told = f"{best.title} has the largest AUROC against the whole pool, {number(overall(run, best))}, and in "
    told += f"{counts[best]} of {present} cells"
    named = [f"{one.title} in {counts[one]} ({_where(found[one])})" for one in others[:NAMED]]
    more = [f"{len(others) - NAMED} more in some"] if len(others) > NAMED else []
    return f"{told}; {listed(named + more)}.{_ahead(run)}" if named else f"{told}.{_ahead(run)}"


def _ahead(run: ShiftRun) -> str:
    """Whether the best is shown to be above the next; "" where that cannot be tested."""
    found = lead(run)
    if found is None or found.ahead.interval is None:
        return ""
    far = f"{signed(found.ahead.value)} {bracketed_points(found.ahead)} points over {found.ahead.over}"
    verb = "is shown" if found.shown else "is not shown"
    many = f", corrected for {found.others} comparisons" * (found.others > 1)
    return f" {found.best.title} {verb} to be above the next, {found.second.title}: {far}{many}."


def _where(cells: np.ndarray) -> str:
    """In which part of the grid most of some cells lie: nearer or farther on either axis."""
    if cells.sum() == 1:
        return _near(cells)
    parts = []
    for axis, name in ((1, "meaning"), (0, "looks")):
        levels = np.nonzero(cells)[axis]
        near = int((levels < cells.shape[axis] / 2).sum())
        if 2 * near != len(levels):
            parts.append(f"{'near' if 2 * near > len(levels) else 'far'} in {name}")
    return f"mostly {' and '.join(parts)}" if parts else "here and there"


def _blind(run: ShiftRun) -> str:
    """Where nobody sees anything, and who is blind least and most often."""
    cells = run.cells
    every = {one: blind(cells, one) for one in run.judged}
    nobody, present = np.logical_and.reduce(list(every.values())), int(cells.present.sum())
    counts = {one: int(found.sum()) for one, found in every.items()}
    worst, least = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    meant = "blind: the 95 % interval over pictures reaches down to 50, chance"
    if len(counts) == 1:
        return f"It is blind in {counts[worst]} of {present} cells ({meant}).{_turned(run)}"
    where = f" ({_near(nobody)})" if nobody.any() else ""
    told = f"In {int(nobody.sum()) or 'none'} of {present} cells every detector is blind{where}"
    told += f"; such cells are fewest for {least.title} ({counts[least]}), most for {worst.title} ({counts[worst]})"
    return f"{told} ({meant}).{_turned(run)}"


def _near(found: np.ndarray) -> str:
    """The levels that some cells span."""
    rows, columns = np.nonzero(found)
    return f"semantic level {span(columns.tolist())}, covariate level {span(rows.tolist())}"


def _turned(run: ShiftRun) -> str:
    counts = {one: int(turned(run.cells, one).sum()) for one in run.judged}
    most = max(counts, key=counts.__getitem__)
    who = "it" if len(counts) == 1 else most.title
    if not counts[most]:
        return ""
    plural = "s" * (counts[most] > 1)
    return f" In {counts[most]} cell{plural} {who} is below chance: it ranks them above the in-distribution pictures."


def _evidence(run: ShiftRun) -> str:
    told, cells = run.told[0], run.cells
    pool, source = told["pool"], told["source"]
    count = f"{len(run.judged)} detector{'s' * (len(run.judged) > 1)}"
    judged = f"{count} of {listed(run.models) if len(run.models) <= NAMED else f'{len(run.models)} models'}"
    flattered = " Who is best was chosen on the pictures it is judged on, which flatters it." * (len(run.judged) > 1)
    return (
        f"This rests on {source['n']:,} in-distribution pictures of {source['classes']} classes against a pool of "
        f"{pool['n']:,} in {int(cells.present.sum())} of {cells.present.size} cells ({counted(run)}), {judged}, "
        f"{seeds_told(run)}. Levels cut this pool's own degrees.{flattered}"
    )
