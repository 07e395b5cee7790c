"""What a day of `openworld estimate watch` costs, how large its files are, and how often its alarm is false in a year.

    python bench/watch.py [cost size rate mixed] [--days 365] [--images 200] [--years 40] [--sources 200]

cost    a year of made-up days of 10 classes: one daily call at the end of it, beside `openworld estimate --period 1d
        --alert` of the whole year again, and a watch that reads the year at once. Processor seconds without the start
        of Python, and the most memory, each in a fresh process; and the state's bytes
size    what is fitted on 50,000 images of 1,000 classes in single and half precision: bytes, seconds, and a daily call
        of 500 images with it
rate    years whose days are like the source, at an accuracy of exactly the alert: share of years with a false alarm,
        all that leads to a quote included; each year is cut into days or read at once, whose alarms are compared
mixed   the same of days of three sizes by their statistics alone: normal errors of source and days, many more sources
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

from openworld._score_files import scores_of
from openworld.applications.estimate.chunks import Chunking
from openworld.applications.estimate.estimation import EstimateOptions, estimate_accuracy
from openworld.applications.estimate.score_tables import open_table
from openworld.applications.watch import command
from openworld.applications.watch.fitted import WatchSettings
from openworld.estimators import Null
from openworld.estimators.quote.alarm import add_step, alarm_limit
from openworld.metrics.accuracy import wilson_interval

START = np.datetime64("2024-01-01T00:00:00")
SIZES = (100, 200, 800)


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


def fit(source: Path, out: Path, settings: WatchSettings, images: int) -> None:
    """Fit a watch."""
    command.fit([source], out, settings, images=[images])


def watch(fitted: Path, new: list[Path], state: Path, close: bool) -> int:
    """Add files to a watch; return how many periods they finished."""
    return len(command.watch(fitted, new, command.WatchFiles(state), close=close).found.new)


def whole_year(source: Path, target: Path, names: tuple[str, ...]) -> int:
    """Estimate a year at once; return how many periods it has."""
    options = EstimateOptions(names, Chunking(period="1d", times=True), alert=0.7)
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
        settings = WatchSettings(timestamps="time", period="1d", alert=0.7)
        source, fitted, state = folder / "source.npz", folder / "watch.safetensors", folder / "state.safetensors"
        fitting = fresh(fit, source, fitted, settings, images)
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
            settings = WatchSettings(timestamps="time", period="1d", alert=0.7)
            fitted, state = folder / "watch.safetensors", folder / "state.safetensors"
            seconds, gigabytes, _ = fresh(fit, folder / "source.npz", fitted, settings, 500)
            daily, held, _ = fresh(watch, fitted, [folder / "day.npz"], state, False)
            opened = state.stat().st_size
            yield (
                f"  {np.dtype(kind).name:<10}{fitted.stat().st_size / 1e6:>8.1f}{seconds:>8.1f}{gigabytes:>8.2f}"
                f"{daily:>10.1f}{held:>8.2f}   state with 500 open images {opened / 1e6:.2f} MB"
            )


def rate(years: int, days: int, images: int, classes: int = 4) -> Iterator[str]:
    """Lines of the table."""
    logits, labels = drawn(np.random.default_rng(9), 400_000, classes)
    accuracy, false, standing, alike, unknown = float((logits.argmax(axis=1) == labels).mean()), 0, 0, 0, 0
    for number in range(years):
        with tempfile.TemporaryDirectory() as scratch:
            folder, rng = Path(scratch), np.random.default_rng([2, number])
            logits, labels = drawn(rng, 1_000, classes)
            fitted = folder / "watch.safetensors"
            settings = WatchSettings(chunk_rows=images, alert=accuracy, seed=number)
            source = scores_of({"logits": logits, "labels": labels}, "source")
            command.fit([source], fitted, settings, images=[images])
            year = drawn(rng, days * images, classes)[0]
            whole = command.watch(fitted, [scores_of({"logits": year}, "year")], command.WatchFiles(folder / "whole"))
            parts = np.array_split(year, 12)
            files = command.WatchFiles(folder / "parts")
            for part in parts:
                cut = command.watch(fitted, [scores_of({"logits": part}, "part")], files)
            alarms = [[record.chunk.alarm for record in one.found.state.records] for one in (whole, cut)]
            alike += alarms[0] == alarms[1]
            found = [alarm.standing for alarm in alarms[0]]
            unknown += sum(record.chunk.quote.accuracy is None for record in whole.found.state.records)
            false, standing = false + any(found), standing + sum(found)
    low, high = wilson_interval(false / years, years)
    yield f"{years} years of {days} days of {images} images, {classes} classes, source of 1,000, alert = true accuracy"
    share = f"{100 * false / years:.1f} %, 95 % {100 * low:.1f} to {100 * high:.1f}"
    yield f"  years with a false alarm {false} ({share}); allowed 5 %"
    yield f"  days with an alarm {standing} of {years * days:,}; days that cannot be told {unknown}"
    yield f"  years cut into 12 files with the alarms of the year read at once: {alike} of {years}"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["cost", "size", "rate", "mixed"])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--years", type=int, default=40)
    parser.add_argument("--sources", type=int, default=100)
    given = parser.parse_args()
    parts = {
        "cost": lambda: cost(given.days, given.images),
        "size": size,
        "rate": lambda: rate(given.years, given.days, given.images // 2),
        "mixed": lambda: mixed(given.sources, given.days, years=20),
    }
    for name in given.parts:
        for line in parts[name]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
