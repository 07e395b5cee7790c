"""What the command line says of incremental shift: a line per detector, what either shift does, two runs of a pool."""

from pathlib import Path

from openworld.cli import console
from openworld.evaluations.ood_detection.exports import FORMS, export_shifts
from openworld.evaluations.ood_detection.page import build_shifts
from openworld.evaluations.ood_detection.run import load_shifts
from openworld.evaluations.ood_detection.terminal import terminal_shifts
from openworld.evaluations.ood_detection.verdict import shift_verdict

__all__ = ["FORMS", "MORE", "TABLES", "build", "compare", "export", "load", "say"]

MORE = "Cell by cell: openworld report {folder} --table markdown"

load, build, export = load_shifts, build_shifts, export_shifts


def say(run, out) -> None:
    """A line per model and detector, and the verdict but for what it rests on."""
    out.print("\nDetectors over cells of semantic and covariate shift", style="bold", markup=False)
    out.print(terminal_shifts(run))
    for sentence in shift_verdict(run)[:-1]:
        out.print(f"\n{sentence}", markup=False)
    out.print()


TABLES = {"text": say}


def compare(first: Path, second: Path, of: str, out, *, as_json: bool) -> None:
    """Detectors of two runs of one pool side by side, by their AUROC."""
    from dataclasses import asdict

    from openworld._errors import OpenworldError
    from openworld.evaluations.ood_detection.pairing import compare_shifts
    from openworld.report.data_files import json_text

    if of not in ("", "auroc"):
        raise OpenworldError(f"runs of incremental shift are compared in auroc alone, and --of asks for {of!r}.")
    names = str(first), str(second)
    pairs = compare_shifts(load(first), load(second), names)
    if as_json:
        console.write(json_text({"of": "auroc", "pairs": [asdict(pair) for pair in pairs]}))
        return
    out.print(_pairs(pairs, names))


def _pairs(pairs, names: tuple[str, str]):
    from openworld import _terminal as terminal
    from openworld.evaluations.ood_detection.wording import over
    from openworld.report.text import percent, signed
    from openworld.results import significant

    def moved(slopes) -> str:
        return " → ".join("–" if one is None else signed(one) for one in slopes)

    told = (
        f"First: {names[0]}. Second: {names[1]}. AUROC against the whole pool, percent, means over the seeds; "
        f"difference: second - first, paired {over(pair.difference for pair in pairs)}, bold where it is shown to be "
        "none of chance (p < .05 after Holm over all pairs); cells: mean difference over cells; slopes in points per "
        "level on common cells."
    )
    heads = ("first", "second", "difference", "cells", "semantic slope", "covariate slope")
    rows = []
    for pair in pairs:
        apart = pair.difference
        difference = "–" if apart.value is None else signed(apart.value)
        if apart.interval:
            difference += f" [{signed(apart.interval[0])} {signed(apart.interval[1])}]"
        cells = "–" if pair.cells is None else signed(pair.cells)
        numbers = (percent(pair.first.value), percent(pair.second.value), difference, cells)
        rows.append(
            terminal.styled(
                (pair.title, *numbers, *map(moved, pair.slopes.values())), "bold" if significant(apart.p_value) else ""
            )
        )
    return terminal.TerminalTable((terminal.name(), *map(terminal.Head, heads)), rows, told)
