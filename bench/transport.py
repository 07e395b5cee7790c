"""Speed of COT's transport: quotas for classes, against the n x n problem of the public code and other exact forms.

    python bench/transport.py [--quick] [--large] [--setting IMAGES CLASSES]

n images with synthetic probabilities, n / C places per class. Prints processor seconds (of runs below a second the best
of five), the ratio to ours, the difference of the values, the gap of our price certificate, and how large the process
grew that did nothing else, the making of the data included. POT solves n x n only up to SQUARE images, where it takes
about two minutes; --quick leaves it out above 2,000 images, --large takes 50,000 images of 1,000 classes, --setting
what it is given. POT is asked in its own faster form: one column per class below 500 classes, one row per class above.
"""

import argparse
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")
SETTINGS = ((2_000, 10), (2_000, 100), (10_000, 10), (10_000, 100), (10_000, 1_000))
LARGE = (50_000, 1_000)
SQUARE, QUICK_SQUARE = 10_000, 2_000
REPEATS = 5
SEPARATION = {10: 4.0, 100: 6.5, 1_000: 9.0}  # on the true logit: about 33, 27 and 14 % wrong


def simulated(n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities float64[n, C] of a model that favours a fifth of the classes, and even quotas."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, n)
    logits = 2 * rng.normal(size=(n, classes))
    logits[:, : max(1, classes // 5)] += 0.8
    logits[np.arange(n), labels] += SEPARATION[classes]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    quotas = np.full(classes, n // classes)
    quotas[: n - quotas.sum()] += 1
    return powers / powers.sum(axis=1, keepdims=True), quotas


def ours(p: np.ndarray, quotas: np.ndarray) -> tuple[float, np.ndarray]:
    """The value, and the prices that prove it."""
    from openworld.estimators.engine.transport import transport

    plan = transport(p, quotas)
    return 1 - plan.given.mean(), plan.prices


def pot(p: np.ndarray, quotas: np.ndarray) -> tuple[float, None]:
    from ot.lp import emd2

    images = np.full(len(p), 1 / len(p))
    if p.shape[1] < 500:
        return emd2(images, quotas / len(p), 1 - p, numItermax=10**8), None
    return emd2(quotas / len(p), images, np.ascontiguousarray((1 - p).T), numItermax=10**8), None


def pot_square(p: np.ndarray, quotas: np.ndarray) -> tuple[float, None]:
    from ot.lp import emd2

    images = np.full(len(p), 1 / len(p))
    cost = 1 - p[:, np.repeat(np.arange(p.shape[1]), quotas)]
    return emd2(images, images, cost, numItermax=10**9), None


def warmed(solve: Callable, n: int, classes: int) -> tuple[float, float, float, float | None]:
    """Value, seconds, the process's largest size in GB, and the gap to the prices' bound; imports are done before."""
    solve(*simulated(20, 10))
    p, quotas = simulated(n, classes)
    seconds = np.inf
    for _ in range(REPEATS):
        started = time.process_time()
        value, prices = solve(p, quotas)
        spent = time.process_time() - started
        seconds = min(seconds, spent)
        if spent > 1:
            break
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    gap = None if prices is None else (p - prices).max(axis=1).mean() + quotas @ prices / n - (1 - value)
    return value, seconds, size, gap


def alone(solve: Callable, n: int, classes: int):
    """`warmed` in a fresh process, so that the memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(warmed, solve, n, classes).result()


def compare(n: int, classes: int, solvers: dict[str, Callable]) -> None:
    value, seconds, size, gap = alone(ours, n, classes)
    print(f"\n{n:,} images, {classes:,} classes: error {value:.6f}")
    print(f"  openworld   {seconds:9.3f} s  {size:6.2f} GB   primal = dual within {abs(gap):.0e}", flush=True)
    for name, solve in solvers.items():
        theirs, slow, size, _ = alone(solve, n, classes)
        said = f"{slow / seconds:7.1f}x  differs by {abs(theirs - value):.0e}"
        print(f"  {name:<11} {slow:9.3f} s  {size:6.2f} GB  {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="no n x n problem above 2,000 images")
    parser.add_argument("--large", action="store_true", help="50,000 images of 1,000 classes, and nothing else")
    parser.add_argument("--setting", type=int, nargs=2, help="images and classes (10, 100 or 1000), and nothing else")
    chosen = parser.parse_args()
    square = QUICK_SQUARE if chosen.quick else SQUARE
    settings = (LARGE,) if chosen.large else SETTINGS
    for n, classes in (chosen.setting,) if chosen.setting else settings:
        solvers = {"POT": pot} | ({"POT n x n": pot_square} if n <= square else {})
        compare(n, classes, solvers)


if __name__ == "__main__":
    main()
