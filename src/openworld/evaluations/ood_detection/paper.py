"""From results of OOD detection to the numbers of IS-OOD's tables: trends over cells, and labelling issues.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024). FPR@95 is that of
OpenOOD v1.5 and AUPR has in-distribution as the positive side, as in its released code. A number of several seeds is
the mean of the seeds' numbers. Of runs with several models the classifier that comes first is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.measurements import ALL
from openworld.evaluations.ood_detection.record import SUBSETS
from openworld.evaluations.ood_detection.results import DetectionResults
from openworld.papers import PaperTable, published_numbers
from openworld.papers.results import PaperResult, PaperRun, paper_result
from openworld.results import Result, RunFolder, over_seeds

EVALUATION = "ood-detection"
GIVEN = "given cells"
"""What a run calls its pool where the division was given."""

KEYS = {"AUROC": "auroc", "FPR@95": "fpr_out_positive", "AUPR": "aupr_in"}
KINDS = {"sensitivity": "slope", "correlation": "correlation"}
"""The paper's metrics, such as sensitivity(AUROC) -> ours."""

AXES = {"semantic shift": "semantic", "covariate shift": "covariate"}
COLUMNS = {
    "entire ImageNet-21K (with labeling issues)": "all",
    "subsets with larger semantic shift (fewer labeling issues)": "far",
}
"""Columns of Table 8 -> the subsets of a record; the paper does not say which levels are larger."""


def read(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Our numbers of a table.

    Args:
        wanted: a table of IS-OOD but 3; see `decomposed_zero_shot.paper`.
        runs: whole runs; detectors beyond the table's are left out.

    Raises:
        OpenworldError: when no run holds a detector of the table.
    """
    methods = tuple(dict.fromkeys(number.method for number in published_numbers(wanted.paper, wanted.number)))
    numbers = [number for run in runs for number in _numbers(run, run.read(_load), wanted, methods)]
    numbers = [number for number in numbers if number.dataset in wanted.datasets] or numbers
    if not numbers:
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of ood-detection with {', '.join(methods)}; none of the "
            f"{len(runs)} given holds any of them."
        )
    return tuple(numbers)


def _numbers(
    run: PaperRun, results: DetectionResults, wanted: PaperTable, methods: Sequence[str]
) -> Iterator[PaperResult]:
    facts, of_detector = results.facts, _labelling if wanted.tasks == ("labelling issues",) else _trends
    classifiers = [key for key in facts.detectors if facts.of(key.model)[0].kind == "classifier"] or facts.detectors
    for detector in classifiers:
        method = run.method(detector.label)
        if detector.model == classifiers[0].model and method in methods:
            for setting, metric, result in of_detector(results, detector, wanted.metrics):
                names = {"dataset": run.dataset(_pool(facts)), "setting": setting, "method": method}
                if len(result.seeds) > 1:  # papers are compared by the interval over these
                    result = _over_seeds(result, result.per_seed)
                yield paper_result(result, metric, backbone=detector.model, **names)


def _trends(results: DetectionResults, detector: Detector, metrics: Sequence[str]) -> Iterator[tuple]:
    """Slopes, without their sign, and correlations over the cells that are present."""
    for setting, axis in AXES.items():
        place = {"model": detector.model, "id_classes": results.facts.counting, "cells": ALL, "axis": axis}
        for metric in metrics:
            kind, _, of = metric.removesuffix(")").partition("(")
            result = results.rows.result(detector.label, f"{KEYS[of]}_{KINDS[kind]}", **place)
            sizes = [None if value is None else abs(value) for value in result.per_seed]
            yield setting, metric, _over_seeds(result, sizes if kind == "sensitivity" else result.per_seed)


def _labelling(results: DetectionResults, detector: Detector, metrics: Sequence[str]) -> Iterator[tuple]:
    for setting, subset in COLUMNS.items():
        images = SUBSETS[subset]
        yield setting, metrics[0], results.rows.result(detector.label, "auroc", model=detector.model, images=images)


def _over_seeds(result: Result, values: Sequence[float | None]) -> Result:
    return replace(result, value=over_seeds(values, result.metric), per_seed=tuple(values))


def _load(folder: Path) -> DetectionResults:
    run = RunFolder.read(folder)
    if run.evaluation != EVALUATION:
        raise OpenworldError(f"{folder} is a run of {run.evaluation or 'nothing'}, expected {EVALUATION}.")
    return DetectionResults.read(run)


def _pool(facts: ShiftFacts) -> str:
    sources = facts.first.source.sources
    return str(sources[0]["dataset"]) if facts.first.decomposition and sources else GIVEN
