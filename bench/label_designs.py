"""Is the default draw of `label plan` ever wider than plain random labels, and are its promises kept?

Streams of other kinds than drawings, from the pool that `bench/quoted` makes (POOL/<world>/<model>/<set>.npz): texts,
tables, photographs, spoken words, digits, letters. Of each world the first two models of seed 0; of each model a set
like the source, the shifted set of middling accuracy and that of the lowest. Asked for is the accuracy; or OpenworldAUC
where the first half of the classes are base ones; or OpenworldAUC where the first fifth are. Expectations:

    own          softmax of the model's logits, as they are
    permuted     own, of other images
    constant     one half of everything
    right        own at the temperature of the source, and the outcomes drawn from them: expectations that are right

Draws of n labels: `plain` at random, read without expectations; `default`; `pilot`, 25 labels (a quarter of n, if that
is more) by the default and the rest by the default after them; `strata`, by expectations without a pilot.

    python bench/label_designs.py --pool POOL [--worlds digits law-6 docstrings] [--draws 100] [--sizes 50 100 200]

Prints a row for each world and kind of expectations, means over models, sets, numbers and sizes. Ratios are half-widths
over those of plain labels, with the highest of a cell in brackets; numbers below 2 % or above 98 % count for coverage
and promises alone. `PILOT`, `GAIN` and `RARER` in `openworld.labels` were chosen on digits, law-6 and docstrings.
"""

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from label_coverage import temperature
from scipy.special import logsumexp, softmax

from openworld.core.errors import OpenworldError
from openworld.labels import (
    LabelAnswers,
    LabelPlan,
    PlanSettings,
    ScoredStream,
    closed_set_stream,
    estimate,
    label_answers,
    plan,
    promise,
    scored_stream,
)
from openworld.metrics import soft_openworld_auc

CHOSEN_ON = ("digits", "law-6", "docstrings")
KINDS = ("own", "permuted", "constant", "right")
PILOT = 25
EXTREME = 0.02


@dataclass(frozen=True, eq=False)
class Task:
    """A number of a stream: expectations, and what all labels say."""

    of: str
    stream: ScoredStream
    base: np.ndarray
    base_right: np.ndarray
    new_right: np.ndarray

    @property
    def truth(self) -> float:
        """The number that all labels give."""
        right = self.base_right | self.new_right
        found = soft_openworld_auc(self.stream.scores, self.base_right, self.new_right, self.base, right=right)
        return found.value_of(self.of)

    def answer(self, drawn: LabelPlan) -> LabelAnswers:
        """The labels of the images drawn."""
        base, first, second = (part[drawn.chosen] for part in (self.base, self.base_right, self.new_right))
        return label_answers(base, first, second, first | second)


def sets_of(folder: Path) -> tuple[list[tuple[np.ndarray, np.ndarray]], float]:
    """(logits, labels) of a set like the source, of a middling and of the worst shift; and the source's temperature."""
    kept = {path.stem: np.load(path) for path in sorted(folder.glob("*.npz"))}
    found = {name: (arrays["logits"].astype(float), arrays["labels"]) for name, arrays in kept.items()}
    source, same = found.pop("source"), found.pop("same--unseen")
    shifted = sorted(found.values(), key=lambda each: float(np.mean(each[0].argmax(axis=1) == each[1])))
    return [same, shifted[len(shifted) // 2], shifted[0]], temperature(*source)


def task_of(logits: np.ndarray, labels: np.ndarray, scale: float, kind: str, parts: int, rng) -> Task:
    """A stream with expectations of a kind; the first of so many parts of the classes are base ones, 1 for accuracy."""
    of = "overall_accuracy" if parts == 1 else "openworld_auc"
    shares = np.clip(softmax(logits / (scale if kind == "right" else 1.0), axis=1), 0, 1)
    if kind == "right":
        labels = (shares.cumsum(axis=1) < rng.random((len(shares), 1))).sum(axis=1).clip(max=shares.shape[1] - 1)
    count = max(logits.shape[1] // parts, 1)
    sides = logits[:, :count], logits[:, count:]
    base = labels < count
    named = [side.argmax(axis=1) + start if side.size else -1 for side, start in zip(sides, (0, count), strict=True)]
    rights = base & (named[0] == labels), ~base & (named[1] == labels)
    best = [side.max(axis=1) if side.size else 0.0 for side in (shares[:, :count], shares[:, count:])]
    inside = np.clip(shares[:, :count].sum(axis=1), best[0], 1 - best[1])
    expected = np.stack([best[0], best[1] + np.zeros(len(labels)), inside])
    if kind == "permuted":
        expected = expected[:, rng.permutation(len(labels))]
    if kind == "constant":
        expected = np.repeat([[0.25], [0.25], [0.5]], len(labels), axis=1)
    if of == "overall_accuracy":
        return Task(of, closed_set_stream(expected[0] if kind != "constant" else 0.5 + 0 * expected[0]), base, *rights)
    score = logsumexp(sides[0], axis=1) - logsumexp(sides[1], axis=1)
    return Task(of, scored_stream(score, *expected), base, *rights)


def cell(task: Task, n: int, draws: int) -> np.ndarray | None:
    """Draw again and again, float[draws, 13]; None where hardly any draw gives the number.

    Half-width of plain, default, pilot, strata; whether each holds; default's promises at best, at worst; the same of
    the pilot and the rest; whether the latter was stratified.
    """
    rows, truth = [], task.truth
    for seed in range(draws):
        try:
            first = plan(task.stream, n, of=task.of, settings=PlanSettings(seed=seed))
            pilot = plan(task.stream, max(PILOT, n // 4), of=task.of, settings=PlanSettings(seed=seed + draws))
            earlier = [(pilot, task.answer(pilot))]
            later = PlanSettings(seed=seed + 2 * draws)
            rest = plan(task.stream, n - len(pilot), of=task.of, settings=later, earlier=earlier)
            by = plan(task.stream, n, of=task.of, settings=PlanSettings("stratified", seed=seed))
        except OpenworldError:  # nothing is expected of one side, or a pilot has shown no success
            continue
        answers = task.answer(first)
        found = [
            estimate(first, answers, proxy_weight=0.0).of(task.of).interval(),
            estimate(first, answers).of(task.of).interval(),
            estimate(rest, task.answer(rest), earlier=earlier).of(task.of).interval(),
            estimate(by, task.answer(by)).of(task.of).interval(),
        ]
        if any(ends is None for ends in found):
            continue
        promises = [promise(first), promise(rest, earlier)]
        said = [np.nan if each is None else each for own in promises for each in (own.at_best, own.at_worst)]
        halves, held = [(high - low) / 2 for low, high in found], [low <= truth <= high for low, high in found]
        rows.append([*halves, *held, *said, rest.settings.design == "stratified"])
    return np.array(rows, float) if len(rows) > draws / 4 else None


def row(world: str, kind: str, cells: Sequence[tuple[float, np.ndarray]]) -> list[str]:
    """The means of a world, as text."""
    usual = [rows for truth, rows in cells if EXTREME < truth < 1 - EXTREME]
    halves = np.array([rows[:, :4].mean(axis=0) for rows in usual])
    ratios = halves[:, 1:] / halves[:, :1]
    every = np.concatenate([rows for _, rows in cells])
    within = [np.concatenate([rows[:, own] <= rows[:, said] for _, rows in cells]) for own, said in ((1, 9), (2, 11))]
    lowest = min(float((rows[:, 1] <= rows[:, 9]).mean()) for _, rows in cells)
    best = [f"{100 * np.nanmean(every[:, column]):.1f}" if kind != "constant" else "none" for column in (8,)]
    return [
        world,
        kind,
        f"{100 * halves[:, 0].mean():.1f}",
        *(f"{np.exp(np.log(ratio).mean()):.2f} ({ratio.max():.2f})" for ratio in ratios.T),
        ", ".join(f"{100 * share:.0f}" for share in every[:, 4:8].mean(axis=0)),
        f"{100 * every[:, 12].mean():.0f}",
        *best,
        f"{100 * every[:, 1].mean():.1f}",
        f"{100 * every[:, 9].mean():.1f}",
        f"{100 * within[0].mean():.0f} ({100 * lowest:.0f}), {100 * within[1].mean():.0f}",
    ]


HEADS = (
    "world", "expectations", "plain ±", "default / plain", "pilot / plain", "strata / plain", "held, %",
    "strata after a pilot, %", "at best", "realised", "at worst", "within the worst, %",
)  # fmt: skip


def cells_of(folder: Path, kind: str, given: argparse.Namespace) -> Iterator[tuple[float, np.ndarray]]:
    """The cells of all models of a world."""
    for model in sorted(folder.glob("*-0"))[: given.models]:
        kept, scale = sets_of(model)
        for place, (pair, parts) in enumerate(itertools.product(kept, (1, 2, 5))):
            task = task_of(*pair, scale, kind, parts, np.random.default_rng([place, 5]))
            for n in given.sizes:
                rows = cell(task, n, given.draws) if n <= len(task.base) / 2 else None
                if rows is not None:
                    yield task.truth, rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--worlds", nargs="+", help="all of the pool by default")
    parser.add_argument("--models", type=int, default=2, help="the first so many of each world")
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=(50, 100, 200))
    given = parser.parse_args(arguments)
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS), flush=True)
    for world in given.worlds or sorted(path.name for path in given.pool.iterdir()):
        for kind in given.kinds:
            cells = list(cells_of(given.pool / world, kind, given))
            if cells:
                print("| " + " | ".join(row(world, kind, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
