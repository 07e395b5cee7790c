"""A watch: days that come one by one give the numbers of a year that is read at once; nothing is counted twice."""

import json
from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs
from watched_days import START, day_columns, joined, save, source_columns

from openworld.core.errors import OpenworldError
from openworld.estimators import find_alarms
from openworld.estimators.quote.alarm import Chunk
from openworld.label_free.estimate.estimation import estimate_accuracy
from openworld.label_free.estimate.score_tables import open_table
from openworld.label_free.settings import Settings
from openworld.label_free.watch import command
from openworld.label_free.watch.exports import append_lines
from openworld.label_free.watch.fitted import FITTED, read_watch
from openworld.label_free.watch.state import read_state
from openworld.runs.sealed_arrays import read_arrays, write_arrays
from openworld.tables.files import scores_of

STRENGTHS = (2.0, 2.0, 1.4, 0.6, 0.6, 2.0, 0.2)
DAYS = [day_columns(day, 150, strength) for day, strength in enumerate(STRENGTHS)]


def of(columns, name="new"):
    return scores_of(columns, name)


def records_of(fitted, tmp_path, files, **options):
    """What a state holds after each file came in a call of its own."""
    files = [of(columns, f"file {place}") for place, columns in enumerate(files)]
    for place, file in enumerate(files):
        last = place == len(files) - 1
        command.watch(fitted, [file], state=tmp_path / "state", close=last, **options)
    return read_state(tmp_path / "state", read_watch(fitted))


def bare(state):
    """The records without the names of files."""
    return [replace(record, file="") for record in state.records]


def test_however_a_year_is_cut_into_files_the_numbers_are_the_same(fitted, tmp_path):
    whole = records_of(fitted, tmp_path / "whole", [joined(*DAYS)])
    days = records_of(fitted, tmp_path / "days", DAYS)
    everything = joined(*DAYS)
    edges = [0, 140, 141, 440, 590, len(everything["time"])]
    pieces = [{name: column[a:b] for name, column in everything.items()} for a, b in zip(edges, edges[1:])]  # noqa: B905
    cut = records_of(fitted, tmp_path / "cut", pieces)
    assert len(whole.records) == len(DAYS) and whole.opened is None
    assert bare(whole) == bare(days) == bare(cut)
    assert whole.statistic == days.statistic == cut.statistic
    assert whole.shift_statistic == days.shift_statistic == cut.shift_statistic
    assert any(record.alarming for record in whole.records)
    assert {record.shifted for record in whole.records} == {True, False}
    assert any(record.quote.accuracy is None for record in whole.records)


def test_a_large_period_is_sampled_alike_however_it_is_cut(fitted, tmp_path, monkeypatch):
    from openworld.label_free.watch import following

    few = following.spans
    monkeypatch.setattr(following, "spans", lambda pieces, **options: few(pieces, rows=60, **options))
    day = DAYS[0]
    whole = records_of(fitted, tmp_path / "whole", [day])
    parts = [{name: column[a:b] for name, column in day.items()} for a, b in ((0, 130), (130, 139), (139, 150))]
    cut = records_of(fitted, tmp_path / "cut", parts)
    assert bare(whole) == bare(cut) and whole.records[0].sampled == 60


def test_periods_are_estimated_as_an_estimate_of_everything_at_once_does(fitted, tmp_path):
    state = records_of(fitted, tmp_path, [joined(*DAYS)])
    source = open_table([of(source_columns(), "val")])
    target = open_table([of(joined(*DAYS))], times="time")
    options = Settings(period="1d", timestamps="time", estimators=())
    known = estimate_accuracy(source, target, options)
    for record, chunk in zip(state.records, known.chunks, strict=True):
        assert record.quote == chunk.quote and record.label == chunk.label
        assert record.shift_alarm == chunk.shift_alarm
        assert record.methods.items() <= chunk.methods.items()
        assert (record.n, record.first) == (chunk.n, chunk.first)


@pytest.mark.parametrize("sign", [-1, 1])  # worse from day to day, and better after a bad first day
def test_alarms_of_periods_of_one_size_are_those_of_one_test_over_all(tmp_path, sign):
    settings = {"chunk_rows": 128, "alert": 0.78}
    command.fit_watch([of(source_columns(), "val")], tmp_path / "watch", **settings, images=[128])
    watch = read_watch(tmp_path / "watch")
    days = joined(*(day_columns(day, 128, 1.2 + 0.3 * sign * (day - 3)) for day in range(7)))
    state = command.watch(tmp_path / "watch", [of({"logits": days["logits"]})], state=tmp_path / "state")
    state = state.found.state
    null = watch.measured.alarms[128]
    chunks = [Chunk(record.alarm.counted, 128, null) for record in state.records]
    found = find_alarms(chunks, 0.78)
    alarms = [record.alarm for record in state.records]
    np.testing.assert_allclose([alarm.ratio for alarm in alarms], found.statistics / found.limit, atol=1e-12)
    assert [alarm.standing for alarm in alarms] == found.standing.tolist() and found.standing.any()
    np.testing.assert_allclose([alarm.alone for alarm in alarms], found.alone)
    np.testing.assert_allclose([alarm.lasting for alarm in alarms], found.lasting)


def test_a_terminal_shows_all_new_periods_and_some_of_those_before(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("openworld.report.layout.layout.TERMINAL_ROWS", 3)
    files = {"state": tmp_path / "state"}
    first, second = (
        command.watch(fitted, [of(joined(*days))], **files, close=True).terminal_tables[0]
        for days in (DAYS[:2], DAYS[2:4])
    )
    assert [row.label for row in first.rows] == ["2024-01-01", "2024-01-02"]
    assert [row.label for row in second.rows] == ["2024-01-02", "2024-01-03", "2024-01-04"]
    again = command.watch(fitted, [], **files).terminal_tables[0]
    assert [row.label for row in again.rows] == ["2024-01-02", "2024-01-03", "2024-01-04"]
    assert [(row.cells[-1] or "").startswith("new") for row in second.rows] == [False, True, True]


def test_what_was_fitted_comes_back_whole(fitted, tmp_path):
    watch = read_watch(fitted)
    columns = source_columns()
    np.testing.assert_array_equal(watch.outputs.logits, columns["logits"])
    np.testing.assert_array_equal(watch.outputs.labels, columns["labels"])
    again = watch.write(tmp_path / "again")
    assert again.fingerprint == watch.fingerprint and (tmp_path / "again").read_bytes() == fitted.read_bytes()


def test_the_same_file_is_recognised_by_bytes_or_content_and_not_counted_again(fitted, tmp_path):
    first, second = (save(tmp_path / f"{name}.npz", DAYS[0]) for name in ("a", "b"))
    np.savez_compressed(second, **DAYS[0])
    files = {"state": tmp_path / "state", "json_lines": tmp_path / "lines"}
    for place, file in enumerate((first, first, second)):
        view = command.watch(fitted, [file], **files, close=True).found
        assert [each.again for each in view.followed] == [place > 0] and len(view.new) == 1
        assert view.state.n == 150 and len(view.state.records) == 1
    assert len((tmp_path / "lines").read_text().splitlines()) == 1


def test_images_before_those_that_were_counted_are_refused_and_change_nothing(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    command.watch(fitted, [of(DAYS[1])], **files)
    before = (tmp_path / "state").read_bytes()
    with pytest.raises(OpenworldError, match="before 2024-01-02T23"):
        command.watch(fitted, [of(DAYS[0])], **files)
    mixed = joined(DAYS[2], DAYS[1])
    with pytest.raises(OpenworldError, match="sort the target by time"):
        command.watch(fitted, [of(mixed)], **files)
    assert (tmp_path / "state").read_bytes() == before


def test_an_image_of_a_year_to_come_is_refused_for_it_would_close_the_watch(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    command.watch(fitted, [of(DAYS[0])], **files)
    before = (tmp_path / "state").read_bytes()
    times = DAYS[1]["time"].copy()
    times[-1] = np.datetime64("9999-12-31T00:00:00")
    with pytest.raises(OpenworldError, match=r"image of 9999-12-31.* more than a year ahead of the clock"):
        command.watch(fitted, [of(DAYS[1] | {"time": times})], **files)
    assert (tmp_path / "state").read_bytes() == before
    command.watch(fitted, [of(DAYS[1])], **files)


def test_a_late_file_of_a_closed_period_is_refused(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    morning = {name: column[:70] for name, column in DAYS[0].items()}
    evening = {name: column[70:] for name, column in DAYS[0].items()}
    command.watch(fitted, [of(morning)], **files, close=True)
    with pytest.raises(OpenworldError, match="closed"):
        command.watch(fitted, [of(evening)], **files)


@pytest.mark.parametrize("again", [True, False])
def test_a_period_can_be_closed_when_its_last_file_has_been_counted(fitted, tmp_path, again):
    files, day = {"state": tmp_path / "state"}, [of(DAYS[1], "second")]
    command.watch(fitted, [of(DAYS[0], "first"), *day], **files)
    view = command.watch(fitted, day if again else [], **files, close=True).found
    assert [record.label for record in view.new] == ["2024-01-01", "2024-01-02"] and view.open is None
    once = records_of(fitted, tmp_path / "once", [joined(DAYS[0], DAYS[1])])
    assert bare(view.state) == bare(once)


def test_an_old_file_closes_nothing(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    command.watch(fitted, [of(DAYS[0]), of(DAYS[1])], **files)
    view = command.watch(fitted, [of(DAYS[0])], **files, close=True).found
    assert view.open.label == "2024-01-02" and len(view.state.records) == 1


def test_a_period_of_so_many_rows_ends_with_the_last_of_them(tmp_path):
    command.fit_watch([of(source_columns(), "val")], tmp_path / "watch", chunk_rows=100, images=[100])
    files, logits = {"state": tmp_path / "state"}, joined(*DAYS)["logits"]
    for first, last, finished in ((0, 60, 0), (60, 100, 1), (100, 350, 2), (350, 360, 0), (360, 400, 1)):
        view = command.watch(tmp_path / "watch", [of({"logits": logits[first:last]})], **files).found
        assert len(view.new) == finished
    assert [record.label for record in view.state.records] == [
        "1 to 100", "101 to 200", "201 to 300", "301 to 400"
    ]  # fmt: skip
    with pytest.raises(OpenworldError, match="--close"):
        command.watch(tmp_path / "watch", [of({"logits": logits[:5]})], **files, close=True)


def test_a_period_that_is_not_finished_is_estimated_and_raises_no_alarm(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    bad = day_columns(0, 150, 0.5)
    view = command.watch(fitted, [of(bad)], **files).found
    assert not view.new and not view.alerts and view.open.alarm is None and view.open.n == 150
    ended = command.watch(fitted, [of(DAYS[1])], **files).found
    assert [record.label for record in ended.new] == ["2024-01-01"] and ended.new[0].alarm is not None


def test_images_keep_their_names_across_files(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    morning = {name: column[:70] for name, column in DAYS[0].items()}
    command.watch(fitted, [of(morning)], **files)
    state = read_state(tmp_path / "state", read_watch(fitted))
    assert state.opened.images.tolist() == morning["path"].tolist()


def test_other_sizes_are_measured_once_and_kept(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    state = command.watch(fitted, [of(day_columns(0, 40))], **files, close=True).found.state
    kept = read_state(tmp_path / "state", read_watch(fitted)).measured
    for name in ("quotes", "limits", "shifts"):
        assert set(getattr(state.measured, name)) == {38} == set(getattr(kept, name))
    assert kept.limits == state.measured.limits and kept.shifts == state.measured.shifts


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"logits": np.zeros((3, 5)), "time": START + np.arange(3)}, "5 classes"),
        ({"logits": np.zeros((0, 4)), "time": np.zeros(0, "datetime64[s]")}, "no image"),
        ({"logits": np.full((3, 4), 0.25), "time": START + np.arange(3)}, "probabilities"),
        ({"logits": np.zeros((3, 4))}, "time"),
    ],
)
def test_files_that_do_not_fit_are_refused_and_no_state_is_left(fitted, tmp_path, columns, message):
    with pytest.raises(OpenworldError, match=message):
        command.watch(fitted, [of(columns)], state=tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_the_state_of_another_fit_a_foreign_file_and_a_damaged_one_are_refused(fitted, tmp_path):
    files = {"state": tmp_path / "state"}
    command.watch(fitted, [of(DAYS[0])], **files)
    command.fit_watch([of(source_columns(500), "val")], tmp_path / "other", timestamps="time", period="1d")
    with pytest.raises(OpenworldError, match="another fit"):
        command.watch(tmp_path / "other", [of(DAYS[1])], **files)
    with pytest.raises(OpenworldError, match="expected what `openworld estimate fit` writes"):
        read_watch(tmp_path / "state")
    damaged = bytearray(fitted.read_bytes())
    damaged[-5] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(OpenworldError, match="damaged"):
        read_watch(tmp_path / "damaged")
    with pytest.raises(OpenworldError, match="no file"):
        read_watch(tmp_path / "nothing")


def test_without_a_period_every_file_is_one(tmp_path):
    command.fit_watch([of(source_columns(), "val")], tmp_path / "watch", images=[150])
    files = {"state": tmp_path / "state"}
    days = [{"logits": day["logits"]} for day in DAYS[:3]]
    view = command.watch(tmp_path / "watch", [of(day, f"{place}.npz") for place, day in enumerate(days)], **files).found
    assert [record.label for record in view.new] == ["0.npz", "1.npz", "2.npz"]
    assert view.open is None and all(record.alarm is None for record in view.new)


def test_a_reference_is_quoted_and_missed_where_a_file_lacks_it(tmp_path):
    source, target = outputs(0, 600, 4, 2.0, knows=0.9), outputs(1, 150, 4, 1.0, knows=0.9)
    tables = {"logits": source.logits, "labels": source.labels, "reference": source.reference}
    watch = command.fit_watch([of(tables, "val")], tmp_path / "watch", images=[150]).found
    assert watch.names == ("DoC", "ATC-MC", "COT", "two-views")
    files = {"state": tmp_path / "state"}
    with pytest.raises(OpenworldError, match="no reference"):
        command.watch(tmp_path / "watch", [of({"logits": target.logits})], **files)
    new = of({"logits": target.logits, "reference": target.reference})
    (record,) = command.watch(tmp_path / "watch", [new], **files).found.new
    known = estimate_accuracy(open_table([of(tables, "val")]), open_table([new]))
    assert record.quote.accuracy == known.quote.accuracy and record.quote.method == known.quote.method


def test_an_estimator_that_is_named_is_quoted(tmp_path):
    settings = {"estimator": ("AC",), "alert": 0.7}
    command.fit_watch([of(source_columns(), "val")], tmp_path / "watch", **settings, images=[150])
    (record,) = records_of(tmp_path / "watch", tmp_path, [{"logits": DAYS[0]["logits"]}]).records
    assert record.quote.method == "AC" and list(record.methods) == ["AC"]
    assert record.alarm.ratio <= 1


def test_lines_that_a_killed_call_left_out_are_written_and_half_a_line_is_mended(fitted, tmp_path):
    state = records_of(fitted, tmp_path, DAYS[:4])
    lines = tmp_path / "lines"
    assert append_lines(lines, state, "live", state.records) == 4
    whole = lines.read_bytes()
    for size in range(0, len(whole), 97):  # killed while it wrote
        lines.write_bytes(whole[:size])
        append_lines(lines, state, "live", state.records)
        assert lines.read_bytes() == whole
    assert append_lines(lines, state, "live", state.records) == 0 and lines.read_bytes() == whole
    assert [json.loads(line)["number"] for line in whole.splitlines()] == [0, 1, 2, 3]
    lines.write_bytes(b"notes of mine")
    with pytest.raises(OpenworldError, match="not ours"):
        append_lines(lines, state, "live", state.records)
    assert lines.read_bytes() == b"notes of mine"


@pytest.mark.parametrize(("alert", "fact"), [(0.8, "found below 80.0 %"), (None, "")])
def test_what_is_fitted_says_below_what_it_gives_an_alarm(tmp_path, alert, fact):
    report = command.fit_watch([of(source_columns(), "val")], tmp_path / "watch", alert=alert, images=[100])
    text = " ".join(report.verdict)
    assert fact in text and ("found below" in text) == bool(fact)


def test_a_file_of_a_watch_keeps_names_as_they_are_and_no_nan(tmp_path):
    write_arrays(tmp_path / "a.safetensors", FITTED, {"name": "Äpfel"}, {"x": np.arange(3)})
    assert "Äpfel".encode() in (tmp_path / "a.safetensors").read_bytes()
    assert read_arrays(tmp_path / "a.safetensors", FITTED, lambda about, *_: about) == {"name": "Äpfel"}
    with pytest.raises(ValueError):
        write_arrays(tmp_path / "b.safetensors", FITTED, {"x": np.nan}, {})
    assert not (tmp_path / "b.safetensors").exists()
