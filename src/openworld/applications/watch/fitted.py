"""What depends on the source alone, fitted once: its sample and temperature, what its methods say of sets like it.

Kept in one file, without pickle: the source as far as a `Sampler` keeps it (of 1,000 classes at most 20,000 images, in
the fewest bytes that are exact), with embeddings and looks of its images where it has them, the temperature, and, by
size of a period, the nulls of the methods, that of the alert, its k and h, and the test of shifts. The methods
themselves are made of these when the file is read, in a second or two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import ScoredSet
from openworld.applications.estimate.alerts import RATE, STEPS, null_of, require_rate, require_testable, shift_test
from openworld.applications.estimate.chunks import Chunking
from openworld.applications.estimate.estimation import EstimateOptions
from openworld.applications.estimate.methods import fit_all
from openworld.applications.estimate.quotes import DECIDING, Quoting, shared_size
from openworld.applications.estimate.reading import Pass, Progress
from openworld.applications.estimate.remarks import source_remarks
from openworld.applications.estimate.score_tables import ScoreTable
from openworld.estimators import FittedEstimator, Null, Outputs, find_estimator
from openworld.estimators.engine.temperature import Temperature, temperature_of
from openworld.estimators.quote.alarm import AlarmLimit, alarm_limit
from openworld.estimators.quote.shift_alarm import ShiftTest
from openworld.runs.sealed_arrays import read_arrays, write_arrays

FITTED = "what `openworld estimate fit` writes"
USUAL_IMAGES = 1_000
VECTORS = ("features", "appearance")
"""What a watch keeps of images beside what models say of them."""


@dataclass(frozen=True)
class WatchSettings:
    """What is watched for; without time stamps, period and rows every file is a period."""

    estimators: tuple[str, ...] = ()  # the first is quoted; none for those that the rules of a quote rest on
    timestamps: str = ""  # the column of time stamps
    period: str = ""  # of the calendar
    chunk_rows: int = 0  # of a period
    alert: float | None = None  # accuracy below which somebody wants to know, in [0, 1]
    false_alarms: float | None = None  # share of years of 365 periods with one by chance, of either kind; None for 0.05
    seed: int = 0

    def __post_init__(self):
        self.options.chunking  # noqa: B018  refuses what does not go together
        require_rate(self.false_alarms)
        if self.false_alarms is None:
            object.__setattr__(self, "false_alarms", RATE)

    @property
    def options(self) -> EstimateOptions:
        """The same for an estimate of everything at once."""
        chunking = Chunking(0, self.chunk_rows, self.period, bool(self.timestamps))
        rate = self.false_alarms if chunking or self.alert is not None else None
        return EstimateOptions(self.estimators, chunking, False, self.alert, rate, self.seed)


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on sets like the source, by their size; more is added when another size is met."""

    quotes: dict[int, dict[str, Null]] = field(default_factory=dict)  # by method, of sizes as for a quote
    alarms: dict[int, Null] = field(default_factory=dict)  # of all that leads to a quote
    limits: dict[int, AlarmLimit] = field(default_factory=dict)  # k and h of the accuracy alarm
    shifts: dict[int, ShiftTest] = field(default_factory=dict)  # behind the shift alarm

    def without(self, other: "Measured") -> "Measured":
        """Return what is not in another one."""
        kinds = zip(self._kinds, other._kinds, strict=True)
        return Measured(*({size: one for size, one in own.items() if size not in known} for own, known in kinds))

    def joined(self, other: "Measured") -> "Measured":
        """Return what is in either."""
        return Measured(*(own | further for own, further in zip(self._kinds, other._kinds, strict=True)))

    @property
    def _kinds(self) -> tuple[dict, dict, dict, dict]:
        return self.quotes, self.alarms, self.limits, self.shifts

    def __len__(self) -> int:
        return sum(map(len, self._kinds))

    def about(self) -> dict[str, Any]:
        """Return all but the arrays, as JSON."""
        return {
            "quotes": {
                str(size): {"n": {name: null.n for name, null in nulls.items()}} for size, nulls in self.quotes.items()
            },
            "alarms": {str(size): null.n for size, null in self.alarms.items()},
            "limits": {str(size): asdict(limit) for size, limit in self.limits.items()},
            "shifts": {str(size): asdict(test) for size, test in self.shifts.items()},
        }

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Return the arrays by name."""
        for size, nulls in self.quotes.items():
            for place, null in enumerate(nulls.values()):
                yield f"quotes.{size}.{place}", np.stack([null.estimates, null.accuracies])
        for size, null in self.alarms.items():
            yield f"alarms.{size}", np.stack([null.estimates, null.accuracies])

    @classmethod
    def of(cls, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Measured":
        """Return what `about` and `arrays` hold."""
        quotes = {
            int(size): {
                name: Null(n, *arrays[f"quotes.{size}.{place}"])
                for place, (name, n) in enumerate(sorted(kept["n"].items()))
            }
            for size, kept in about["quotes"].items()
        }
        alarms = {int(size): Null(n, *arrays[f"alarms.{size}"]) for size, n in about["alarms"].items()}
        limits = {int(size): AlarmLimit(**limit) for size, limit in about["limits"].items()}
        return cls(quotes, alarms, limits, {int(size): ShiftTest.of(test) for size, test in about["shifts"].items()})


@dataclass(frozen=True, eq=False)
class Watch:
    """A source as it was fitted."""

    outputs: Outputs  # of its sample, with labels
    source: ScoredSet
    classnames: tuple[str, ...] | None
    settings: WatchSettings
    names: tuple[str, ...]  # of the methods
    measured: Measured = field(default_factory=Measured)
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)  # facts by name, such as the SHA-256 of its files
    fingerprint: str = ""  # of the file it is kept in

    @property
    def needs(self) -> set[str]:
        """What a new file must hold beside logits."""
        return {need for name in self.names for need in find_estimator(name).needs} - {"labels"}

    def fit(self) -> dict[str, FittedEstimator]:
        """Return the methods, fitted on the source."""
        return {name: find_estimator(name)().fit(self.outputs) for name in self.names}

    def write(self, path: Path) -> "Watch":
        """Write it in one step; return it with its fingerprint."""
        known = temperature_of(self.outputs)
        about = {
            "source": asdict(self.source),
            "classnames": self.classnames,
            "settings": asdict(self.settings),
            "names": self.names,
            "warnings": self.warnings,
            "made": self.made,
            "temperature": {"value": known.value, "warning": known.warning},
            "measured": self.measured.about(),
        }
        arrays = {"labels": self.outputs.labels, "pulls": known.pulls} | dict(self.measured.arrays())
        return replace(self, fingerprint=write_arrays(path, FITTED, about, arrays | tables_of(self.outputs)))


def read_watch(path: Path) -> Watch:
    """Return what `openworld estimate fit` wrote. Raises as `read_arrays` does."""
    return read_arrays(path, FITTED, _watch_of)


def _watch_of(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], fingerprint: str) -> Watch:
    outputs = outputs_of(arrays, arrays["labels"])
    known = about["temperature"]
    temperature = Temperature(known["value"], arrays["pulls"], known["warning"])
    outputs.once("temperature", lambda: temperature)
    settings = about["settings"] | {"estimators": tuple(about["settings"]["estimators"])}
    return Watch(
        outputs,
        ScoredSet(**about["source"]),
        None if about["classnames"] is None else tuple(about["classnames"]),
        WatchSettings(**settings),
        tuple(about["names"]),
        Measured.of(about["measured"], arrays),
        tuple(about["warnings"]),
        about["made"],
        fingerprint,
    )


def narrow(array: np.ndarray) -> np.ndarray:
    """Return an array of the fewest bytes a number that still holds every value exactly."""
    with np.errstate(over="ignore"):
        for smaller in (np.float16, np.float32):
            if np.array_equal(array.astype(smaller), array):
                return array.astype(smaller)
    return array


def tables_of(outputs: Outputs) -> dict[str, np.ndarray]:
    """Return the tables of scores and vectors by name, each in the fewest bytes that are exact."""
    tables = {"logits": outputs.logits, "reference": outputs.reference}
    tables |= {"features": outputs.features, "appearance": outputs.appearance}
    tables |= {f"partner.{place}": partner for place, partner in enumerate(outputs.partners)}
    return {name: narrow(table) for name, table in tables.items() if table is not None}


def outputs_of(arrays: Mapping[str, np.ndarray], labels: np.ndarray | None = None) -> Outputs:
    """Return outputs of what `tables_of` gave."""
    partners = [name for name in arrays if name.startswith("partner.")]
    partners = tuple(arrays[name] for name in sorted(partners, key=lambda name: int(name.partition(".")[2])))
    vectors = {name: arrays.get(name) for name in VECTORS}
    return Outputs(arrays["logits"], labels, arrays.get("reference"), partners, **vectors)


def fit_watch(
    source: ScoreTable,
    settings: WatchSettings,
    sizes: Sequence[int] = (USUAL_IMAGES,),
    progress: Progress | None = None,
    made: Mapping[str, str] | None = None,
) -> Watch:
    """Fit on a labelled source all that depends on nothing else; sizes: images that a period usually has."""
    known = Pass(source.with_vectors(), "reading the source", progress)
    known.require_labels("the source must say what its images are: add `labels`.")
    outputs = known.outputs
    usual = [
        name for name in DECIDING if outputs.reference is not None or "reference" not in find_estimator(name).needs
    ]
    names = settings.estimators or tuple(usual)
    fit_all(names, outputs, outputs)  # refuses what cannot be had
    watch = Watch(
        outputs, known.side, source.classnames, settings, names, Measured(), source_remarks(known), made or {}
    )
    quoting = quoting_of(watch, watch.measured, progress)
    if settings.alert is not None:
        require_testable(quoting)
    for size in sizes:
        if size < 1:
            raise OpenworldError(f"{size} images of a period are none; give how many it usually has.")
        measure(quoting, watch, watch.measured, size)
    return watch


def quoting_of(watch: Watch, measured: Measured, progress: Progress | None = None) -> Quoting:
    """Return what decides what may be quoted, knowing all that was measured."""
    return Quoting(
        watch.outputs,
        {name: find_estimator(name)() for name in watch.names},
        next(iter(watch.settings.estimators), None),
        watch.settings.seed,
        progress,
        measured={(size, True): nulls for size, nulls in measured.quotes.items()},
    )


def measure(quoting: Quoting, watch: Watch, measured: Measured, n: int, alarm_images: int | None = None) -> None:
    """Add to `measured` what periods of n images lack, whose alarms count `alarm_images`: 0 of none, None for all."""
    settings, size = watch.settings, shared_size(n)
    if quoting.first is None and size not in measured.quotes:
        quoting.of_source(DECIDING[0], n)
        measured.quotes[size] = dict(sorted(quoting.measured[size, True].items()))
    images = n if alarm_images is None else alarm_images
    if images:
        shift_test(quoting, images, settings.false_alarms, measured.shifts)
    if settings.alert is None or not images or shared_size(images) in measured.limits:
        return
    fine, coarse = shared_size(images), shared_size(images, STEPS)
    if coarse not in measured.alarms:
        measured.alarms[coarse] = null_of(quoting, coarse)
    measured.limits[fine] = alarm_limit(measured.alarms[coarse], fine, rate=settings.false_alarms, seed=settings.seed)
