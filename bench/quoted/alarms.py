"""How often `find_alarms` raises a false alarm, and how soon it finds a fall, beside bare thresholds in the same run.

    python bench/quoted/alarms.py --pool POOL [--years 10] [--seed 1]

A year is one labelled source of 250 to 500 images and 365 chunks of 100 or 250, all drawn from the unshifted images of
a model of the pool (source and unseen together: they are the law, so its accuracy is known exactly). Quoted is DoC less
its bias on source-like sets. Healthy chunks are tested against an alert at their true accuracy, and 5 points below it.
For the delay the alert lies 5 points below, and after 30 healthy chunks images of a shifted set are mixed in until the
true accuracy is 5, 10 or 20 points below the alert. Models of seed 0 are left out.

Tests: `find_alarms`; the same had it taken chunks for independent (no error of the source that stays); quoted below the
alert; COTT below the alert, which was quoted before (10 chunks of a year alone, for its time).
Apart: `find_alarms` where the chunks come from images that are not in the source. These are finitely many, and their
own chance, which the source cannot know of, counts against it.

Columns: share of years with an alarm, and chunks of 365 at which one stood, at the alert and 5 points above it; median
and nine tenths of the delay in chunks (1: at once), and share of falls not found within 60. Three minutes on one core.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pool

from openworld.estimators import COTT, Chunk, DoC, Null, Outputs, find_alarms, measure_null

CHUNKS, BEFORE, AFTER = 365, 30, 60
SIZES, SOURCE = (100, 250), (250, 500)
MARGIN, FALLS = 0.05, (0.05, 0.1, 0.2)
FEW = 10  # chunks that COTT is asked about
TESTS = ("find_alarms", "chunks taken for independent", "DoC below the alert", "COTT below the alert")
APART = "find_alarms, images apart"

Alarm = Callable[[np.ndarray, float], np.ndarray]
"""(quoted accuracies of chunks, alert) -> bool[chunks]."""


@dataclass(frozen=True)
class Law:
    """All unshifted images of a model, and its shifted sets."""

    unshifted: Outputs
    shifted: tuple[Outputs, ...]

    @classmethod
    def of(cls, folder: Path) -> "Law":
        held = {name: Outputs(one["logits"], one["labels"]) for name, one in pool.sets(folder).items()}
        first, second = held.pop("source"), held.pop("same--unseen")
        both = Outputs(np.concatenate([first.logits, second.logits]), np.concatenate([first.labels, second.labels]))
        return cls(both, tuple(held.values()))


class Year:
    """A source, and chunks that are estimated with its help."""

    def __init__(self, law: Law, n: int, rows: np.ndarray, generator: np.random.Generator):
        self.law, self.n, self.generator = law, n, generator
        self.source = law.unshifted.take(rows)
        self.null = measure_null({"DoC": DoC()}, self.source, n, seed=int(generator.integers(1000)))["DoC"]
        self.doc, self.cott = DoC().fit(self.source), COTT().fit(self.source)

    def by_doc(self, outputs: Outputs, rows: np.ndarray) -> np.ndarray:
        """What DoC says of chunks of rows [chunks, n]: a mean over images, so of all chunks at once."""
        found = self.doc.estimate(outputs, interval=False)
        of_chunks = found.sample_scores[rows].mean(axis=1) - found.sample_scores.mean()
        return np.clip(1 - found.raw_error + of_chunks, 0, 1)

    def by_cott(self, outputs: Outputs, rows: np.ndarray) -> np.ndarray:
        """What COTT says of chunks."""
        return np.array([self.cott.estimate(outputs.take(one), interval=False).accuracy for one in rows])

    def fallen(self, wanted: float) -> tuple[Outputs, np.ndarray] | None:
        """Unshifted images, and chunks of them mixed with a shifted set to this accuracy; None if no set is so low."""
        healthy, low = (
            _accuracy(self.law.unshifted),
            [one for one in self.law.shifted if _accuracy(one) < wanted - 0.02],
        )
        if not low:
            return None
        shifted = low[self.generator.integers(len(low))]
        mixed = (healthy - wanted) / (healthy - _accuracy(shifted)) > self.generator.random((AFTER, self.n))
        first = self.generator.integers(0, self.law.unshifted.n, (AFTER, self.n))
        second = self.law.unshifted.n + self.generator.integers(0, shifted.n, (AFTER, self.n))
        both = Outputs(np.concatenate([self.law.unshifted.logits, shifted.logits]))
        return both, np.where(mixed, second, first)

    def tests(self) -> dict[str, Alarm]:
        means = self.null.estimates.mean(axis=1, keepdims=True)
        independent = Null(self.n, self.null.estimates - means + means.mean(), self.null.accuracies)
        return dict(
            zip(TESTS, (self._over_time(self.null), self._over_time(independent), self._below, _below), strict=True)
        )

    def _over_time(self, null: Null) -> Alarm:
        return lambda accuracies, alert: (
            find_alarms([Chunk(float(one), self.n, null) for one in accuracies], alert).standing
        )

    def _below(self, accuracies: np.ndarray, alert: float) -> np.ndarray:
        return _below(accuracies - self.null.bias, alert)


def _below(accuracies: np.ndarray, alert: float) -> np.ndarray:
    return accuracies < alert


def _accuracy(outputs: Outputs) -> float:
    return 1 - outputs.mistakes / outputs.n


def figures(year: Year) -> Iterator[tuple[str, str, float]]:
    """(test, column, value) of a year."""
    true, law = _accuracy(year.law.unshifted), year.law.unshifted
    rows = year.generator.integers(0, law.n, (CHUNKS, year.n))
    healthy = dict.fromkeys(TESTS, year.by_doc(law, rows)) | {TESTS[-1]: year.by_cott(law, rows[:FEW])}
    falls = {fall: year.fallen(true - MARGIN - fall) for fall in FALLS if true - MARGIN - fall > 0}
    for name, alarm in year.tests().items():
        for column, alert in (("at", true), ("above", true - MARGIN)):
            yield from _false(name, column, alarm(healthy[name], alert))
        for fall, drawn in falls.items():
            if drawn is not None:
                estimate = year.by_cott if name == TESTS[-1] else year.by_doc
                after = estimate(drawn[0], drawn[1][:FEW] if name == TESTS[-1] else drawn[1])
                standing = alarm(np.concatenate([healthy[name][:BEFORE], after]), true - MARGIN)[-len(after) :]
                yield name, f"fall {fall}", float(np.argmax(standing)) + 1 if standing.any() else np.inf


def _false(name: str, column: str, standing: np.ndarray) -> Iterator[tuple[str, str, float]]:
    yield name, f"{column} years", float(standing.any())
    yield name, f"{column} chunks", CHUNKS * float(standing.mean())


def apart(law: Law, n: int, generator: np.random.Generator) -> Iterator[tuple[str, str, float]]:
    """The same where source and chunks share no image."""
    rows = np.split(generator.permutation(law.unshifted.n), [int(generator.integers(*SOURCE, endpoint=True))])
    year = Year(law, n, rows[0], generator)
    others = law.unshifted.take(rows[1])
    quoted = year.by_doc(others, generator.integers(0, others.n, (CHUNKS, n)))
    for column, alert in (("at", _accuracy(others)), ("above", _accuracy(others) - MARGIN)):
        yield from _false(APART, column, year.tests()[TESTS[0]](quoted, alert))


def line(name: str, found: dict[str, list[float]]) -> str:
    """A row of the table."""
    cells = []
    for column in ("at", "above"):
        share, chunks = np.mean(found[f"{column} years"]), np.mean(found[f"{column} chunks"])
        cells.append(f"{'':>6}{chunks:7.1f}" if name == TESTS[-1] else f"{100 * share:4.1f} %{chunks:7.1f}")
    for fall in FALLS:
        delays = np.array(found.get(f"fall {fall}", []))
        if len(delays):
            middle, late = np.quantile(delays, [0.5, 0.9], method="lower")
            cells.append(f"{middle:4.0f}{late:5.0f}{100 * np.mean(np.isinf(delays)):5.0f} %")
    return f"{name:30}" + " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--years", type=int, default=10, help="of each model")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = {n: defaultdict(lambda: defaultdict(list)) for n in SIZES}
    folders = [one.parent for one in sorted(given.pool.glob("*/*/source.npz")) if not one.parent.name.endswith("-0")]
    for place, folder in enumerate(folders):
        law = Law.of(folder)
        for number in range(given.years):
            generator, n = np.random.default_rng([given.seed, place, number]), SIZES[number % len(SIZES)]
            drawn = generator.integers(0, law.unshifted.n, generator.integers(*SOURCE, endpoint=True))
            for name, column, value in (*figures(Year(law, n, drawn, generator)), *apart(law, n, generator)):
                found[n][name][column].append(value)
        print(f"{place + 1} of {len(folders)}: {folder.parent.name}/{folder.name}", flush=True)
    falls = " | ".join(f"{f'a fall of {100 * fall:.0f}':>15}" for fall in FALLS)
    for n, tests in found.items():
        years = len(next(iter(tests.values()))["at years"])
        print(f"\n{years} years of chunks of {n} images, {len(folders)} models")
        print(f"{'':30}{'at the alert':>13} | {'5 above':>13} | {falls}")
        for name in (*TESTS, APART):
            print(line(name, tests[name]))


if __name__ == "__main__":
    main()
