"""The tables for the terminal: the page's grids, without what only a page can show."""

from collections.abc import Iterator
from dataclasses import replace

from openworld._terminal import TerminalTable
from openworld.evaluations.recognition_by_shift.grids import error_grid, level_grid
from openworld.evaluations.recognition_by_shift.numbers import TOLD, Levels
from openworld.evaluations.recognition_by_shift.run import styles
from openworld.report.grid import Grid, grid_table
from openworld.report.shift_axes import AXES


def terminal_open_world_shifts(levels: Levels) -> Iterator[tuple[str, TerminalTable]]:
    """(heading, table) of each: learners by levels, then estimators by levels."""
    run = levels.run
    chosen = styles(run)
    for grid in [level_grid(levels, view, axis, chosen) for view, axis in TOLD]:
        yield grid.label, _below_its_label(grid)
    for grid in [error_grid(run, axis) for axis in AXES] if run.estimators else ():
        yield grid.label, _below_its_label(grid)


def _below_its_label(grid: Grid) -> TerminalTable:
    """The table with a caption that does not say again what the heading says."""
    told = grid.caption.removeprefix(f"{grid.label}; ")
    return replace(grid_table(grid), caption=told[0].upper() + told[1:])
