"""`openworld estimate fit` and `watch`: from files to a number a day; exit codes; kills, and two calls at once."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from in_process import openworld

from openworld.runs.lock import file_lock

sys.path.insert(0, str(Path(__file__).parents[1] / "label_free" / "watch"))

from watched_days import day_columns, save, source_columns  # noqa: E402

FIT = ("--timestamps", "time", "--period", "1d", "--images", 150)
WATCH = ("estimate", "watch", "watch.safetensors")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    save(folder / "val.npz", source_columns())
    for day in range(12):
        save(folder / f"{day:02}.npz", day_columns(day, 150, 2.0 if day < 4 else 1.2))
    save(folder / "lost.npz", day_columns(0, 150, 1.7))
    for name, alert in (("watch", 0.78), ("calm", 0.3)):
        out = folder / f"{name}.safetensors"
        done = openworld("estimate", "fit", "--source", folder / "val.npz", "--out", out, *FIT, "--alert", alert)
        assert done.returncode == 0, done.stderr
    return folder


def test_fit_says_what_is_kept_and_what_comes_next(files, tmp_path):
    done = openworld("estimate", "fit", "--source", files / "val.npz", "--out", tmp_path / "w.safetensors", *FIT)
    assert done.stdout.startswith("Fitted on val.npz (600 labelled images, ")
    assert " MB." in done.stdout and "openworld estimate watch" in done.stdout and "DoC, ATC-MC, COT" in done.stdout
    told = openworld(
        "estimate", "fit", "--source", files / "val.npz", "--out", tmp_path / "w.safetensors", *FIT, "--json"
    )
    assert json.loads(told.stdout)["made"]["val.npz"].startswith("SHA-256 ")


def test_days_one_after_the_other(files, tmp_path):
    kept = "--state", tmp_path / "state", "--json-lines", tmp_path / "lines", "--prometheus", tmp_path / "w.prom"
    first = openworld(*WATCH, "00.npz", *kept, cwd=files)
    assert first.returncode == 0 and first.stdout.startswith("No period is finished yet"), first.stderr
    codes = [openworld(*WATCH, f"{day:02}.npz", *kept, "--quiet", cwd=files).returncode for day in range(1, 11)]
    assert codes[0] == 0 and codes[-1] == 3
    last = openworld(*WATCH, "11.npz", *kept, "--close", "--out", tmp_path / "out", cwd=files)
    assert last.returncode == 3 and "Accuracy alarm: below 78.0 % in 2 periods" in last.stdout
    assert "2024-01-12" in last.stdout.splitlines()[0] and "new, alarm" in last.stdout
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(12)) and lines[0]["images"] == 150
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "report.html", "results.parquet", "watch.json", "over-time.svg", "alarm.svg", "shift.svg"
    }  # fmt: skip
    again = openworld(*WATCH, "11.npz", *kept, "--close", cwd=files)
    assert again.returncode == 3 and "had been counted before" in again.stdout


def test_what_cannot_be_told_is_exit_code_4_and_json_has_all(files, tmp_path):
    done = openworld(
        "estimate", "watch", "calm.safetensors", "lost.npz", "--close", "--state", tmp_path / "s", "--json", cwd=files
    )
    told = json.loads(done.stdout)
    assert done.returncode == 4 and told["untold"] == ["2024-01-01"] and told["alerts"] == []
    assert told["new"][0]["accuracy"] is None and told["new"][0]["low"] < told["new"][0]["high"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("estimate", "watch", "nothing.safetensors", "00.npz"), "no file"),
        (("estimate", "watch", "val.npz", "00.npz"), "openworld estimate fit"),
        ((*WATCH, "nothing.npz"), "no file"),
        (("estimate", "fit", "--source", "00.npz", "--out", "o"), "labels"),
        (("estimate", "fit", "--source", "val.npz", "--out", "o", "--period", "1d"), "--timestamps"),
        (("estimate", "fit", "--source", "val.npz", "--out", "o", "--estimator", "FRAP"), "FRAP needs"),
        (("estimate", "fit", "--source", "val.npz", "--out", "o", "--false-alarms", "0.9"), "0.001 to 0.5"),
    ],
)
def test_wrong_use(files, tmp_path, words, reason):
    state = ("--state", tmp_path / "state") if words[1] == "watch" else ()
    done = openworld(*words, *state, cwd=files)
    assert done.returncode == 2 and reason in done.stderr, done.stderr
    assert not (tmp_path / "state").exists() and not (files / "o").exists()


def test_a_call_beside_another_one_is_refused(files, tmp_path):
    with file_lock(tmp_path / ".state.lock"):
        done = openworld(*WATCH, "00.npz", "--state", tmp_path / "state", cwd=files)
    assert done.returncode == 2 and "another call is at work" in done.stderr
    assert openworld(*WATCH, "00.npz", "--state", tmp_path / "state", cwd=files).returncode == 0


DAILY = """
import sys
from pathlib import Path
from openworld.label_free.watch import command
folder = Path(sys.argv[1])
files = {"state": folder / "state", "json_lines": folder / "lines", "prometheus": folder / "w.prom"}
for day in sys.argv[3:]:
    command.watch(Path(sys.argv[2]), [day], out=folder / "out", **files)
"""


def kept(folder):
    """All that calls leave behind; the page says how it was made."""
    names = ("state", "lines", "w.prom", "out/results.parquet", "out/over-time.svg")
    return {name: (folder / name).read_bytes() for name in names}


def start(files, folder):
    days = [f"{day:02}.npz" for day in range(12)]
    command = [sys.executable, "-c", DAILY, folder, files / "watch.safetensors", *days]
    return subprocess.Popen(list(map(str, command)), cwd=files)


@pytest.mark.slow
def test_killed_at_random_points_and_started_again_all_is_as_if_undisturbed(files, tmp_path):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    began = time.monotonic()
    assert start(files, tmp_path / "whole").wait() == 0
    seconds, dice = time.monotonic() - began, random.Random(0)
    for _ in range(12):
        process = start(files, tmp_path / "killed")
        time.sleep(dice.uniform(0.3, 1.0) * seconds)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for line in (tmp_path / "killed" / "lines").read_bytes().splitlines(keepends=True)[:-1]:
            assert line.endswith(b"\n") and json.loads(line)
    process = start(files, tmp_path / "killed")
    assert process.wait() == 0
    assert kept(tmp_path / "killed") == kept(tmp_path / "whole")
    assert not list((tmp_path / "killed").glob("*.writing"))


STEPS = ("state.write", "append_lines", "write_prometheus", "report.write")


@pytest.mark.parametrize("step", STEPS)
def test_whatever_step_a_call_dies_before_the_same_call_completes_it(files, tmp_path, monkeypatch, step):
    from openworld.label_free.watch import command, state
    from openworld.report.report import Report

    def calls(folder):
        return {
            "state": folder / "state",
            "json_lines": folder / "lines",
            "prometheus": folder / "w.prom",
            "out": folder / "out",
        }

    class Killed(Exception):
        pass

    def die(*arguments, **options):
        raise Killed

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for day in ("00.npz", "01.npz", "02.npz"):
        command.watch(files / "watch.safetensors", [files / day], **calls(whole))
        if day == "01.npz":
            owner = {"state.write": state.WatchState, "report.write": Report}.get(step, command)
            with monkeypatch.context() as patched, pytest.raises(Killed):
                patched.setattr(owner, step.rpartition(".")[2], die)
                command.watch(files / "watch.safetensors", [files / day], **calls(broken))
        command.watch(files / "watch.safetensors", [files / day], **calls(broken))
    assert kept(broken) == kept(whole)


def test_numbers_of_the_page_are_those_of_the_lines(files, tmp_path):
    kept_in = "--state", tmp_path / "s", "--json-lines", tmp_path / "lines", "--out", tmp_path / "out", "--close"
    openworld(*WATCH, "00.npz", "01.npz", *kept_in, cwd=files)
    pyarrow = pytest.importorskip("pyarrow.parquet")
    rows = pyarrow.read_table(tmp_path / "out" / "results.parquet").to_pylist()
    told = [row["value"] for row in rows if row["entity"] == "quoted" and row["metric"] == "estimated_accuracy"]
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    np.testing.assert_array_equal(told, [line["accuracy"] for line in lines])
