"""Scores and shift degrees, or levels, of one's own become the page of IS-OOD: what `detect` does with such a table."""

from collections.abc import Mapping, Sequence

import numpy as np

from openworld.core.arrays import as_labels
from openworld.core.errors import OpenworldError, failing
from openworld.evaluations.rows import results_of_unit
from openworld.evaluations.shift_levels import PoolLevels, levels_of
from openworld.metrics.by_cell import HALVES
from openworld.ood.by_shift.measurement import ScoredPool, measure
from openworld.ood.by_shift.report import report_of
from openworld.ood.by_shift.results import DetectionRun, results_of
from openworld.ood.detection_results import ModelUnit
from openworld.ood.scored_sets import ABOUT, DEGREES, GROUPS, LEVELS, read_detectors
from openworld.report.report import Report
from openworld.tables.entries import Columns, finite_numbers
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.table import TableColumn

EVALUATION = "ood-detection"
POOL = "pool"
TRUE, FALSE = ("true", "True", "TRUE", "1"), ("false", "False", "FALSE", "0", "None", "nan")
BY_SHIFT = ABOUT.plus(
    TableColumn("group", "name", needed=True, choices={name: name for name in ("id", POOL, *GROUPS)}),
    TableColumn("known", "name", empty=True, choices=dict.fromkeys(TRUE, "true") | dict.fromkeys(FALSE, "")),
    *(TableColumn(half, "other", also=(degree,)) for degree, half in DEGREES.items()),
    *(TableColumn(name, "other") for name in LEVELS),
    TableColumn("class", "other"),
    *(TableColumn(f"{half}_{name}", "other") for half in HALVES for name in ("far", "nearest")),
)
"""What a table says of its images and where they stand, with the other columns of degrees.parquet."""


def report_of_pool(pool: ScoredPool, least: int, made: Mapping[str, str]) -> Report:
    """Return the report of scores over cells of semantic and covariate shift, as ood-detection has it."""
    measured = measure(pool, id_kept=True, least=least)
    rows = results_of_unit(EVALUATION, measured.rows, seed=0, shared=measured.shared)
    facts = {"model": "scores", "seed": 0, "detectors": [*pool.test], "sequential": []}
    run = DetectionRun((ModelUnit(facts, rows, measured.errors),), {"least": least, "id_kept": True})
    return report_of(results_of(run), run, made=made, found=pool)


def read_pool(
    file: "str | ScoreFile", levels: int, *, larger_out: bool = False, only: Sequence[str] = ()
) -> ScoredPool:
    """Return the scores of a table and its pool, which is cut into `levels` where it has degrees."""
    # `larger_out` and `only` are as for `read_scores`.
    # Its columns: group ("id" of in-distribution test images; of the pool "pool", or one of `GROUPS`), semantic and
    # covariate (shift degrees, of the pool at least, or as degrees.parquet calls them) or semantic_level and
    # covariate_level (from 0, the nearest), perhaps known (an image of the pool is of an in-distribution class) and
    # cluster. Any other is a detector's.
    file = open_scores(file)
    name = str(file.path)
    table, scores = read_detectors(file, BY_SHIFT, only, -1.0 if larger_out else 1.0)
    groups = table["group"].tolist()
    if "part" in table and any(part not in ("", "test") for part in table["part"].present):
        raise OpenworldError(f"{name} has rows of other parts than test; leave them out: nothing is chosen on them.")
    inside = np.array([group == "id" for group in groups])
    for side, there in (("in-distribution test image: no row whose group is id", inside), ("image of a pool", ~inside)):
        if not there.any():
            raise OpenworldError(f"{name} has no {side}.")
    clusters = table["cluster"].tolist() if "cluster" in table else range(len(groups))
    numbers = np.unique([f"{side} {own}" for side, own in zip(inside, clusters, strict=True)], return_inverse=True)[1]
    if set(LEVELS) <= set(table):
        column = {half: _levels(table, f"{half}_level", inside, name) for half in HALVES}
        placed = PoolLevels(column, {half: int(own.max()) + 1 for half, own in column.items()})
    else:
        degrees = {half: _places(table, half, inside, name) for half in HALVES}
        with failing():
            placed = levels_of(degrees, levels)
    return ScoredPool(
        {label: values[inside] for label, values in scores.items()},
        {label: values[~inside] for label, values in scores.items()},
        numbers[inside],
        numbers[~inside],
        placed,
        (table["known"] == "true" if "known" in table else np.zeros(len(groups), bool))[~inside],
    )


def _places(table: Columns, column: str, inside: np.ndarray, name: str) -> np.ndarray:
    """Return the numbers of a column, float64, of the pool's images; the others need none."""
    entries = np.asarray(table[column])
    entries = entries.astype(object) if entries.dtype.kind in "OU" else entries.copy()
    entries[inside] = 0
    return finite_numbers(entries, f"column {column} of {name}")[~inside].astype(np.float64)


def _levels(table: Columns, column: str, inside: np.ndarray, name: str) -> np.ndarray:
    values = _places(table, column, inside, name)
    if (values != np.floor(values)).any():
        raise OpenworldError(f"column {column} holds {values[values != np.floor(values)][0]}, expected levels from 0.")
    return as_labels(values.astype(np.int64), f"column {column}")
