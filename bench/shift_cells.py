"""Speed of judging detectors over shift cells: 20 detectors, 64 cells, 500,000 scored images, against one by one.

    python bench/shift_cells.py [--quick] [--images N] [--detectors D] [--inside M]

Scores are normal, those of a cell the lower the farther it is in meaning; the counts of the cells are in proportion to
those that IS-OOD (Long et al., 2024) publishes for ImageNet-21K-P, and every cell is held against the same 45,000
in-distribution scores. The naive form is that of most code: for every cell and detector, sort both sides anew with
scikit-learn's `roc_curve` and `precision_recall_curve` (no interval, no fixed prevalence). Prints processor seconds,
the ratio, and the largest difference. --quick takes a fiftieth of the images and two detectors for both; without it the
naive form is timed on two detectors and scaled.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import auc, precision_recall_curve, roc_auc_score, roc_curve

from openworld.metrics import detection_by_cell, rank_sides, shift_trend, shift_weights

COUNTS = np.array(
    [
        [20360, 11366, 7239, 5193, 2804, 614, 176, 45],
        [19182, 30157, 35259, 36884, 34961, 13854, 3429, 661],
        [3681, 11741, 22671, 30914, 38198, 30350, 14023, 4173],
        [362, 1911, 6367, 12404, 18457, 21474, 16355, 9770],
        [29, 241, 992, 2720, 5191, 7896, 8725, 11170],
        [2, 26, 135, 413, 936, 1840, 2890, 7820],
        [0, 3, 17, 61, 119, 330, 606, 3375],
        [0, 0, 1, 7, 33, 64, 116, 1707],
    ]
)
"""Validation images of ImageNet-21K-P by covariate (rows) and semantic (columns) level."""

LEAST, RECALL = 10, 0.95  # images of a cell, and the share of positives of FPR@95
NAIVELY = 2
NAMES = ("auroc", "fpr_out_positive", "aupr_in", "aupr_out")


@dataclass(frozen=True)
class Size:
    """N images outside, M inside, D detectors."""

    images: int
    inside: int
    detectors: int


def simulated(size: Size) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Scores of each detector inside and outside, float64, and the cell of every image outside."""
    rng = np.random.default_rng(0)
    cells = rng.choice(COUNTS.size, size.images, p=(COUNTS / COUNTS.sum()).ravel())
    away = (cells % COUNTS.shape[1]) / 4
    inside = [rng.normal(1, 1, size.inside) for _ in range(size.detectors)]
    return inside, [rng.normal(0.5, 1, size.images) - away for _ in range(size.detectors)], cells


def ours(inside: np.ndarray, outside: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The four metrics of every cell, float64[64, 4], NaN where N/A; both trends are computed too."""
    found = detection_by_cell(inside, outside, cells, COUNTS.size, least=LEAST)
    table = np.array([[getattr(one, name) if one else np.nan for name in NAMES] for one in found])
    grid = table[:, 0].reshape(COUNTS.shape)
    for common in (False, True):
        shift_trend(grid, np.isfinite(grid), common=common)
    return table


def joint_errors(inside: list[np.ndarray], outside: list[np.ndarray], cells: np.ndarray) -> float:
    """Processor seconds for the errors of all curves, and of all slopes over the detectors together."""
    started, counts = time.process_time(), np.bincount(cells, minlength=COUNTS.size)
    present = counts.reshape(COUNTS.shape) >= LEAST
    ranked = rank_sides(inside, outside)
    found = [one for common in (False, True) for one in shift_weights(present, common=common).values()]
    curves = np.concatenate([curve.reshape(-1, COUNTS.size) for curve, _ in found])
    for detector in range(len(inside)):
        ranked.of(detector).sums(cells, curves)
    ranked.sums(cells, np.stack([slope.ravel() for _, slope in found if slope is not None]))
    return time.process_time() - started


def one_by_one(inside: np.ndarray, outside: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The same, cell by cell, as evaluation code usually does."""
    table = np.full((COUNTS.size, len(NAMES)), np.nan)
    for number in range(COUNTS.size):
        own = outside[cells == number]
        if own.size >= LEAST:
            table[number] = plain(inside, own)
    return table


def plain(inside: np.ndarray, outside: np.ndarray) -> tuple[float, float, float, float]:
    scores, out = np.r_[inside, outside], np.r_[np.zeros(inside.size, int), np.ones(outside.size, int)]
    false, true, _ = roc_curve(out, -scores, drop_intermediate=False)
    areas = []
    for positive, signed in ((1 - out, scores), (out, -scores)):
        precision, recall, _ = precision_recall_curve(positive, signed)
        areas.append(auc(recall, precision))
    return roc_auc_score(out, -scores), false[np.argmax(true >= RECALL)], *areas


def timed(judge, inside, outside, cells) -> tuple[float, list[np.ndarray]]:
    """Processor seconds over all detectors, and what each gave."""
    started = time.process_time()
    found = [judge(one, other, cells) for one, other in zip(inside, outside, strict=True)]
    return time.process_time() - started, found


def report(size: Size) -> None:
    inside, outside, cells = simulated(size)
    judged = int((np.bincount(cells, minlength=COUNTS.size) >= LEAST).sum())
    print(f"{size.images:,} images in {judged} cells against {size.inside:,}, {size.detectors} detectors")
    seconds, found = timed(ours, inside, outside, cells)
    print(f"  openworld   {seconds:8.2f} s, with intervals, both FPRs, AUPR at one prevalence, trends", flush=True)
    errors = joint_errors(inside, outside, cells)
    print(f"  openworld   {errors:8.2f} s more, for errors of curves, and of slopes together", flush=True)
    few = min(NAIVELY, size.detectors)
    slow, plainly = timed(one_by_one, inside[:few], outside[:few], cells)
    scaled = slow * size.detectors / few
    apart = max(np.nanmax(np.abs(one - other)) for one, other in zip(found, plainly, strict=False))
    print(f"  one by one  {scaled:8.2f} s ({few} detectors measured), {scaled / seconds:.1f} times as long")
    print(f"  they differ by at most {apart:.0e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10,000 images, two detectors")
    parser.add_argument("--images", type=int, default=500_000)
    parser.add_argument("--inside", type=int, default=45_000)
    parser.add_argument("--detectors", type=int, default=20)
    asked = parser.parse_args()
    report(Size(10_000, 2_000, 2) if asked.quick else Size(asked.images, asked.inside, asked.detectors))


if __name__ == "__main__":
    main()
