"""Names that look like markup come out letter by letter in every table for the terminal."""

import io

from rich.console import Console

from openworld.applications.shift.results import Group
from openworld.applications.shift.wording import terminal_groups

NAMES = ("crane [/bird]", "crane [bird]", "[red]")


def shown(table):
    console = Console(width=400, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue()


def whole(text, names=NAMES):
    return all(name in text for name in names)


def test_concepts_of_a_measured_shift():
    groups = tuple(Group(name, 5, 0.3, 0.1, 0.6, 0.2) for name in NAMES)
    assert whole(shown(terminal_groups(groups, "concept [/x]", "semantic")), (*NAMES, "concept [/x]"))
