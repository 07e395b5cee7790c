"""Runs of OOD detection that nobody ran: scores are drawn, and the metrics of their cells are measured as in a unit."""

import io
from dataclasses import asdict

import numpy as np
import pytest
from PIL import Image

from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.ood_detection.metrics import DetectorScores, detector_record, labelling, subsets_of
from openworld.evaluations.ood_detection.record import (
    AxisLevels,
    DetectionRecord,
    InDistributionRecord,
    PoolFacts,
    PoolRecord,
)
from openworld.evaluations.ood_detection.uncertainty import Ranked, joint_totals, over_images
from openworld.runs import RunStore, Unit, UnitResult
from openworld.shifts import ShiftGrid

# {model: {detector: points of score by which a level of meaning, and one of appearance, is farther off}}
MODELS = {
    "resnet-8": {"MSP": (0.1, -0.05), "KNN": (0.2, 0.0), "<b>own</b>": (0.0, 0.0)},
    "a CLIP": {"MSP": (0.5, 0.0), "MCM": (0.6, 0.0)},
}
SPEC = {"protocol": "ood-detection", "least": 10, "seeds": [0, 1]}


@pytest.fixture(scope="session")
def write_run(tmp_path_factory):
    """A function that writes records, each with its tables of images, as a run."""

    def write(records, tables=(), attachments=None, pool="the same", protocol="ood-detection"):
        folder = tmp_path_factory.mktemp("ood")
        store = RunStore(folder)
        spec = SPEC | {"protocol": protocol}
        store.create(spec, spec, {"command": ["openworld", "run", "mine.toml"]})
        units = [Unit("math:sqrt", {"x": place}, {"pool": pool}, name=str(place)) for place in range(len(records))]
        store.plan(units)
        for place, (unit, record) in enumerate(zip(units, records, strict=True)):
            own = attachments or {} if place == 0 else {}
            store.write(unit, UnitResult(tables[place] if tables else {}, asdict(record), own))
        return folder

    return write


@pytest.fixture(scope="session")
def make_run(write_run):
    """A function that makes up a run, with thumbnails of its cells; the second model has one seed."""

    def make(*, models=MODELS, seeds=(0, 1), known=True, counts=None, change=lambda record: record, **options):
        place, shape = _cells(counts)
        is_known = known & (np.arange(place.size) % 4 == 0)
        records, tables = [], []
        for number, (model, detectors) in enumerate(models.items()):
            for seed in seeds[: 1 if number else None]:
                sides = _sides(detectors, np.random.default_rng([number, seed]), place, shape)
                records.append(change(_record(model, seed, sides, place, is_known, shape)))
                tables.append(_tables(sides, is_known))
        return write_run(records, tables, _images(records[0].counts), **options)

    return make


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


def _sides(detectors, luck, place, shape):
    columns, groups = shape[1], (np.arange(60), 60 + np.arange(place.size))
    return {
        label: DetectorScores(
            luck.normal(0, 1, 60),
            luck.normal(0, 1, place.size) - meaning * (place % columns) - appearance * (place // columns),
            *groups,
        )
        for label, (meaning, appearance) in detectors.items()
    }


def _record(model, seed, sides, place, known, shape):
    ranked = Ranked.of(sides)
    pools = {kept: _pool(sides, ranked, place, known & (not kept), kept, shape) for kept in (True, False)}
    subsets = subsets_of(known, place % shape[1], shape[1])
    return DetectionRecord(
        **vars(pools[True]), otherwise=pools[False], protocol="ood-detection", model=model, kind="classifier",
        seed=seed, source=InDistributionRecord(({"dataset": "emoji-concepts"},), 50, 100, 60, 0.8),
        decomposition={"method": "LAID", "backbone": "embedded", "seed": 0}, neighbour=10,
        detector_settings=tuple({"label": label} for label in sides), warnings=("a <remark>",),
        pool=PoolFacts(place.size, int(known.sum()), ("a",), ("b",)),
        labelling=labelling(sides, subsets, joint_totals(ranked, subsets)),
    )  # fmt: skip


def _pool(sides, ranked, place, removed, kept, shape):
    there = np.flatnonzero(~removed)
    grid = ShiftGrid(place[there] % shape[1], place[there] // shape[1], shape, 10)
    errors, joint = over_images(ranked, grid, there)
    levels = {
        axis: AxisLevels((*(0.1 * np.arange(count)).tolist(), 2.0), tuple(grid.counts.sum(axis=1 - number).tolist()))
        for number, (axis, count) in enumerate(zip(("covariate", "semantic"), shape, strict=True))
    }
    both = zip(sides.items(), errors, strict=True)
    detectors = {label: detector_record(one, grid, there, own) for (label, one), own in both}
    return PoolRecord(id_kept=kept, levels=levels, counts=grid.counts.tolist(), detectors=detectors, joint=joint)


def _tables(sides, known):
    """The scores of all images."""
    first = next(iter(sides.values()))
    test, pool = {"group": first.test_groups}, {"known": known, "group": first.pool_groups}
    test |= {f"score {label}": one.test for label, one in sides.items()}
    return {"test": test, "images": pool | {f"score {label}": one.pool for label, one in sides.items()}}


def _images(counts):
    file = io.BytesIO()
    Image.new("L", (8, 8), 128).save(file, "PNG")
    return {f"pictures/{row}-{column}/7.png": file.getvalue() for row, column in np.argwhere(np.array(counts) > 0)}
