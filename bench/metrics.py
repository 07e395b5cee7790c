"""Speed of the ranking metrics: exact AUROC and OpenworldAUC against scikit-learn.

    python bench/metrics.py [--quick] [--clock cpu]

Prints medians of repeated runs, the ratio, the largest difference of the values, and the floor: sorting the scores of
both sides, which any exact method must do. One thread. scikit-learn gets the same numbers
through `roc_auc_score`; for OpenworldAUC in the form of the authors' code, misnamed samples replaced by sentinels.
"""

import argparse
import gc
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from sklearn.metrics import roc_auc_score

from openworld.metrics import auroc, openworld_auc

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}  # cpu: for a machine that others use too


def medians(runs: dict[str, Callable], repeats: int, clock: Callable) -> dict[str, float]:
    """Median milliseconds of each, taken in turns; the first turn is not counted."""
    times = {name: [] for name in runs}
    for _ in range(repeats + 1):
        for name, run in runs.items():
            gc.collect()
            start = clock()
            run()
            times[name].append(1000 * (clock() - start))
    return {name: median(measured[1:]) for name, measured in times.items()}


def simulated(total: int, dtype=np.float64) -> tuple:
    rng = np.random.default_rng(0)
    half = total // 2
    scores = rng.normal(1, 1, half).astype(dtype), rng.normal(0, 1, half).astype(dtype)
    return scores[0], rng.random(half) < 0.8, scores[1], rng.random(half) < 0.7


def scikit_auroc(base, new) -> float:
    return roc_auc_score(np.r_[np.ones(base.size), np.zeros(new.size)], np.r_[base, new])


def scikit_openworld_auc(base, base_correct, new, new_correct) -> float:
    """The authors' form: sentinels beyond the other side's scores, then the ordinary AUROC."""
    masked = np.where(base_correct, base, new.min() - 1e-5), np.where(new_correct, new, base.max() + 1e-5)
    return scikit_auroc(*masked)


def compare(total: int, repeats: int, dtype, clock: Callable) -> None:
    base, c, new, d = simulated(total, dtype)
    print(f"\n{total:,} scores, {np.dtype(dtype).name}, medians of {repeats}")
    pairs = {
        "AUROC": (lambda: auroc(base, new).value, lambda: scikit_auroc(base, new)),
        "OpenworldAUC": (
            lambda: openworld_auc(base, c, new, d).value,
            lambda: scikit_openworld_auc(base, c, new, d),
        ),
    }
    runs = {
        "floor": lambda: (np.sort(base), np.sort(new)),
        "error": lambda: openworld_auc(base, c, new, d).standard_error,
    }
    for name, (ours, theirs) in pairs.items():
        runs |= {name: ours, f"scikit {name}": theirs}
    times = medians(runs, repeats, clock)
    print(f"  floor: the two sorts     {times['floor']:8.1f} ms")
    for name, (ours, theirs) in pairs.items():
        fast, slow = times[name], times[f"scikit {name}"]
        print(
            f"  {name:<14} openworld {fast:8.1f} ms   scikit-learn {slow:8.1f} ms   {slow / fast:5.1f}x   "
            f"{fast / times['floor']:.1f} floors   differ by {abs(ours() - theirs()):.1e}"
        )
    print(f"  OpenworldAUC with its standard error {times['error']:8.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one million scores only")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu where other programs disturb")
    chosen = parser.parse_args()
    clock = CLOCKS[chosen.clock]
    print(f"{chosen.clock} time, NumPy {np.__version__}")
    for total, repeats in ((10**6, 7),) if chosen.quick else ((10**6, 9), (10**7, 3)):
        for dtype in (np.float64, np.float32):
            compare(total, repeats, dtype, clock)


if __name__ == "__main__":
    main()
