"""OpenworldAUC of real-valued outcomes against its definition pair by pair, and a million images planned and read.

    python bench/label_exactness.py [--sizes 500 2000 8000] [--images 1000000] [--labels 1000]

Prints, for every size, seconds of the sum over all pairs (NumPy, a row of the N x N table at a time) and of one sort
with two cumulated sums, their ratio and the largest difference over random cases with ties and negative outcomes. Then
the seconds in which that many images are planned, and their labels read: all numbers, with both kinds of interval.
"""

import argparse
import time

import numpy as np

from openworld.labels import LabelPlan, PlanSettings, estimate, label_answers, plan, scored_stream
from openworld.metrics import soft_openworld_auc

CASES = 5


def pair_by_pair(scores, base_right, new_right, base, new) -> float:
    """The definition; the diagonal is left out."""
    won = 0.0
    for row in range(scores.size):
        against = (scores[row] > scores) + 0.5 * (scores[row] == scores)
        against[row] = 0.0
        won += base_right[row] * (against @ new_right)
    return won / (base.sum() * new.sum())


def random_case(rng, size: int):
    """Scores with ties, outcomes of both signs."""
    outcomes = rng.normal(0.4, 1, (4, size))
    outcomes[2:] += 0.5
    return rng.integers(0, size // 4, size).astype(float), *outcomes


def compare(size: int) -> str:
    rng = np.random.default_rng(size)
    soft_openworld_auc(*random_case(rng, 500))  # the first call imports
    slow = fast = apart = 0.0
    for _ in range(CASES):
        case = random_case(rng, size)
        started = time.process_time()
        expected = pair_by_pair(*case)
        middle = time.process_time()
        found = soft_openworld_auc(*case).value
        slow, fast = slow + middle - started, fast + time.process_time() - middle
        apart = max(apart, abs(found - expected))
    return f"{size:9} {slow / CASES:10.4f} {fast / CASES:10.4f} {slow / fast:9.0f} {apart:10.1e}"


def million(images: int, labels: int, design: str) -> str:
    """Seconds to make a plan, to store and read it, and to estimate everything."""
    rng = np.random.default_rng(0)
    base = rng.random(images) < 0.5
    scores = rng.normal(np.where(base, 0.75, -0.75))
    right = rng.random(images) < 0.7
    chance = 1 / (1 + np.exp(-1.5 * scores))
    times = [time.perf_counter()]
    said = scored_stream(scores, 0.7 * chance, 0.7 * (1 - chance), chance, right=np.full(images, 0.7))
    drawn = plan(said, labels, settings=PlanSettings(design))
    times.append(time.perf_counter())
    drawn = LabelPlan.from_arrays(drawn.to_arrays())
    times.append(time.perf_counter())
    named = right[drawn.chosen]
    answers = label_answers(base[drawn.chosen], base[drawn.chosen] & named, ~base[drawn.chosen] & named, named)
    quality = estimate(drawn, answers, groups=np.arange(images) // 3)
    numbers = quality.numbers
    times.append(time.perf_counter())
    low, high = numbers["openworld_auc"].interval()
    steps = " ".join(f"{each:8.2f}" for each in np.diff(times))
    return (
        f"{design:11} {steps} {times[-1] - times[0]:8.2f}   {100 * low:.1f} to {100 * high:.1f}, {len(numbers)} numbers"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=(500, 2000, 8000))
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=1000)
    given = parser.parse_args()
    print("   images    pairs s     sort s     ratio  apart by", flush=True)
    for size in given.sizes:
        print(compare(size), flush=True)
    print(f"\n{given.images:,} images, {given.labels} labels: seconds")
    print("design          plan   stored     read      all   interval")
    for design in ("random", "stratified", "poisson"):
        print(million(given.images, given.labels, design), flush=True)


if __name__ == "__main__":
    main()
