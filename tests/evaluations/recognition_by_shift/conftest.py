"""A run of recognition by shift that nobody ran: records of the right shape, the same for the same seed."""

from itertools import count

import numpy as np
import pytest

from openworld.datasets import ImageSet
from openworld.evaluations.recognition_by_shift.evaluation import pool_rows, shift_rows
from openworld.evaluations.recognition_by_shift.results import (
    ALARM,
    NO_ESTIMATE,
    OPEN_WORLD,
    POOL,
    SAME,
    VALIDATION,
    cell,
    estimated,
)
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.shift_cells import DividedPool
from openworld.evaluations.shift_images import Pool
from openworld.results import METRICS, Result, RunFolder, Value
from openworld.results.value import value_or
from openworld.runs import RunStore, Unit, UnitResult

LEARNERS = {"zero-shot": (0.0, 0.0), "<b>good</b>": (1.5, 0.25), "poor": (-0.5, -0.2)}  # gain in scores, in accuracy
LEVELS = 3


@pytest.fixture(scope="session")
def made_up_run(tmp_path_factory):
    """A function that writes the records of a made-up run into a folder and reads it."""
    root, numbers = tmp_path_factory.mktemp("made-up"), count()

    def write(**options):
        folder = root / str(next(numbers))
        store, results = RunStore(folder), list(made_up(**options))
        store.create({"made": "up"}, {"protocol": "recognition-by-shift"}, {"command": ["openworld", "run"]})
        units = [Unit(function="made.up:record", arguments={"n": n}, name=str(n)) for n in range(len(results))]
        store.plan(units)
        for unit, result in zip(units, results, strict=True):
            store.write(unit, result)
        return RunFolder.read(folder)

    return write


@pytest.fixture(scope="session")
def shift_run(made_up_run):
    """Three learners over two seeds, two estimators, the farthest corner empty."""
    return made_up_run()


def made_up(seeds=(1, 2), learners=LEARNERS, estimators=("AC", "FRAP"), images=480):
    """What every unit leaves."""
    draw = np.random.default_rng(0)
    found, ground = _divided(draw, images), _base(draw, 80)
    for name, gains in learners.items():
        for seed in seeds:
            noise = np.random.default_rng([seed, len(name)])
            base, pool = _answers(ground, gains, noise), _answers(_pool(found), gains, noise)
            rows, shared = [*shift_rows(name, base, pool, found, 8)], [*pool_rows(base, found)]
            facts = _described(name, seed, found, base, estimators)
            if estimators:
                rows += _estimation(name, pool, found, estimators, noise)
                warned = {label: {"cells": 1, "first": "few images"} for label in estimators[1:]}
                facts["estimation"] = {"warnings": warned}
                counts = np.ndenumerate(found.grid(np.arange(len(found.rows)), 8).counts)
                shared += [Result(POOL, METRICS["images"], Value(int(n)), cell(*place)) for place, n in counts]
            levels = {f"{half}_level": level.astype(np.int16) for half, level in found.levels.items()}
            kept = rows_of_unit("recognition-by-shift", rows, seed=seed, shared=shared)
            yield UnitResult({"base": base, "pool": pool | levels}, facts, kept)


def _divided(draw, size: int) -> DividedPool:
    levels = {half: draw.integers(0, LEVELS, size) for half in ("semantic", "covariate")}
    corner = (levels["semantic"] == 2) & (levels["covariate"] == 2)
    levels["semantic"] = np.where(corner, 0, levels["semantic"])
    labels = draw.integers(0, 4, size)
    images = ImageSet("made up", "", ("a", "b", "c", "d"), labels, np.arange(size) // 2, "made up", int)
    pool = Pool(images, ("plain",), np.zeros(size, np.int64), labels < 2)
    cuts = dict.fromkeys(levels, (0.25, 0.5))
    degrees = {half: level / 4 for half, level in levels.items()}
    counts = dict.fromkeys(levels, LEVELS)
    return DividedPool(levels, counts, cuts, pool=pool, rows=np.arange(size), degrees=degrees)


def _base(draw, count: int) -> dict:
    return {
        "id": np.arange(count),
        "label": draw.integers(0, 2, count),
        "group": np.arange(count) // 2,
        "far": np.zeros(count),
    }


def _pool(found: DividedPool) -> dict:
    images = found.pool.images
    return {"id": found.rows, "label": images.labels, "group": images.groups, "far": found.levels["semantic"]}


def _answers(shown: dict, gains, draw) -> dict:
    """Answers that get worse with the level of meaning."""
    count, is_base = len(shown["id"]), shown["label"] < 2
    right = draw.random(count) < 0.6 + gains[1] - 0.1 * shown["far"]
    other = np.where(right, shown["label"], (shown["label"] + 1) % 4)
    return {
        "id": shown["id"],
        "side": np.where(is_base, "base", "new"),
        "label": shown["label"],
        "joint_prediction": other,
        "correct": right,
        "score": draw.normal(size=count) + (1 + gains[0]) * is_base,
        "group": shown["group"],
    }


def _described(name: str, seed: int, found: DividedPool, base: dict, estimators) -> dict:
    return {
        "protocol": "recognition-by-shift",
        "learner": name,
        "seed": seed,
        "backbone": "embedded",
        "shots": 4,
        "epochs": None,
        "tuned_parameters": 0 if name == "zero-shot" else 8,
        "sources": [{"dataset": "made up", "domain": None}],
        "n_base_images": len(base["id"]),
        "n_base_classes": 2,
        "n_new_classes": 2,
        "least": 8,
        "pool": {"styles": found.pool.styles},
        "estimators": [{"label": one} for one in estimators],
    }


def _estimation(learner: str, pool: dict, found: DividedPool, estimators, draw) -> list[Result]:
    grid, right = found.grid(np.arange(len(found.rows)), 8), pool["joint_prediction"] == pool["label"]
    rows = [Result(learner, METRICS["accuracy"], Value(0.7), {"images": VALIDATION})]
    for place in np.ndindex(grid.shape):
        truth = right[grid.cell(*place)].mean() if grid.present[place] else None
        rows.append(Result(learner, METRICS["accuracy"], value_or(truth, NO_ESTIMATE), cell(*place)))
        for number, label in enumerate(estimators):
            said = None if truth is None else np.clip(truth + draw.normal(0.1 * (1 - number), 0.01), 0, 1)
            where = {"learner": learner, **cell(*place)}
            rows.append(Result(label, METRICS["estimated_accuracy"], value_or(said, NO_ESTIMATE), where))
    return [*rows, *_open_world(learner)]


def _open_world(learner: str):
    """Two estimators, of which one says nothing of the farthest level, where the alarm stands."""
    for level, alarm in enumerate((0.0, None, 1.0)):
        place = {"view": SAME, "axis": "covariate", "level": level}
        for name in ("hybrid", "own"):
            said = Value(None, reason="too few images look new") if (name, level) == ("hybrid", 2) else Value(0.5)
            for part in OPEN_WORLD:
                yield Result(name, estimated(part), said, {"learner": learner, **place})
        yield Result(learner, ALARM, value_or(alarm, "there are too few images"), place)
