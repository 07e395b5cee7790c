"""Another file of a watch: its images are read once, periods that end are judged, and the alarms go on."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from openworld._errors import OpenworldError
from openworld.estimators import Outputs
from openworld.estimators.quote.spans import Span, spans
from openworld.label_free.estimate.accuracy_estimate import Period
from openworld.label_free.estimate.inputs import sha256_of
from openworld.label_free.estimate.late_labels import corrected
from openworld.label_free.estimate.periods import Judge, Keyed, name_of
from openworld.label_free.estimate.quotes import Measured
from openworld.label_free.estimate.reading import Progress, blocks_of, require_logits
from openworld.label_free.estimate.score_tables import ScoreTable
from openworld.label_free.watch.fitted import VECTORS, Watch
from openworld.label_free.watch.state import KEPT, FileRecord, KeptPeriod, OpenPeriod, WatchState
from openworld.tables.probabilities import are_probabilities

AHEAD = np.timedelta64(366, "D")  # by which a time stamp may be ahead of the clock, or of the images before


class Followed(NamedTuple):
    """What became of a file. again: whether it had been counted before."""

    file: FileRecord
    again: bool = False


class Follower:
    """A fitted watch at work: its methods are fitted again on the source, and its state goes on with every file."""

    def __init__(self, watch: Watch, state: WatchState, progress: Progress | None = None):
        self.watch, self.state, self.progress = watch, state, progress
        self.fitted, self.quoting = watch.fit(), watch.quoting(watch.measured.joined(state.measured), progress)

    def follow(self, table: ScoreTable) -> Followed:
        """Add a file; refuse images that came before others, or of a period that was closed."""
        state, settings, name = self.state, self.watch.settings, table.files[0].path.name
        sha256 = sha256_of(table.files[0].path)
        known = [each for each in state.files if sha256 and each.sha256 == sha256]
        if known:
            return Followed(known[0], True)
        reading = _Reading(self.watch, state, table, self.progress)
        after, opened = state, None
        opening = state.opened and state.opened.span
        for span in spans(reading, seed=settings.seed, opened=opening, before=state.n):
            if opened is not None:
                after = self._finish(after, reading.period(opened), name)
            opened = span
        content = reading.digest.hexdigest()
        known = [each for each in state.files if each.content == content]
        if known:
            return Followed(known[0], True)
        if reading.refusal:
            raise OpenworldError(reading.refusal)
        period = reading.period(opened)
        # A file ends a period where it is one, and so do as many rows as a period has.
        if opened.sample.n == settings.chunk_rows or not settings.cuts:
            after, period = self._finish(after, period, name), None
        record = FileRecord(name, sha256, content, reading.n, len(state.records), len(after.records))
        files, n = (*state.files, record), state.n + reading.n
        self.state = replace(after, last=reading.last, n=n, files=files, opened=period, measured=self.measured_since)
        return Followed(record)

    def close(self) -> None:
        """Finish the period that is not finished, if there is one; it then counts as finished by the last file."""
        if self.watch.settings.chunk_rows:
            raise OpenworldError("--close is for periods of the calendar; one of so many rows ends with its last row.")
        if self.state.opened is not None:
            *before, last = self.state.files
            after = self._finish(self.state, self.state.opened, last.name)
            files = (*before, replace(last, last=len(after.records)))
            self.state = replace(after, files=files, opened=None, measured=self.measured_since)

    @property
    def measured_since(self) -> Measured:
        return self.quoting.measured.without(self.watch.measured)

    def look(self) -> Period | None:
        """Return what is found of the period that is not finished, without an alarm; None where there is none."""
        opened = self.state.opened
        return None if opened is None else self._judged(self.state, opened, "", ends=False)[0]

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
        beside = self.quoting.first is None
        judge = Judge(self.quoting, self.fitted, state.statistic, state.shift_statistic, beside)
        label = name_of(self.watch.settings, period.span, period.began, file)
        found = judge.judge(period.span, len(state.records), label, period.images, ends=ends)
        found = replace(found, began=period.began, ended=period.ended, file=file)
        return corrected(found, state.records, self.watch.source.accuracy), judge


class _Reading:
    """The images of a file with the keys of their periods; iterate over it once."""

    # `refusal` says why the file cannot be counted; it is read to its end all the same, for it may have been counted.

    def __init__(self, watch: Watch, state: WatchState, table: ScoreTable, progress: Progress | None):
        self.watch, self.state, self.table, self.progress = watch, state, table, progress
        self.n, self.last, self.refusal, self.digest = 0, state.last, "", hashlib.sha256()
        self._images: dict[int, list[tuple[np.ndarray, np.ndarray | None]]] = {}
        times, opened = {}, state.opened
        if opened is not None:
            times[opened.span.key] = opened.began, opened.ended
            self._images[opened.span.key] = [(opened.span.first + opened.span.sample.rows, opened.images)]
        self._keyed = Keyed(blocks_of(table, "reading", progress), watch.settings, 0, state.n, times)

    def __iter__(self) -> Iterator[tuple[Outputs, np.ndarray]]:
        pieces, softmax, number = self._keyed, 0, len(self.state.files)
        if not self.watch.settings.cuts:
            pieces = ((block, np.full(block.outputs.n, number)) for block in self._keyed.blocks)
        for block, keys in pieces:
            outputs = self._needed(block.outputs)
            softmax += int(are_probabilities(outputs.logits).sum())
            self.digest.update(np.ascontiguousarray(outputs.logits, np.float32))
            if block.times is not None:
                self.digest.update(block.times.astype(np.int64))
                self.refusal = self.refusal or self._refusal(block.times, int(keys[0]))
            if not self.refusal:
                for key in np.unique(keys):
                    places = np.flatnonzero(keys == key)
                    names = None if block.images is None else block.images[places]
                    self._images.setdefault(int(key), []).append((self.state.n + self.n + places, names))
                self.last = self.last if block.times is None else str(block.times[-1])
                yield outputs, keys
            self.n += outputs.n
        if not self.n:
            raise OpenworldError(f"{self.table.name} holds no image; there is nothing to estimate.")
        require_logits(self.table, softmax, self.n)

    def period(self, span: Span) -> OpenPeriod:
        """Return what is known of a span: when its first and last image came, and what its images are called."""
        rows, images = zip(*self._images.pop(span.key), strict=True)
        found = None
        if all(names is not None for names in images):
            places = np.searchsorted(np.concatenate(rows), span.first + span.sample.rows)
            found = np.concatenate([names.astype(str) for names in images])[places]
        return OpenPeriod(span, *self._keyed.times.get(span.key, ("", "")), found)

    def _needed(self, outputs: Outputs) -> Outputs:
        """Return what the methods look at, without labels; and vectors of images, where the source has them, too."""
        name, own, needs = self.table.name, self.watch.outputs, self.watch.needs
        if outputs.classes != own.classes:
            raise OpenworldError(
                f"{name} has {outputs.classes} classes and the watch was fitted with {own.classes}; score both with "
                "the same model for the same class names."
            )
        for need in sorted(needs):
            if getattr(outputs, need) is None or not len(getattr(outputs, need)):
                raise OpenworldError(
                    f"{name} has no {need}, which the watch was fitted with; give the same tables in every file, or "
                    "fit it without."
                )
        vectors = {vector: getattr(outputs, vector) for vector in VECTORS}
        for vector, rows in vectors.items():
            known = getattr(own, vector)
            if rows is not None and known is not None and rows.shape[1] != known.shape[1]:
                raise OpenworldError(
                    f"{name} has {rows.shape[1]} numbers of {vector} an image and the watch was fitted with "
                    f"{known.shape[1]}; take them from one model."
                )
        reference = outputs.reference if "reference" in needs else None
        partners = outputs.partners if "partners" in needs else ()
        return Outputs(outputs.logits, None, reference, partners, **vectors)

    def _refusal(self, times: np.ndarray, key: int) -> str:
        """Return why the first images are too late, or why some cannot have come yet; "" where all is well."""
        state, settings, name = self.state, self.watch.settings, self.table.name
        if not self.n and state.last and times[0] < np.datetime64(state.last):
            return (
                f"{name} begins at {times[0]}, before {state.last}, up to which images were counted: give files in the "
                "order of time, and every image once."
            )
        if not self.n and settings.period and state.closed is not None and key <= state.closed:
            return (
                f"{name} has images of {settings.beginning(key)}, a period that was closed and counted: close a period "
                "with its last file."
            )
        # One wrong year would close the watch for all that come after it.
        if times.max() > max(np.datetime64("now"), np.datetime64(state.last or "now")) + AHEAD:
            return (
                f"{name} has an image of {times.max()}, more than a year ahead of the clock and of all images before: "
                "mend its time stamp, or the clock."
            )
        return ""
