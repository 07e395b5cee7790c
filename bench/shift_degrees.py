"""Speed of shift degrees: the k nearest of 100,000 reference rows for 100,000 queries, against faiss-cpu.

    python bench/shift_degrees.py [--quick] [--device cuda] [--queries N] [--reference M] [--width D]

Rows lie around random centres, as features of classes do. Prints processor seconds of a fresh process each (elapsed
ones on a GPU, whose candidates are found in float16), how large that process grew, the ratio to faiss's flat index of
inner products on the same unit rows (building it included), and whether both name the same neighbours. --quick takes
2,000 queries. Without faiss, or on a GPU, ours is timed alone, and the time of 14 million queries is extrapolated.
"""

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context

import numpy as np

K = 10
CENTRES = 1_000
IMAGENET_21K = 14_000_000


@dataclass(frozen=True)
class Size:
    """N queries, M reference rows of D numbers, and where they are."""

    queries: int
    reference: int
    width: int
    device: str


def simulated(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows float32[N, D] and float32[M, D]; queries lie a little farther from the centres."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CENTRES, size.width), dtype=np.float32)
    parts = []
    for count, spread in ((size.queries, 1.2), (size.reference, 1.0)):
        rows = spread * rng.standard_normal((count, size.width), dtype=np.float32)
        rows += centres[rng.integers(0, CENTRES, count)]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        parts.append(rows)
    return parts[0], parts[1]


def ours(queries: np.ndarray, reference: np.ndarray, device: str) -> tuple[np.ndarray, np.ndarray]:
    import torch

    from openworld.shift import nearest

    on_gpu = device.startswith("cuda")
    found = nearest(*(torch.from_numpy(rows).to(device) for rows in (queries, reference)), K, half=on_gpu)
    return found.distances, found.places


def faiss(queries: np.ndarray, reference: np.ndarray, device: str) -> tuple[np.ndarray, np.ndarray]:
    import faiss as library

    index = library.IndexFlatIP(reference.shape[1])
    index.add(reference)
    products, places = index.search(queries, K)
    return 1 - products, places


def timed(search: Callable, size: Size) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Seconds, the gigabytes that the search added, distances and places; imports are done before."""
    queries, reference = simulated(size)
    search(queries[:20], reference[:200], size.device)
    before, clock = _grown(), time.perf_counter if size.device.startswith("cuda") else time.process_time
    started = clock()
    distances, places = search(queries, reference, size.device)
    return clock() - started, _grown() - before, distances, places


def alone(search: Callable, size: Size):
    """`timed` in a fresh process, so that the memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(timed, search, size).result()


def agreement(one: tuple, two: tuple) -> str:
    (distances, places), (others, elsewhere) = one, two
    same, apart = (places == elsewhere).mean(), np.abs(distances - others).max()
    return f"{100 * same:.4f} % of the neighbours are the same, distances differ by up to {apart:.0e}"


def report(size: Size) -> None:
    print(f"{size.queries:,} x {size.reference:,} x {size.width}, k = {K}, on {size.device}")
    seconds, memory, *found = alone(ours, size)
    per_product = seconds / size.queries / size.reference * 1e9
    print(f"  openworld  {seconds:9.2f} s  {memory:6.2f} GB more  {per_product:.3f} ns a product", flush=True)
    if size.device != "cpu" or find_spec("faiss") is None:
        hours = seconds * IMAGENET_21K / size.queries / 3600
        print(f"  extrapolated to {IMAGENET_21K:,} queries: {hours:.2f} hours a half")
        return
    slow, memory, *others = alone(faiss, size)
    print(f"  faiss      {slow:9.2f} s  {memory:6.2f} GB more  faiss / openworld = {slow / seconds:.2f}")
    print(f"  {agreement(found, others)}")


def _grown() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2,000 queries")
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--reference", type=int, default=100_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    report(Size(2_000 if asked.quick else asked.queries, asked.reference, asked.width, asked.device))


if __name__ == "__main__":
    main()
