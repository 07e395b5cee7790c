"""Runs of `crash_driver.py` as processes of their own: what tests of engines share."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).with_name("crash_driver.py")
PATIENCE = 600  # seconds until a process counts as stuck, on however busy a machine; no test waits for them


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, str(DRIVER), *map(str, arguments)], stdout=subprocess.PIPE, text=True, **options
    )


def finish(*arguments):
    process = start(*arguments)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    return output


def no_leftovers(folder):
    return not list(folder.rglob(".writing/*")) and not list(folder.glob(".*.writing"))


def kill_between_units(folder, workers, engine="local"):
    """Kill a run when a unit is done and another, which would take for ever, is not."""
    process = start("hang", folder, workers, 0, engine)
    next(line for line in process.stdout if "finished" in line)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def stop_with_ctrl_c(folder, engine):
    """Ctrl-C as a terminal sends it, to the driver and all it started, in the middle of units far from their end."""
    process = start("run", folder, 2, 600.0, engine, start_new_session=True, stderr=subprocess.PIPE)
    try:
        assert "started" in process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors
