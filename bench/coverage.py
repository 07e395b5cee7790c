"""When to trust which estimator: bias and interval coverage where the truth is known exactly.

    python bench/coverage.py [--quick] [--repeats 60] [--work 4_000_000] [--most 10_000_000] [--csv FILE]
    python bench/coverage.py --tables FILE ...

An image of class y is z ~ N(m e_y, I), so that softmax(m z) is its posterior and the accuracy of argmax z an integral.
The source holds 85 % right. Targets: the same law; harder ones (65 % right) to a model that knows how hard they are,
and so is calibrated, and to one that still answers softmax(m_source z), and so is over-confident; the last again, with
a reference that suffers too; another mix of classes (half of them three times as frequent). Source and target have n
images each. The reference model is 70 % right, 55 % where it suffers; partners share half of the judged model's noise,
the first is as good, the others worse. Scores get twelve labelled sets from 90 down to 40 % right, over-confident like
the over-confident target.

A cell is the mean of estimated - true accuracy in points, and how many of the 95 % intervals hold the true accuracy of
such images; a column's head ends with the repeats. A setting of n images and C classes is repeated `work` / (n C)
times, but 5 times at least and `repeats` at most, each with a source and targets of its own; settings of more than
`most` numbers are left out. --tables prints the tables of finished runs.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm

from openworld.estimators import ESTIMATORS, Estimate, Outputs, ScoreRegression

FULL = (50, 500, 5_000, 100_000), (2, 10, 100, 1_000)
QUICK = (50, 500), (2, 10, 100)
FEWEST = 5
SOURCE, HARDER, REFERENCE, WORSE = 0.85, 0.65, 0.70, 0.55
PARTNERS = (0.85, 0.80, 0.75)
LABELLED = 0.40, 0.90, 12
SHARED = sqrt(0.5)


@dataclass(frozen=True)
class Target:
    """Of a target: its accuracy, whether the model knows it, whether classes are mixed as on the source.

    reference: accuracy of the reference model.
    """

    accuracy: float
    known: bool
    even: bool = True
    reference: float = REFERENCE


TARGETS = {
    "same law": Target(SOURCE, True),
    "harder, calibrated": Target(HARDER, True),
    "harder, over-confident": Target(HARDER, False),
    "harder, over-confident, for the reference too": Target(HARDER, False, reference=WORSE),
    "label shift": Target(SOURCE, True, even=False),
}


@dataclass(frozen=True)
class Outcome:
    """One estimator in one setting: mean and spread of estimated - true accuracy, shares of intervals that hold it.

    coverage: of the accuracy on such images. coverage_here: of the accuracy on the very images. All None without an
    answer. seconds: per estimate. answers: how often the estimator could say something.
    """

    target: str
    classes: int
    n: int
    estimator: str
    bias: float | None
    spread: float | None
    coverage: float | None
    coverage_here: float | None
    seconds: float
    answers: int
    repeats: int


def accuracy(strength: float, classes: int) -> float:
    """Chance that the true class of z ~ N(strength e_y, I) is the largest of all: an integral over its own value."""
    own = np.linspace(-9, 9, 2001)  # trapezoids of so smooth a curve are exact to rounding
    return float((norm.pdf(own) * ndtr(own + strength) ** (classes - 1)).sum() * (own[1] - own[0]))


@cache
def strength(wanted: float, classes: int) -> float:
    """The m at which a model is right as often as wanted."""
    return brentq(lambda m: accuracy(m, classes) - wanted, 0, 20)


def drawn(
    rng: np.random.Generator, n: int, classes: int, target: Target = TARGETS["same law"], others: bool = True
) -> Outputs:
    """Images of a target with what the judged model and all others say of them."""
    frequencies = np.where(np.arange(classes) < classes / 2, 1.0 if target.even else 3.0, 1.0)
    labels = rng.choice(classes, n, p=frequencies / frequencies.sum())

    def noise() -> np.ndarray:
        return rng.normal(size=(n, classes))

    def seen(right: float, noise: np.ndarray) -> np.ndarray:
        noise[np.arange(n), labels] += strength(right, classes)
        return noise

    factor = strength(target.accuracy if target.known else SOURCE, classes)
    if not others:
        return Outputs(factor * seen(target.accuracy, noise()), labels)
    shared = SHARED * noise()
    judged = factor * seen(target.accuracy, shared + SHARED * noise())
    partners = tuple(seen(right * target.accuracy / SOURCE, shared + SHARED * noise()) for right in PARTNERS)
    return Outputs(judged, labels, 0.2 + 0.02 * seen(target.reference, noise()), partners)


def fitted(source: Outputs, rng: np.random.Generator) -> dict:
    """Every estimator on the source; scores on labelled sets of its size, all of them better than chance."""
    least, most, count = LABELLED
    accuracies = np.linspace(max(least, 1 / source.classes + 0.05), most, count)
    sets = [drawn(rng, source.n, source.classes, Target(right, False), others=False) for right in accuracies]
    return {
        name: ScoreRegression(kind()).fit(sets) if hasattr(kind, "score") else kind().fit(source)
        for name, kind in ESTIMATORS.items()
    }


def measure(classes: int, n: int, repeats: int, resamples: int) -> Iterator[Outcome]:
    """All estimators on all kinds of target; every repeat has a source and targets of its own."""
    found: dict[tuple[str, str], list[tuple[Estimate, float, float]]] = {}
    for seed in range(repeats):
        rng = np.random.default_rng([seed, classes, n])
        estimators = fitted(drawn(rng, n, classes), rng)
        for name, kind in TARGETS.items():
            target = drawn(rng, n, classes, kind)
            for estimator, one in estimators.items():
                start = time.process_time()
                estimate = one.estimate(target, seed=seed, resamples=resamples)
                spent = time.process_time() - start
                found.setdefault((name, estimator), []).append((estimate, 1 - target.mistakes / n, spent))
    for (name, estimator), results in found.items():
        yield summary(name, classes, n, estimator, results)


def summary(name: str, classes: int, n: int, estimator: str, results: list[tuple[Estimate, float, float]]) -> Outcome:
    """Over repeats, against the exact accuracy of such images."""
    true, answered = TARGETS[name].accuracy, [one for one in results if one[0].accuracy is not None]
    numbers: tuple[float | None, ...] = (None,) * 4
    if answered:
        missed = np.array([estimate.accuracy - true for estimate, _, _ in answered])
        low, high = np.array([estimate.interval or (np.nan, np.nan) for estimate, _, _ in answered]).T
        here = np.array([here for _, here, _ in answered])
        held = [float(np.mean((low <= right) & (right <= high))) for right in (true, here)]
        numbers = (float(missed.mean()), float(missed.std()), *held)
    seconds = float(np.median([seconds for _, _, seconds in results]))
    return Outcome(name, classes, n, estimator, *numbers, seconds, len(answered), len(results))


def table(outcomes: list[Outcome], target: str) -> str:
    """Estimators down, settings across, in Markdown."""
    settings = sorted({(one.classes, one.n) for one in outcomes if one.target == target})
    cells = {(one.estimator, one.classes, one.n): one for one in outcomes if one.target == target}
    repeats = {(one.classes, one.n): one.repeats for one in outcomes}
    heads = [f"C={c} n={n:,} ({repeats[c, n]})" for c, n in settings]
    lines = [f"\n**{target}**\n", "| | " + " | ".join(heads) + " |"]
    lines.append("|---|" + "---|" * len(settings))
    for name in dict.fromkeys(one.estimator for one in outcomes):
        row = [cells[name, *setting] for setting in settings]
        lines.append(f"| {name} | " + " | ".join(map(cell, row)) + " |")
    return "\n".join(lines)


def cell(one: Outcome) -> str:
    """Such as "-1.2 (93)"; with the share of answers where not every repeat had one."""
    if not one.answers:
        return "none"
    some = "" if one.answers == one.repeats else f", {100 * one.answers / one.repeats:.0f} % answered"
    return f"{100 * one.bias:+.1f} ({100 * one.coverage:.0f}{some})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="n = 50 and 500, C = 2, 10 and 100")
    parser.add_argument("--repeats", type=int, default=60, help="sources and targets of a setting at most")
    parser.add_argument("--work", type=float, default=4e6, help="repeats times images times classes of a setting")
    parser.add_argument("--most", type=float, default=1e7, help="largest images times classes")
    parser.add_argument("--resamples", type=int, default=200, help="of the bootstrap")
    parser.add_argument("--csv", help="write all numbers here too")
    parser.add_argument("--tables", nargs="+", help="print the tables of such files, and measure nothing")
    chosen = parser.parse_args()
    if chosen.tables:
        outcomes = [one for path in chosen.tables for one in read(path)]
        print("\n".join(table(outcomes, target) for target in TARGETS))
        return
    sizes, classes = QUICK if chosen.quick else FULL
    outcomes: list[Outcome] = []
    for count, n in ((c, n) for c in classes for n in sizes if c * n <= chosen.most):
        repeats = max(FEWEST, min(chosen.repeats, int(chosen.work / (n * count))))
        started = time.process_time()
        outcomes += measure(count, n, repeats, chosen.resamples)
        spent = time.process_time() - started
        print(f"C = {count:,}, n = {n:,}: {repeats} repeats, {spent:.0f} s", flush=True)
        if chosen.csv:
            write(outcomes, chosen.csv)
    for target in TARGETS:
        print(table(outcomes, target))


def write(outcomes: list[Outcome], path: str) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, asdict(outcomes[0]))
        writer.writeheader()
        writer.writerows(map(asdict, outcomes))


def read(path: str) -> Iterator[Outcome]:
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kinds = {one.name: one.type for one in fields(Outcome)}
            yield Outcome(**{name: row[name] if kind is str else _number(row[name]) for name, kind in kinds.items()})


def _number(text: str) -> float | int | None:
    return None if not text else float(text) if "." in text or "e" in text else int(text)


if __name__ == "__main__":
    main()
