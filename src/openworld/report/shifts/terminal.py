"""The table of a run of incremental shift for a terminal of any width: a line per model and detector.

Where not everything fits, the intervals go first, then the ends of the axes; all is in the report.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from openworld.report.figures.figure import percent, signed
from openworld.report.shifts.numbers import Slope, curves, ends, leader, mixed, overall, slope
from openworld.report.shifts.run import AXES, Judged, ShiftRun
from openworld.report.shifts.words import caption, number, sloped, spanned


def terminal_shifts(run: ShiftRun) -> "Terminal":
    """What rich prints: points with one decimal, 95 % in brackets, levels from near to far, slopes per level."""
    return Terminal(run)


@dataclass(frozen=True, eq=False)
class Terminal:
    """A table that asks the console how wide it is."""

    run: ShiftRun

    def __rich_console__(self, console, options):
        from rich.measure import Measurement

        for intervals, both_ends in ((True, True), (False, True), (False, False)):
            drawn = self.drawn(intervals=intervals, both_ends=both_ends)
            if Measurement.get(console, options.update(max_width=1000), drawn).maximum <= options.max_width:
                break
        yield drawn

    def drawn(self, *, intervals: bool = True, both_ends: bool = True):
        """A `rich.table.Table` with the intervals of slopes, and the ends of the axes, or without."""
        from rich.table import Table
        from rich.text import Text

        run, best = self.run, leader(self.run)
        told = f"{caption(run)} *: the mix of cells makes the slope; on common cells it turns or differs by a point."
        lacking = "" if intervals and both_ends else " For want of room not all is shown; the report has the rest."
        drawn = Table(box=None, pad_edge=False, caption=Text(told + lacking), caption_justify="left")
        drawn.header_style = "bold"
        drawn.add_column("detector", no_wrap=True)
        if len(run.models) > 1:
            drawn.add_column("model", no_wrap=True)
        for title in ("AUROC", *(title for axis in AXES for title in _titles(axis, both_ends))):
            drawn.add_column(title, justify="right", no_wrap=True)
        for one in run.judged:
            style = "bold" if one == best and len(run.judged) > 1 else ""
            drawn.add_row(*(Text(text, style) for text in self._cells(one, intervals, both_ends)))
        return drawn

    def _cells(self, judged: Judged, intervals: bool, both_ends: bool) -> Iterator[str]:
        run = self.run
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
