"""Names of learners and estimators that look like markup stay text in the terminal's tables."""

import io

from rich.console import Console

from openworld.evaluations.recognition_by_shift.numbers import Levels
from openworld.evaluations.recognition_by_shift.terminal import terminal_open_world_shifts

NAMES = ("crane [/bird]", "[red]")


def test_names_are_text(open_world_shifts_of):
    run = open_world_shifts_of(
        learners={"zero-shot": (0.0, 0.0), **dict.fromkeys(NAMES, (0.1, 0.1))}, estimators=("AC [/x]",), seeds=(1,)
    )
    console = Console(width=400, file=io.StringIO(), color_system=None)
    for heading, table in terminal_open_world_shifts(Levels(run)):
        console.print(heading, markup=False)
        console.print(table)
    assert all(name in console.file.getvalue() for name in (*NAMES, "AC [/x]"))
