"""Runs of decomposed zero-shot accuracy, written by hand."""

from dataclasses import asdict

import pytest

from openworld.evaluations.decomposed_zero_shot.record import PARTS, DecomposedRecord, PartAccuracy, SetRecord, Share
from openworld.runs import RunStore, Unit, UnitResult


def one_set(row, accuracies, look="plain", few=False):
    def share(value):
        return Share(value, (value - 0.1, value + 0.1), 50)

    parts = zip(PARTS, accuracies, strict=True)
    accuracies_of = {part: PartAccuracy(share(value), None if few else share(value + 0.1)) for part, value in parts}
    return SetRecord(row, "any", None, look, accuracies_of)


def record(method, seed, semantic, sets=()):
    foggy = [(f"fog {1 + 10 * step:.0f}", (0.3 + step, semantic - 0.2, 0.05)) for step in (0.0, 0.2)]
    sets = sets or (one_set("clean", (0.7, semantic, 0.1)), *(one_set("foggy", each, look) for look, each in foggy))
    return DecomposedRecord("decomposed-zero-shot", method, seed, "ViT", 100, sets=sets)


@pytest.fixture
def make_run(tmp_path):
    """A function of (records, name) that writes a run and returns its folder; the spec lists PCA before LAID."""

    def make(records=None, name="run", data=None):
        records = records or [record("LAID", 1, 0.6), record("LAID", 0, 0.5), record("PCA", 0, 0.4)]
        folder, spec = tmp_path / name, {"protocol": "decomposed-zero-shot"}
        store = RunStore(folder)
        resolved = spec | {"methods": [{"label": "PCA"}, {"label": "LAID"}], "seeds": [0, 1], "backbone": "ViT"}
        store.create(spec, resolved, {"command": [], "data": data or {}})
        planned = [Unit("math:sqrt", {"x": place}, name=str(place)) for place in range(len(records))]
        store.plan(planned)
        for unit, one in zip(planned, records, strict=True):
            store.write(unit, UnitResult(metrics=asdict(one)))
        return folder

    return make


@pytest.fixture
def one_row():
    """A function of (method, seed, row, accuracies, few) that makes a record of a single row."""

    def make(method, seed, row, accuracies=(0.7, 0.6, 0.1), few=False):
        return record(method, seed, 0.6, (one_set(row, accuracies, few=few),))

    return make
