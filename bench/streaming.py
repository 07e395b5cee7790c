"""Memory and speed of `openworld estimate` on targets that grow: it must stay flat, and a row must cost the same.

    python bench/streaming.py [--rows 100000 1000000 5000000] [--classes 10] [--format parquet]

Writes synthetic scores of a source (5,000 rows) and of targets (logits and a reference, float32, labels withheld), then
estimates each in a fresh process with all usual estimators and prints rows per processor second and how large the
process grew.
"""

import argparse
import json
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

BLOCK = 100_000


def scores(rng: np.random.Generator, n: int, classes: int, strength: float) -> tuple[np.ndarray, ...]:
    """Logits and similarities float32[n, C], and labels, of a model that is surer of the true class by `strength`."""
    labels = rng.integers(0, classes, n)
    true = np.eye(classes, dtype=np.float32)[labels]
    logits = rng.standard_normal((n, classes), np.float32) + strength * true
    reference = rng.standard_normal((n, classes), np.float32) + strength / 2 * true
    return 2 * logits, 0.2 + 0.02 * reference, labels


def write(path: Path, rows: int, classes: int, strength: float, *, labelled: bool) -> None:
    """Scores as Parquet, block by block."""
    import pyarrow
    from pyarrow import parquet

    lists = pyarrow.list_(pyarrow.float32(), classes)
    fields = [("logits", lists), ("reference", lists), *([("labels", pyarrow.int64())] if labelled else [])]
    schema, rng = pyarrow.schema(fields), np.random.default_rng(rows)
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, BLOCK):
            *tables, labels = scores(rng, min(BLOCK, rows - start), classes, strength)
            arrays = [pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(one.reshape(-1)), classes) for one in tables]
            arrays += [pyarrow.array(labels)] if labelled else []
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def measured(source: Path, target: Path) -> tuple[str | None, float | None, float, float]:
    """The quoted method and its accuracy (None: it cannot be estimated), processor seconds, largest size in GB."""
    from openworld.label_free.estimate.estimation import estimate_accuracy
    from openworld.label_free.estimate.reading import open_table

    started = time.process_time()
    judged = estimate_accuracy(open_table([source]), open_table([target]))
    seconds = time.process_time() - started
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return judged.quote.method, judged.quote.accuracy, seconds, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 5_000_000])
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "source.parquet", Path(scratch) / "target.parquet"
        write(source, 5_000, asked.classes, 3.0, labelled=True)
        for rows in asked.rows:
            write(target, rows, asked.classes, 2.0, labelled=False)
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                name, accuracy, seconds, size = pool.submit(measured, source, target).result()
            found.append({"rows": rows, "seconds": seconds, "rows_a_second": rows / seconds, "gigabytes": size})
            if not asked.json:
                told = f"{rows:>12,} rows x {asked.classes} classes: {seconds:6.1f} s, {rows / seconds:>9,.0f} rows/s"
                quoted = "cannot be estimated" if accuracy is None else f"{name} {100 * accuracy:.1f} %"
                print(f"{told}, {size:.2f} GB ({quoted})", flush=True)
    if asked.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
