"""How often the alarm raises a false alarm, and how soon it finds a fall, beside bare thresholds in the same run.

    python bench/quoted/alarms.py --pool POOL [--years 10] [--rules 1] [--seed 1]

A year is one labelled source of 250 to 500 images and 365 chunks of 100 or 250, all drawn from the unshifted images of
a model of the pool (source and unseen together: they are the law, so its accuracy is known exactly). Healthy chunks are
tested against an alert at their true accuracy, and 5 points below it. For the delay the alert lies 5 points below, and
after 30 healthy chunks images of a shifted set are mixed in until the true accuracy is 5, 10 or 20 points below the
alert. Models of seed 0 are left out.

    test, rules           the alarm on what `openworld estimate` tests, in as many years as --rules says
    test, DoC             the alarm on DoC; it takes the bias without shift out, as the next two do
    independent, DoC      the same had it taken chunks for independent: no error of the source that stays
    threshold, DoC        DoC below the alert
    threshold, COTT       COTT below the alert: what was done before (10 chunks of a year alone, for its time)
    test, DoC, apart      the chunks come from images that are not in the source. These are finitely many, and their own
                          chance, which the source cannot know of, counts against the test

Columns: share of years with an alarm, and chunks of 365 at which one stood, at the alert and 5 points above it; median
and nine tenths of the delay in chunks (1: at once), and share of falls not found within 60. Six minutes on one core.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import pool

from openworld.estimators import COTT, ESTIMATORS, DoC, Null, Outputs, measure_null
from openworld.estimators.quote.alarm import add_step, alarm_limit
from openworld.estimators.quote.decision import ALONE
from openworld.label_free.estimate.quotes import Quoting, Tested
from openworld.label_free.settings import Settings

CHUNKS, BEFORE, AFTER = 365, 30, 60
SIZES, SOURCE = (100, 250), (250, 500)
MARGIN, FALLS = 0.05, (0.05, 0.1, 0.2)
FEW = 10  # chunks that COTT is asked about
NAMES = ("test, rules", "test, DoC", "independent, DoC", "threshold, DoC", "threshold, COTT", "test, DoC, apart")
RULES, DOC, INDEPENDENT, BARE, BEFORE_THAT, APART = NAMES

Figures = Iterator[tuple[str, str, float]]
"""(test, column, value) of a year."""


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

    def fallen(self, wanted: float, n: int, generator: np.random.Generator) -> tuple[Outputs, np.ndarray] | None:
        """Images, and chunks of them with a shifted set mixed in to this accuracy; None if no set is so low."""
        healthy = accuracy(self.unshifted)
        low = [one for one in self.shifted if accuracy(one) < wanted - 0.02]
        if wanted <= 0 or not low:
            return None
        shifted = low[generator.integers(len(low))]
        mixed = (healthy - wanted) / (healthy - accuracy(shifted)) > generator.random((AFTER, n))
        first = generator.integers(0, self.unshifted.n, (AFTER, n))
        second = self.unshifted.n + generator.integers(0, shifted.n, (AFTER, n))
        return Outputs(np.concatenate([self.unshifted.logits, shifted.logits])), np.where(mixed, second, first)


@dataclass(frozen=True)
class Watch:
    """What is said of chunks, and when that is an alarm.

    say: (outputs, rows int[chunks, n]) -> accuracies. alarm: (accuracies, alert) -> bool[chunks]. most: chunks asked.
    """

    say: Callable[[Outputs, np.ndarray], np.ndarray]
    alarm: Callable[[np.ndarray, float], np.ndarray]
    most: int = CHUNKS


def watches(source: Outputs, n: int, seed: int, *, rules: bool) -> dict[str, Watch]:
    """All tests of a year, by name."""
    null = measure_null({"DoC": DoC()}, source, n, seed=seed)["DoC"]
    means = null.estimates.mean(axis=1, keepdims=True)
    independent = Null(n, null.estimates - means + means.mean(), null.accuracies)
    doc, cott = DoC().fit(source), COTT().fit(source)

    def say_doc(outputs: Outputs, rows: np.ndarray) -> np.ndarray:  # a mean over images: all chunks at once
        found = doc.estimate(outputs, interval=False)
        of_chunks = found.sample_scores[rows].mean(axis=1) - found.sample_scores.mean()
        return np.clip(1 - found.raw_error + of_chunks, 0, 1)

    found = {
        DOC: Watch(say_doc, over_time(null, n)),
        INDEPENDENT: Watch(say_doc, over_time(independent, n)),
        BARE: Watch(say_doc, lambda accuracies, alert: accuracies - null.bias < alert),
        BEFORE_THAT: Watch(one_by_one(cott), lambda accuracies, alert: accuracies < alert, FEW),
    }
    if rules:
        quoting = Quoting(source, {name: ESTIMATORS[name]() for name in ALONE}, Settings(seed=seed))
        found[RULES] = Watch(one_by_one(Tested(quoting, n).fit(source)), over_time(quoting.alarm_null(n), n))
    return found


def one_by_one(fitted) -> Callable[[Outputs, np.ndarray], np.ndarray]:
    return lambda outputs, rows: np.array([fitted.estimate(outputs.take(one), interval=False).accuracy for one in rows])


def over_time(null: Null, n: int) -> Callable[[np.ndarray, float], np.ndarray]:
    limit = alarm_limit(null, n)

    def standing(accuracies: np.ndarray, alert: float) -> np.ndarray:
        steps = (limit.step(float(one), n, alert) for one in accuracies)
        return np.array([*accumulate(steps, add_step, initial=0.0)][1:]) > 1

    return standing


def accuracy(outputs: Outputs) -> float:
    return 1 - outputs.mistakes / outputs.n


def year(law: Law, n: int, seed: list[int], *, rules: bool) -> Figures:
    """False alarms and delays of all tests."""
    generator, true = np.random.default_rng(seed), accuracy(law.unshifted)
    drawn = generator.integers(0, law.unshifted.n, generator.integers(*SOURCE, endpoint=True))
    rows = generator.integers(0, law.unshifted.n, (CHUNKS, n))
    falls = {fall: law.fallen(true - MARGIN - fall, n, generator) for fall in FALLS}
    for name, watch in watches(law.unshifted.take(drawn), n, seed[-1], rules=rules).items():
        healthy = watch.say(law.unshifted, rows[: watch.most])
        yield from false(name, watch, healthy, true)
        for fall, found in falls.items():
            if found is not None:
                after = watch.say(found[0], found[1][: watch.most])
                standing = watch.alarm(np.concatenate([healthy[:BEFORE], after]), true - MARGIN)[-len(after) :]
                yield name, f"fall {fall}", float(np.argmax(standing)) + 1 if standing.any() else np.inf


def apart(law: Law, n: int, seed: list[int]) -> Figures:
    """False alarms where source and chunks share no image."""
    generator = np.random.default_rng(seed)
    rows = np.split(generator.permutation(law.unshifted.n), [int(generator.integers(*SOURCE, endpoint=True))])
    source, others = (law.unshifted.take(one) for one in rows)
    watch = watches(source, n, seed[-1], rules=False)[DOC]
    yield from false(APART, watch, watch.say(others, generator.integers(0, others.n, (CHUNKS, n))), accuracy(others))


def false(name: str, watch: Watch, healthy: np.ndarray, true: float) -> Figures:
    """False alarms on healthy chunks."""
    for column, alert in (("at", true), ("above", true - MARGIN)):
        standing = watch.alarm(healthy, alert)
        yield name, f"{column} years", float(standing.any())
        yield name, f"{column} chunks", CHUNKS * float(standing.mean())


def line(name: str, found: dict[str, list[float]]) -> str:
    """A row of the table."""
    cells = []
    for column in ("at", "above"):
        share, chunks = np.mean(found[f"{column} years"]), np.mean(found[f"{column} chunks"])
        cells.append(f"{'':>6}{chunks:7.1f}" if name == BEFORE_THAT else f"{100 * share:4.1f} %{chunks:7.1f}")
    for fall in FALLS:
        delays = np.array(found.get(f"fall {fall}", []))
        if len(delays):
            middle, late = np.quantile(delays, [0.5, 0.9], method="lower")
            cells.append(f"{middle:4.0f}{late:5.0f}{100 * np.mean(np.isinf(delays)):5.0f} %")
    return f"{name:18}{len(found['at years']):6} " + " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--years", type=int, default=10, help="of each model")
    parser.add_argument("--rules", type=int, default=1, help="of them, in which the rules are asked")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = {n: defaultdict(lambda: defaultdict(list)) for n in SIZES}
    folders = [one.parent for one in sorted(given.pool.glob("*/*/source.npz")) if not one.parent.name.endswith("-0")]
    for place, folder in enumerate(folders):
        law = Law.of(folder)
        for number in range(given.years):
            n, seed = SIZES[(place + number) % len(SIZES)], [given.seed, place, number]
            for name, column, value in (*year(law, n, seed, rules=number < given.rules), *apart(law, n, seed)):
                found[n][name][column].append(value)
        print(f"{place + 1} of {len(folders)}: {folder.parent.name}/{folder.name}", flush=True)
    falls = " | ".join(f"{f'a fall of {100 * fall:.0f}':>15}" for fall in FALLS)
    for n, tests in found.items():
        print(f"\nchunks of {n} images\n{'':18}{'years':>6} {'at the alert':>13} | {'5 above':>13} | {falls}")
        for name in NAMES:
            if name in tests:
                print(line(name, tests[name]))


if __name__ == "__main__":
    main()
