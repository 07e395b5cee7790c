"""Scores that were computed elsewhere, or by `openworld detect`: compared, and new ones flagged with thresholds."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.ood.detect.reading import read_scores, scores_parquet
from openworld.ood.detection_results import detection_results
from openworld.ood.layout import LAYOUT, detection_brief, ranked
from openworld.ood.scored_sets import ScoredSets
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
    larger_out: bool = False,
    detector: Sequence[str] = (),
    flag_rate: float | None = None,
    replicates: int = 200,
    seed: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: str = "",
) -> Report:
    """Compare detectors by a table of scores; arguments as for `openworld.detect`."""
    require_folder("--out", out, own=(DETECTED,), pages=PAGES, inputs=(scores,))
    sets = read_scores(scores, larger_out=larger_out, only=detector)
    sets = replace(sets, made={"command": made} if made else {})
    if not sets.others:
        raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
    observer.progress("comparing detectors", 0, 1)
    with failing():
        results = detection_results(sets, replicates=replicates, seed=seed)
    observer.progress("comparing detectors", 1, 1)
    saved = None
    if flag_rate is not None:
        saved = choose_thresholds(sets, flag_rate, ranked(sets, results))
        results = Results(results.evaluation, (*results.rows, *flagged_results(sets, saved)), results.comparisons)
    report = compared(sets, results, saved)
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
