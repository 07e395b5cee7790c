"""One augmented view of each image in a batch, read from disk, against reading all views to use one.

    python bench/views.py [--images 256] [--batch 32] [--views 8] [--patches 196] [--width 768]

Patch rows float16[images, views, patches, width] lie in a safetensors file, as `openworld.features.encode` keeps
those of ViT-B/16. Both sides read the same batches in turn, from a file that the system holds in memory. Prints
milliseconds a batch (the fastest of several) and their ratio.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from openworld.features import FeatureStore


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("images", 256), ("batch", 32), ("views", 8), ("patches", 196), ("width", 768)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, generator = FeatureStore(Path(folder)), np.random.default_rng(0)
        shape = (asked.images, asked.views, asked.patches, asked.width)
        store.write_shard(0, {"view_patches": generator.integers(0, 100, shape, np.uint8).astype(np.float16)})
        store.finish(1, {})
        array = store.array("view_patches")
        array[:]  # so that the system holds the file

        def one(rows: np.ndarray, views: np.ndarray) -> np.ndarray:
            return array[rows, views]

        def every(rows: np.ndarray, views: np.ndarray) -> np.ndarray:
            return array[rows][np.arange(len(rows)), views]

        first = np.arange(asked.batch)
        np.testing.assert_array_equal(one(first, first % asked.views), every(first, first % asked.views))
        times = {one: [], every: []}
        for _ in range(asked.repeats):
            rows = generator.permutation(asked.images)[: asked.batch]
            views = generator.integers(0, asked.views, asked.batch)
            for read, taken in times.items():
                started = time.perf_counter()
                read(rows, views)
                taken.append(time.perf_counter() - started)
    alone, all_of_them = (1000 * min(taken) for taken in times.values())
    print(f"one view read       {alone:8.2f} ms a batch of {asked.batch}")
    print(f"all {asked.views} views read    {all_of_them:8.2f} ms")
    print(f"ratio               {all_of_them / alone:8.1f}")


if __name__ == "__main__":
    main()
