"""Scores and shift degrees of one's own become the page of IS-OOD: what `detect` does with such a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.ood.detect.on_scores import PAGES
from openworld.ood.detect.shift_scores import read_shift_scores
from openworld.report.report import Report
from openworld.runs.outputs import DETECTED, require_folder

EVALUATION = "ood-detection"


def detect_by_shift(
    scores: Any,
    *,
    larger_out: bool = False,
    detector: Sequence[str] = (),
    flag_rate: float | None = None,
    levels: int = 8,
    least: int = 10,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: str = "",
) -> Report:
    """Return the report of scores over cells of semantic and covariate shift, as ood-detection has it."""
    from openworld.evaluations.rows import results_of_unit
    from openworld.evaluations.shift_cells import Division, PoolLevels, levels_of
    from openworld.ood.by_shift.measurement import ScoredPool, measure
    from openworld.ood.by_shift.report import report_of
    from openworld.ood.by_shift.results import DetectionRun, DetectionUnit, results_of

    if flag_rate is not None:
        raise OpenworldError("scores over cells of shift bring no threshold; leave --flag-rate out, or the degrees.")
    require_folder("--out", out, own=(DETECTED,), pages=PAGES, inputs=(scores,))
    given = read_shift_scores(scores, larger_out=larger_out, only=detector)
    observer.progress("comparing detectors", 0, 1)
    with failing():
        if given.levels is None:
            placed = levels_of(given.degrees, Division(levels=levels))
        else:
            placed = PoolLevels(given.levels, {half: int(own.max()) + 1 for half, own in given.levels.items()})
        pool = ScoredPool(given.test, given.pool, given.test_groups, given.pool_groups, placed, given.known)
        measured = measure(pool, id_kept=True, least=least)
        rows = results_of_unit(EVALUATION, measured.rows, seed=0, shared=measured.shared)
        facts = {"model": "scores", "seed": 0, "detectors": [*pool.test], "sequential": []}
        unit = DetectionUnit(facts, rows, measured.errors)
        run = DetectionRun((unit,), {"least": least, "id_kept": True})
        results = results_of(run)
    observer.progress("comparing detectors", 1, 1)
    report = report_of(results, run, made={"command": made} if made else {}, found=pool)
    if out is not None:
        report.write(out)
    return report
