"""How often do intervals from a few labels hold the truth, and how much narrower are they than from labels at random?

Streams of the embedded world (`bench/open_world_streams.py`: a learner, three styles) are thinned to a share of base
images, their labels hidden, and drawn again and again: every cell counts how often the 95 % interval of OpenworldAUC
("these images") holds the number that all labels give. Proxies:

    own              calibrated confidences: temperature on base validation images, share of base by EM
    constant         every image alike
    permuted         own, of other images
    over-confident   own, their log-odds times three

    python bench/label_coverage.py [--draws 2000] [--learner zero-shot] [--workers 1] [--pilot]

Prints a line for every cell, then those outside 93 to 97 %, half-widths against labels at random, and how often a share
of .05 is refused. Coverage is that
of intervals that are given; refusals are counted beside it.
"""

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from open_world_streams import FOLDER, Stream, streams
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, logit, softmax

from openworld.labels import PlanSettings, ScoredStream, estimate, label_answers, plan, scored_stream
from openworld.metrics import soft_openworld_auc

STYLES = ("twemoji", "emojione", "emojione-monotone")
SHARES = (0.2, 0.5, 0.8)
RARE_SHARES = (0.05, 0.95)
SIZES = (50, 100, 200, 400)
PROXIES = ("own", "constant", "permuted", "over-confident")
LOW, HIGH = 0.93, 0.97
EDGE = 1e-4  # proxies stay this far from certainty


@dataclass(frozen=True)
class Cell:
    """One setting of the grid."""

    learner: str
    task: str
    style: str
    base_share: float
    proxies: str
    n: int
    design: str = "stratified"
    proxy_weight: float | None = None
    pilot: bool = False


@dataclass(frozen=True)
class Measured:
    """Of intervals that were given: coverage, mean half-width, bias and spread of the number; how many were refused."""

    truth: float
    coverage: float
    half_width: float
    bias: float
    spread: float
    refused: float
    trust: float


def temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """The temperature with the least cross-entropy."""
    rows = np.arange(len(labels))
    found = minimize_scalar(
        lambda log_t: -log_softmax(logits / np.exp(log_t), axis=1)[rows, labels].mean(),
        bounds=(-3, 3),
        method="bounded",
    )
    return float(np.exp(found.x))


def own_proxies(validation: Stream, stream: Stream) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(base and right), P(new and right), P(base), by confidences that validation images calibrate."""
    arrays = stream.arrays
    scale = temperature(validation.arrays["base_logits"].astype(float), validation.arrays["label"])
    joint = softmax(arrays["logits"].astype(float) / scale, axis=1)
    odds = np.clip(joint[:, : int(arrays["n_base"])].sum(axis=1), EDGE, 1 - EDGE)
    share, base = 0.5, odds
    for _ in range(200):  # EM for the share of base images (Saerens et al., 2002)
        base = odds * share / (odds * share + (1 - odds) * (1 - share))
        share = float(np.clip(base.mean(), 0.02, 0.98))
    named = [softmax(arrays[name].astype(float) / scale, axis=1).max(axis=1) for name in ("base_logits", "new_logits")]
    return base * named[0], (1 - base) * named[1], base


def proxies_of(kind: str, own, rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The proxies of a cell, from the own ones."""
    base_right, new_right, base = own
    if kind == "own":
        return own
    if kind == "constant":
        half = np.full(base.size, 0.5)
        return 0.7 * half, 0.7 * half, half
    if kind == "permuted":
        order = rng.permutation(base.size)
        return base_right[order], new_right[order], base[order]
    sure = expit(3 * logit(np.clip(base, EDGE, 1 - EDGE)))
    named = [
        expit(3 * logit(np.clip(part / np.maximum(whole, EDGE), EDGE, 1 - EDGE)))
        for part, whole in ((base_right, base), (new_right, 1 - base))
    ]
    return sure * named[0], (1 - sure) * named[1], sure


def thinned(stream: Stream, share: float, rng) -> Stream:
    """As many images as there can be with a share of base images."""
    base, new = np.flatnonzero(stream.base), np.flatnonzero(~stream.base)
    size = min(base.size / share, new.size / (1 - share))
    chosen = [rng.choice(side, round(size * part), replace=False) for side, part in ((base, share), (new, 1 - share))]
    return stream.rows(np.sort(np.concatenate(chosen)))


def prepared(cell: Cell, folder: Path) -> tuple[Stream, ScoredStream, float]:
    """A cell's stream, what its model says of it, and the truth."""
    ((validation, styles),) = streams(folder, tasks=(cell.task,), learners=(cell.learner,), seeds=(1,))
    stream = thinned(styles[cell.style], cell.base_share, np.random.default_rng(7))
    parts = proxies_of(cell.proxies, own_proxies(validation, stream), np.random.default_rng(8))
    scores = stream.arrays["score"]
    right = stream.base & stream.base_right, ~stream.base & stream.new_right
    return stream, scored_stream(scores, *parts), soft_openworld_auc(scores, *right, stream.base).value


def measure(task) -> Measured:
    """Draw, label and estimate again and again."""
    cell, draws, folder = task
    stream, said, truth = prepared(cell, folder)
    base, right = stream.base, (stream.base & stream.base_right, ~stream.base & stream.new_right)
    rows = []
    for seed in range(draws):
        earlier, left = [], cell.n
        if cell.pilot:
            first = plan(said, cell.n // 4, settings=PlanSettings("random", seed=seed))
            earlier, left = (
                [(first, label_answers(*(side[first.chosen] for side in (base, *right))))],
                cell.n - len(first),
            )
        drawn = plan(said, left, settings=PlanSettings(cell.design, seed=seed), earlier=earlier)
        answers = label_answers(*(side[drawn.chosen] for side in (base, *right)))
        number = estimate(drawn, answers, earlier=earlier, proxy_weight=cell.proxy_weight).of()
        ends = number.interval()
        if ends is not None:
            rows.append(
                (ends[0] <= truth <= ends[1], (ends[1] - ends[0]) / 2, number.value - truth, number.proxy_weight)
            )
    if not rows:
        return Measured(truth, *[float("nan")] * 4, 1.0, float("nan"))
    held, half, error, trust = np.array(rows, float).T
    refused = 1 - len(rows) / draws
    return Measured(truth, held.mean(), half.mean(), error.mean(), error.std(), refused, trust.mean())


def line(cell: Cell, found: Measured) -> str:
    points = [100 * each for each in (found.truth, found.coverage, found.half_width, found.bias, found.spread)]
    return (
        f"{cell.style:18} {cell.base_share:4.2f} {cell.proxies:15} {cell.n:4} | "
        + " ".join(f"{each:6.1f}" for each in points)
        + f" {100 * found.refused:7.1f} {found.trust:5.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--learner", default="zero-shot")
    parser.add_argument("--task", default="concepts")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--proxies", nargs="+", default=PROXIES)
    parser.add_argument("--design", default="stratified")
    parser.add_argument("--proxy-weight", type=float)
    parser.add_argument("--pilot", action="store_true", help="a quarter of the labels at random first")
    parser.add_argument("--styles", nargs="+", default=STYLES)
    given = parser.parse_args()
    grids = (
        (given.styles, given.shares, given.proxies, given.sizes),
        (given.styles, RARE_SHARES, ("own", "over-confident"), given.sizes),
    )
    cells, rare = (
        [
            Cell(given.learner, given.task, *place, given.design, given.proxy_weight, given.pilot)
            for place in itertools.product(*grid)
        ]
        for grid in grids
    )
    at_random = [without_proxies(cell) for cell in cells if cell.proxies == "own"]
    tasks = [(cell, given.draws, given.folder) for cell in [*cells, *at_random]]
    tasks += [(cell, min(given.draws, 500), given.folder) for cell in rare]
    head = f"{'style':18} base proxies            n |  truth  cover  width   bias spread refused     l"
    print(head, flush=True)
    found: dict[Cell, Measured] = {}
    with ProcessPoolExecutor(given.workers) as pool:
        for (cell, *_), measured in zip(tasks, pool.map(measure, tasks), strict=True):
            found[cell] = measured
            if cell in cells:
                print(line(cell, measured), flush=True)
    summary(cells, found, head)
    refused = sorted(100 * found[cell].refused for cell in rare)
    print(f"\nshare of base images .05 or .95, {len(rare)} cells: {refused[0]:.1f} to {refused[-1]:.1f} % refused")


def without_proxies(cell: Cell) -> Cell:
    """The same labels at random."""
    return replace(cell, design="random", proxy_weight=0.0, pilot=False)


def summary(cells: list[Cell], found: dict[Cell, Measured], head: str) -> None:
    missed = [cell for cell in cells if not LOW <= found[cell].coverage <= HIGH and found[cell].refused < 1]
    low = [cell for cell in missed if found[cell].coverage < LOW]
    print(f"\n{len(cells)} cells; {len(missed)} outside 93-97 %, {len(low)} of them below 93 %:", head, sep="\n")
    print(*(line(cell, found[cell]) for cell in missed), sep="\n")
    print("\nhalf-width, points: own proxies, stratified, against labels at random without proxies")
    print(f"{'style':18} base    n | random (cover) | ours (cover) | ratio")
    for cell in cells:
        if cell.proxies == "own":
            ours, random = found[cell], found[without_proxies(cell)]
            print(
                f"{cell.style:18} {cell.base_share:4.2f} {cell.n:4} | {100 * random.half_width:6.1f} "
                f"({100 * random.coverage:5.1f}) | {100 * ours.half_width:4.1f} ({100 * ours.coverage:5.1f}) | "
                f"{ours.half_width / random.half_width:.2f}"
            )


if __name__ == "__main__":
    main()
