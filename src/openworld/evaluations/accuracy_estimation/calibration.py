"""Calibration of the judged and of the reference models on the targets, as FRAP's Table 2.

Expected calibration error (15 bins): of the judged model before and after the temperature fitted on the source, of a
reference at its own scale ("raw") and at the temperature that FRAP finds on the unlabelled pictures (TTC).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.report.data_files import csv_text
from openworld.report.grid import Cell, Column, Grid, Line

KINDS = {"raw": "raw", "scaled": "scaled", "ttc": "TTC"}
BASE = "base"


@dataclass(frozen=True)
class Calibrated:
    """One column: whose calibration error, and of which kind; {line: mean over conditions and models}, or None."""

    name: str
    kind: str
    errors: Mapping[str, float | None]

    @property
    def title(self) -> str:
        """The heading of the column."""
        return f"{'judged models' if self.name == BASE else self.name}, {KINDS[self.kind]}"


def calibrations(run: EstimateRun) -> tuple[Calibrated, ...]:
    """Every column that any record speaks of."""
    named = [(BASE, "raw"), (BASE, "scaled"), *((name, kind) for name in run.references for kind in ("raw", "ttc"))]
    found = []
    for name, kind in named:
        values = run.read(lambda target, name=name, kind=kind: ((target.get("ece") or {}).get(name) or {}).get(kind))
        errors = by_line(run, values)
        if any(value is not None for value in errors.values()):
            found.append(Calibrated(name, kind, errors))
    return tuple(found)


def temperatures(run: EstimateRun) -> dict[str, dict[str, float | None]]:
    """{reference: {line: median temperature found on the unlabelled pictures}}."""
    found = {}
    for name in run.references:
        values = run.read(lambda target, name=name: ((target.get("ece") or {}).get(name) or {}).get("tau"))
        found[name] = by_line(run, values, of=np.median)
    return {name: lines for name, lines in found.items() if any(value is not None for value in lines.values())}


def by_line(run: EstimateRun, values: np.ndarray, of=np.mean) -> dict[str, float | None]:
    """A number of float[M, C] for every line, and the unweighted mean of the lines; None where a line has none."""
    found = {}
    for row in run.rows:
        chosen = values[:, run.of_row(row)]
        known = chosen[np.isfinite(chosen)]
        found[row] = float(of(known)) if known.size else None
    lines = list(found.values())
    return found | {AVERAGE: None if None in lines else float(np.mean(lines))}


def calibration_grid(run: EstimateRun) -> Grid | None:
    """Lines by models; the smaller error of each model in bold; the median temperatures at the end."""
    columns = calibrations(run)
    if not columns:
        return None
    taus = temperatures(run)
    titles = [one.title for one in columns] + [f"τ of {name}" for name in taus]
    rows = tuple(Line("", (Cell(line), *_cells(columns, taus, line))) for line in lines_of(run))
    told = (
        "Expected calibration error (15 bins) on the targets, a fraction, means over conditions and judged models; the "
        "smaller of a pair in bold. Raw: as the model says it, a reference at its own scale; scaled: with the "
        "temperature fitted on the source; TTC: with the temperature τ that FRAP finds on the unlabelled pictures "
        "(its median over conditions and models is given)."
    )
    return Grid("calibration", "Calibration error", told, (Column("", words=True), *map(Column, titles)), rows)


def calibration_verdict(run: EstimateRun) -> tuple[str, ...]:
    """A sentence per reference: in how many lines TTC brings its confidence nearer to its accuracy."""
    columns = {(one.name, one.kind): one.errors for one in calibrations(run)}
    told = []
    for name in run.references:
        pair = [columns.get((name, kind)) for kind in ("raw", "ttc")]
        if None in pair or any(one[AVERAGE] is None for one in pair):
            continue
        raw, ttc = pair
        better = sum(ttc[row] < raw[row] for row in run.rows)
        told.append(
            f"Calibrated on the unlabelled pictures, {name}'s calibration error goes from {raw[AVERAGE]:.3f} to "
            f"{ttc[AVERAGE]:.3f} on average; it is smaller in {better or 'none'} of {len(run.rows)} "
            f"line{'s' * (len(run.rows) > 1)}."
        )
    return tuple(told)


def calibration_csv(run: EstimateRun) -> str:
    """The same as numbers."""
    columns, taus = calibrations(run), temperatures(run)
    header = ("line", *(f"{one.name} {one.kind}" for one in columns), *(f"{name} tau" for name in taus))
    rows = [
        (line, *(one.errors[line] for one in columns), *(lines[line] for lines in taus.values()))
        for line in lines_of(run)
    ]
    return csv_text(header, rows)


def lines_of(run: EstimateRun) -> tuple[str, ...]:
    """Lines of a table: the rows, and their average where there are several."""
    return (*run.rows, AVERAGE) if len(run.rows) > 1 else run.rows


def _cells(columns, taus, line: str) -> list[Cell]:
    least: dict[str, float] = {}
    for one in columns:
        if one.errors[line] is not None:
            least[one.name] = min(least.get(one.name, np.inf), one.errors[line])
    pairs = {name for name in least if sum(one.name == name for one in columns) > 1}
    cells = [
        _fraction(one.errors[line], leads=one.name in pairs and one.errors[line] == least[one.name]) for one in columns
    ]
    medians = [lines[line] if line != AVERAGE else None for lines in taus.values()]
    return cells + [Cell("–" if value is None else f"{value:.3g}") for value in medians]


def _fraction(value: float | None, *, leads: bool) -> Cell:
    return Cell("–") if value is None else Cell(f"{value:.3f}", css="leads" if leads else "")
