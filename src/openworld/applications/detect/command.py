"""From what a person names to scores, and from these to a report and files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.applications.detect.reading import read_scores, scores_parquet
from openworld.applications.detect.report import SCORES, detection_report
from openworld.report.command_report import CommandReport
from openworld.results.scored_sets import REPLICATES, ScoredSets, detection_results


@dataclass(frozen=True)
class DetectOptions:
    """How numbers are made.

    Args:
        replicates: of the bootstrap that gives FPR and AUPR their intervals; 0 for none.
        seed: of the bootstrap.
        out: folder of page, numbers and scores; None to keep nothing.
    """

    replicates: int = REPLICATES
    seed: int = 0
    out: Path | None = None

    def __post_init__(self) -> None:
        if self.replicates < 0 or self.replicates == 1:
            raise OpenworldError(f"replicates is {self.replicates}, expected 2 or more, or 0 for no bootstrap.")
        if self.out is not None and ((self.out / "run.json").exists() or (self.out.exists() and not self.out.is_dir())):
            raise OpenworldError(f"--out {self.out} holds a run, or is a file; give another folder.")


def detect_scores(
    scores: Any,
    *,
    larger_out: bool = False,
    detector: Sequence[str] = (),
    options: DetectOptions | None = None,
    observer: Observer = SILENT,
    made: str = "",
) -> CommandReport:
    """Compare detectors by scores that were computed elsewhere.

    Args:
        scores: a file, or columns, as `read_scores` takes them.

    Raises:
        OpenworldError: scores that will not do, as the message says.
    """
    sets = read_scores(scores, larger_out=larger_out, only=detector)
    return compare(replace(sets, made={"command": made} if made else {}), options or DetectOptions(), observer)


def compare(sets: ScoredSets, options: DetectOptions, observer: Observer = SILENT) -> CommandReport:
    """Return the report of scores; written into `options.out` where that is a folder."""
    if not sets.others:
        raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
    observer.progress("comparing detectors", 0, 1)
    with failing():
        results = detection_results(sets, replicates=options.replicates, seed=options.seed)
    observer.progress("comparing detectors", 1, 1)
    report = replace(detection_report(sets, results), files={SCORES: scores_parquet(sets)})
    if options.out is not None:
        report.write(options.out)
    return report
