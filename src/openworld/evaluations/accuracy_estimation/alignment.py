"""Semantic alignment on the targets (FRAP, section 5.3): base, reference and fused predictions, and what fusing adds.

The Semantic Alignment Score is how near in meaning the predicted distribution lies to the true class, over a taxonomy
of the classes; where a run knows of none there is no table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.accuracy_estimation.calibration import BASE, by_line, lines_of
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.report.data_files import csv_text
from openworld.report.grid import Cell, Column, Grid, Line

FUSED = "fused with "


@dataclass(frozen=True, eq=False)
class Alignment:
    """Of one reference: scores float[M, C] of the base model, of the reference and of both fused; NaN = not known."""

    reference: str
    base: np.ndarray
    alone: np.ndarray
    fused: np.ndarray

    @property
    def gaps(self) -> Mapping[str, np.ndarray]:
        """What fusing adds: {over whom: float[M, C]}."""
        return {BASE: self.fused - self.base, self.reference: self.fused - self.alone}


def alignments(run: EstimateRun) -> tuple[Alignment, ...]:
    """One per reference that was fused somewhere."""
    found = []
    for name in run.references:
        scores = [_scores(run, key) for key in (BASE, name, f"{FUSED}{name}")]
        if np.isfinite(scores[2]).any():
            found.append(Alignment(name, *scores))
    return tuple(found)


def alignment_grid(run: EstimateRun) -> Grid | None:
    """Lines by models, and the gaps with the share of cells in which they are above 0."""
    found = alignments(run)
    if not found:
        return None
    titles = ["judged models"]
    for one in found:
        name = one.reference
        titles += [name, f"fused with {name}", "fused − judged", f"fused − {name}"]
    rows = tuple(Line("", (Cell(line), *_cells(run, found, line))) for line in lines_of(run))
    taxonomy = (run.told[0].get("taxonomy") or {}).get("name")
    by = f" by {taxonomy}" if taxonomy else ""
    told = (
        f"Semantic Alignment Score, a fraction: expected similarity in meaning{by} of a class drawn from the "
        "prediction to the true one, means over conditions and judged models. Under a gap: the share of conditions and "
        "models in which it is above 0."
    )
    return Grid("alignment", "Semantic alignment", told, (Column("", words=True), *map(Column, titles)), rows)


def alignment_verdict(run: EstimateRun) -> tuple[str, ...]:
    """A sentence per reference: how often fusing brings predictions nearer in meaning to the truth; or why none."""
    told = list(_why_none(run))
    for one in alignments(run):
        shares = {name: _share(gap) for name, gap in one.gaps.items()}
        told.append(
            f"Fused with {one.reference}, predictions lie nearer in meaning to the true class than the judged model's "
            f"in {shares[BASE]} of all cases, and than {one.reference}'s own in {shares[one.reference]}."
        )
    return tuple(told)


def alignment_csv(run: EstimateRun) -> str:
    """The scores of base, reference and fused predictions in every line."""
    rows = [
        (line, one.reference, *(by_line(run, scores)[line] for scores in (one.base, one.alone, one.fused)))
        for one in alignments(run)
        for line in lines_of(run)
    ]
    return csv_text(("line", "reference", BASE, "alone", "fused"), rows)


def _why_none(run: EstimateRun) -> Iterator[str]:
    """Why a run knows no similarity of its classes, where it says so."""
    reason = (run.told[0].get("taxonomy") or {}).get("reason")
    if reason:
        yield f"Semantic alignment is not known: {reason.removesuffix('.')}."


def _scores(run: EstimateRun, key: str) -> np.ndarray:
    return run.read(lambda target: (target.get("alignment") or {}).get(key))


def _cells(run: EstimateRun, found: tuple[Alignment, ...], line: str) -> list[Cell]:
    cells = [_fraction(by_line(run, found[0].base)[line])]
    for one in found:
        cells += [_fraction(by_line(run, scores)[line]) for scores in (one.alone, one.fused)]
        cells += [_gap(run, gap, line) for gap in one.gaps.values()]
    return cells


def _gap(run: EstimateRun, gap: np.ndarray, line: str) -> Cell:
    mean = by_line(run, gap)[line]
    if mean is None:
        return Cell("–")
    chosen = gap if line not in run.rows else gap[:, run.of_row(line)]
    told = f"{mean:+.3f}".replace("-", "−")
    return Cell(told, f"{mean:.6f}", _share(chosen), "under")


def _share(gap: np.ndarray) -> str:
    """The share of known numbers above 0."""
    known = gap[np.isfinite(gap)]
    return f"{100 * float((known > 0).mean()):.0f}\u00a0%" if known.size else "–"


def _fraction(value: float | None) -> Cell:
    return Cell("–" if value is None else f"{value:.3f}")
