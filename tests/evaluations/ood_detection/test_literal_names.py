"""Names of detectors and models that look like markup stay text in the terminal's table and in LaTeX."""

import io

from rich.console import Console

from openworld.evaluations.ood_detection.exports import export_shifts
from openworld.evaluations.ood_detection.terminal import terminal_shifts
from openworld.report.text_tables import as_tex

NAMES = ("crane [/bird]", "crane [bird]", "[red]")


def test_names_of_detectors_and_models_are_text(shifts_of):
    run = shifts_of(models={"[/model]": dict.fromkeys(NAMES, (0.1, 0.0)), "[b]": {"MSP": (0.2, 0.0)}})
    console = Console(width=400, file=io.StringIO(), color_system=None)
    console.print(terminal_shifts(run))
    text, latex = console.file.getvalue(), export_shifts(run, "latex")
    assert all(name in text for name in (*NAMES, "[/model]", "[b]")) and latex.isascii()
    assert all(as_tex(name) in latex for name in (*NAMES, "[/model]", "[b]"))
