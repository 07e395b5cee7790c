"""What a day of `openworld estimate watch` costs, how large its files are, and how often its alarm is false in a year.

    python bench/watch.py [cost size mixed story shifts quoted] [--days 365] [--images 200] [--years 300] [--pool POOL]

cost    a year of made-up days of 10 classes: one daily call at the end of it, beside `openworld estimate --period 1d
        --alert` of the whole year again, and a watch that reads the year at once. Processor seconds without the start
        of Python, and the most memory, each in a fresh process; and the state's bytes
size    what is fitted on 50,000 images of 1,000 classes in single and half precision: bytes, seconds, and a daily call
        of 500 images with it
story   fourteen days of 150 images whose accuracy falls from 88 to 64 % on the eighth, alert at 80 %: when each alarm
        comes, over many sources; and an over-confident model
shifts  the shift alarm by itself, for several kinds of models: share of years with a false alarm, and after how many
        days a fall by 20 points is found; sources and days drawn from 3,000 images of a law, whose distances are shared
quoted  the same years with the accuracy alarm, whose alert is the true accuracy (falls: 5 points below); slower
mixed   the accuracy alarm on days of three sizes by their statistics alone: normal errors of source and days
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from openworld.estimators import Null, Outputs, find_estimator
from openworld.estimators.engine.checks import check_confidence
from openworld.estimators.engine.temperature import source_temperature
from openworld.estimators.quote.alarm import add_step, alarm_limit
from openworld.estimators.quote.decision import ALONE
from openworld.estimators.quote.shift_alarm import ShiftTest, fit_shift_test
from openworld.estimators.quote.shift_signs import ShiftSign, ShiftSigns, pairwise, vectors_of
from openworld.label_free.estimate.estimation import estimate_accuracy
from openworld.label_free.estimate.quotes import Quoting
from openworld.label_free.estimate.reading import open_table
from openworld.label_free.settings import Settings
from openworld.label_free.watch import command
from openworld.metrics import wilson_interval

START = np.datetime64("2024-01-01T00:00:00")
SIZES = (100, 200, 800)
KINDS = {  # classes, how much surer of the true class, and by how much logits are scaled
    "two classes": (2, 1.6, 1.0),
    "ten classes": (10, 2.9, 1.0),
    "fifty classes": (50, 4.0, 1.0),
    "over-confident": (4, 1.2, 3.0),
    "embeddings": (5, 2.2, 1.0),
}
POOLED = ("digits/logreg-0", "letters/cnn-0", "words/network-0", "law-6/bayes-0")
POPULATION, FALL, WAIT = 3_000, 0.2, 10


def drawn(rng: np.random.Generator, n: int, classes: int, strength: float = 2.5) -> tuple[np.ndarray, np.ndarray]:
    """Logits float32[n, C] of a model that is surer of the true class by `strength`, and the labels."""
    labels = rng.integers(0, classes, n)
    logits = rng.standard_normal((n, classes), np.float32)
    logits[np.arange(n), labels] += strength
    return 2 * logits, labels


def day(number: int, n: int, classes: int) -> dict[str, np.ndarray]:
    """Columns of a day, in the order of time."""
    rng = np.random.default_rng([1, number])
    seconds = 86_400 * number + np.sort(rng.integers(0, 86_400, n))
    return {"logits": drawn(rng, n, classes)[0], "time": START + seconds.astype("timedelta64[s]")}


def fresh(work: Callable, *arguments: Any) -> tuple[float, float, Any]:
    """Processor seconds, gigabytes at most, and what comes back, of work in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measured, work, *arguments).result()


def _measured(work: Callable, *arguments: Any) -> tuple[float, float, Any]:
    began = time.process_time()
    found = work(*arguments)
    return time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, found


def fit(source: Path, out: Path, images: int) -> None:
    """Fit a watch."""
    command.fit_watch([source], out, timestamps="time", period="1d", alert=0.7, images=[images])


def watch(fitted: Path, new: list[Path], state: Path, close: bool) -> int:
    """Add files to a watch; return how many periods they finished."""
    return len(command.watch(fitted, new, state=state, close=close).found.new)


def whole_year(source: Path, target: Path, names: tuple[str, ...]) -> int:
    """Estimate a year at once; return how many periods it has."""
    options = Settings(names, period="1d", timestamps="time", alert=0.7)
    return len(estimate_accuracy(open_table([source]), open_table([target], times="time"), options).chunks)


def cost(days: int, images: int, classes: int = 10) -> Iterator[str]:
    """Lines of the table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        logits, labels = drawn(np.random.default_rng(0), 2_000, classes)
        np.savez(folder / "source.npz", logits=logits, labels=labels)
        year = [day(number, images, classes) for number in range(days)]
        for name, part in (("before", year[:-1]), ("last", year[-1:]), ("year", year)):
            np.savez(folder / f"{name}.npz", **{key: np.concatenate([one[key] for one in part]) for key in year[0]})
        source, fitted, state = folder / "source.npz", folder / "watch.safetensors", folder / "state.safetensors"
        fitting = fresh(fit, source, fitted, images)
        at_once = fresh(watch, fitted, [folder / "year.npz"], folder / "other.safetensors", True)
        fresh(watch, fitted, [folder / "before.npz"], state, True)
        daily = fresh(watch, fitted, [folder / "last.npz"], state, True)
        looking = fresh(watch, fitted, [], state, False)
        again = fresh(whole_year, source, folder / "year.npz", ())
        yield f"{days} days of {images} images, {classes} classes, source of 2,000: processor s, GB"
        for name, (seconds, gigabytes, _) in {
            "fit once": fitting,
            "one daily call": daily,
            "  of it: no new file": looking,
            "watch, the year at once": at_once,
            "estimate, the year again": again,
        }.items():
            yield f"  {name:<26}{seconds:>8.2f}{gigabytes:>8.2f}"
        ratios = again[0] / daily[0], at_once[0] / daily[0]
        yield f"  estimate / daily call: {ratios[0]:.0f}; watch at once / daily call: {ratios[1]:.1f}"
        kept = state.stat().st_size
        fitted_size = f"fitted {fitted.stat().st_size / 1e6:.2f} MB"
        yield f"  {fitted_size}, state {kept / 1e6:.2f} MB ({kept / days:,.0f} bytes a day)"


def size(images: int = 50_000, classes: int = 1_000) -> Iterator[str]:
    """Lines of the table."""
    yield f"fitted on {images:,} images of {classes:,} classes: MB, processor s, GB; a call of 500: processor s, GB"
    for kind in (np.float32, np.float16):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            logits, labels = drawn(np.random.default_rng(0), images, classes, 4.0)
            np.savez(folder / "source.npz", logits=logits.astype(kind), labels=labels)
            del logits
            columns = day(0, 500, classes)
            np.savez(folder / "day.npz", logits=columns["logits"].astype(kind), time=columns["time"])
            fitted, state = folder / "watch.safetensors", folder / "state.safetensors"
            seconds, gigabytes, _ = fresh(fit, folder / "source.npz", fitted, 500)
            daily, held, _ = fresh(watch, fitted, [folder / "day.npz"], state, False)
            opened = state.stat().st_size
            yield (
                f"  {np.dtype(kind).name:<10}{fitted.stat().st_size / 1e6:>8.1f}{seconds:>8.1f}{gigabytes:>8.2f}"
                f"{daily:>10.1f}{held:>8.2f}   state with 500 open images {opened / 1e6:.2f} MB"
            )


def made_up(kind: str, images: int, fallen: bool, rng: np.random.Generator) -> Outputs:
    """Images of a made-up law, or of one under which the model knows nothing."""
    classes, strength, scale = KINDS[kind]
    logits, labels = drawn(rng, images, classes, 0.0 if fallen else strength)
    features = None
    if kind == "embeddings":  # which know the classes, fallen or not
        features = rng.standard_normal((images, 32)) * np.linspace(1, 0.2, 32)
        features[np.arange(images), labels] += 2
    return Outputs(scale * logits, labels, features=features)


def pooled(folder: Path, rng: np.random.Generator) -> tuple[Outputs, Outputs]:
    """Images of a model in the pool of bench/quoted, like its source; and of the shift that costs it most."""
    sets = {path.stem: np.load(path) for path in sorted(folder.glob("*.npz"))}
    sets = {name: Outputs(entry["logits"], entry["labels"]) for name, entry in sets.items()}
    both = [sets.pop("source"), sets.pop("same--unseen")]
    like = Outputs(*(np.concatenate([getattr(one, name) for one in both]) for name in ("logits", "labels")))
    return like, max(sets.values(), key=lambda one: one.mistakes / one.n)


class Years:
    """A law and a fallen one: sources, days like them, and days 20 points below, as rows of one population."""

    def __init__(self, law: Outputs, fallen: Outputs):
        self.n, self.accuracy = law.n, 1 - law.mistakes / law.n
        self.share = FALL / (self.accuracy - 1 + fallen.mistakes / fallen.n)  # of fallen images on fallen days
        parts = ("logits", "labels", *(["features"] if law.features is not None else []))
        joined = {name: np.concatenate([getattr(law, name), getattr(fallen, name)]) for name in parts}
        self.images = Outputs(**joined)
        temperature = source_temperature(law.logits, law.labels).value  # of all sources, so that distances are shared
        vectors = vectors_of(self.images, temperature)
        self.distances = {name: pairwise(rows) for name, rows in vectors.items()}
        self.law = law

    def source(self, rows: np.ndarray) -> Outputs:
        """Return labelled images."""
        source = self.images.take(rows)
        source.once("temperature", lambda: source_temperature(self.law.logits, self.law.labels))
        return source

    def days(self, days: int, images: int, rng: np.random.Generator, *, fallen: bool = False) -> np.ndarray:
        """Return rows int64[days, images]."""
        like, other = rng.integers(0, self.n, (days, images)), rng.integers(self.n, self.images.n, (days, images))
        return np.where(rng.random((days, images)) < self.share * fallen, other, like)

    def statistics(self, source: np.ndarray, days: np.ndarray, test: ShiftTest) -> np.ndarray:
        """Return the shift alarm's statistic day by day."""
        found = {}
        for name, between in self.distances.items():
            to_source, own = between[:, source].mean(axis=1, dtype=float), between[np.ix_(source, source)].mean()
            within = [between[np.ix_(rows, rows)].mean(dtype=float) for rows in days]
            found[name] = 2 * to_source[days].mean(axis=1) - own - within
        statistics, last = [], 0.0
        for day in range(len(days)):
            signs = ShiftSigns(tuple(ShiftSign(name, 1, 0, None, found[name][day]) for name in found), 1.0)
            statistics.append(last := test.statistic(last, test.score(signs, days.shape[1])[0]))
        return np.array(statistics)

    def quoted(self, source: np.ndarray, sets: list[np.ndarray], alerts: list[float]) -> list[np.ndarray]:
        """Return the accuracy alarm's statistic day by day, of each list of days with its alert."""
        known, images = self.source(source), sets[0].shape[1]
        quoting = Quoting(known, {name: find_estimator(name)() for name in ALONE})
        fitted = {name: method.fit(known) for name, method in quoting.estimators.items()}
        limit, found = alarm_limit(quoting.alarm_null(images), images), []
        for days, alert in zip(sets, alerts, strict=True):
            statistics, last = [], 0.0
            for rows in days:
                day = self.images.take(rows)
                estimates = {name: method.estimate(day, interval=False) for name, method in fitted.items()}
                tested = quoting.tested(images, estimates, 1 - known.mistakes / known.n)
                statistics.append(last := add_step(last, limit.step(tested, images, alert)))
            found.append(np.array(statistics))
        return found


def shifts(name: str, years: Years, source: int, images: int, count: int, days: int, quoted: bool) -> Iterator[str]:
    """Lines of the table."""
    false, waits = {}, {}
    for number in range(count):
        rng = np.random.default_rng([4, number])
        rows = rng.integers(0, years.n, source)
        healthy, fallen = years.days(days, images, rng), years.days(WAIT, images, rng, fallen=True)
        test = fit_shift_test(years.source(rows), images, seed=number)
        alarms = {"shift": [years.statistics(rows, each, test) for each in (healthy, fallen)]}
        if quoted:
            alarms["accuracy"] = years.quoted(rows, [healthy, fallen], [years.accuracy, years.accuracy - 0.05])
            alarms["either"] = [np.maximum(*pair) for pair in zip(*alarms.values(), strict=True)]
        for alarm, (calm, loud) in alarms.items():
            false.setdefault(alarm, []).append(calm.max() > 1)
            waits.setdefault(alarm, []).append(1 + int((loud > 1).argmax()) if (loud > 1).any() else 2 * WAIT)
    tells = check_confidence(years.law)
    yield (
        f"{name}: {source} + {images} images, {100 * years.accuracy:.0f} % right, confidence tells: {tells.tells} "
        f"(area {tells.area:.2f}, gap {tells.gap:.2f}); {count} years of {days} days"
    )
    for alarm, calm in false.items():
        low, high = wilson_interval(float(np.mean(calm)), count)
        late = np.array(waits[alarm])
        within = ", ".join(f"{100 * np.mean(late <= at):.0f}" for at in (1, 3, 10))
        yield (
            f"  {alarm:<9} false in {100 * np.mean(calm):4.1f} % [{100 * low:.1f} {100 * high:.1f}]; a fall by 20 "
            f"points found within 1, 3, 10 days in {within} %"
        )


def story(count: int) -> Iterator[str]:
    """Lines of the table: days of 150 images on which other images come that the model knows nothing of."""
    for name, kind, fall, alert in (
        ("88 to 64 %", "ten classes", 0.24, 0.8),
        ("61 to 36 %", "over-confident", 0.25, None),
    ):
        rng = np.random.default_rng(0)
        years = Years(made_up(kind, POPULATION, False, rng), made_up(kind, POPULATION, True, rng))
        years.share *= fall / FALL
        first = {"shift": [], "accuracy": []}
        for number in range(count):
            rng = np.random.default_rng([6, number])
            rows = rng.integers(0, years.n, 600)
            days = np.concatenate([years.days(7, 150, rng), years.days(7, 150, rng, fallen=True)])
            test = fit_shift_test(years.source(rows), 150, seed=number)
            found = {"shift": years.statistics(rows, days, test)}
            if alert is not None:
                (found["accuracy"],) = years.quoted(rows, [days], [alert])
            for alarm, statistics in found.items():
                first[alarm].append(1 + int((statistics > 1).argmax()) if (statistics > 1).any() else 99)
        yield f"{name}, {kind}: {count} sources of 600, day of the first alarm (the fall comes on day 8)"
        for alarm, at in first.items():
            if at:
                shares = ", ".join(f"{day}: {100 * np.mean(np.array(at) == day):.0f} %" for day in sorted(set(at)))
                yield f"  {alarm:<9} {shares} (99: none)"


def mixed(sources: int, days: int, within: float = 0.4, between: float = 0.01, years: int = 200) -> Iterator[str]:
    """Lines of the table; of every source many years, so that what is left is the chance of sources."""
    rng = np.random.default_rng(3)
    shares = {name: [] for name in ("100", "800", "100, 200, 800")}
    for source in range(sources):
        limits = {}
        for n in SIZES:
            noise = rng.normal(0, between, 100)[:, None] + rng.normal(0, within / n**0.5, (100, 4))
            limits[n] = alarm_limit(Null(n, 0.8 + noise, np.full((100, 4), 0.8)), n, seed=source)
        error = rng.normal(0, between)
        for name, own in shares.items():
            sizes = [int(n) for n in name.split(",")]
            own.append(_false_years(limits, sizes, error, within, days, years, rng))
    yield f"{sources} sources x {years} years, errors {between} of sources and {within}/sqrt(n) of days; allowed 5 %"
    for name, own in shares.items():
        half = 1.96 * np.std(own) / sources**0.5
        yield f"  days of {name:<16} years with a false alarm {100 * np.mean(own):.1f} % +- {100 * half:.1f}"


def _false_years(limits, sizes, error: float, within: float, days: int, years: int, rng) -> float:
    """Share of years in which S rises above its limit."""
    statistic, most = np.zeros(years), np.zeros(years)
    for n in rng.choice(sizes, days):
        limit = limits[int(n)]
        accuracies = 0.7 + error + rng.normal(0, within / n**0.5, years)
        statistic = np.array(
            [add_step(now, limit.step(one, int(n), 0.7)) for now, one in zip(statistic, accuracies, strict=True)]
        )
        np.maximum(most, statistic, out=most)
    return float((most > 1).mean())


def every_law(pool: Path | None) -> Iterator[tuple[str, Years]]:
    """Made-up laws, and models of the pool."""
    for kind in KINDS:
        rng = np.random.default_rng(0)
        yield kind, Years(made_up(kind, POPULATION, False, rng), made_up(kind, POPULATION // 2, True, rng))
    for name in POOLED if pool else ():
        law, fallen = pooled(pool / name, np.random.default_rng(0))
        if fallen.mistakes / fallen.n - law.mistakes / law.n > FALL:
            yield name, Years(law, fallen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["cost", "size", "mixed", "story", "shifts"])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--years", type=int, default=300)
    parser.add_argument("--sources", type=int, default=100)
    parser.add_argument("--pool", type=Path, help="as bench/quoted/pool.py writes it")
    parser.add_argument("--only", default="", help="laws whose name holds this")
    given = parser.parse_args()

    def laws(quoted: bool) -> Iterator[str]:
        for name, years in every_law(given.pool):
            if given.only in name:
                yield from shifts(name, years, 600, given.images // 2, given.years, given.days, quoted)

    parts = {
        "cost": lambda: cost(given.days, given.images),
        "size": size,
        "mixed": lambda: mixed(given.sources, given.days, years=20),
        "story": lambda: story(given.years // 10),
        "shifts": lambda: laws(False),
        "quoted": lambda: laws(True),
    }
    for name in given.parts:
        for line in parts[name]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
