"""Runs of OOD detection that nobody ran: scores are drawn, and the metrics of their cells are measured as in a unit."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.shift_levels import PoolLevels
from openworld.ood.by_shift.errors import TABLE, errors_table
from openworld.ood.by_shift.measurement import ScoredPool, measure
from openworld.ood.scored_sets import SCORE_COLUMN
from openworld.results import METRICS, Result, Value
from openworld.runs import RunStore, Unit, UnitResult

# {model: {detector: points of score by which a level of meaning, and one of appearance, is farther off}}
MODELS = {
    "resnet-8": {"MSP": (0.1, -0.05), "KNN": (0.2, 0.0), "<b>own</b>": (0.0, 0.0)},
    "a CLIP": {"MSP": (0.5, 0.0), "MCM": (0.6, 0.0)},
}
SPEC = {
    "protocol": "ood-detection", "least": 10, "seeds": [0, 1], "sources": [{"dataset": "emoji-concepts"}], "k": 10,
    "cells": None, "decomposition": {"method": "LAID", "backbone": "embedded", "seed": 0},
}  # fmt: skip


@pytest.fixture(scope="session")
def write_run(tmp_path_factory):
    """A function that writes units, (facts, tables of images, attachments) each, as a run."""

    def write(units, pool="the same", **spec):
        folder = tmp_path_factory.mktemp("ood")
        store = RunStore(folder)
        spec = SPEC | {"id_kept": units[0][0]["id_kept"]} | spec
        store.create(spec, spec, {"command": ["openworld", "run", "mine.toml"]})
        planned = [Unit("math:sqrt", {"x": place}, {"pool": pool}, name=str(place)) for place in range(len(units))]
        store.plan(planned)
        for unit, (facts, tables, attachments) in zip(planned, units, strict=True):
            store.write(unit, UnitResult(tables, facts, attachments))
        return folder

    return write


@pytest.fixture(scope="session")
def measured_unit():
    """A function that measures scores as a unit does: what `write_run` takes, of the facts of a unit and a pool."""

    def make(facts, pool):
        measured = measure(pool, id_kept=facts["id_kept"], least=SPEC["least"])
        rows = (*measured.rows, Result(facts["model"], METRICS["accuracy"], Value(0.8)))
        attachments = rows_of_unit("ood-detection", rows, seed=facts["seed"], shared=measured.shared)
        tables = {"images": {"group": pool.pool_groups, "known": pool.known}, "test": {"group": pool.test_groups}}
        for table, scores in zip(tables.values(), (pool.pool, pool.test), strict=True):
            table |= {SCORE_COLUMN + label: values for label, values in scores.items()}
        return facts, tables | {TABLE: errors_table(measured.errors)}, attachments

    return make


@pytest.fixture(scope="session")
def make_units(measured_unit):
    """A function that makes up units, the first with thumbnails of its cells; the second model has one seed."""

    def make(*, models=MODELS, seeds=(0, 1), known=True, counts=None, id_kept=True, generated=None):
        place, shape = _cells(counts)
        units = []
        for number, (model, detectors) in enumerate(models.items()):
            for seed in seeds[: 1 if number else None]:
                pool = _pool(detectors, np.random.default_rng([number, seed]), place, shape)
                is_known = known & (np.arange(place.size) % 4 == 0)
                pool = replace(pool, known=is_known, generated=None if generated is None else generated(place))
                units.append(measured_unit(_facts(model, seed, detectors, id_kept), pool))
        units[0][2].update(_images(np.bincount(place, minlength=np.prod(shape)).reshape(shape)))
        return units

    return make


@pytest.fixture(scope="session")
def make_run(write_run, make_units):
    """A function that makes up a run, as `make_units` makes its units."""
    return lambda pool="the same", **options: write_run(make_units(**options), pool=pool)


@pytest.fixture(scope="session")
def shifts(make_run):
    """The story of two models, one with two seeds; five detectors; 4 x 5 cells of which the far corner is N/A."""
    return read_report(make_run())


@pytest.fixture(scope="session")
def one_detector(make_run):
    """One detector of one model with one seed, and no image of an in-distribution class."""
    return read_report(make_run(models={"resnet-8": {"MSP": (0.2, 0.0)}}, seeds=(0,), known=False))


def _cells(counts):
    """The cell of every image of the pool, row by row, and the shape of the grid."""
    if counts is None:
        counts = [[max(0, 40 - 9 * abs(row - column + 1) - 12 * (row > 2)) for column in range(5)] for row in range(4)]
    return np.repeat(np.arange(np.size(counts)), np.ravel(counts)), np.shape(counts)


def _pool(detectors, luck, place, shape):
    row, column = np.divmod(place, shape[1])
    test, pool = {}, {}
    for label, (meaning, appearance) in detectors.items():
        test[label] = luck.normal(0, 1, 60)
        pool[label] = luck.normal(0, 1, place.size) - meaning * column - appearance * row
    halves = {"semantic": column, "covariate": row}
    counts = dict(zip(("covariate", "semantic"), shape, strict=True))
    cuts = {half: tuple((0.1 * np.arange(1, count)).tolist()) for half, count in counts.items()}
    known = np.zeros(place.size, bool)
    return ScoredPool(test, pool, np.arange(60), 60 + np.arange(place.size), PoolLevels(halves, counts, cuts), known)


def _facts(model, seed, detectors, id_kept):
    return {
        "model": model, "kind": "classifier", "seed": seed, "id_kept": id_kept, "classes": 50, "training": 100,
        "detectors": [*detectors], "sequential": [], "styles": ["b"], "left_out": 0, "warnings": ["a <remark>"],
        "learner": None,
    }  # fmt: skip


def _images(counts):
    file = io.BytesIO()
    Image.new("L", (8, 8), 128).save(file, "PNG")
    return {f"images/{row}-{column}/7.png": file.getvalue() for row, column in np.argwhere(counts > 0)}
