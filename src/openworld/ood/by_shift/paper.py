"""IS-OOD's tables but 3: which rows of OOD detection they hold, trends over cells and labelling issues.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024). FPR@95 is that of
OpenOOD v1.5 and AUPR has in-distribution as the positive side, as in its released code. A number of several seeds is
the mean of the seeds' numbers. Of runs with several models the classifier that comes first is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.ood.by_shift.metrics import ALL, SUBSETS
from openworld.ood.by_shift.results import DetectionRun, read_results
from openworld.papers import PaperTable
from openworld.papers.results import Cells, PaperRow, PaperRun
from openworld.results import Results, RunFolder, over_seeds

EVALUATION = "ood-detection"
GIVEN = "given cells"
"""What a run calls its pool where the division was given."""

CELLS = {
    "OOD detection": tuple(Cells({"axis": axis, "cells": ALL}, f"{axis} shift") for axis in ("semantic", "covariate")),
    "labelling issues": (
        Cells({"images": SUBSETS["all"]}, "entire ImageNet-21K (with labeling issues)"),
        Cells({"images": SUBSETS["far"]}, "subsets with larger semantic shift (fewer labeling issues)"),
    ),
}
"""Task -> its rows. Of Table 8 the paper does not say which levels are larger."""


def rows(_: PaperTable, runs: Sequence[PaperRun]) -> Iterator[PaperRow]:
    """Yield the numbers of every detector of the first classifier; slopes are printed without their sign."""
    for run in runs:
        results, units = run.read(_load)
        kinds = {model: of_model[0].facts["kind"] for model, of_model in units.models.items()}
        model = next((model for model, kind in kinds.items() if kind == "classifier"), next(iter(kinds)))
        labels = {each.title: each.label for each in units.detectors if each.model == model}
        pool = GIVEN if units.spec["cells"] else units.spec["sources"][0]["dataset"]
        for row in results:
            place = dict(row.where) or {"images": SUBSETS["all" if units.spec["id_kept"] else "unknown"]}
            if row.entity in labels and place.pop("id_classes", units.counting) == units.counting:
                if "axis" in place or len(row.seeds) > 1:
                    sized = row.metric.key.endswith("_slope")
                    values = tuple(abs(value) if sized and value is not None else value for value in row.per_seed)
                    row = replace(row, value=over_seeds(values, row.metric), per_seed=values)
                yield PaperRow(replace(row, where=place), run.dataset(pool), run.method(labels[row.entity]), model)


def _load(folder: Path) -> tuple[Results, DetectionRun]:
    run = RunFolder.read(folder)
    if run.evaluation != EVALUATION:
        raise OpenworldError(f"{folder} is a run of {run.evaluation or 'nothing'}, expected {EVALUATION}.")
    return read_results(run)
