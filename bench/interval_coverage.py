"""How often does the 95 % interval of OpenworldAUC hold the truth, hardly or all right, with 20 to 500 samples?

Draws samples whose OpenworldAUC is known (scores of two normal laws; naming right at given accuracies, alone or
tied to the score), singly or in groups of five that resemble one another, and counts the intervals that hold it. The
peer in the same run is the plain interval, Student's t on the logit scale, which knows nothing of mistakes that the
sample happens not to show. Prints a line for every cell with coverage and mean width of both, then the cells below 94 %
by more than chance (two standard errors of the share).

    python bench/interval_coverage.py [--draws 1000] [--workers 2] [--seed 0]
"""

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.special import ndtri

from openworld.metrics import openworld_auc
from openworld.metrics.estimate import share_interval

ACCURACIES = ((1.0, 1.0), (0.99, 0.98), (0.95, 0.99), (0.9, 0.9), (0.8, 0.6), (0.5, 0.5), (0.1, 0.3), (0.05, 0.9))
AUROCS = (0.7, 0.9, 0.99)
SIZES = (20, 60, 200, 500)
ALIKE = 0.7  # correlation within a group, of scores and of naming
ENOUGH = 0.94


@dataclass(frozen=True)
class Cell:
    """One setting: samples a side, how many belong together, the truth's parts, whether naming follows the score."""

    group: int
    tied: bool
    auroc: float
    base_accuracy: float
    new_accuracy: float
    size: int

    def draw(self, generator, size: int, group: int):
        """Scores, whether named right, and groups of both sides, as `openworld_auc` takes them."""
        apart = sqrt(2) * ndtri(self.auroc)
        base = self._side(generator, size, group, self.base_accuracy, 1)
        new = self._side(generator, size, group, self.new_accuracy, -1)
        groups = {"base_groups": base[2], "new_groups": new[2] + size} if group > 1 else {}
        return (base[0] + apart, base[1], new[0], new[1]), groups

    def _side(self, generator, size: int, group: int, accuracy: float, sign: int):
        groups = np.arange(size) // group
        alike = ALIKE if group > 1 else 0.0
        score, naming = (
            sqrt(alike) * generator.standard_normal(size)[groups] + sqrt(1 - alike) * generator.standard_normal(size)
            for _ in range(2)
        )
        if self.tied:
            naming = 0.6 * sign * score + 0.8 * naming
        return score, naming > -ndtri(accuracy), groups


def plain(result):
    """The interval without unseen mistakes."""
    found = result.estimate().spread
    return share_interval(result.value, replace(found, groups=()), 0.95)


def measure(task) -> tuple[Cell, float, list[tuple[float, float]]]:
    """Coverage and mean width of the plain interval and of ours; no interval counts as a miss."""
    cell, draws, seed = task
    generator = np.random.default_rng(seed)
    many, _ = cell.draw(generator, 400_000, 1)
    truth = openworld_auc(*many).value
    held, width = np.zeros((draws, 2)), np.zeros((draws, 2))
    for row in range(draws):
        arrays, groups = cell.draw(generator, cell.size, cell.group)
        result = openworld_auc(*arrays, **groups)
        for column, ends in enumerate((plain(result), result.interval())):
            if ends is not None:
                held[row, column] = ends[0] <= truth <= ends[1]
                width[row, column] = ends[1] - ends[0]
    return cell, truth, list(zip(held.mean(axis=0), width.mean(axis=0), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cells = [
        Cell(group, tied, auroc, *accuracies, size)
        for group, tied, auroc, accuracies, size in itertools.product((1, 5), (False, True), AUROCS, ACCURACIES, SIZES)
    ]
    tasks = [(cell, options.draws, (options.seed, place)) for place, cell in enumerate(cells)]
    low, worst = [], [1.0, 1.0]
    print("group tied  AUROC  base  new     n   truth |  plain  width |   ours  width")
    with ProcessPoolExecutor(options.workers) as pool:
        for cell, truth, found in pool.map(measure, tasks):
            told = " | ".join(f"{100 * held:6.1f} {100 * width:6.1f}" for held, width in found)
            line = (
                f"{cell.group:5} {cell.tied!s:5} {cell.auroc:5.2f} {cell.base_accuracy:5.2f} {cell.new_accuracy:5.2f}"
                f" {cell.size:4} {100 * truth:7.1f} | {told}"
            )
            print(line, flush=True)
            worst = [min(one, held) for one, (held, _) in zip(worst, found, strict=True)]
            share = found[1][0]
            if share + 2 * sqrt(max(share * (1 - share), 1e-9) / options.draws) < ENOUGH:
                low.append(line)
    print(f"\nlowest coverage: plain {100 * worst[0]:.1f} %, ours {100 * worst[1]:.1f} %, of {len(cells)} cells.")
    print(f"below {ENOUGH:.0%} by more than chance: {len(low)}", *low, sep="\n")


if __name__ == "__main__":
    main()
