"""FRAP's tables: which rows of accuracy estimation they hold, mean absolute errors and calibration errors.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP). A row pools its conditions with all
models, checkpoints and seeds; the last row is the unweighted mean of the rows. Table 2 is taken to be the mean
calibration error of a reference over all conditions of a source data set.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld.label_free.benchmark.arrays import RunArrays
from openworld.label_free.benchmark.cards import CALIBRATION, ERROR, TTC, UNSCALED
from openworld.label_free.benchmark.results import ALL, is_complete, read_results
from openworld.papers import PaperTable
from openworld.papers.results import Cells, PaperRow, PaperRun
from openworld.results import Results, RunFolder, Value

KINDS = {UNSCALED: "raw", TTC: "TTC"}
"""Our kind of calibration -> how a method of Table 2 ends. The paper's raw probabilities are the softmax of bare
similarities: its section 4.1 finds them nearly uniform."""

CELLS = {"accuracy estimation": (Cells(),), "calibration": (Cells(),)}


def rows(_: PaperTable, runs: Sequence[PaperRun]) -> Iterator[PaperRow]:
    """Yield errors by row, and calibration errors by source, of several that were pooled by the first."""
    for run in runs:
        results, arrays = run.read(_load)
        backbones = {model["name"]: model["backbone"] for model in arrays.facts["reference_models"]}
        references = {label: method["reference"] for label, method in arrays.methods.items()}
        source = run.dataset(arrays.facts["sources"][0]["dataset"])
        lines = {frozenset(arrays.place(line).items()): line for line in arrays.rows}
        for row in results:
            label, images = row.entity, lines.get(frozenset(row.where.items()), "")
            kind = KINDS.get(row.where.get("calibration"))
            if row.metric.key == ERROR.key and images:
                complete = is_complete(results, label, row.where)
                value = row.value if complete else Value(None, reason="an estimate is missing")
                seeds = {} if complete else {"seeds": (), "per_seed": ()}
                number, backbone = replace(row, value=value, where={}, **seeds), backbones.get(references[label], "")
                yield PaperRow(number, run.dataset(images), run.method(label), backbone)
            elif row.metric.key == CALIBRATION.key and row.where.get("images") == ALL and kind:
                yield PaperRow(replace(row, where={}), source, f"{label} {kind}", backbones.get(label, ""))


def _load(folder: Path) -> tuple[Results, RunArrays]:
    return read_results(RunFolder.read(folder))
