"""A run of incremental shift that nobody ran: scores are drawn, and the metrics of its cells counted from them."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from openworld.evaluations.ood_detection.metrics import Sides
from openworld.evaluations.ood_detection.run import shift_run
from openworld.evaluations.ood_detection.uncertainty import Ranked, joint_totals, over_pictures
from openworld.metrics import detection_by_cell
from openworld.runs import RunStore, Unit, UnitResult
from openworld.shift import ShiftGrid

# {model: {detector: points of score by which a level of meaning, and one of looks, is farther off}}
MODELS = {
    "resnet-8": {"MSP": (0.1, -0.05), "KNN": (0.2, 0.0), "<b>own</b>": (0.0, 0.0)},
    "a CLIP": {"MSP": (0.5, 0.0), "MCM": (0.6, 0.0)},
}
SPEC = {"protocol": "incremental-shift", "least": 10, "seeds": [0, 1]}


@pytest.fixture(scope="session")
def shifts_of():
    """A function that makes up a run of incremental shift, in memory."""
    return lambda **options: shift_run([_record(*one) for one in _made_up(**options)], SPEC, SPEC)


@pytest.fixture(scope="session")
def shifts(shifts_of):
    """Two models, one with two seeds; five detectors; 4 x 5 cells of which the far corner is N/A."""
    return shifts_of()


@pytest.fixture(scope="session")
def one_detector(shifts_of):
    """One detector of one model with one seed, and no picture of an in-distribution class."""
    return shifts_of(models={"resnet-8": {"MSP": (0.2, 0.0)}}, seeds=(0,), known=False)


@pytest.fixture(scope="session")
def shifts_folder(tmp_path_factory):
    """The run of `shifts` as records in a folder."""
    folder = tmp_path_factory.mktemp("shifts")
    store = RunStore(folder)
    store.create(SPEC, SPEC, {"command": ["openworld", "run", "mine.toml"]})
    planned = [(Unit("math:sqrt", {"x": name}, name=name), *rest) for name, *rest in _made_up()]
    store.plan([unit for unit, *_ in planned])
    for place, (unit, told, tables) in enumerate(planned):
        store.write(unit, UnitResult(outputs=tables, metrics=told, attachments={} if place else _pictures(told)))
    return folder


def _record(name, metrics, tables):
    return SimpleNamespace(name=name, metrics=metrics, attachments=(), tables=tuple(tables), table=tables.get)


def _pictures(told):
    file = io.BytesIO()
    Image.new("L", (8, 8), 128).save(file, "PNG")
    there = np.argwhere(np.array(told["counts"]) > 0).tolist()
    return {f"pictures/{row}-{column}/7.png": file.getvalue() for row, column in there}


def _made_up(*, models=MODELS, seeds=(0, 1), known=True, counts=None):
    """Name, metrics and tables of every record; the second model has one seed."""
    if counts is None:
        counts = [[max(0, 40 - 9 * abs(row - column + 1) - 12 * (row > 2)) for column in range(5)] for row in range(4)]
    rows, columns = shape = np.shape(counts)
    place = np.repeat(np.arange(rows * columns), np.ravel(counts))
    is_known = known & (np.arange(place.size) % 4 == 0)
    for number, (model, detectors) in enumerate(models.items()):
        for seed in seeds[: 1 if number else None]:
            luck = np.random.default_rng([number, seed])
            scores = {
                label: (luck.normal(0, 1, 60), luck.normal(0, 1, place.size) - by[0] * (place % columns)
                        - by[1] * (place // columns))
                for label, by in detectors.items()
            }  # fmt: skip
            yield f"{model} {seed}", _metrics(model, seed, scores, place, is_known, shape), _scored(scores, is_known)


def _scored(scores, known):
    """The tables of a record, as far as reports read them."""
    (inside, outside), *_ = scores.values()
    test, pool = {"group": np.arange(inside.size)}, {"known": known, "group": inside.size + np.arange(outside.size)}
    test |= {f"score {label}": own for label, (own, _) in scores.items()}
    return {"test": test, "images": pool | {f"score {label}": own for label, (_, own) in scores.items()}}


def _metrics(model, seed, scores, place, known, shape):
    told = {kept: _counted(scores, place, known & (not kept), kept, shape) for kept in (True, False)}
    far = place % shape[1] >= shape[1] // 2
    subsets = {"all": np.ones_like(known), "unknown": ~known, "far": far, "far and unknown": far & ~known}
    return told[True] | {
        "protocol": "incremental-shift", "model": model, "kind": "classifier", "seed": seed,
        "source": {"sources": [{"dataset": "emoji-concepts"}], "classes": 50, "training": 100, "n": 60,
                   "accuracy": 0.8},
        "decomposition": {"method": "LAID", "backbone": "embedded", "seed": 0}, "neighbour": 10,
        "detector_settings": [{"label": label} for label in scores], "warnings": ["a <remark>"],
        "otherwise": told[False],
        "pool": {"n": place.size, "known": int(known.sum()), "classes": ["a"], "styles": ["b"]},
        "labelling": {
            "subsets": {name: int(chosen.sum()) for name, chosen in subsets.items()},
            "joint": joint_totals(_ranked(scores), subsets),
            "detectors": {
                label: {name: _area(inside, outside[chosen]) for name, chosen in subsets.items()}
                for label, (inside, outside) in scores.items()
            },
        },
    }  # fmt: skip


def _counted(scores, place, removed, kept, shape):
    rows, columns = shape
    cells = np.where(removed, -1, place)
    counts = np.bincount(cells[cells >= 0], minlength=rows * columns).reshape(shape)
    edges = {
        axis: [*(0.1 * np.arange(count)).tolist(), 2.0]
        for axis, count in zip(("covariate", "semantic"), shape, strict=True)
    }
    there = np.flatnonzero(~removed)
    grid = ShiftGrid(place[there] % columns, place[there] // columns, shape, 10)
    errors, joint = over_pictures(_ranked(scores), grid, there)
    return {
        "id_kept": kept,
        "counts": counts.tolist(),
        "levels": {
            axis: {"edges": edges[axis], "counts": counts.sum(axis=int(axis == "covariate")).tolist()} for axis in edges
        },
        "detectors": {
            label: {"cells": _tables(inside, outside, np.where(counts.ravel()[place] < 10, -1, cells), shape),
                    "over_pictures": own}
            for (label, (inside, outside)), own in zip(scores.items(), errors, strict=True)
        },
        "joint": joint,
    }  # fmt: skip


def _ranked(scores):
    return Ranked.of({
        label: Sides(inside, outside, np.arange(inside.size), inside.size + np.arange(outside.size))
        for label, (inside, outside) in scores.items()
    })  # fmt: skip


def _tables(inside, outside, cells, shape):
    found = detection_by_cell(inside, outside, cells, shape[0] * shape[1])
    told = [_cell(one) if one and one.n else None for one in found]
    return [told[start : start + shape[1]] for start in range(0, len(told), shape[1])]


def _cell(one):
    return {
        "n": one.n, "auroc": {"value": one.auroc, "interval": one.interval and list(one.interval)},
        "fpr": one.fpr_in_positive, "fpr_openood": one.fpr_out_positive, "aupr_in": one.aupr_in,
        "aupr_out": one.aupr_out, "aupr_at_prevalence": one.aupr_in_fixed,
    }  # fmt: skip


def _area(inside, outside):
    (one,) = detection_by_cell(inside, outside, np.zeros(outside.size, int), 1)
    return {"value": one.auroc, "interval": one.interval and list(one.interval)}
