"""A run of recognition by shift that nobody ran: records of the right shape, the same for the same seed."""

from dataclasses import asdict
from itertools import count

import numpy as np
import pytest

from openworld.datasets import ImageSet
from openworld.evaluations.recognition_by_shift.estimates import estimator_record, nones
from openworld.evaluations.recognition_by_shift.metrics import by_shift
from openworld.evaluations.recognition_by_shift.record import (
    OPEN_WORLD,
    EstimationRecord,
    OpenWorldLevelRecord,
    OpenWorldRecord,
    PoolSize,
    ShiftRecord,
    ValidationRecord,
)
from openworld.evaluations.shift_cells import DividedPool
from openworld.evaluations.shift_images import Pool
from openworld.results import RunFolder
from openworld.runs import RunStore, Unit, UnitResult

LEARNERS = {"zero-shot": (0.0, 0.0), "<b>good</b>": (1.5, 0.25), "poor": (-0.5, -0.2)}  # gain in scores, in accuracy
LEVELS = 3


@pytest.fixture(scope="session")
def made_up_run(tmp_path_factory):
    """A function that writes the records of a made-up run into a folder and reads it."""
    root, numbers = tmp_path_factory.mktemp("made-up"), count()

    def write(**options):
        folder = root / str(next(numbers))
        store, records = RunStore(folder), list(made_up(**options))
        store.create({"made": "up"}, {"protocol": "recognition-by-shift"}, {"command": ["openworld", "run"]})
        units = [Unit(function="made.up:record", arguments={"n": n}, name=str(n)) for n in range(len(records))]
        store.plan(units)
        for unit, (record, tables) in zip(units, records, strict=True):
            store.write(unit, UnitResult(outputs=tables, metrics=asdict(record)))
        return RunFolder.read(folder)

    return write


@pytest.fixture(scope="session")
def shift_run(made_up_run):
    """Three learners over two seeds, two estimators, the farthest corner empty."""
    return made_up_run()


def made_up(seeds=(1, 2), learners=LEARNERS, estimators=("AC", "FRAP"), images=480):
    """(record, tables) of every unit."""
    draw = np.random.default_rng(0)
    found, ground = _divided(draw, images), _base(draw, 80)
    for name, gains in learners.items():
        for seed in seeds:
            noise = np.random.default_rng([seed, len(name)])
            base, pool = _answers(ground, gains, noise), _answers(_pool(found), gains, noise)
            record = ShiftRecord(
                **_described(name, seed, found, base, estimators),
                **by_shift(base, pool, found, 8),
                estimation=_estimation(pool, found, estimators, noise) if estimators else None,
            )
            levels = {f"{half}_level": level.astype(np.int16) for half, level in found.levels.items()}
            yield record, {"base": base, "pool": pool | levels}


def _divided(draw, size: int) -> DividedPool:
    levels = {half: draw.integers(0, LEVELS, size) for half in ("semantic", "covariate")}
    corner = (levels["semantic"] == 2) & (levels["covariate"] == 2)
    levels["semantic"] = np.where(corner, 0, levels["semantic"])
    labels = draw.integers(0, 4, size)
    images = ImageSet("made up", "", ("a", "b", "c", "d"), labels, np.arange(size) // 2, "made up", int)
    pool = Pool(images, ("plain",), np.zeros(size, np.int64), labels < 2)
    cuts = dict.fromkeys(levels, (0.25, 0.5))
    degrees = {half: level / 4 for half, level in levels.items()}
    return DividedPool(pool, np.arange(size), levels, dict.fromkeys(levels, LEVELS), degrees, cuts)


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
        "pool": PoolSize(len(found.rows), int(found.known.sum()), found.pool.styles),
        "estimators": [{"label": one} for one in estimators],
    }


def _estimation(pool: dict, found: DividedPool, estimators, draw) -> EstimationRecord:
    grid, right = found.grid(np.arange(len(found.rows)), 8), pool["joint_prediction"] == pool["label"]
    truth = np.full(grid.shape, np.nan)
    for cell in map(tuple, np.argwhere(grid.present).tolist()):
        truth[cell] = right[grid.cell(*cell)].mean()
    estimates = {}
    for place, label in enumerate(estimators):
        cells = np.clip(truth + draw.normal(0.1 * (1 - place), 0.01, truth.shape), 0, 1)
        estimates[label] = estimator_record(cells, truth, ["few images"] * place)
    home = ValidationRecord(40, 0.7)
    return EstimationRecord(grid.counts.tolist(), nones(truth), estimates, home, _open_world())


def _open_world() -> OpenWorldRecord:
    """Two estimators, of which one says nothing of the farthest level, where the alarm stands."""
    says = OpenWorldLevelRecord(dict.fromkeys(OPEN_WORLD, 0.5))
    refused = OpenWorldLevelRecord(dict.fromkeys(OPEN_WORLD), "too few images look new")
    return OpenWorldRecord({"hybrid": (says, says, refused), "own": (says,) * LEVELS}, (False, None, True))
