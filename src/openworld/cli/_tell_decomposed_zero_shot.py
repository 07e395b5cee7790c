"""What the command line says of decomposed zero-shot accuracy: parts and methods by pictures."""

from openworld.report.decomposed import (
    build_decomposed,
    decomposed_verdict,
    export_decomposed,
    load_decomposed,
    terminal_decomposed,
)
from openworld.report.decomposed.tables import FORMS

__all__ = ["FORMS", "MORE", "TABLES", "build", "export", "load", "say"]

MORE = "As text: openworld report {folder} --table markdown"

load, build, export = load_decomposed, build_decomposed, export_decomposed


def say(run, out) -> None:
    """The table, and a sentence per method."""
    out.print("\nZero-shot accuracy with whole features and with halves", style="bold", markup=False)
    out.print(terminal_decomposed(run))
    out.print()
    for sentence in decomposed_verdict(run):
        out.print(sentence, markup=False)


TABLES = {"text": say}
