"""Names of methods and references that look like markup stay text in the terminal's table."""

import io

from rich.console import Console

from openworld.evaluations.accuracy_estimation.terminal import terminal_estimates

NAMES = ("crane [/bird]", "crane [bird]", "[red]")


def test_names_of_methods_are_text(estimates_of):
    methods = {name: ("AC" if place == 0 else "DoC", None, {}, 0.03, 0.03) for place, name in enumerate(NAMES)}
    console = Console(width=400, file=io.StringIO(), color_system=None)
    console.print(terminal_estimates(estimates_of(methods=methods, references=())))
    assert all(name in console.file.getvalue() for name in NAMES)
