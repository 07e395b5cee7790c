"""Speed of shift degrees against faiss-cpu's flat index, and the memory of degrees over shards.

    python bench/shift_degrees.py [--quick | --full] [--device cuda] [--threads T] [--width D]

Rows lie around random centres, as features of classes do, and are of unit length for both. On a CPU both search in one
process, in turns, because machines are shared: processor seconds with one thread, elapsed ones with more; the ratio is
the median over the turns (building the index included), beside whether both name the same neighbours. Sizes are 20,000
and 50,000 queries and reference rows, with --full 100,000 too, with --quick 2,000 x 20,000. On a GPU candidates are
found in float16, the size is 100,000 and, with --full, a million queries x 1.28 million rows, and faiss takes no part.
Times of larger tasks are extrapolated by the number of products. Last, by how much a process grows that measures
features in files shard by shard, beside the bound that `streamed_degrees` states.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np

K = 10
CENTRES = 1_000
TASKS = {"1M x 1.28M": 1e6 * 1.28e6, "ImageNet-21K (14M) x ImageNet-1K (1.28M)": 14e6 * 1.28e6}


@dataclass(frozen=True)
class Size:
    """N queries, M reference rows of D numbers, and where they are."""

    queries: int
    reference: int
    width: int = 256
    device: str = "cpu"

    def __str__(self) -> str:
        return f"{self.queries:,} x {self.reference:,} x {self.width} on {self.device}"


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

    from openworld.shifts import nearest

    on_gpu = device.startswith("cuda")
    found = nearest(*(torch.from_numpy(rows).to(device) for rows in (queries, reference)), K, half=on_gpu)
    return found.distances, found.places


def faiss(queries: np.ndarray, reference: np.ndarray, device: str) -> tuple[np.ndarray, np.ndarray]:
    import faiss as library

    index = library.IndexFlatIP(reference.shape[1])
    index.add(reference)
    products, places = index.search(queries, K)
    return 1 - products, places


def timed(search: Callable, rows: tuple, device: str) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    import torch

    clock = time.process_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    started = clock()
    found = search(*rows, device)
    return clock() - started, found


def compare(size: Size, turns: int) -> None:
    """One line: seconds of both, the ratio, the agreement, and what larger tasks would take."""
    rows = simulated(size)
    searches = [ours, faiss] if size.device == "cpu" and find_spec("faiss") else [ours]
    for search in searches:
        search(rows[0][:20], rows[1][:4000], size.device)
    seconds: list[list[float]] = []
    for _ in range(turns):
        took, found = zip(*(timed(search, rows, size.device) for search in searches), strict=True)
        seconds.append(took)
    own = median(took[0] for took in seconds)
    print(f"{size}, k = {K}, turns: {turns}")
    print(f"  openworld {own:8.2f} s, {own / size.queries / size.reference * 1e9:.4f} ns a product")
    if len(searches) > 1:
        ratio = median(took[1] / took[0] for took in seconds)
        print(f"  faiss     {median(took[1] for took in seconds):8.2f} s, faiss / openworld = {ratio:.2f}")
        print(f"  {agreement(*found)}")
    for name, products in TASKS.items():
        print(f"  extrapolated to {name}: {own * products / size.queries / size.reference / 3600:.2f} h a half")


def agreement(one: tuple, two: tuple) -> str:
    (distances, places), (others, elsewhere) = one, two
    same, apart = (places == elsewhere).mean(), np.abs(distances - others).max()
    return f"{100 * same:.4f} % of the neighbours are the same, distances differ by up to {apart:.0e}"


def grown_by(part: int, shard: int, width: int, folder: str) -> float:
    """Megabytes that `sharded_degrees` adds to a process that has imported everything."""
    import torch

    from openworld.shifts import Decomposition, Shards, sharded_degrees

    split = Decomposition.of_matrix(torch.eye(width))
    files = Path(folder, "images.npy"), Path(folder, "reference.npy")
    tiny = Path(folder, "tiny.npy")
    np.save(tiny, np.load(files[0], mmap_mode="r")[:50])
    sharded_degrees(split, tiny, tiny, Path(folder, "warm"))
    before = _peak()
    sharded_degrees(split, *files, Path(folder, f"run-{part}-{shard}"), shards=Shards(shard, part))
    return _peak() - before


def memory(width: int, quick: bool) -> None:
    """Growth of a fresh process for a reference of one shard and of several, beside the bound."""
    part, shard = (1_000, 4_000) if quick else (4_000, 2**15)
    bound = (width * (8 * part + 10 * shard) + 32 * K * 2 * part + 150e6) / 1e6
    for shards in (1, 4):
        with tempfile.TemporaryDirectory() as folder:
            rows = simulated(Size(2 * part, shards * shard, width))
            for name, one in zip(("images", "reference"), rows, strict=True):
                np.save(Path(folder, f"{name}.npy"), one)
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                grown = pool.submit(grown_by, part, shard, width, folder).result()
        print(
            f"memory of {2 * part:,} images x {shards * shard:,} rows of {width} numbers in {shards} shard(s): "
            f"+{grown:.0f} MB, bound {bound:.0f} MB"
        )


def _peak() -> float:
    """Megabytes, the most this process has had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2,000 queries")
    parser.add_argument("--full", action="store_true", help="the largest size as well")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    import torch

    torch.set_num_threads(asked.threads)
    if find_spec("faiss"):
        import faiss as library

        library.omp_set_num_threads(asked.threads)
    small, large = ([20_000, 50_000], [100_000]) if asked.device == "cpu" else ([100_000], [])
    sizes = [Size(2_000, 20_000)] if asked.quick else [Size(n, n) for n in small + large * asked.full]
    if asked.full and asked.device != "cpu":
        sizes.append(Size(1_000_000, 1_280_000))
    for size in sizes:
        compare(Size(size.queries, size.reference, asked.width, asked.device), asked.turns)
    memory(2 * asked.width, asked.quick)


if __name__ == "__main__":
    main()
