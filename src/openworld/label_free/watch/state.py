"""What a watch keeps, in two files without pickle: a source as it was fitted, and the state where the watch stands.

Fitted: the source as far as a `Sampler` keeps it (of 1,000 classes at most 20,000 images, in the fewest bytes that are
exact), with embeddings and looks of its images where it has them, the temperature, and, by size of a period, the nulls
of the methods, that of the alert, its k and h, and the test of shifts. The methods themselves are made of these when
the file is read, in a second or two. State: what tomorrow's call needs to go on where today's ended.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.estimators import Outputs, find_estimator
from openworld.estimators.engine.temperature import Temperature, confidences, temperature_of
from openworld.estimators.streaming import Sample, Span
from openworld.label_free.estimate.accuracy_estimate import Period, PeriodLabels, ScoredSet
from openworld.label_free.estimate.estimation import fit_all
from openworld.label_free.estimate.late_labels import ROW, ImagesAtHand
from openworld.label_free.estimate.quotes import DECIDING, Measured, Quoting
from openworld.label_free.estimate.reading import Pass, Progress, ScoreTable, remarks
from openworld.label_free.settings import Settings
from openworld.runs import read_spec, to_json
from openworld.runs.sealed import read_arrays, write_arrays
from openworld.tables.judged import APPEARANCE, FEATURES, IMAGE_COLUMNS

FITTED, STATE = "what `openworld estimate fit` writes", "the state of `openworld estimate watch`"
USUAL_IMAGES = 1_000  # of a period
VECTORS = {"features": FEATURES, "appearance": APPEARANCE}
"""What a watch keeps of images beside what models say of them -> its column in a file."""

PLAIN = ("watch", "last", "n", "closed")  # fields that are JSON as they are
ARRAYS = ("rows", "predicted", "expected", "packed")  # of a kept period
KEPT = 60  # periods whose images are kept, the last ones; of each those of its sample


@dataclass(frozen=True, eq=False)
class Watch:
    """A source as it was fitted."""

    outputs: Outputs  # of its sample, with labels
    source: ScoredSet
    classnames: tuple[str, ...] | None
    settings: Settings
    names: tuple[str, ...]  # of the methods
    measured: Measured = field(default_factory=Measured)
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)  # facts by name, such as the SHA-256 of its files
    fingerprint: str = ""  # of the file it is kept in

    @property
    def needs(self) -> set[str]:
        """What a new file must hold beside logits."""
        return {need for name in self.names for need in find_estimator(name).needs} - {"labels"}

    def quoting(self, measured: Measured, progress: Progress | None = None) -> Quoting:
        """Return what decides what may be quoted, knowing all that was measured."""
        estimators = {name: find_estimator(name)() for name in self.names}
        return Quoting(self.outputs, estimators, self.settings, progress, measured=measured)

    def write(self, path: Path) -> "Watch":
        """Write it in one step; return it with its fingerprint."""
        temperature = temperature_of(self.outputs)
        about = {
            "source": asdict(self.source),
            "classnames": self.classnames,
            "settings": asdict(self.settings),
            "names": self.names,
            "warnings": self.warnings,
            "made": self.made,
            "temperature": {"value": temperature.value, "warning": temperature.warning},
            "measured": self.measured.about(),
        }
        arrays = {"labels": self.outputs.array("labels"), "pulls": temperature.pulls} | dict(self.measured.arrays())
        return replace(self, fingerprint=write_arrays(path, FITTED, about, arrays | tables_of(self.outputs)))


def read_watch(path: Path) -> Watch:
    """Return what `openworld estimate fit` wrote. Raises as `read_arrays` does."""
    return read_arrays(path, FITTED, _watch_of)


def _watch_of(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], fingerprint: str) -> Watch:
    outputs = outputs_of(arrays, arrays["labels"])
    of_logits = about["temperature"]
    temperature = Temperature(of_logits["value"], arrays["pulls"], of_logits["warning"])
    outputs.once("temperature", lambda: temperature)
    settings = read_spec(about["settings"], Settings)
    return Watch(
        outputs,
        ScoredSet(**about["source"]),
        None if about["classnames"] is None else tuple(about["classnames"]),
        settings,
        tuple(about["names"]),
        Measured.of(about["measured"], arrays),
        tuple(about["warnings"]),
        about["made"],
        fingerprint,
    )


def tables_of(outputs: Outputs) -> dict[str, np.ndarray]:
    """Return the tables of scores and vectors by name, each in the fewest bytes that are exact."""
    tables = {"logits": outputs.logits, "reference": outputs.reference}
    tables |= {"features": outputs.features, "appearance": outputs.appearance}
    tables |= {f"partner.{place}": partner for place, partner in enumerate(outputs.partners)}
    tables, exact = {name: table for name, table in tables.items() if table is not None}, {}
    with np.errstate(over="ignore"):
        for name, table in tables.items():
            narrow = (table.astype(kind) for kind in (np.float16, np.float32))
            exact[name] = next((narrowed for narrowed in narrow if np.array_equal(narrowed, table)), table)
    return exact


def outputs_of(arrays: Mapping[str, np.ndarray], labels: np.ndarray | None = None) -> Outputs:
    partners = [name for name in arrays if name.startswith("partner.")]
    partners = tuple(arrays[name] for name in sorted(partners, key=lambda name: int(name.partition(".")[2])))
    vectors = {name: arrays.get(name) for name in VECTORS}
    return Outputs(arrays["logits"], labels, arrays.get("reference"), partners, **vectors)


def fit_source(
    source: ScoreTable,
    settings: Settings,
    sizes: Sequence[int] = (USUAL_IMAGES,),
    progress: Progress | None = None,
    made: Mapping[str, str] | None = None,
) -> Watch:
    """Fit on a labelled source all that depends on nothing else; sizes: images that a period usually has."""
    reading = Pass(source.with_vectors(), "reading the source", progress)
    reading.require_labels("the source must say what its images are: add `labels`.")
    outputs = reading.outputs
    without = () if outputs.reference is not None else ("reference",)
    usual = tuple(name for name in DECIDING if not set(without) & set(find_estimator(name).needs))
    names = settings.estimators or usual
    fit_all(names, outputs, outputs)  # refuses what cannot be had
    warnings = remarks(reading)
    watch = Watch(outputs, reading.side, source.classnames, settings, names, Measured(), warnings, made or {})
    quoting = watch.quoting(watch.measured, progress)
    quoting.require_testable()
    for size in sizes:
        if size < 1:
            raise OpenworldError(f"{size} images of a period are none; give how many it usually has.")
        if quoting.first is None:
            quoting.of_source(DECIDING[0], size)
        quoting.shift_test(size)
        if settings.alert is not None:
            quoting.limit(size)
    return watch


@dataclass(frozen=True)
class FileRecord:
    """A file that was counted."""

    name: str
    sha256: str  # of its bytes, "" of what is no file
    content: str  # SHA-256 of scores and time stamps
    n: int
    first: int  # number of the first period that it finished
    last: int  # of the last one, which is excluded


@dataclass(frozen=True)
class SheetRecord:
    """A sheet of labels that was read."""

    name: str
    content: str  # SHA-256 of what it says
    n: int
    after: int  # how many periods were finished then
    found: tuple[tuple[int, PeriodLabels], ...]  # what it says, by number of the period
    left_out: int = 0  # labels of images that were no longer kept


@dataclass(frozen=True, eq=False)
class OpenPeriod:
    """A period that is not finished, or is about to be: its images so far, or a sample of them, and when they came."""

    span: Span
    began: str = ""
    ended: str = ""
    images: np.ndarray | None = None  # what the files call the images of the sample, text [m]


@dataclass(frozen=True, eq=False)
class KeptPeriod:
    """The images of a finished period, or of its sample, for labels that come later; a few bytes an image."""

    number: int
    first: int  # place of its first image among all that were counted
    rows: np.ndarray  # int64[m], places of these images
    predicted: np.ndarray  # int[m], the class that each is named as
    expected: np.ndarray  # float32[m], its calibrated confidence, fixed before any label came
    packed: np.ndarray | None = None  # uint8[k], what files call the images, as compressed JSON

    @classmethod
    def of(cls, watch: Watch, number: int, period: OpenPeriod) -> "KeptPeriod":
        span, packed = period.span, None
        outputs = span.sample.outputs
        expected = confidences(outputs.logits, temperature_of(watch.outputs).value).astype(np.float32)
        predicted = outputs.predictions.astype(np.min_scalar_type(outputs.classes))
        if period.images is not None:
            text = json.dumps(period.images.tolist(), separators=(",", ":"), ensure_ascii=False)
            packed = np.frombuffer(zlib.compress(text.encode()), np.uint8)
        return cls(number, span.first, span.first + span.sample.rows, predicted, expected, packed)

    @property
    def key(self) -> str:
        """The column of a worksheet that names these images: `id`, or `row` where the files name none."""
        return ROW if self.packed is None else IMAGE_COLUMNS[0]

    def images(self, key: str) -> ImagesAtHand | None:
        """Return the images as a column of a worksheet names them; None where that is not known."""
        if key == ROW:
            names = self.rows
        elif self.packed is None:
            return None
        else:
            names = json.loads(zlib.decompress(self.packed.tobytes()))
        return ImagesAtHand(np.array(names).astype(str), self.predicted.astype(np.int64), self.expected.astype(float))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays, by the names of entries in a state; without rows where they are all of a period."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        if self.rows[-1] == self.first + len(self.rows) - 1:
            arrays["rows"] = None
        return {f"kept.{self.number}.{name}": array for name, array in arrays.items() if array is not None}

    @classmethod
    def in_state(cls, number: int, first: int, arrays: Mapping[str, np.ndarray]) -> "KeptPeriod":
        prefix = f"kept.{number}."
        parts = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        parts.setdefault("rows", first + np.arange(len(parts["predicted"])))
        return cls(number, first, **parts)


@dataclass(frozen=True, eq=False)
class WatchState:
    """Where a watch stands."""

    watch: str  # fingerprint of what was fitted
    last: str = ""  # time stamp of the last image, or ""
    n: int = 0  # images in all
    closed: int | None = None  # key of the last finished period
    records: tuple[Period, ...] = ()
    files: tuple[FileRecord, ...] = ()
    opened: OpenPeriod | None = None
    measured: Measured = field(default_factory=Measured)  # on sizes that were not measured when the watch was fitted
    kept: tuple[KeptPeriod, ...] = ()  # the images of the last finished periods
    sheets: tuple[SheetRecord, ...] = ()

    def write(self, path: Path) -> None:
        about = {name: getattr(self, name) for name in (*PLAIN, "records", "files", "sheets")}
        about |= {"measured": self.measured.about(), "kept": [period.number for period in self.kept], "opened": None}
        arrays = dict(self.measured.arrays())
        for period in self.kept:
            arrays |= period.arrays()
        if self.opened is not None:
            span, sample = self.opened.span, self.opened.span.sample
            about["opened"] = {"key": span.key, "first": span.first, "n": sample.n}
            about["opened"] |= {name: getattr(self.opened, name) for name in ("began", "ended", "images")}
            arrays |= {"rows": sample.rows} | tables_of(sample.outputs)
        write_arrays(path, STATE, to_json(about), arrays)


def read_state(path: Path, watch: Watch) -> WatchState:
    """Return the state in a file, or a new one where there is none; refuse that of another watch."""
    if not path.exists():
        return WatchState(watch.fingerprint)
    return read_arrays(path, STATE, partial(_state_of, path, watch))


def _state_of(
    path: Path, watch: Watch, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], _: str
) -> WatchState:
    if about["watch"] != watch.fingerprint:
        raise OpenworldError(
            f"{path} belongs to another fit (fingerprint {about['watch'][:12]}, given {watch.fingerprint[:12]}): its "
            "numbers do not go on with this one. Name another --state, or give the file it was made with."
        )
    opened = about["opened"]
    if opened is not None:
        sample = Sample(outputs_of(arrays), arrays["rows"].astype(np.int64), opened["n"])
        images = None if opened["images"] is None else np.array(opened["images"], str)
        opened = OpenPeriod(Span(opened["key"], opened["first"], sample), opened["began"], opened["ended"], images)
    records = tuple(read_spec(record, Period) for record in about["records"])
    return WatchState(
        **{name: about[name] for name in PLAIN},
        records=records,
        files=tuple(read_spec(file, FileRecord) for file in about["files"]),
        opened=opened,
        measured=Measured.of(about["measured"], arrays),
        kept=tuple(KeptPeriod.in_state(number, records[number].first, arrays) for number in about["kept"]),
        sheets=tuple(read_spec(sheet, SheetRecord) for sheet in about["sheets"]),
    )
