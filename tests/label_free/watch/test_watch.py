"""A watch: days that come one by one give the numbers of a year that is read at once; nothing is counted twice."""

import json
from dataclasses import replace

import moved_periods
import numpy as np
import pytest
from simulated import outputs, save_scores
from watched_days import START, day_columns, joined, part, save, source_columns

from openworld.core.errors import OpenworldError
from openworld.estimators.quote.alarm import add_step, alarm_limit
from openworld.label_free.estimate.estimation import estimate_accuracy
from openworld.label_free.estimate.reading import open_table
from openworld.label_free.settings import Settings
from openworld.label_free.watch import command, following
from openworld.label_free.watch.exports import FIELDS, append_lines
from openworld.label_free.watch.report import fit_report
from openworld.label_free.watch.state import read_state, read_watch
from openworld.tables.files import scores_of
from openworld.testing._reports import _shows_every_number_once

pytestmark = pytest.mark.base

DAYS = [day_columns(day, 150, strength) for day, strength in enumerate((2.0, 1.4, 0.6, 0.6, 2.0, 0.2))]


def of(columns, name="new"):
    return scores_of(columns, name)


@pytest.fixture
def watch(fitted, tmp_path):
    """A function that adds files to a state of its own and returns what is then found."""

    def added(*files, **options):
        return command.watch(fitted, [of(file) for file in files], state=tmp_path / "state", **options).found

    return added


def fit(path, columns=None, **settings):
    return command.fit_watch([of(source_columns() if columns is None else columns, "val")], path, **settings)


def state_of(fitted, folder, files, **options):
    """What a state holds after each file came in a call of its own."""
    files = [of(columns, f"file {place}") for place, columns in enumerate(files)]
    for file in files:
        command.watch(fitted, [file], state=folder / "state", close=file is files[-1], **options)
    return read_state(folder / "state", read_watch(fitted))


def bare(state):
    """The records without the names of files."""
    return [replace(record, file="") for record in state.records]


@pytest.fixture(scope="module")
def year(fitted, tmp_path_factory):
    """The state after all days in one file."""
    return state_of(fitted, tmp_path_factory.mktemp("year"), [joined(*DAYS)])


def test_however_a_year_is_cut_into_files_the_numbers_are_the_same(fitted, year, tmp_path):
    everything = joined(*DAYS)
    edges = [0, 140, 141, 440, 600, len(everything["time"])]  # within a day, over days, and where one ends
    pieces = [part(everything, first, last) for first, last in zip(edges, edges[1:], strict=False)]
    assert len(year.records) == len(DAYS) and year.opened is None
    assert bare(state_of(fitted, tmp_path, pieces)) == bare(year)
    assert any(record.alarming for record in year.records)
    assert {record.shifted for record in year.records} == {True, False}
    assert any(record.quote.accuracy is None for record in year.records)
    assert all(record.on_source for record in year.records if record.quote.accuracy is not None)


def test_periods_are_estimated_as_an_estimate_of_everything_at_once_does(year):
    source, target = open_table([of(source_columns(), "val")]), open_table([of(joined(*DAYS))], times="time")
    known = estimate_accuracy(source, target, Settings(period="1d", timestamps="time"))
    for record, chunk in zip(year.records, known.chunks, strict=True):
        assert record.quote == chunk.quote and record.label == chunk.label
        assert record.shift_alarm == chunk.shift_alarm and record.methods.items() <= chunk.methods.items()
        assert (record.n, record.first) == (chunk.n, chunk.first)


def test_a_large_period_is_sampled_alike_however_it_is_cut(fitted, tmp_path, monkeypatch):
    few = following.spans
    monkeypatch.setattr(following, "spans", lambda pieces, **options: few(pieces, rows=60, **options))
    whole = state_of(fitted, tmp_path / "whole", DAYS[:1])
    parts = [part(DAYS[0], first, last) for first, last in ((0, 130), (130, 150))]
    cut = state_of(fitted, tmp_path / "cut", parts)
    assert bare(whole) == bare(cut) and whole.records[0].sampled == 60


def test_alarms_of_periods_of_one_size_are_those_of_one_test_over_all(tmp_path):
    fit(tmp_path / "watch", chunk_rows=128, alert=0.78, images=[128])
    strengths = (2.1, 0.3, 0.9, 1.5, 2.1, 1.2, 0.6)  # better after a bad day, then worse from day to day
    days = joined(*(day_columns(day, 128, strength) for day, strength in enumerate(strengths)))
    state = command.watch(tmp_path / "watch", [of({"logits": days["logits"]})], state=tmp_path / "state").found.state
    null = read_watch(tmp_path / "watch").measured.alarms[128]
    limit, ratio, alarms = alarm_limit(null, 128), 0.0, [record.alarm for record in state.records]
    for alarm in alarms:
        ratio = add_step(ratio, limit.step(alarm.counted, 128, 0.78))
        assert alarm.ratio == pytest.approx(ratio, abs=1e-12) and alarm.standing == (ratio > 1)
        assert (alarm.alone, alarm.lasting) == (limit.alone(128, 0.78), limit.lasting(128, 0.78))
    assert 0 < sum(alarm.standing for alarm in alarms) < 7


def test_what_was_fitted_comes_back_whole_and_says_its_alarms(fitted, tmp_path):
    watch = read_watch(fitted)
    np.testing.assert_array_equal(watch.outputs.logits, source_columns()["logits"])
    again = watch.write(tmp_path / "again")
    assert again.fingerprint == watch.fingerprint and (tmp_path / "again").read_bytes() == fitted.read_bytes()
    assert "found below 78.0 %" in " ".join(fit_report(watch, fitted).verdict)


def test_the_same_file_is_recognised_by_bytes_or_content_and_not_counted_again(fitted, tmp_path):
    first, second = (save(tmp_path / f"{name}.npz", DAYS[0]) for name in ("a", "b"))
    np.savez_compressed(second, **DAYS[0])
    files = {"state": tmp_path / "state", "json_lines": tmp_path / "lines"}
    for place, file in enumerate((first, first, second)):
        view = command.watch(fitted, [file], **files, close=True).found
        assert [again for _, again in view.files] == [place > 0] and len(view.new) == 1
        assert view.state.n == 150 and len(view.state.records) == 1
    assert len((tmp_path / "lines").read_text().splitlines()) == 1


def test_images_that_come_too_late_or_too_early_are_refused_and_change_nothing(watch, tmp_path):
    watch(DAYS[1])
    before = (tmp_path / "state").read_bytes()
    times = DAYS[2]["time"].copy()
    times[-1] = np.datetime64("9999-12-31T00:00:00")  # it would close the watch
    for words, file in {
        "before 2024-01-02T23": DAYS[0],
        "sort the target by time": joined(DAYS[2], DAYS[1]),
        r"image of 9999-12-31.* more than a year ahead of the clock": DAYS[2] | {"time": times},
    }.items():
        with pytest.raises(OpenworldError, match=words):
            watch(file)
    assert (tmp_path / "state").read_bytes() == before
    watch(part(DAYS[2], 0, 145), close=True)
    with pytest.raises(OpenworldError, match="closed"):
        watch(part(DAYS[2], 145, 150))


@pytest.mark.parametrize("again", [True, False])
def test_a_period_can_be_closed_when_its_last_file_has_been_counted_and_no_old_one(watch, year, again):
    watch(*DAYS[:2])
    if again:
        view = watch(DAYS[0], close=True)
        assert view.open.label == "2024-01-02" and len(view.state.records) == 1
    view = watch(*DAYS[1:2] * again, close=True)
    assert [record.label for record in view.new] == ["2024-01-01", "2024-01-02"] and view.open is None
    assert bare(view.state) == bare(year)[:2]


def test_a_period_of_so_many_rows_ends_with_the_last_of_them(tmp_path):
    fit(tmp_path / "watch", chunk_rows=100, images=[100])
    files, logits = {"state": tmp_path / "state"}, joined(*DAYS)["logits"]
    for first, last, finished in ((0, 60, 0), (60, 100, 1), (100, 350, 2), (350, 400, 1)):
        view = command.watch(tmp_path / "watch", [of({"logits": logits[first:last]})], **files).found
        assert len(view.new) == finished
    labels = ["1 to 100", "101 to 200", "201 to 300", "301 to 400"]
    assert [record.label for record in view.state.records] == labels
    with pytest.raises(OpenworldError, match="--close"):
        command.watch(tmp_path / "watch", [of({"logits": logits[:5]})], **files, close=True)


def test_a_period_that_is_not_finished_is_estimated_and_raises_no_alarm(fitted, watch, tmp_path):
    bad = day_columns(0, 150, 0.5)
    view = watch(bad)
    assert not view.new and not view.alerts and view.open.alarm is None and view.open.n == 150
    state = read_state(tmp_path / "state", read_watch(fitted))
    assert state.opened.images.tolist() == bad["path"].tolist()
    ended = watch(DAYS[1])
    assert [record.label for record in ended.new] == ["2024-01-01"] and ended.new[0].alarm is not None


def test_other_sizes_are_measured_once_and_kept(fitted, watch, tmp_path):
    state = watch(day_columns(0, 40), close=True).state
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
def test_files_that_do_not_fit_are_refused_and_no_state_is_left(watch, tmp_path, columns, message):
    with pytest.raises(OpenworldError, match=message):
        watch(columns)
    assert not (tmp_path / "state").exists()


def test_the_state_of_another_fit_a_foreign_file_and_a_damaged_one_are_refused(fitted, watch, tmp_path):
    watch(DAYS[0])
    fit(tmp_path / "other", source_columns(500), timestamps="time", period="1d", images=[150])
    damaged = bytearray(fitted.read_bytes())
    damaged[-5] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(OpenworldError, match="another fit"):
        command.watch(tmp_path / "other", [of(DAYS[1])], state=tmp_path / "state")
    for name, words in (("state", "what `openworld estimate fit` writes"), ("damaged", "damaged"), ("none", "no file")):
        with pytest.raises(OpenworldError, match=words):
            read_watch(tmp_path / name)


def test_without_a_period_every_file_is_one_and_a_named_estimator_is_quoted(tmp_path):
    fit(tmp_path / "watch", estimator=("AC",), alert=0.7, images=[150])
    days = [of({"logits": day["logits"]}, f"{place}.npz") for place, day in enumerate(DAYS[:2])]
    view = command.watch(tmp_path / "watch", days, state=tmp_path / "state").found
    assert [record.label for record in view.new] == ["0.npz", "1.npz"] and view.open is None
    for record in view.new:
        assert record.quote.method == "AC" and list(record.methods) == ["AC"] and record.alarm.ratio <= 1


def test_a_reference_is_quoted_and_missed_where_a_file_lacks_it(tmp_path):
    source, target = outputs(0, 600, 4, 2.0, knows=0.9), outputs(1, 150, 4, 1.0, knows=0.9)
    tables = {"logits": source.logits, "labels": source.labels, "reference": source.reference}
    assert fit(tmp_path / "watch", tables, images=[150]).found.names == ("DoC", "ATC-MC", "COT", "two-views")
    files = {"state": tmp_path / "state"}
    with pytest.raises(OpenworldError, match="no reference"):
        command.watch(tmp_path / "watch", [of({"logits": target.logits})], **files)
    new = of({"logits": target.logits, "reference": target.reference})
    (record,) = command.watch(tmp_path / "watch", [new], **files).found.new
    known = estimate_accuracy(open_table([of(tables, "val")]), open_table([new]))
    assert record.quote.accuracy == known.quote.accuracy and record.quote.method == known.quote.method
    assert record.alarm is None


def test_lines_that_a_killed_call_left_out_are_written_and_half_a_line_is_mended(year, tmp_path):
    lines, state = tmp_path / "lines", year
    assert append_lines(lines, state, "live", state.records) == len(DAYS)
    whole = lines.read_bytes()
    for size in range(0, len(whole), 597):  # killed while it wrote
        lines.write_bytes(whole[:size])
        append_lines(lines, state, "live", state.records)
        assert lines.read_bytes() == whole
    assert append_lines(lines, state, "live", state.records) == 0 and lines.read_bytes() == whole
    assert [json.loads(line)["number"] for line in whole.splitlines()] == list(range(len(DAYS)))
    lines.write_bytes(b"notes of mine")
    with pytest.raises(OpenworldError, match="not ours"):
        append_lines(lines, state, "live", state.records)
    assert lines.read_bytes() == b"notes of mine"


def test_a_period_in_two_files_has_the_cause_of_one(tmp_path):
    fitted, causes = tmp_path / "w.safetensors", []
    live = moved_periods.joined(moved_periods.LIKE, moved_periods.MIXED)
    source = save_scores(tmp_path / "val.npz", moved_periods.SOURCE, embeddings=None)
    command.fit_watch([source], fitted, chunk_rows=600, images=[600])
    for cuts in ((0, 600), (0, 250, 600)):
        for first, last in zip(cuts, cuts[1:], strict=False):
            part = save_scores(tmp_path / f"{first}-{last}.npz", live.take(np.arange(first, last)), embeddings=None)
            report = command.watch(fitted, [part], state=tmp_path / f"state {len(cuts)}")
        causes += [record.cause for record in report.found.state.records]
    assert len(causes) == 2 and causes[0] == causes[1]


def test_rows_lines_and_what_a_collector_reads_are_the_same_and_stand_once_on_the_page(fitted, tmp_path):
    parser = pytest.importorskip("prometheus_client.parser")
    files = {"state": tmp_path / 'a "name"', "json_lines": tmp_path / "lines", "prometheus": tmp_path / "watch.prom"}
    days = [scores_of(day_columns(day, strength=grip), f"day {day}") for day, grip in enumerate((2.0, 2.0, 0.2))]
    report = command.watch(fitted, days, **files, close=True)
    _shows_every_number_once(report)
    last, text = {**report.results.rows[-1].where}, files["prometheus"].read_text()
    lines = [json.loads(line) for line in files["json_lines"].read_text().splitlines()]
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    assert (
        families["openworld_watch_images"].type == "counter"
        and families["openworld_watch_class_shift_ratio"].documentation
    )

    def collected(name):
        (sample,) = families[f"openworld_watch_{name}"].samples
        assert sample.labels == {"watch": 'a "name"'}
        return sample.value

    assert [collected(name) for name in ("accuracy_known", "shift_alarm", "images", "periods")] == [0, 1, 450, 3]
    for name, (entity, metric, title, _) in FIELDS.items():
        value = report.results.value(entity, metric.key, **last).value
        assert lines[-1][name] == value
        assert (f"openworld_watch_{title}" in families) is (value is not None)
        assert value is None or collected(title) == value
    ends = report.results.value("quoted", "estimated_accuracy", **last).over()
    assert (collected("accuracy_low_ratio"), collected("accuracy_high_ratio")) == (ends.low, ends.high)
    assert (lines[-1]["low"], lines[-1]["high"], lines[-1]["shift_alarm"]) == (ends.low, ends.high, True)
    assert json.loads(report.json)["state"]["last"] == lines[-1]["ended"] == str(day_columns(2)["time"][-1])
    first, why, alarms, *_ = report.verdict
    assert lines[-1]["accuracy"] is None and "2024-01-03 (150 images) cannot be estimated" in first and len(first) < 100
    assert f"between {100 * ends.low:.1f} % and {100 * ends.high:.1f} %" in first and lines[-1]["why"] in why
    assert "In 2024-01-03" in alarms and "shift alarm" in alarms
