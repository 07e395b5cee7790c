"""What the command line says of decomposed zero-shot accuracy: parts and methods by pictures."""

from openworld.evaluations.decomposed_zero_shot.page import build_decomposed
from openworld.evaluations.decomposed_zero_shot.run import load_decomposed
from openworld.evaluations.decomposed_zero_shot.tables import (
    FORMS,
    decomposed_verdict,
    export_decomposed,
    terminal_decomposed,
)

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
