import os
import subprocess
import sys
from pathlib import Path

import pytest
from example_units import draws

from openworld.runs import RunStore, Unit, execute


def test_a_plain_script_runs_in_several_processes_and_is_run_once(tmp_path):
    work = "from example_units import draws\nexecute(draws(2), RunStore('run'), workers=2)"
    script = f"from openworld.runs import RunStore, execute\nprint('begun')\n{work}\n"
    (tmp_path / "mine.py").write_text(script)
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = os.environ | {"PYTHONPATH": paths}
    command = [sys.executable, "mine.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "begun\n" and len(list(tmp_path.glob("run/units/*/record.json"))) == 2


def test_an_interrupt_ends_the_workers(tmp_path):
    store = RunStore(tmp_path)

    def interrupt(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(draws(2, pause=30.0), store, workers=2, progress=interrupt)
    assert not list((tmp_path / "units").glob("*/record.json"))
    with store.claim(draws(1)[0], wait=False) as held:
        assert held


def test_workers_stay_on_a_device_and_the_successor_of_a_dead_one_takes_its_device(tmp_path):
    machine = {"machine": {"device": "cuda:0", "cache": "here"}}
    units = [
        Unit("example_units:located", {"n": n, "die_on": "cuda:1", "folder": str(tmp_path)}, resources=machine)
        for n in range(4)
    ]
    events = []
    how = {"workers": 2, "devices": ["cuda:0", "cuda:1"], "progress": events.append}
    records = execute(units, RunStore(tmp_path / "run"), **how)
    (lost,) = (event for event in events if event.state == "lost")
    assert "exit code -9" in lost.detail and sum(event.state == "finished" for event in events) == events[-1].done == 4
    timings = [record.timing for record in records]
    assert {timing["cache"] for timing in timings} == {"here"}
    on = {timing["process"]: timing["device"] for timing in timings}
    assert sorted(on.values()) == ["cuda:0", "cuda:1"]
