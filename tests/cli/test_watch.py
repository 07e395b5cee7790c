"""`openworld estimate fit` and `watch`: from files to a number a day; exit codes, and two calls at once."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from in_process import openworld, refused

from openworld.results import Results
from openworld.runs.lock import file_lock

sys.path.insert(0, str(Path(__file__).parents[1] / "label_free" / "watch"))

from watched_days import day_columns, save, source_columns  # noqa: E402

pytestmark = pytest.mark.usefixtures("few_draws")

FIT = ("--timestamps", "time", "--period", "1d", "--images", 150)
WATCH = ("estimate", "watch", "watch.safetensors")
DAYS = 7


@pytest.fixture(scope="module")
def files(few_draws, tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    save(folder / "val.npz", source_columns())
    for day in range(DAYS):
        save(folder / f"{day:02}.npz", day_columns(day, 150, 2.0 if day < 2 else 1.0))
    save(folder / "lost.npz", day_columns(0, 150, 1.7))
    for name, alert in (("watch", 0.78), ("calm", 0.3)):
        fitted = (*FIT, "--alert", alert, "--out", f"{name}.safetensors")
        done = openworld("estimate", "fit", "--source", "val.npz", *fitted, cwd=folder)
        assert done.exit_code == 0 and done.stdout.startswith("Fitted on val.npz (450 labelled images, "), done.stderr
        assert " MB." in done.stdout and "openworld estimate watch" in done.stdout
        assert "DoC, ATC-MC, COT" in done.stdout
    return folder


def test_days_one_after_the_other(files, tmp_path):
    kept = "--state", tmp_path / "state", "--json-lines", tmp_path / "lines", "--prometheus", tmp_path / "w.prom"
    first = openworld(*WATCH, "00.npz", *kept, cwd=files)
    assert first.exit_code == 0 and first.stdout.startswith("No period is finished yet"), first.stderr
    codes = [openworld(*WATCH, f"{day:02}.npz", *kept, "--quiet", cwd=files).exit_code for day in range(1, DAYS - 1)]
    assert codes[0] == 0 and codes[-1] == 3
    last = openworld(*WATCH, f"{DAYS - 1:02}.npz", *kept, "--close", "--out", tmp_path / "out", cwd=files)
    assert last.exit_code == 3 and "Accuracy alarm: below 78.0 % in 2 periods" in last.stdout
    assert f"2024-01-{DAYS:02}" in last.stdout.splitlines()[0] and "new, alarm" in last.stdout
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(DAYS)) and lines[0]["images"] == 150
    names = {"report.html", "results.parquet", "watch.json", "over-time.svg", "alarm.svg", "shift.svg"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    rows = Results.from_parquet(tmp_path / "out" / "results.parquet")
    values = [row.value.value for row in rows.where(entity="quoted", metric="estimated_accuracy")]
    np.testing.assert_array_equal(values, [line["accuracy"] for line in lines])
    again = openworld(*WATCH, f"{DAYS - 1:02}.npz", *kept, "--close", cwd=files)
    assert again.exit_code == 3 and "had been counted before" in again.stdout
    assert json.loads(openworld(*WATCH, *kept, "--json", cwd=files).stdout)["new"] == []  # no file: a look again


def test_what_cannot_be_told_is_exit_code_4_and_json_has_all(files, tmp_path):
    calm = ("estimate", "watch", "calm.safetensors", "lost.npz", "--close", "--state", tmp_path / "s", "--json")
    done = openworld(*calm, cwd=files)
    found = json.loads(done.stdout)
    assert done.exit_code == 4 and found["unknown"] == ["2024-01-01"] and found["alerts"] == []
    assert found["new"][0]["accuracy"] is None and found["new"][0]["low"] < found["new"][0]["high"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("watch", "nothing.safetensors", "00.npz"), "no file"),
        (("watch", "val.npz", "00.npz"), "openworld estimate fit"),
        (("fit", "--source", "00.npz", "--out", "o"), "labels"),
        (("fit", "--source", "val.npz", "--out", "o", "--period", "1d"), "--timestamps"),
        (("fit", "--source", "val.npz", "--out", "o", "--estimator", "FRAP"), "FRAP needs"),
    ],
)
def test_wrong_use(files, tmp_path, words, reason):
    state = ("--state", tmp_path / "state") if words[0] == "watch" else ()
    refused(reason, "estimate", *words, *state, cwd=files)
    assert not (tmp_path / "state").exists() and not (files / "o").exists()


def test_a_call_beside_another_one_is_refused(files, tmp_path):
    with file_lock(tmp_path / ".state.lock"):
        refused("another call is at work", *WATCH, "00.npz", "--state", tmp_path / "state", cwd=files)
    assert openworld(*WATCH, "00.npz", "--state", tmp_path / "state", cwd=files).exit_code == 0
