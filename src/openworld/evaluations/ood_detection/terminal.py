"""The table of a run of incremental shift for a terminal of any width: a line per model and detector.

Where not everything fits, the intervals go first, then the ends of the axes; all is in the report.
"""

from collections.abc import Iterator

from openworld import _terminal as terminal
from openworld._terminal import FirstThatFits, Head, TerminalTable, styled
from openworld.evaluations.ood_detection.numbers import Slope, curves, ends, leader, mixed, overall, slope
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.evaluations.ood_detection.wording import caption, number, sloped, spanned
from openworld.report.shift_axes import AXES
from openworld.report.text import percent, signed


def terminal_shifts(run: ShiftRun) -> FirstThatFits:
    """What rich prints: points with one decimal, 95 % in brackets, levels from near to far, slopes per level."""
    return FirstThatFits([_drawn(run, *kept) for kept in ((True, True), (False, True), (False, False))])


def _drawn(run: ShiftRun, intervals: bool, both_ends: bool) -> TerminalTable:
    """The table with the intervals of slopes, and the ends of the axes, or without."""
    best, models = leader(run), len(run.models) > 1
    told = f"{caption(run)} *: the mix of cells makes the slope; on common cells it turns or differs by a point."
    lacking = "" if intervals and both_ends else " For want of room not all is shown; the report has the rest."
    titles = ("AUROC", *(title for axis in AXES for title in _titles(axis, both_ends)))
    heads = (terminal.name("detector"), *([terminal.name("model")] if models else []), *map(Head, titles))
    rows = [
        styled(_cells(run, one, intervals, both_ends), "bold" if one == best and len(run.judged) > 1 else "")
        for one in run.judged
    ]
    return TerminalTable(heads, rows, told + lacking)


def _cells(run: ShiftRun, judged: Judged, intervals: bool, both_ends: bool) -> Iterator[str]:
    yield judged.detector
    if len(run.models) > 1:
        yield judged.model
    whole = overall(run, judged)
    yield number(whole) if intervals else percent(whole.value)
    for axis in AXES:
        if both_ends:
            yield spanned(ends(curves(run.cells, judged, axis)))
        found = [slope(run.cells, judged, axis, common=common) for common in (False, True)]
        yield _short(found[0], intervals) + "*" * mixed(*found)
        yield _short(found[1], intervals)


def _titles(axis: str, both_ends: bool) -> tuple[str, ...]:
    reached = (f"{axis} near → far",) if both_ends else ()
    return (*reached, "slope" if both_ends else f"{axis} slope", "common")


def _short(one: Slope, intervals: bool) -> str:
    if intervals or one.slope.value is None:
        return sloped(one)
    return signed(one.slope.value)
