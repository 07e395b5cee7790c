"""Scores and shift degrees of one's own become the page of IS-OOD: what `detect` does with such a table."""

from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.applications.detect.command import PAGES, DetectInputs, DetectOptions
from openworld.applications.detect.shift_scores import ShiftScores, read_shift_scores
from openworld.report.report import Report
from openworld.runs.outputs import DETECTED, require_folder

EVALUATION, TITLE = "ood-detection", "scores"


def detect_by_shift(
    inputs: DetectInputs, options: DetectOptions, observer: Observer = SILENT, made: str = ""
) -> Report:
    """Return the report of scores over cells of semantic and covariate shift, as ood-detection has it."""
    from openworld.evaluations.ood_detection.facts import SCORES, DetectionUnit, ShiftFacts
    from openworld.evaluations.ood_detection.measurements import measure
    from openworld.evaluations.ood_detection.record import DetectionRecord
    from openworld.evaluations.ood_detection.report import report_of
    from openworld.evaluations.ood_detection.results import results_of
    from openworld.evaluations.rows import results_of_unit

    if options.flag_rate is not None:
        raise OpenworldError("scores over cells of shift bring no threshold; leave --flag-rate out, or the degrees.")
    require_folder("--out", options.out, own=(DETECTED,), pages=PAGES, inputs=(inputs.scores,))
    given = read_shift_scores(inputs.scores, larger_out=inputs.larger_out, only=inputs.detectors)
    observer.progress("comparing detectors", 0, 1)
    with failing():
        pool = _placed(given, inputs.levels)
        measured = measure(pool, id_kept=True, least=inputs.least)
        settings = tuple({"label": label} for label in pool.test)
        record = DetectionRecord(protocol=EVALUATION, model=TITLE, kind=SCORES, seed=0, id_kept=True,
                                 detector_settings=settings)  # fmt: skip
        rows = results_of_unit(EVALUATION, measured.rows, seed=0, shared=measured.shared)
        facts = ShiftFacts((DetectionUnit(record, rows, measured.errors, pool),), inputs.least)
        results = results_of(facts)
    observer.progress("comparing detectors", 1, 1)
    report = report_of(results, facts, made={"command": made} if made else {}, found=record)
    if options.out is not None:
        report.write(options.out)
    return report


def _placed(given: ShiftScores, levels: int):
    from openworld.evaluations.ood_detection.pool import ScoredPool
    from openworld.evaluations.shift_cells import Division, PoolLevels, levels_of

    if given.levels is None:
        placed = levels_of(given.degrees, Division(levels=levels))
    else:
        placed = PoolLevels(given.levels, {half: int(own.max()) + 1 for half, own in given.levels.items()})
    sides = given.test, given.pool, given.test_groups, given.pool_groups
    return ScoredPool(*sides, placed, given.known)
