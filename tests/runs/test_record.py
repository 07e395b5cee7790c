import os

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.runs import RunStore, Unit, UnitResult, load_record, record
from openworld.runs.record import pack, require_names


@pytest.fixture
def written(tmp_path):
    unit = Unit("example_units:draw", {"seed": 7}, {"weights": "ab"}, 2, "draw seven")
    result = Unit("example_units:draw", {"seed": 7}).run()
    return unit, result, RunStore(tmp_path).write(unit, result, {"seconds": 1.5})


def test_everything_comes_back(written):
    unit, result, record = written
    again = load_record(record.folder)
    assert again == record
    assert (again.unit, again.name, again.metrics) == (unit, "draw seven", result.metrics)
    assert (again.tables, again.attachments) == (("scores",), ("a.png", "more/b.png"))
    table = again.table("scores")
    for column, values in result.outputs["scores"].items():
        np.testing.assert_array_equal(table[column], np.asarray(values))
    assert again.attachment("more/b.png") == b"second"
    assert again.timing == {"seconds": 1.5, "device": "cpu", "slept": 0.0}


def test_equal_results_give_equal_bytes_and_timing_is_not_among_them(written):
    unit, result, _ = written
    later = UnitResult(result.outputs, result.metrics, result.attachments, timing={"device": "cuda"})
    assert pack(unit, later) == pack(unit, result)


def test_unknown_tables_and_a_file_changed_after_loading_are_named(written):
    record = written[2]
    with pytest.raises(OpenworldError, match="unknown table .* 'score'; did you mean 'scores'"):
        record.table("score")
    with pytest.raises(OpenworldError, match="unknown attachment"):
        record.attachment("b.png")
    path = record.folder / "attachments" / "a.png"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(OpenworldError, match=r"a\.png is not the file that was written"):
        record.attachment("a.png")


@pytest.mark.parametrize(
    ("content", "seconds"),
    [
        ('{"seconds": 2.5}', {"all": 2.5}),
        ('{"seconds": {"fit": 1, "score": 2}}', {"fit": 1, "score": 2}),
        ('{"seconds": {"fit": {"AC": 1.5}, "score": 2}}', {"score": 2}),
        *((text, {}) for text in ("[1]", "[" * 100_000, "\xff", '{"seconds": {"a": {"b": {"c": 1}}}}')),
        *((f'{{"seconds": {told}}}', {}) for told in ('"x"', "true", "NaN", "-1", "1e999", '{"fit": "x"}')),
    ],
)
def test_a_timing_file_that_makes_no_sense_does_no_harm(written, content, seconds):
    record = written[2]
    (record.folder / "timing.json").unlink()
    assert load_record(record.folder).timing == {}
    (record.folder / "timing.json").write_text(content, encoding="latin-1")
    again = load_record(record.folder)
    assert again.seconds == seconds
    assert isinstance(again.timing, dict) and ("seconds" in again.timing) == bool(seconds)


@pytest.mark.parametrize(
    "change",
    [
        (b'"format": 1', b'"format": 2'),
        (b'"seed": 7', b'"seed": 8'),
        (b"\n ", b"\n  "),
        (b"{", b"["),
        (b"seal", b"sael"),
    ],
)
def test_a_changed_record_is_refused(written, change):
    path = written[2].folder / "record.json"
    data = path.read_bytes()
    assert data.replace(*change) != data
    path.write_bytes(data.replace(*change))
    with pytest.raises(OpenworldError, match="is not a record as it was written"):
        load_record(written[2].folder)


def test_names_that_leave_the_folder_or_collide_are_refused():
    for name in ("", "..", ".hidden", "a b", "é", "/root", "a//b", "a/../b", "a/", "C:a", "a\\b", "a\n"):
        for kind in ("table", "attachment"):
            with pytest.raises(OpenworldError, match=f"{kind} name .* is not allowed"):
                require_names(kind, [name])
    with pytest.raises(OpenworldError, match="differ in case only"):
        require_names("table", ["Scores", "scores"])
    with pytest.raises(OpenworldError, match="is also the folder of another"):
        require_names("attachment", ["a", "a/b"])
    with pytest.raises(OpenworldError, match="not allowed"):
        require_names("table", ["a/b"])
    require_names("attachment", ["a/b.png", "a/c.png", "b.png"])


def test_nan_in_metrics_is_refused_with_its_place(tmp_path):
    with pytest.raises(OpenworldError, match=r"metrics\.auroc is nan"):
        RunStore(tmp_path).write(Unit("example_units:draw"), UnitResult(metrics={"auroc": float("nan")}))
    assert not list(tmp_path.rglob("record.json"))


def test_a_record_is_verified_once_as_long_as_no_file_changes(written, monkeypatch):
    """Unless a file is so new that the file system may not tell a change."""
    folder, verified = written[2].folder, []
    monkeypatch.setattr(record.Record, "verify", lambda own: verified.append(own.name))
    for settled, verifications in ((60.0, 2), (-60.0, 3)):
        monkeypatch.setattr(record, "_SETTLED", settled)
        load_record(folder)
        load_record(folder)
        assert len(verified) == verifications
    os.utime(folder / "scores.parquet", (1, 1))
    load_record(folder)
    assert len(verified) == 4
