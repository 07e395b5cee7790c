"""Three units in a folder, in a process of its own, killed by a real SIGKILL at a chosen step of the writing.

    python crash_driver.py run FOLDER WORKERS PAUSE [ENGINE]   run, each unit pausing for PAUSE seconds
    python crash_driver.py hang FOLDER WORKERS PAUSE [ENGINE]  the last unit pauses for ever, until it is killed
    python crash_driver.py die FOLDER STRIDE                   kill at every STRIDE-th step, one folder for each
    python crash_driver.py moments FOLDER COUNT                kill four times each at random moments, COUNT folders

A step is an fsync, a rename or a new folder: a kill before step N leaves what N - 1 steps did. `die` and `moments`
work in forked children, which need not load the libraries; in FOLDER they leave the uninterrupted run "whole" and, for
each step or count, "died-N" as the killed processes left it and then finished by another one.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import example_units
import pyarrow.parquet  # noqa: F401  once, before the forks

from openworld.runs import RunStore, execute


def count_steps(fatal):
    """Make the process kill itself before step number `fatal`; returns the running count."""
    steps = [0]

    def counted(function):
        def step(*arguments, **options):
            steps[0] += 1
            if steps[0] == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return step

    for name in ("fsync", "rename", "replace", "mkdir"):
        setattr(os, name, counted(getattr(os, name)))
    return steps


def run(folder, workers=1, pause=0.0, engine="local", last=None):
    store = RunStore(folder)
    store.create({"count": 3}, {"count": 3, "size": 20}, {"python": "same"})
    units = example_units.draws(3, pause=pause)
    if last is not None:
        units[-1] = example_units.draws(3, pause=last)[-1]
    told = lambda event: print(event.unit, event.state, flush=True)  # noqa: E731
    execute(units, store, engine=engine, workers=workers, progress=told)


def fork(function, *arguments):
    """Call it in a child; the signal that killed the child, or 0."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] & 0x7F
    function(*arguments)
    os._exit(0)


def die_and_finish(folder, stride):
    steps = count_steps(fatal=None)
    run(folder / "whole")
    for fatal in range(1, steps[0] + 1, stride):
        killed = folder / f"died-{fatal}"
        assert fork(lambda step, where: (count_steps(step), run(where)), fatal, killed) == signal.SIGKILL
        assert fork(run, killed) == 0


def die_at_moments(folder, count):
    run(folder / "whole")
    for number in range(count):
        moments, killed = random.Random(number), folder / f"died-{number}"
        for _ in range(4):
            child = os.fork()
            if not child:
                run(killed, pause=0.05, last=3600.0)
            time.sleep(moments.uniform(0, 0.3))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert fork(run, killed) == 0


if __name__ == "__main__":
    # As from a terminal: a shell that starts the tests in the background has Ctrl-C ignored, and that is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    mode, folder, *rest = sys.argv[1:]
    if mode in ("die", "moments"):
        (die_and_finish if mode == "die" else die_at_moments)(Path(folder), int(rest[0]))
    else:
        run(Path(folder), int(rest[0]), float(rest[1]), *rest[2:], last=3600.0 if mode == "hang" else None)
