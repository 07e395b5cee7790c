"""What a run of recognition by shift shows, and two runs of a pool side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from openworld.evaluations.recognition_by_shift.results import (
    AUC,
    LEVEL_START,
    OPEN_WORLD,
    PARTS,
    baseline_of,
    read_results,
)
from openworld.evaluations.shots import shots_in_words, training_images
from openworld.report.layout import ENTITY, Brief, Layout, Lines, Map, Pivot, Tests
from openworld.report.layout.verdict import leaders
from openworld.report.provenance import unit_facts
from openworld.report.report import Report
from openworld.report.shift_axes import LEVELS, NEAR
from openworld.results import Pair, RunFolder, pair_results

WHERE = ("view", "axis")
CELL: Any = {"rows": (ENTITY, "covariate_level"), "columns": ("semantic_level",)}  # how cells are arranged

LEVEL = "Levels count from 0, the nearest to what was tuned on; semantic: in meaning, covariate: in appearance."
VIEW = (
    "Training appearance: base test images stay as they are, so base accuracy is the same at every level. Appearance "
    "of the new images: base images of the pool move away together with the new ones, as when a camera changes."
)
ERRORS = (
    "Points: the estimated minus the true accuracy of each cell, averaged over the seeds first, then over cells and "
    "learners. Bias: above 0 where the accuracy is overestimated."
)
OVERALL, DISTANCE, CELLS = "Against all new images", "How far off?", "Cell by cell"
ESTIMATED, OPEN, HELD = (
    "How accurate, without labels?",
    "How good in an open world, without labels?",
    "What levels and cells hold",
)

OFF, BIAS = ([f"{part}_{kind}" for part in OPEN_WORLD] for kind in ("error", "bias"))

LAYOUT = Layout(
    "How far off until it fails?",
    AUC.key,
    (
        Pivot("overall", OVERALL, tuple(PARTS), per=("view",)),
        Tests("tests", OVERALL, (AUC.key,), per=("view",), folded=True),
        Pivot("levels", DISTANCE, (AUC.key,), columns=("level",), per=WHERE, note=LEVEL, terminal=True),
        Pivot("parts", DISTANCE, tuple(PARTS)[1:], columns=("level",), per=WHERE, folded=True),
        Tests("tests-by-level", DISTANCE, (AUC.key,), rows=("level",), per=WHERE, folded=True),
        Pivot(
            "trends",
            DISTANCE,
            ("slope",),
            columns=("part", "axis"),
            per=("view",),
            note="Points per level: the slope of the line through the means of the cells at each level.",
            folded=True,
        ),
        Lines("by-level", DISTANCE, tuple(PARTS), along="level", per=WHERE, note=VIEW),
        Map(
            "cells",
            CELLS,
            (AUC.key,),
            rows="covariate_level",
            columns="semantic_level",
            per=("view",),
            titles=(LEVELS["covariate"], LEVELS["semantic"]),
            note=f"{NEAR}. N/A: too few images.",
        ),
        Pivot("cells-of", CELLS, tuple(PARTS), per=("view",), **CELL, folded=True),
        Pivot("errors", ESTIMATED, ("absolute_error", "bias"), label="estimator", note=ERRORS),
        Pivot(
            "errors-by-level",
            ESTIMATED,
            ("absolute_error", "bias"),
            columns=("level",),
            per=("axis",),
            label="estimator",
            terminal=True,
        ),
        Pivot("errors-by-learner", ESTIMATED, ("absolute_error", "bias"), columns=("learner",), label="estimator"),
        Pivot("learners", ESTIMATED, ("accuracy",), columns=("images",)),
        Lines(
            "estimates-by-level",
            ESTIMATED,
            ("estimated_accuracy",),
            along="level",
            per=("learner", "axis"),
            truth="accuracy",
            note="Among all names, of all images, base and new: the mean of the cells at each level. Estimators were "
            "fitted on labelled images of base classes in the training appearance, and see no label here.",
        ),
        Pivot("accuracy-by-level", ESTIMATED, ("accuracy",), columns=("level",), per=("axis",), folded=True),
        Pivot(
            "estimated-by-level",
            ESTIMATED,
            ("estimated_accuracy",),
            rows=("learner", ENTITY),
            columns=("level",),
            per=("axis",),
            folded=True,
        ),
        Pivot("accuracy-of-cells", ESTIMATED, ("accuracy",), **CELL, folded=True),
        Pivot("estimated-of-cells", ESTIMATED, ("estimated_accuracy",), **CELL, per=("learner",), folded=True),
        Pivot(
            "open-world",
            OPEN,
            tuple(f"estimated_{part}" for part in OPEN_WORLD),
            rows=("learner", ENTITY),
            columns=("level",),
            per=WHERE,
            note="Without labels each estimate rests on a premise, which need not hold away from home.",
        ),
        Pivot(
            "alarms",
            OPEN,
            ("alarm",),
            columns=("level",),
            per=WHERE,
            note="The share of the seeds in which images score otherwise than base images at home.",
        ),
        Pivot("open-world-errors", OPEN, (*OFF,), label="estimator", per=("view",)),
        Pivot("open-world-bias", OPEN, (*BIAS,), label="estimator", per=("view",)),
        Lines(
            "open-world-by-level",
            OPEN,
            (f"estimated_{AUC.key}",),
            along="level",
            per=("learner", *WHERE),
            truth=AUC.key,
            note="All images of the pool at each level of appearance, base and new.",
        ),
        Pivot("sides", HELD, ("images",), columns=("side",), folded=True),
        Pivot("starts", HELD, ("level_start",), rows=("axis",), columns=("level",), folded=True),
        Pivot("counts", HELD, ("images",), columns=("level",), per=("axis",), folded=True, label="images"),
        Pivot("counts-of-cells", HELD, ("images",), **CELL, folded=True),
    ),
    ("view",),
)


def report(run: RunFolder) -> Report:
    results, units = read_results(run), [record.metrics for record in run.records]
    facts, seeds = units[0], " ".join(map(str, sorted({unit["seed"] for unit in units})))
    styles = ", ".join(facts["pool"]["styles"])
    estimates = leaders("absolute_error", (), Brief(results, label="estimator")) if facts["estimators"] else ()
    brief = Brief(
        results,
        baseline_of(run),
        subtitle=(*_data(units), f"seeds {seeds}", facts["backbone"]),
        facts=(*unit_facts(run.records), ("styles in the pool", styles)),
        notes={"errors": " ".join(_warnings(units))},
        sentences=(
            *(f"Without labels: {sentence}" for sentence in estimates),
            "Degrees are those of one model, and levels are of this pool.",
        ),
        run=run,
    )
    return LAYOUT.report(brief)


def _data(units: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    facts = units[0]
    places = ([source.get("dataset"), source.get("domain")] for source in facts["sources"])
    yield f"tuned on {' + '.join(', '.join(filter(None, parts)) for parts in places)}"
    yield f"{facts['n_base_classes']} base + {facts['n_new_classes']} new classes"
    if facts.get("left_out"):
        yield f"{len(facts['left_out'])} left out"
    yield shots_in_words(facts["shots"], training_images(units)) or "all images"


def _warnings(units: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    each = [unit["estimation"]["warnings"] for unit in units if "estimation" in unit]
    for name in dict.fromkeys(name for warnings in each for name in warnings):
        of_name = [warnings[name] for warnings in each if name in warnings]
        cells = sum(warning["cells"] for warning in of_name)
        yield f"{name} warned in {cells:,} cells of all learners and seeds; first: {of_name[0]['first']}."


def compare(first: Report, second: Report, metric: str) -> tuple[Pair, ...]:
    """Numbers over all images, and by level where both runs start their levels at the same degrees; no cells."""
    both = first.results, second.results
    ours, theirs = (list(results.where(metric=LEVEL_START.key)) for results in both)
    left_out = {"semantic_level"} if ours == theirs else {"semantic_level", "level"}
    kept = (replace(results, rows=tuple(row for row in results if not left_out & row.where.keys())) for results in both)
    return pair_results(*kept, metric)
