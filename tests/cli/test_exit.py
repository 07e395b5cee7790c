"""A command that has done its work ends well, even where a library's threads are late to give back Python's memory.

`late_gil.c` counts how often threads that Python did not make ask for the interpreter's lock, and lets them wait for
it: what happens once in many runs then happens nearly each time.
"""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from disturbed import finish, start

READS = """
import numpy as np
import pyarrow
from openworld.tables.parquet import decode_table, encode_table
columns = {"number": np.arange(2000), "score": np.ones((2000, 20), np.float32), "name": [str(n) for n in range(2000)]}
data = encode_table("t", columns)
pyarrow.set_cpu_count(4)  # by itself one, where OMP_NUM_THREADS is
for _ in range(300):
    decode_table(data)
"""
FOREIGN_THREAD = """
import ctypes
call = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: None)
library, thread = ctypes.CDLL(None), ctypes.c_ulong()
library.pthread_create(ctypes.byref(thread), None, call, None)
library.pthread_join(thread, None)
"""
SPEC = """
dataset = "emoji-groups"
seeds = [1]
shots = 1
views = 1
[[learners]]
learner = "zero-shot"
"""


@pytest.fixture(scope="module")
def late_gil(tmp_path_factory, repository):
    """The compiled library."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs Linux and a C compiler called cc")
    library = tmp_path_factory.mktemp("late") / "late_gil.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, repository / "tests/cli/late_gil.c", "-ldl"], check=True
    )
    return library


@pytest.fixture
def watched(late_gil, tmp_path, monkeypatch):
    """Preloads the library into processes started by a test; gives the number of requests they have made so far."""
    log = tmp_path / "requests"
    monkeypatch.setenv("LD_PRELOAD", str(late_gil))
    monkeypatch.setenv("LATE_GIL_LOG", str(log))

    def requests():
        return log.stat().st_size if log.exists() else 0

    subprocess.run([sys.executable, "-c", FOREIGN_THREAD], check=True)
    if requests() != 1:
        pytest.skip("this Python is built so that no library can stand before its own functions")
    log.unlink()
    return requests


def test_reading_tables_leaves_no_python_memory_to_other_threads(watched):
    subprocess.run([sys.executable, "-c", READS], check=True)
    assert watched() == 0


@pytest.mark.slow
def test_a_finished_run_read_again_ends_well_however_late_threads_are(watched, tmp_path, monkeypatch):
    (tmp_path / "spec.toml").write_text(SPEC)
    finish(start(tmp_path, "run", "spec.toml", "--workers", "1"))
    monkeypatch.setenv("LATE_GIL_MS", "1000")
    before = watched()
    for arguments in (("run", "spec.toml"), ("report", "runs/spec")):
        finish(start(tmp_path, *arguments))
    assert watched() == before


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_reading_scores_leaves_no_python_memory_to_other_threads(watched, tmp_path, monkeypatch, ending):
    import pyarrow
    from pyarrow import csv, parquet

    generator = np.random.default_rng(0)
    scores = generator.dirichlet(np.full(4, 0.3), 3000)
    columns = {f"probabilities:{name}": scores[:, place] for place, name in enumerate("abcd")}
    labels = (scores.cumsum(axis=1) > generator.random((3000, 1))).argmax(axis=1)
    table = pyarrow.table(columns | {"label": np.array(list("abcd"))[labels]})
    (parquet.write_table if ending == ".parquet" else csv.write_csv)(table, tmp_path / f"scores{ending}")
    sides = "--source", f"scores{ending}", "--target", f"scores{ending}"
    finish(start(tmp_path, "estimate", *sides, "--out", "out"))
    assert watched() == 0
