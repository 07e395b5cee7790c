"""Tables of a run of incremental shift as CSV, JSON, Markdown and LaTeX: fractions in CSV and JSON, else points."""

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from openworld._errors import unknown_name
from openworld.evaluations.ood_detection.numbers import (
    Number,
    Slope,
    blind,
    curves,
    ends,
    firsts,
    means,
    overall,
    slope,
    spans,
)
from openworld.evaluations.ood_detection.run import METRICS, SUBSETS, Judged, ShiftRun
from openworld.evaluations.ood_detection.wording import caption, correlated
from openworld.report.data_files import csv_text, json_text
from openworld.report.shift_axes import AXES
from openworld.report.text import two_decimals
from openworld.report.text_tables import as_tex, markdown_table, plain, tabular

FORMS = ("csv", "cells", "json", "markdown", "latex")
_OF_AXIS = ("near", "far", "slope", "slope_low", "slope_high", "correlation")
_COMMON = ("slope_common", "slope_common_low", "slope_common_high", "correlation_common")
HEADER = (
    *("model", "detector", "seeds", "auroc", "low", "high"),
    *(f"{axis}_{name}" for axis in AXES for name in _OF_AXIS + _COMMON),
    *("best_cells", "blind_cells", "cells"),
)
CELLS = (
    *("model", "detector", "covariate_level", "semantic_level", "pictures", "present"),
    *(*METRICS, "auroc_low", "auroc_high"),
)
_MAIN = "AUROC of every detector"
_SHORT = ("AUROC", *(f"{axis} {what}" for axis in AXES for what in ("near", "far", "slope", "common", "r")))


def export_shifts(run: ShiftRun, form: str) -> str:
    """The tables of a run as text.

    Args:
        run: of `load_shifts`.
        form: "csv" (a row per model and detector), "cells" (a row per cell of each, every metric, CSV), "json" (both,
            curves, trends of every metric, labelling), "markdown" or "latex" (the main table and, as the paper lays
            them out, a table of AUROCs per detector; percent with two decimals).

    Raises:
        OpenworldError: for another form.
    """
    writers = {
        "csv": detectors_csv,
        "cells": cells_csv,
        "json": shifts_json,
        "markdown": _markdown,
        "latex": _latex,
    }
    if form not in writers:
        raise unknown_name("table form", form, FORMS)
    return writers[form](run)


def detectors_csv(run: ShiftRun) -> str:
    """The main table as fractions, with every interval."""
    first = firsts(run.cells, run.judged)
    return csv_text(HEADER, [_row(run, one, int(first[one].sum())) for one in run.judged])


def cells_csv(run: ShiftRun) -> str:
    """Every metric in every cell, means over the seeds, and AUROC's interval over pictures; none where it is N/A."""
    cells, rows = run.cells, []
    for one in run.judged:
        tables = [*(means(cells, one, metric) for metric in METRICS), *spans(cells, one)]
        for cell in np.ndindex(cells.present.shape):
            numbers = [float(table[cell]) if np.isfinite(table[cell]) else None for table in tables]
            place = (one.model, one.detector, *cell, int(cells.counts[cell]), int(cells.present[cell]))
            rows.append((*place, *numbers))
    return csv_text(CELLS, rows)


def shifts_json(run: ShiftRun) -> str:
    """Every table of the page, fractions; None where a cell is N/A."""
    cells = run.cells
    told = {
        "id_kept": cells.id_kept,
        "counts": cells.counts.tolist(),
        "present": cells.present.tolist(),
        "levels": run.told[0]["levels"],
        "detectors": [_as_json(run, one) for one in run.judged],
    }
    return json_text(told)


def _row(run: ShiftRun, judged: Judged, best: int) -> list:
    cells, whole = run.cells, overall(run, judged)
    row = [judged.model, judged.detector, len(run.seeds(judged.model)), whole.value, *_ends(whole)]
    for axis in AXES:
        found, common = (slope(cells, judged, axis, common=kind) for kind in (False, True))
        row += [*ends(curves(cells, judged, axis)), found.slope.value, *_ends(found.slope), found.correlation]
        row += [common.slope.value, *_ends(common.slope), common.correlation]
    return [*row, best, int(blind(cells, judged).sum()), int(cells.present.sum())]


def _as_json(run: ShiftRun, judged: Judged) -> dict:
    cells, kinds = run.cells, {"all": False, "common": True}
    return {
        "model": judged.model,
        "detector": judged.detector,
        "seeds": run.seeds(judged.model),
        "auroc": asdict(overall(run, judged)),
        "labelling": {subset: asdict(overall(run, judged, subset)) for subset in SUBSETS},
        "cells": {metric: _table(cells.values[metric][judged]) for metric in METRICS},
        "curves": {
            axis: {kind: _table(curves(cells, judged, axis, common=common)) for kind, common in kinds.items()}
            for axis in AXES
        },
        "trends": {
            metric: {
                axis: {
                    kind: asdict(slope(cells, judged, axis, metric, common=common)) for kind, common in kinds.items()
                }
                for axis in AXES
            }
            for metric in METRICS
        },
    }


def _markdown(run: ShiftRun) -> str:
    rows = [map(plain, (one.model, one.detector, *_printed(run, one))) for one in run.judged]
    parts = [markdown_table(_MAIN, ("model", "detector", *_SHORT), rows, caption(run), left=2)]
    parts += [markdown_table(_of(one), _levels(run), _areas(run, one, "N/A")) for one in run.judged]
    return "\n".join(parts)


def _latex(run: ShiftRun) -> str:
    rows = [[*map(as_tex, (one.model, one.detector, *_printed(run, one)))] for one in run.judged]
    parts = [tabular([_MAIN, caption(run)], ("model", "detector", *_SHORT), rows, left=2)]
    parts += [tabular([_of(one)], _levels(run), _areas(run, one, "--")) for one in run.judged]
    return "\n".join(parts)


def _of(judged: Judged) -> str:
    return f"AUROC of {judged.title}: rows covariate, columns semantic levels"


def _levels(run: ShiftRun) -> list[str]:
    return ["", *map(str, range(run.cells.present.shape[1]))]


def _printed(run: ShiftRun, judged: Judged) -> Iterator[str]:
    """The numbers of the main table: percent, slopes in points per level, two decimals."""
    yield two_decimals(overall(run, judged).value)
    for axis in AXES:
        yield from map(two_decimals, ends(curves(run.cells, judged, axis)))
        both: list[Slope] = [slope(run.cells, judged, axis, common=common) for common in (False, True)]
        yield from (_signed(one.slope) for one in both)
        yield correlated(both[0])


def _areas(run: ShiftRun, judged: Judged, absent: str) -> Iterator[list[str]]:
    mean = run.cells.values["auroc"][judged].mean(axis=0)
    for level, row in enumerate(mean):
        yield [str(level), *(two_decimals(float(value)) if np.isfinite(value) else absent for value in row)]


def _signed(told: Number) -> str:
    return "" if told.value is None else f"{100 * told.value:+.2f}".replace("-", "−")


def _ends(told: Number) -> tuple[float | None, float | None]:
    return told.interval or (None, None)


def _table(values: np.ndarray) -> list:
    """Nested lists with None where there is no number."""
    return np.where(np.isfinite(values), values.astype(object), None).tolist()
