"""Another file of a watch: its images are read once, periods that end are judged, and the alarms go on."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from openworld._errors import OpenworldError
from openworld.estimators import FittedEstimator, Outputs
from openworld.estimators.quote.spans import spans
from openworld.label_free.estimate.inputs import sha256_of
from openworld.label_free.estimate.late_labels import corrected
from openworld.label_free.estimate.period import Period
from openworld.label_free.estimate.periods import Judge, Keyed, as_times, name_of
from openworld.label_free.estimate.quotes import Measured, Quoting
from openworld.label_free.estimate.reading import Progress, blocks_of, require_logits
from openworld.label_free.estimate.score_tables import ScoreBlock, ScoreTable
from openworld.label_free.watch.fitted import VECTORS, Watch
from openworld.label_free.watch.state import KEPT, FileRecord, KeptPeriod, OpenPeriod, WatchState
from openworld.tables.probabilities import are_probabilities

AHEAD = np.timedelta64(366, "D")  # by which a time stamp may be ahead of the clock, or of the images before


class Followed(NamedTuple):
    """What became of a file. again: whether it had been counted before. records: the periods that it finished."""

    state: WatchState
    file: FileRecord
    again: bool

    @property
    def records(self) -> tuple[Period, ...]:
        """The periods that the file finished, then or now."""
        return self.state.records[self.file.first : self.file.last]


@dataclass(frozen=True, eq=False)
class Follower:
    """A fitted watch at work."""

    watch: Watch
    fitted: Mapping[str, FittedEstimator]
    quoting: Quoting
    progress: Progress | None = None

    @classmethod
    def of(cls, watch: Watch, state: WatchState, progress: Progress | None = None) -> "Follower":
        """Fit the methods again on the source, and gather what was measured."""
        return cls(watch, watch.fit(), watch.quoting(watch.measured.joined(state.measured), progress), progress)

    def follow(self, state: WatchState, table: ScoreTable) -> Followed:
        """Add a file; refuse images that came before others, or of a period that was closed."""
        file = table.files[0].path
        sha256 = sha256_of(file)
        known = [each for each in state.files if sha256 and each.sha256 == sha256]
        if known:
            return Followed(state, known[0], True)
        reading = _Reading(self.watch, state, table, self.progress)
        after, opened = state, None
        opening = state.opened and state.opened.span
        for span in spans(reading, seed=self.watch.settings.seed, opened=opening, before=state.n):
            if opened is not None:
                after = self._finish(after, reading.period(opened), file.name)
            opened = span
        known = [each for each in state.files if each.content == reading.content]
        if known:
            return Followed(state, known[0], True)
        if reading.refusal:
            raise OpenworldError(reading.refusal)
        period = reading.period(opened)
        settings = self.watch.settings
        # A file ends a period where it is one, and so do as many rows as a period has.
        if opened.sample.n == settings.chunk_rows or not settings.cuts:
            after, period = self._finish(after, period, file.name), None
        record = FileRecord(file.name, sha256, reading.content, reading.n, len(state.records), len(after.records))
        after = replace(
            after,
            last=reading.last,
            n=state.n + reading.n,
            files=(*state.files, record),
            opened=period,
            measured=self.measured_since,
        )
        return Followed(after, record, False)

    def close(self, state: WatchState) -> WatchState:
        """Finish the period that is not finished, if there is one; it then counts as finished by the last file."""
        if self.watch.settings.chunk_rows:
            raise OpenworldError("--close is for periods of the calendar; one of so many rows ends with its last row.")
        if state.opened is None:
            return state
        *before, last = state.files
        after = self._finish(state, state.opened, last.name)
        files = (*before, replace(last, last=len(after.records)))
        return replace(after, files=files, opened=None, measured=self.measured_since)

    @property
    def measured_since(self) -> Measured:
        """What was measured since the watch was fitted."""
        return self.quoting.measured.without(self.watch.measured)

    def look(self, state: WatchState) -> Period | None:
        """Return what is found of the period that is not finished, without an alarm; None where there is none."""
        return None if state.opened is None else self._judged(state, state.opened, "", ends=False)[0]

    def _finish(self, state: WatchState, period: OpenPeriod, file: str) -> WatchState:
        record, judge = self._judged(state, period, file, ends=True)
        return replace(
            state,
            records=(*state.records, record),
            closed=period.span.key,
            kept=(*state.kept, KeptPeriod.of(self.watch, record.number, period))[-KEPT:],
            statistic=judge.statistic,
            shift_statistic=judge.shift_statistic,
        )

    def _judged(self, state: WatchState, period: OpenPeriod, file: str, *, ends: bool) -> tuple[Period, Judge]:
        before, beside = (state.statistic, state.shift_statistic), self.quoting.first is None
        judge = Judge(self.quoting, self.fitted, *before, beside)
        label = name_of(self.watch.settings, period.span, period.began, file)
        found = judge.judge(period.span, len(state.records), label, period.images, ends=ends)
        found = replace(found, began=period.began, ended=period.ended, file=file)
        return corrected(found, state.records, self.watch.source.accuracy), judge


class _Reading:
    """The images of a file with the keys of their periods; iterate over it once."""

    # `refusal` says why the file cannot be counted; it is read to its end all the same, for it may have been counted.

    def __init__(self, watch: Watch, state: WatchState, table: ScoreTable, progress: Progress | None):
        self.watch, self.state, self.table, self.progress = watch, state, table, progress
        self.n, self.last, self.refusal, self._softmax, self._digest = 0, state.last, "", 0, hashlib.sha256()
        self._images: dict[int, list[tuple[np.ndarray, np.ndarray | None]]] = {}
        times = {}
        if state.opened is not None:
            span = state.opened.span
            times[span.key] = state.opened.began, state.opened.ended
            self._images[span.key] = [(span.first + span.sample.rows, state.opened.images)]
        self._keyed = Keyed(self._blocks(), watch.settings, 0, state.n, times)

    def __iter__(self) -> Iterator[tuple[Outputs, np.ndarray]]:
        files = len(self.state.files)
        pieces = iter(self._keyed)
        if not self.watch.settings.cuts:
            pieces = ((block.outputs, np.full(block.outputs.n, files)) for block in self._keyed.blocks)
        for outputs, keys in pieces:
            self.refusal = self.refusal or ("" if self.n else self._refusal(keys)) or self._ahead()
            if not self.refusal:
                self._note(keys)
                yield outputs, keys
            self.n += outputs.n
        if not self.n:
            raise OpenworldError(f"{self.table.name} holds no image; there is nothing to estimate.")
        require_logits(self.table, self._softmax, self.n)

    @property
    def content(self) -> str:
        """SHA-256 of what was read."""
        return self._digest.hexdigest()

    def period(self, span) -> OpenPeriod:
        """Return what is known of a span."""
        rows, images = zip(*self._images.pop(span.key), strict=True)
        if any(names is None for names in images):
            found = None
        else:
            places = np.searchsorted(np.concatenate(rows), span.first + span.sample.rows)
            found = np.concatenate([names.astype(str) for names in images])[places]
        return OpenPeriod(span, *self._keyed.times.get(span.key, ("", "")), found)

    def _blocks(self) -> Iterator[ScoreBlock]:
        for block in blocks_of(self.table, "reading", self.progress):
            outputs = self._needed(block.outputs)
            self._softmax += int(are_probabilities(outputs.logits).sum())
            self._digest.update(np.ascontiguousarray(outputs.logits, np.float32))
            self._block = block._replace(outputs=outputs)
            if block.times is not None:
                self._block = self._block._replace(times=as_times(block.times))
                self._digest.update(self._block.times.astype(np.int64))
            yield self._block

    def _needed(self, outputs: Outputs) -> Outputs:
        """Return what the methods look at, without labels; and vectors of images, where the source has them, too."""
        classes, needs = self.watch.outputs.classes, self.watch.needs
        if outputs.classes != classes:
            raise OpenworldError(
                f"{self.table.name} has {outputs.classes} classes and the watch was fitted with {classes}; score both "
                "with the same model for the same class names."
            )
        for name in sorted(needs):
            if getattr(outputs, name) is None or not len(getattr(outputs, name)):
                raise OpenworldError(
                    f"{self.table.name} has no {name}, which the watch was fitted with; give the same tables in every "
                    "file, or fit it without."
                )
        vectors = {name: getattr(outputs, name) for name in VECTORS}
        for name, rows in vectors.items():
            known = getattr(self.watch.outputs, name)
            if rows is not None and known is not None and rows.shape[1] != known.shape[1]:
                raise OpenworldError(
                    f"{self.table.name} has {rows.shape[1]} numbers of {name} an image and the watch was fitted with "
                    f"{known.shape[1]}; take them from one model."
                )
        reference = outputs.reference if "reference" in needs else None
        partners = outputs.partners if "partners" in needs else ()
        return Outputs(outputs.logits, None, reference, partners, **vectors)

    def _refusal(self, keys: np.ndarray) -> str:
        """Return why the first images are too late; "" where they are not."""
        state, settings = self.state, self.watch.settings
        if self._block.times is None:
            return ""
        name, first = self.table.name, self._block.times[0]
        if state.last and first < np.datetime64(state.last):
            return (
                f"{name} begins at {first}, before {state.last}, up to which images were counted: give files in the "
                "order of time, and every image once."
            )
        if settings.period and state.closed is not None and keys[0] <= state.closed:
            return (
                f"{name} has images of {settings.beginning(int(keys[0]))}, a period that was closed and counted: close "
                "a period with its last file."
            )
        return ""

    def _ahead(self) -> str:
        """Return why images cannot have come yet: one wrong year would close the watch for all that come after it."""
        if self._block.times is None:
            return ""
        latest = max(np.datetime64("now"), np.datetime64(self.state.last or "now")) + AHEAD
        if self._block.times.max() <= latest:
            return ""
        return (
            f"{self.table.name} has an image of {self._block.times.max()}, more than a year ahead of the clock and of "
            "all images before: mend its time stamp, or the clock."
        )

    def _note(self, keys: np.ndarray) -> None:
        """Note what the images of every period are called, and when the last one came."""
        times, images = self._block.times, self._block.images
        for key in np.unique(keys):
            places = np.flatnonzero(keys == key)
            names = None if images is None else images[places]
            self._images.setdefault(int(key), []).append((self.state.n + self.n + places, names))
        self.last = self.last if times is None else str(times[-1])
