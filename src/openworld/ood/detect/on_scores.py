"""Detectors compared by a table of scores with a row per image, of whatever source or of `openworld detect`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError, failing
from openworld.core.progress import Observer
from openworld.ood.benchmark.report import LAYOUT, detection_brief, ranked
from openworld.ood.detection_results import detection_results
from openworld.ood.scored_sets import ScoredSets, have_places, read_scores, scores_parquet
from openworld.ood.thresholds import SavedThresholds, choose_thresholds, flagged_results, write_saved
from openworld.report.report import Report
from openworld.results import Results, RunFolder
from openworld.runs.outputs import DETECTED, require_folder

PAGES = ("ood-benchmark", "ood-detection")
"""The evaluations of what is written."""
SCORES = "scores.parquet"


def detect_scores(
    scores: Any,
    *,
    larger_out: bool,
    detector: Sequence[str],
    flag_rate: float | None,
    replicates: int,
    seed: int,
    levels: int,
    least: int,
    out: Path | None,
    observer: Observer,
    made: Mapping[str, str],
) -> Report:
    """Compare detectors by a table of scores, over cells of shift where it has them; see `openworld.detect`."""
    by_shift = have_places(scores)
    if by_shift and flag_rate is not None:
        raise OpenworldError("scores over cells of shift bring no threshold; leave --flag-rate out, or the degrees.")
    require_folder("--out", out, own=(DETECTED,), pages=PAGES, inputs=(scores,))
    saved = None
    if by_shift:
        from openworld.ood.by_shift.own_scores import read_pool, report_of_pool

        pool = read_pool(scores, levels, larger_out=larger_out, only=detector)
        observer.progress("comparing detectors", 0, 1)
        with failing():
            report = report_of_pool(pool, least, made)
    else:
        sets = replace(read_scores(scores, larger_out=larger_out, only=detector), made=made)
        if not sets.others:
            raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
        observer.progress("comparing detectors", 0, 1)
        with failing():
            results = detection_results(sets, replicates=replicates, seed=seed)
        if flag_rate is not None:
            saved = choose_thresholds(sets, flag_rate, ranked(sets, results))
            results = Results(results.evaluation, (*results.rows, *flagged_results(sets, saved)), results.comparisons)
        report = compared(sets, results, saved)
    observer.progress("comparing detectors", 1, 1)
    if out is not None:
        report.write(out)
        if saved is not None:
            write_saved(saved, None, out)
    return report


def compared(sets: ScoredSets, results: Results, saved: SavedThresholds | None, run: RunFolder | None = None) -> Report:
    """Return the report of detectors whose numbers are known."""
    notes = {"thresholds": f"Chosen on validation images: {saved.promise}."} if saved else {}
    facts = tuple(sets.made.items()) if run else ()
    brief = detection_brief(sets, results, notes=notes, facts=facts, run=run)
    return LAYOUT.report(brief, made=sets.made, found=sets, files={SCORES: scores_parquet(sets)})
