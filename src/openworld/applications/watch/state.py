"""The state of a watch: what tomorrow's call needs to go on where today's ended, in one small file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import Alarm, ChunkEstimate, PeriodLabels, ShiftAlarm
from openworld.applications.watch.fitted import Measured, Watch, outputs_of, tables_of
from openworld.applications.watch.kept import KeptPeriod, kept_of
from openworld.estimators.quote import Quote
from openworld.estimators.quote.shift_signs import ShiftSigns
from openworld.estimators.quote.spans import Span
from openworld.estimators.streaming import Sample
from openworld.runs import to_json
from openworld.runs.sealed_arrays import read_arrays, write_arrays

STATE = "the state of `openworld estimate watch`"
PLAIN = ("watch", "statistic", "shift_statistic", "last", "n", "closed")  # fields that are JSON as they are


@dataclass(frozen=True)
class PeriodRecord:
    """A finished period."""

    number: int  # from 0
    chunk: ChunkEstimate  # what is estimated of it without labels; statistics of alarms in their limits
    signs: ShiftSigns  # how far it lies from the source
    began: str = ""  # time stamp of its first image, or ""
    ended: str = ""
    file: str = ""  # that finished it
    further: Mapping[str, Any] = field(default_factory=dict)  # its cause, labels and correction, as JSON

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "PeriodRecord":
        """Return it of its JSON."""
        chunk = data["chunk"]
        quote = chunk["quote"] | {"signs": chunk["quote"]["signs"] and ShiftSigns.of(chunk["quote"]["signs"])}
        ranges = {"on_source": None if chunk["on_source"] is None else tuple(chunk["on_source"])}
        made = {"quote": Quote(**quote), "alarm": chunk["alarm"] and Alarm(**chunk["alarm"])}
        made["shift_alarm"] = chunk["shift_alarm"] and ShiftAlarm(**chunk["shift_alarm"])
        signs = ShiftSigns.of(data["signs"])
        return cls(**(data | {"chunk": ChunkEstimate(**(chunk | ranges | made)), "signs": signs}))


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

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "SheetRecord":
        """Return it of its JSON."""
        found = tuple((number, PeriodLabels.of(labelled)) for number, labelled in data["found"])
        return cls(**(data | {"found": found}))


@dataclass(frozen=True, eq=False)
class OpenPeriod:
    """A period that is not finished, or is about to be: its images so far, or a sample of them, and when they came."""

    span: Span
    began: str = ""
    ended: str = ""
    images: np.ndarray | None = None  # what the files call the images of the sample, text [m]


@dataclass(frozen=True, eq=False)
class WatchState:
    """Where a watch stands."""

    watch: str  # fingerprint of what was fitted
    statistic: float = 0.0  # of the accuracy alarm, in limits
    shift_statistic: float = 0.0
    last: str = ""  # time stamp of the last image, or ""
    n: int = 0  # images in all
    closed: int | None = None  # key of the last finished period
    records: tuple[PeriodRecord, ...] = ()
    files: tuple[FileRecord, ...] = ()
    opened: OpenPeriod | None = None
    measured: Measured = field(default_factory=Measured)  # on sizes that were not measured when the watch was fitted
    kept: tuple[KeptPeriod, ...] = ()  # the images of the last finished periods
    sheets: tuple[SheetRecord, ...] = ()

    def write(self, path: Path) -> None:
        """Write it in one step."""
        about = {name: getattr(self, name) for name in (*PLAIN, "records", "files", "sheets")}
        about |= {"measured": self.measured.about(), "kept": [period.number for period in self.kept], "opened": None}
        arrays = dict(self.measured.arrays())
        for period in self.kept:
            arrays |= period.arrays()
        if self.opened is not None:
            span = self.opened.span
            about["opened"] = {
                "key": span.key,
                "first": span.first,
                "n": span.sample.n,
                "began": self.opened.began,
                "ended": self.opened.ended,
                "images": self.opened.images,
            }
            arrays |= {"rows": span.sample.rows} | tables_of(span.sample.outputs)
        write_arrays(path, STATE, to_json(about), arrays)


def read_state(path: Path, watch: Watch) -> WatchState:
    """Return the state in a file, or a new one where there is none; refuse that of another watch."""
    if not path.exists():
        return WatchState(watch.fingerprint)
    return read_arrays(path, STATE, partial(_state_of, path, watch))


def _state_of(
    path: Path, watch: Watch, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], _: str
) -> WatchState:
    """Return the state of what a file says."""
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
    records = tuple(map(PeriodRecord.of, about["records"]))
    return WatchState(
        **{name: about[name] for name in PLAIN},
        records=records,
        files=tuple(FileRecord(**file) for file in about["files"]),
        opened=opened,
        measured=Measured.of(about["measured"], arrays),
        kept=kept_of({number: records[number].chunk.first for number in about["kept"]}, arrays),
        sheets=tuple(map(SheetRecord.of, about["sheets"])),
    )
