"""The tables for the terminal: the page's grids, without what only a page can show."""

from collections.abc import Iterator

from openworld.report.grids import Grid
from openworld.report.open_world_shifts.grids import error_grid, level_grid
from openworld.report.open_world_shifts.numbers import TOLD, Levels
from openworld.report.palette import looks
from openworld.report.shift_axes import AXES


def terminal_open_world_shifts(levels: Levels) -> Iterator[tuple[str, object]]:
    """(heading, `rich.table.Table`) of each table: learners by levels, then estimators by levels."""
    run = levels.run
    chosen = looks(run.learners, filter(None, [run.yardstick]))
    for grid in [level_grid(levels, view, axis, chosen) for view, axis in TOLD]:
        yield grid.label, _drawn(grid)
    for grid in [error_grid(run, axis) for axis in AXES] if run.estimators else ():
        yield grid.label, _drawn(grid)


def _drawn(grid: Grid):
    from rich.table import Table as RichTable
    from rich.text import Text

    told = grid.caption.removeprefix(f"{grid.label}; ")  # the heading says it already
    caption = Text(told[0].upper() + told[1:])
    drawn = RichTable(box=None, pad_edge=False, caption=caption, caption_justify="left", header_style="bold")
    for column in grid.columns:
        drawn.add_column(column.title, justify="left" if column.words else "right", no_wrap=True)
    for line in grid.rows:
        plain = "" if line.learner else "dim"
        drawn.add_row(*(Text(one.text, "bold" if "leads" in one.css else plain) for one in line.cells))
    return drawn
