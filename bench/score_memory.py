"""How much memory `openworld score` takes, and how long: predictions of a model for many images, in a Parquet file.

    python bench/score_memory.py [--rows 1e7] [--labels] [--before FOLDER]

Every run is a process of its own; the peak is that of its resident memory (`getrusage`), the time that of the
processor. With --before, a checkout of another version (its root) is run in turn with this one, and the ratios of the
medians are printed; what both print must be the same to the last digit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

CHUNK = 500_000
RUN = """
import contextlib, hashlib, io, json, resource, sys, time
from openworld.cli import main
sys.argv, out = ["openworld", "score", sys.argv[1], "--json"], io.StringIO()
with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
    main()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
digest = hashlib.sha256(out.getvalue().encode()).hexdigest()
print(json.dumps({"peak": peak, "seconds": time.process_time(), "digest": digest}))
"""


def write(path, rows, labels):
    """Write predictions of which a fifth is wrong, base scores one deviation above new ones."""
    generator, writer = np.random.default_rng(0), None
    names = np.array([f"class {number}" for number in range(1000)], object)
    for start in range(0, rows, CHUNK):
        count = min(CHUNK, rows - start)
        new, correct = generator.random(count) < 0.5, generator.random(count) < 0.8
        table = {"side": np.where(new, "new", "base").astype(object), "score": generator.normal(size=count) - new}
        if labels:
            label, other = (generator.integers(0, 500, count) + 500 * new for _ in range(2))
            table |= {"label": names[label], "prediction": names[np.where(correct, label, other)]}
            table |= {"joint_prediction": table["prediction"], "group": generator.integers(0, rows // 4 + 1, count)}
        else:
            table["correct"] = correct
        table = pyarrow.table(table)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def run(path, root):
    environment = os.environ | {"PYTHONPATH": str(Path(root, "src").resolve()), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, path], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    roots = {"now": Path(__file__).parents[1]} | ({"before": options.before} if options.before else {})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "predictions.parquet"))
        write(path, int(options.rows), options.labels)
        runs = {name: [] for name in roots}
        for _ in range(options.rounds):
            for name, root in roots.items():
                runs[name].append(run(path, root))
    print("          peak MB  bytes a row  processor s")
    middle = {}
    for name, each in runs.items():
        middle[name] = [statistics.median(one[what] for one in each) for what in ("peak", "seconds")]
        peak, seconds = middle[name]
        print(f"{name:8}{peak / 1e6:9,.0f}{peak / options.rows:13.0f}{seconds:13.1f}")
    if options.before:
        print(
            "ratio   "
            + "".join(f"{b / a:{w}.1f}" for a, b, w in zip(middle["now"], middle["before"], (9, 26), strict=True))
        )
        same = len({one["digest"] for each in runs.values() for one in each}) == 1
        print("what is printed is", "the same" if same else "NOT the same")


if __name__ == "__main__":
    main()
