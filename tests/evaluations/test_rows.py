"""Rows of a unit go into its record and come out as they were."""

import pytest

from openworld import OpenworldError
from openworld.evaluations.rows import ROWS, read_rows, rows_of_unit
from openworld.results import METRICS, Interval, Result, Value
from openworld.runs import RunStore, Unit, UnitResult


def test_rows_come_back_with_their_seed_and_a_changed_file_is_refused(tmp_path):
    value = Value(0.5, (Interval(0.4, 0.6, "images", 20),))
    fact, row = Result("", METRICS["images"], Value(20)), Result("CoOp", METRICS["auroc"], value, {"level": 1})
    kept = rows_of_unit("dynamic", [row], seed=3, shared=[fact])
    assert kept == rows_of_unit("dynamic", [row], seed=3, shared=[fact]), "the same bytes for the same rows"
    record = RunStore(tmp_path).write(Unit("math:sqrt", {"x": 2}, name="root"), UnitResult(attachments=kept))
    first, second = read_rows(record)
    assert first == fact and isinstance(first.value.value, int)
    assert (second.value, second.where, second.seeds, second.per_seed) == (value, {"level": 1}, (3,), (0.5,))
    (record.folder / "attachments" / ROWS).write_bytes(b"")
    with pytest.raises(OpenworldError, match="bytes have changed"):
        read_rows(record)


def test_a_record_without_rows_is_refused_by_name(tmp_path):
    record = RunStore(tmp_path).write(Unit("math:sqrt", {"x": 2}, name="root"), UnitResult())
    with pytest.raises(OpenworldError, match="'root' has no rows"):
        read_rows(record)
