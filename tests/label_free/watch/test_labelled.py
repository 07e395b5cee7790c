"""Labels that arrive after their periods were counted: intervals that hold, later periods corrected, read once."""

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs
from watched_days import CLASSES, day_columns, joined, source_columns

from openworld.core.errors import OpenworldError
from openworld.label_free.estimate.command import estimate
from openworld.label_free.watch import command, following
from openworld.label_free.watch.exports import append_lines
from openworld.label_free.watch.state import read_state, read_watch
from openworld.tables.files import scores_of

pytestmark = pytest.mark.base

STRENGTHS = (2.0, 2.0, 1.9, 1.9)
DAYS = [day_columns(day, 150, strength) for day, strength in enumerate(STRENGTHS)]
TRUTH = [outputs(100 + day, 150, CLASSES, strength) for day, strength in enumerate(STRENGTHS)]
RIGHT = (TRUTH[1].predictions == TRUTH[1].labels).mean()


def sheet(path, day, rows, inclusion=0.4, column="path", first=0):
    """A sheet of labels of some images of a day."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([column, "label", *["inclusion"] * (inclusion is not None)])
        for row in rows:
            name = f"{day}/{row}" if column == "path" else first + row
            out.writerow([name, TRUTH[day].labels[row], *[inclusion] * (inclusion is not None)])
    return path


def read_sheet(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def draw(n, seed=0):
    return np.sort(np.random.default_rng(seed).choice(150, n, replace=False))


def watch(fitted, folder, *days, **further):
    files = {"state": folder / "state", "json_lines": folder / "lines", "prometheus": folder / "w.prom", **further}
    new = [scores_of(DAYS[day], f"{day}.npz") for day in days]
    return command.watch(fitted, new, **files, close=bool(days))


def kept(folder):
    return [(folder / name).read_bytes() for name in ("state", "lines", "w.prom")]


def lines(folder):
    return [json.loads(line) for line in (folder / "lines").read_text().splitlines()]


def records(report):
    return report.found.state.records


@pytest.fixture(scope="module")
def after_two_days(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("two days")
    watch(fitted, folder, 0, 1)
    return folder


@pytest.fixture
def folder(after_two_days, tmp_path):
    """What a watch keeps after two days, for one test."""
    return shutil.copytree(after_two_days, tmp_path / "watch")


@pytest.fixture
def before(after_two_days, fitted):
    return read_state(after_two_days / "state", read_watch(fitted)).records


def test_late_labels_say_what_an_estimate_of_all_days_with_these_labels_says(fitted, folder, tmp_path):
    labels = sheet(tmp_path / "late.csv", 1, draw(60))
    found = records(watch(fitted, folder, 2, 3, labels=labels))
    sides = [scores_of(source_columns(), "val")], [scores_of(joined(*DAYS), "live")]
    known = estimate(*sides, period="1d", timestamps="time", labels=labels, estimator=()).found.chunks
    for record, chunk in zip(found, known, strict=True):
        quote, other = record.quote, chunk.quote
        assert (quote.method, quote.why) == (other.method, other.why)
        ends = (quote.accuracy, quote.low, quote.high), (other.accuracy, other.low, other.high)
        np.testing.assert_allclose(*ends, atol=1e-6)
    interval = found[1].labelled.interval
    assert interval[0] <= RIGHT <= interval[1] and "corrected by labels" in found[3].quote.why
    bare = records(watch(fitted, tmp_path / "bare", 0, 1, 2, 3))
    plain = ([replace(own, labelled=None, corrected=None, file="") for own in side] for side in (bare, found))
    assert next(plain) == next(plain)  # the alarm's test, too


def test_a_sheet_is_read_once_whatever_file_says_it(fitted, folder, tmp_path):
    labels = sheet(tmp_path / "late.csv", 1, draw(60))
    first, whole = watch(fitted, folder, labels=labels), kept(folder)
    assert not first.found.labels_again and "late.csv: 60 labels" in " ".join(first.text)
    columns = {name: np.array([row[name] for row in read_sheet(labels)]) for name in ("path", "label")}
    columns["inclusion"] = np.full(60, 0.4)
    for again in (labels, scores_of(columns, "again")):
        report = watch(fitted, folder, labels=again)
        assert report.found.labels_again and "nothing is counted twice" in " ".join(report.text)
        assert kept(folder) == whole


def test_the_table_the_lines_and_the_collector_s_text_tell_what_labels_say(fitted, folder, before, tmp_path):
    report = watch(fitted, folder, 2, labels=sheet(tmp_path / "late.csv", 1, draw(60)))
    found, last = records(report)[1].labelled, records(report)[2]
    assert "60 labels" in str(report.terminal_tables) and "new, " in str(report.terminal_tables)
    told = lines(folder)
    assert [(line["number"], line.get("kind")) for line in told] == [(0, None), (1, None), (1, "labels"), (2, None)]
    assert told[1]["accuracy"] == before[1].quote.accuracy
    assert (told[2]["accuracy"], told[2]["low"], told[2]["high"]) == (found.accuracy, *found.interval)
    assert told[3]["accuracy"] == last.quote.accuracy != last.unlabelled.accuracy
    assert told[3]["accuracy_before_correction"] == last.unlabelled.accuracy
    text = (folder / "w.prom").read_text()
    assert f'labelled_accuracy_ratio{{watch="state"}} {found.accuracy!r}' in text
    assert "labelled_last_image_timestamp_seconds{" in text and 'labelled_images{watch="state"} 60' in text
    (value,) = report.results.where(metric="labels")
    assert value.value.value == 60 and json.loads(report.json)["labels"][0]["low"] == found.interval[0]


def test_lines_are_mended_wherever_a_call_was_killed(fitted, folder, tmp_path):
    two = sheet(tmp_path / "late.csv", 1, draw(60))
    with two.open("a") as file:
        file.writelines(f"0/{row},{TRUTH[0].labels[row]},0.4\n" for row in draw(50))
    watch(fitted, folder, labels=two)
    watch(fitted, folder, 2, labels=sheet(tmp_path / "more.csv", 0, draw(70, 1)))
    state, whole = read_state(folder / "state", read_watch(fitted)), (folder / "lines").read_bytes()
    numbers = [(line.get("sheet"), line["number"]) for line in lines(folder)]
    assert numbers == [(None, 0), (None, 1), (0, 0), (0, 1), (1, 0), (None, 2)]
    for size in range(whole.index(b"\n") + 1, len(whole), 397):
        (folder / "lines").write_bytes(whole[:size])
        append_lines(folder / "lines", state, "state", state.records[2:], state.sheets[1])
        assert (folder / "lines").read_bytes() == whole


@pytest.mark.parametrize("step", ["append_lines", "write_prometheus"])
def test_a_call_that_died_is_completed_by_the_same_call(fitted, folder, tmp_path, monkeypatch, step):
    class Killed(Exception):
        pass

    def die(*arguments):
        raise Killed

    labels, broken = sheet(tmp_path / "late.csv", 0, draw(60)), shutil.copytree(folder, tmp_path / "broken")
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(command, step, die)
        watch(fitted, broken, 2, labels=labels)
    for place in (folder, broken):
        watch(fitted, place, 2, labels=labels)
    assert kept(folder) == kept(broken)


def test_fewer_labels_take_no_place_of_those_that_gave_an_interval(fitted, folder, tmp_path):
    first = records(watch(fitted, folder, labels=sheet(tmp_path / "a.csv", 0, draw(60))))
    again = records(watch(fitted, folder, labels=sheet(tmp_path / "b.csv", 0, draw(5, 1), 0.03)))
    assert again[0].labelled == first[0].labelled and first[0].labelled.n == 60


def test_images_without_names_are_named_by_their_place_among_all(fitted, folder, tmp_path):
    for day in (0, 1):
        columns = {name: column for name, column in DAYS[day].items() if name != "path"}
        command.watch(fitted, [scores_of(columns, str(day))], state=tmp_path / "state", close=True)
    by_path = sheet(tmp_path / "path.csv", 1, draw(60))
    with pytest.raises(OpenworldError, match="by path, and the 2 finished periods .* by `row`"):
        watch(fitted, tmp_path, labels=by_path)
    by_row = sheet(tmp_path / "rows.csv", 1, draw(60), column="row", first=150)
    named, numbered = watch(fitted, folder, labels=by_path), watch(fitted, tmp_path, labels=by_row)
    assert records(named)[1].labelled == records(numbered)[1].labelled


def test_names_that_begin_anew_every_day_need_rows_and_are_proposed_by_rows(fitted, tmp_path):
    for day in (0, 1):
        new = scores_of(DAYS[day] | {"path": np.array([f"{row:03}.png" for row in range(150)])}, str(day))
        files = {"state": tmp_path / "state", "out": tmp_path / "out", "propose": 40}
        command.watch(fitted, [new], **files, close=True)
    path = tmp_path / "late.csv"
    path.write_text("path,label\n003.png,1\n")
    with pytest.raises(OpenworldError, match="several images are named '003.png'.*`row`"):
        watch(fitted, tmp_path, labels=path)
    rows = read_sheet(tmp_path / "out" / "labels-to-make-2024-01-02.csv")
    assert {int(row["row"]) - 150 for row in rows} == {int(row["file"][:3]) for row in rows}
    columns = {"row": [row["row"] for row in rows], "file": [row["file"] for row in rows]}
    columns["label"] = [TRUTH[1].labels[int(row["row"]) - 150] for row in rows]
    columns["inclusion"] = [float(row["inclusion"]) for row in rows]
    late = scores_of({name: np.array(column) for name, column in columns.items()}, "late")
    (found,) = watch(fitted, tmp_path, labels=late).found.labels.found
    assert found[0] == 1 and found[1].n == len(rows)


def test_labels_of_a_sampled_period_speak_for_all_of_it(fitted, tmp_path, monkeypatch):
    few = following.spans
    monkeypatch.setattr(following, "spans", lambda pieces, **options: few(pieces, rows=100, **options))
    watch(fitted, tmp_path, 1)
    report = watch(fitted, tmp_path, labels=sheet(tmp_path / "late.csv", 1, range(150), 1.0))
    found = records(report)[0].labelled
    assert found.n == 100 and found.interval[1] - found.interval[0] > 0.05
    assert "50 labels left out" in " ".join(report.text)


def test_periods_no_longer_kept_are_left_out_or_refused(fitted, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(following, "KEPT", 2)
    assert [period.number for period in watch(fitted, folder, 2).found.state.kept] == [1, 2]
    old = sheet(tmp_path / "old.csv", 0, draw(60))
    with pytest.raises(OpenworldError, match=r"60 of 60 .* that is kept \(2024-01-02 to 2024-01-03\), the first '0/"):
        watch(fitted, folder, labels=old)
    with old.open("a") as file:
        file.writelines(f"1/{row},{TRUTH[1].labels[row]},0.4\n" for row in draw(50))
    report = watch(fitted, folder, labels=old)
    assert [number for number, _ in report.found.labels.found] == [1]
    assert "60 labels left out" in " ".join(report.text)


def test_refusals_change_nothing(fitted, folder, tmp_path):
    with pytest.raises(OpenworldError, match="0 finished periods"):
        watch(fitted, tmp_path / "new", labels=sheet(tmp_path / "late.csv", 0, draw(60)))
    command.watch(fitted, [scores_of(DAYS[2], "open")], state=folder / "state")
    state, path = (folder / "state").read_bytes(), tmp_path / "late.csv"
    for text, match in {
        "path,label\nnone,1\n": "1 of 1 images of late.csv are of no finished period.*'none'; labels are read before",
        "path,label\n2/3,1\n": "'2/3'; it is of the period that is not finished",
        "row,label\n303,1\n": "'303'; it is of the period that is not finished",
        "row,label\n450,1\n": "'450'; labels are read before",
        "path,label\n0/3,7\n": "label 7 is none of the 4 classes.*labelled 'other'",
    }.items():
        path.write_text(text)
        with pytest.raises(OpenworldError, match=match):
            watch(fitted, folder, 3, labels=path)
    with pytest.raises(OpenworldError, match="--propose writes a worksheet"):
        watch(fitted, folder, propose=50)
    assert (folder / "state").read_bytes() == state


def test_proposed_labels_are_filled_in_and_read(fitted, folder):
    out = folder / "out"
    watch(fitted, folder, propose=50, out=out)
    filled = out / "labels-to-make-2024-01-02.csv"
    rows = read_sheet(filled)
    assert 30 <= len(rows) <= 70 and all(row["id"].startswith("1/") for row in rows)
    with filled.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "label": TRUTH[1].labels[int(row["id"][2:])]} for row in rows)
    text = filled.read_bytes()
    again = watch(fitted, folder, propose=50, out=out)
    assert filled.read_bytes() == text and "stays as it is" in " ".join(again.notes)
    found = records(watch(fitted, folder, labels=filled))[1].labelled
    assert found.n == len(rows) and found.interval[0] <= RIGHT <= found.interval[1]
