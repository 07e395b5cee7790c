"""Runs of decomposed zero-shot accuracy, written by hand."""

import pytest

from openworld.evaluations.decomposed_zero_shot.report import ANY, FEW_CLASSES, PARTS
from openworld.evaluations.rows import rows_of_unit
from openworld.results import METRICS, Interval, Result, Value
from openworld.runs import RunStore, Unit, UnitResult

BY_ROW = {"clean": (0.7, 0.1), "foggy": (0.4, 0.05)}
"""Accuracy of whole features and of the covariate half on two rows of images; the second is a mean over two sets."""


def unit(method, seed, semantic, rows=("clean", "foggy"), few=False):
    """What a unit writes: top-1 by part, top-5 larger by .1 where there are classes enough."""
    found, shared = [], [Result("", METRICS["images"], Value(50)), Result("", METRICS["classes"], Value(100))]
    for row in rows:
        whole, covariate = BY_ROW[row]
        for part, accuracy in zip(PARTS, (whole, semantic - 0.2 * (row == "foggy"), covariate), strict=True):
            for rank, more in (("top1", 0.0), ("top5", 0.1)):
                number = accuracy + more
                over = (Interval(number - 0.1, number + 0.1, "images", 50),) if row == "clean" else ()
                value = Value(None, reason=FEW_CLASSES) if few and more else Value(number, over)
                where = {"part": PARTS[part], "images": row}
                (shared if part == "whole" else found).append(
                    Result(ANY if part == "whole" else method, METRICS[rank], value, where)
                )
    metrics = {"protocol": "decomposed-zero-shot", "method": method, "seed": seed, "backbone": "ViT"}
    return UnitResult(
        metrics=metrics, attachments=rows_of_unit("decomposed-zero-shot", found, seed=seed, shared=shared)
    )


@pytest.fixture(scope="session")
def one_unit():
    return unit


@pytest.fixture
def make_run(tmp_path):
    """A function of (units, name) that writes a run and returns its folder."""

    def make(units=None, name="run", data=None):
        units = units or [unit("PCA", 0, 0.4), unit("LAID", 1, 0.6), unit("LAID", 0, 0.5)]
        folder, spec = tmp_path / name, {"protocol": "decomposed-zero-shot"}
        store = RunStore(folder)
        store.create(spec, spec | {"seeds": [0, 1]}, {"command": [], "data": data or {}})
        planned = [Unit("math:sqrt", {"x": place}, name=str(place)) for place in range(len(units))]
        store.plan(planned)
        for planned_unit, result in zip(planned, units, strict=True):
            store.write(planned_unit, result)
        return folder

    return make
