"""A run of open-world quality by shift that nobody ran: records of the right shape, the same for the same seed."""

from types import SimpleNamespace

import numpy as np
import pytest

from openworld.datasets import ImageSet
from openworld.evaluations.recognition_by_shift.estimates import errors_of, nones
from openworld.evaluations.recognition_by_shift.metrics import by_shift
from openworld.evaluations.recognition_by_shift.run import open_world_shift_run
from openworld.evaluations.shift_cells import Divided
from openworld.evaluations.shift_images import Pool
from openworld.runs import RunStore, Unit, UnitResult

LEARNERS = {"zero-shot": (0.0, 0.0), "<b>good</b>": (1.5, 0.25), "poor": (-0.5, -0.2)}  # gain in scores, in accuracy
LEVELS = 3


@pytest.fixture(scope="session")
def open_world_shifts_of():
    """A function that makes up such a run, in memory."""
    return lambda **options: open_world_shift_run([_record(*one) for one in made_up(**options)])


@pytest.fixture(scope="session")
def open_world_shifts(open_world_shifts_of):
    """Three learners over two seeds, two estimators, the farthest corner empty."""
    return open_world_shifts_of()


@pytest.fixture
def write_open_world_shifts(tmp_path):
    """A function that writes the records of a made-up run into a folder and returns it."""

    def write(**options):
        store, told = RunStore(tmp_path / "run"), list(made_up(**options))
        store.create({"made": "up"}, {"protocol": "open-world-by-shift"}, {"command": ["openworld", "run"]})
        made = [
            Unit(function="made.up:record", arguments={"place": place}, name=str(place)) for place in range(len(told))
        ]
        store.plan(made)
        for unit, (metrics, tables) in zip(made, told, strict=True):
            store.write(unit, UnitResult(outputs=tables, metrics=metrics))
        return tmp_path / "run"

    return write


def made_up(seeds=(1, 2), learners=LEARNERS, estimators=("AC", "FRAP"), pictures=480):
    """(metrics, tables) of every record."""
    draw = np.random.default_rng(0)
    found, ground = _divided(draw, pictures), _base(draw, 80)
    for name, gains in learners.items():
        for seed in seeds:
            noise = np.random.default_rng([seed, len(name)])
            base, pool = _said(ground, gains, noise), _said(_pool(found), gains, noise)
            told = _described(name, seed, found, base, estimators) | by_shift(base, pool, found, 8)
            told |= {"estimation": _estimation(pool, found, estimators, noise)} if estimators else {}
            levels = {f"{half}_level": level.astype(np.int16) for half, level in found.levels.items()}
            yield told, {"base": base, "pool": pool | levels}


def _divided(draw, pictures: int) -> Divided:
    levels = {half: draw.integers(0, LEVELS, pictures) for half in ("semantic", "covariate")}
    corner = (levels["semantic"] == 2) & (levels["covariate"] == 2)
    levels["semantic"] = np.where(corner, 0, levels["semantic"])
    labels = draw.integers(0, 4, pictures)
    images = ImageSet("made up", "", ("a", "b", "c", "d"), labels, np.arange(pictures) // 2, "made up", None)
    pool = Pool(images, ("plain",), np.zeros(pictures, np.int64), labels < 2)
    cuts = dict.fromkeys(levels, (0.25, 0.5))
    degrees = {half: level / 4 for half, level in levels.items()}
    return Divided(pool, np.arange(pictures), levels, dict.fromkeys(levels, LEVELS), degrees, cuts)


def _base(draw, count: int) -> dict:
    return {
        "id": np.arange(count),
        "label": draw.integers(0, 2, count),
        "group": np.arange(count) // 2,
        "far": np.zeros(count),
    }


def _pool(found: Divided) -> dict:
    images = found.pool.images
    return {"id": found.rows, "label": images.labels, "group": images.groups, "far": found.levels["semantic"]}


def _said(shown: dict, gains, draw) -> dict:
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


def _described(name: str, seed: int, found: Divided, base: dict, estimators) -> dict:
    return {
        "protocol": "open-world-by-shift",
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
        "pool": {"n": len(found.rows), "known": int(found.known.sum()), "styles": found.pool.styles},
        "estimators": [{"label": one} for one in estimators],
    }


def _estimation(pool: dict, found: Divided, estimators, draw) -> dict:
    grid, right = found.grid(np.arange(len(found.rows)), 8), pool["joint_prediction"] == pool["label"]
    truth = np.full(grid.shape, np.nan)
    for cell in map(tuple, np.argwhere(grid.present).tolist()):
        truth[cell] = right[grid.cell(*cell)].mean()
    told = {}
    for place, label in enumerate(estimators):
        cells = np.clip(truth + draw.normal(0.1 * (1 - place), 0.01, truth.shape), 0, 1)
        told[label] = {"cells": nones(cells), **errors_of(cells - truth), "warned": 0, "warning": None}
    home = {"n": 40, "accuracy": 0.7}
    return {"counts": grid.counts.tolist(), "accuracy": nones(truth), "estimates": told, "home": home}


def _record(metrics: dict, tables: dict) -> SimpleNamespace:
    return SimpleNamespace(metrics=metrics, table=tables.__getitem__)
