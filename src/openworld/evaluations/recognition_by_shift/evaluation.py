"""Recognition by shift as an evaluation: a unit fits a learner, and scores its answers in every cell and level.

Its rows are OpenworldAUC and its parts overall, in every cell and at every level, and what the pool holds. One text
bank serves all images, so that answers differ by image alone and a cell is a slice of one table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.datasets import ClassSplit
from openworld.evaluations.evaluation import Evaluation
from openworld.evaluations.learning import fit, training_facts
from openworld.evaluations.recognition_by_shift.estimates import (
    Scored,
    estimate_cells,
    open_world_rows,
    similarities_of,
)
from openworld.evaluations.recognition_by_shift.results import BASE, LEVEL_START, NEAR, NEW, PARTS, POOL, SAME, cell
from openworld.evaluations.recognition_by_shift.spec import RecognitionByShiftSpec, names_of
from openworld.evaluations.recognition_metrics import Table, image_table, rows_of
from openworld.evaluations.rows import rows_of_unit, with_names
from openworld.evaluations.runtime import Clock, Machine, encoded_part
from openworld.evaluations.shift_cells import DividedPool, divide_pool
from openworld.evaluations.views import joined_answers, numbers_among
from openworld.learners import Answer, FittedLearner, TextBank
from openworld.metrics import OpenworldAUC, openworld_auc, shift_trend
from openworld.results import METRICS, Result, Value, interval_of
from openworld.results.value import value_or
from openworld.runs import UnitResult, to_json
from openworld.shifts import OpenWorldByShift, ShiftGrid, open_world_by_shift


def answers_on(
    task: RecognitionByShiftSpec,
    fitted: FittedLearner,
    bank: TextBank,
    split: ClassSplit,
    machine: Machine,
    *parts: str,
) -> Scored:
    """Return the answers among all names on some image sets of a task, one behind the other."""
    tables, answers, row, group = [], [], 0, 0  # ids and groups go on from one set to the next
    for part in parts:
        features = encoded_part(task, part, machine)
        labels = numbers_among(split.names, features.classnames)[features.labels]
        features = replace(
            features, labels=labels, classnames=split.names, rows=features.rows + row, groups=features.groups + group
        )
        answer = fitted.answer(features, bank)
        tables.append(image_table(answer, features, len(split.base)))
        answers.append(answer if task.estimators else Answer(np.zeros((0, 0)), None))  # logits that nobody reads
        images = task.image_sets[part].load()
        row, group = row + len(images), group + int(images.groups.max(initial=-1)) + 1
    table = {name: np.concatenate([table_of_part[name] for table_of_part in tables]) for name in tables[0]}
    return table, joined_answers(answers)


def evaluate(task: RecognitionByShiftSpec, machine: Machine) -> UnitResult:
    """Fit one learner, and score its answers on base images and the pool, cell by cell and level by level."""
    divided = divide_pool(task, machine)
    split = names_of(task.ground, divided.pool)
    shots, clock = encoded_part(task, "train", machine), Clock(machine)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    bank = fitted.text_bank(split.base_names, split.new_names)
    answers = partial(answers_on, task, fitted, bank, split, machine)
    base, _ = answers("base")
    pool = answers(*(part for part in task.image_sets if part.startswith("pool ")))
    clock.stop("score")
    if not np.array_equal(pool[0]["id"], divided.rows):
        raise OpenworldError(
            f"{len(pool[0]['id'])} images of the pool were answered and {len(divided.rows)} measured; an image can "
            "be read by one model and not by the other. Start the run again with an empty cache."
        )
    facts = training_facts(task, fitted, shots) | described(task, split, base, divided)
    shared = [*pool_rows(base, divided)]
    rows = [*shift_rows(task.learner.label, base, pool[0], divided, task.least)]
    if task.estimators:
        found, of_pool, facts["estimation"] = _estimation(task, answers("validation"), pool, divided, split, machine)
        rows, shared = rows + found, shared + of_pool
    measured = {"style": divided.pool.style[divided.rows].astype(np.int16)}
    for half, degrees in (divided.degrees or {}).items():
        measured |= {half: degrees, f"{half}_level": divided.levels[half].astype(np.int16)}
    tables = {"base": (base, task.image_sets["base"].load()), "pool": (pool[0], divided.pool.images)}
    named = {side: with_names(table, split.names, images.path_of) for side, (table, images) in tables.items()}
    return UnitResult(
        outputs={"base": named["base"], "pool": named["pool"] | measured},
        metrics=to_json(facts),
        attachments=rows_of_unit("recognition-by-shift", rows, seed=task.seed, shared=shared),
        timing=clock.timing,
    )


def _estimation(
    task: RecognitionByShiftSpec,
    validation: Scored,
    pool: Scored,
    divided: DividedPool,
    split: ClassSplit,
    machine: Machine,
) -> tuple[list[Result], list[Result], dict[str, Any]]:
    """Rows about all images of the pool, whatever their class; how many there are; and facts."""
    grid = divided.grid(np.arange(len(divided.rows)), task.least)
    similar = similarities_of(task, split, {"validation": (task.validation,), "pool": task.ground.tested}, machine)
    rows, warnings = estimate_cells(task, validation, pool, grid, similar)
    if task.open_world_estimators:
        rows += open_world_rows(task, validation, pool, divided, len(split.base), similar)
    images = METRICS["images"]
    counts = [Result(POOL, images, Value(int(count)), cell(*place)) for place, count in np.ndenumerate(grid.counts)]
    warned = {label: {"cells": len(each), "first": each[0]} for label, each in warnings.items() if each}
    return rows, counts, {"validation_images": len(validation[0]["id"]), "warnings": warned}


def described(task: RecognitionByShiftSpec, split: ClassSplit, base: Table, divided: DividedPool) -> dict[str, Any]:
    """Return the facts of a record that say what was tuned on what, and what it met."""
    return {
        "sources": list(map(to_json, task.ground.sources)),
        "training": len(task.ground.training.load()),
        "n_base_images": len(base["id"]),
        "n_base_classes": len(split.base),
        "n_new_classes": len(split.new),
        "left_out": task.ground.left_out,
        "classnames": split.names,
        "decomposition": task.decomposition,
        "neighbour": task.k,
        "least": task.least,
        "pool": {"n": len(divided.rows), "known": int(divided.known.sum()), "styles": divided.pool.styles},
        "references": list(map(asdict, task.references)) if task.estimators else [],
        "estimators": [estimator.facts() for estimator in task.estimators],
    }


def pool_rows(base: Table, divided: DividedPool) -> Iterator[Result]:
    """Yield what all learners meet alike: images of every side, level and cell, and the degrees where levels start."""
    images, new = METRICS["images"], np.flatnonzero(~divided.known)
    for side, count in (("base", len(base["id"])), ("new", len(new))):
        yield Result("", images, Value(count), {"side": side})
    for axis, levels in divided.facts(new).items():
        for level, (start, count) in enumerate(zip(levels["edges"], levels["counts"], strict=False)):
            where = {"axis": axis, "level": level}
            yield Result(NEW, images, Value(int(count)), where)
            yield Result("", LEVEL_START, Value(float(start)), where)
    counts = divided.grid(new, 1).counts
    level_counts = np.bincount(divided.levels["covariate"][divided.known], minlength=len(counts))
    for level, count in enumerate(level_counts.tolist()):
        yield Result(BASE, images, Value(count), {"axis": "covariate", "level": level})
    for (row, column), count in np.ndenumerate(counts):
        yield Result(NEW, images, Value(int(count)), cell(row, column))


def shift_rows(learner: str, base: Table, pool: Table, divided: DividedPool, least: int) -> Iterator[Result]:
    """Yield the numbers of a learner with one seed; cells and levels of fewer images than `least` have none."""
    kept = np.flatnonzero(~divided.known)
    grid, new, known = divided.grid(kept, least), rows_of(pool, kept), rows_of(pool, np.flatnonzero(divided.known))
    covariate = divided.levels["covariate"][divided.known]
    # Apart from one another: numbers of two image sets mean nothing together.
    apart = new["group"] + int(base["group"].max(initial=-1)) + 1
    overall = openworld_auc(*_scores_of(base), *_scores_of(new), base_groups=base["group"], new_groups=apart)
    near = open_world_by_shift(_scores_of(base), _scores_of(new), grid, base_groups=base["group"], new_groups=apart)
    groups = {"base_groups": known["group"], "new_groups": new["group"]}
    same = open_world_by_shift(_scores_of(known), _scores_of(new), grid, base_covariate=covariate, **groups)

    few = f"fewer than {least} images"
    yield from _parts(learner, overall, {"view": NEAR}, few)
    for view, found in ((NEAR, near), (SAME, same)):
        for axis in ("semantic", "covariate"):
            for level, areas in enumerate(getattr(found, axis)):
                yield from _parts(learner, areas, {"view": view, "axis": axis, "level": level}, few)
        for place in np.ndindex(grid.shape):
            yield from _parts(learner, found.cells.get(place), {"view": view, **cell(*place)}, few)
    yield from _slopes(learner, near, grid)


def _parts(learner: str, areas: OpenworldAUC | None, where: Mapping[str, Any], few: str) -> Iterator[Result]:
    for part in PARTS:
        value = Value(None, reason=few)
        if areas is not None:
            estimate = areas.estimate(part)
            over = interval_of(estimate.interval(), "images", areas.n_base + areas.n_new)
            value = Value(estimate.value, over, estimate.reason or "")
        yield Result(learner, METRICS[part], value, where)


def _slopes(learner: str, near: OpenWorldByShift, grid: ShiftGrid) -> Iterator[Result]:
    """Yield by how much each part changes from level to level: of the means of the cells at each level."""
    for part, title in PARTS.items():
        values = {place: areas.estimate(part).value for place, areas in near.cells.items()}
        table, present = np.zeros(grid.shape), np.zeros(grid.shape, bool)
        for place, value in values.items():
            table[place], present[place] = value, True
        trends = shift_trend(table, present)
        for axis in ("semantic", "covariate"):
            trend = getattr(trends, axis)
            where = {"view": NEAR, "axis": axis, "part": title}
            yield Result(learner, METRICS["slope"], value_or(trend.slope, trend.reason or "it is not defined"), where)


def _scores_of(table: Table) -> tuple[np.ndarray, np.ndarray]:
    return table["score"], table["correct"]


EVALUATION = Evaluation(
    "recognition-by-shift", RecognitionByShiftSpec, RecognitionByShiftSpec.tasks, evaluate, version=6
)
