import subprocess
import sys

from openworld.runs.lock import file_lock

HOLD = """
import sys, time
from pathlib import Path
from openworld.runs.lock import file_lock
with file_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_holder_at_a_time(tmp_path):
    path = tmp_path / "deep" / "a.lock"
    with file_lock(path) as held:
        assert held
        with file_lock(path, wait=False) as second:
            assert not second
        with file_lock(tmp_path / "b.lock", wait=False) as other:
            assert other
    with file_lock(path, wait=False) as again:
        assert again


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / "a.lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with file_lock(path, wait=False) as held:
            assert not held
        holder.kill()
        with file_lock(path) as held:  # waits for the kernel, not for 60 seconds
            assert held
