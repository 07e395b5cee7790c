"""What is added to the state of a watch: another file, and labels that arrive when their periods have been counted.

The images of a file are read once, periods that end are judged, and the alarms go on. Labels give intervals that hold,
and correct later periods; a sheet is recognised by its content and read once. What the alarm tests is what was found
without labels.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError, present
from openworld.core.plain_files import sha256_of
from openworld.estimators import Outputs
from openworld.estimators.streaming import Span, spans
from openworld.label_free.estimate.accuracy_estimate import Period
from openworld.label_free.estimate.late_labels import (
    ROW,
    SHEET,
    ImagesAtHand,
    LateLabels,
    corrected,
    labels_by_period,
    places_of,
    worksheet,
)
from openworld.label_free.estimate.periods import Times, judge, keyed, name_of
from openworld.label_free.estimate.quotes import Measured
from openworld.label_free.estimate.reading import Progress, ScoreTable, require_logits
from openworld.label_free.watch.state import (
    KEPT,
    VECTORS,
    FileRecord,
    KeptPeriod,
    OpenPeriod,
    SheetRecord,
    Watch,
    WatchState,
)
from openworld.labels import PlanSettings
from openworld.tables.judged import IMAGE_COLUMNS
from openworld.tables.probabilities import are_probabilities

AHEAD = np.timedelta64(366, "D")  # by which a time stamp may be ahead of the clock, or of the images before


class Follower:
    """A fitted watch at work: its methods are fitted again on the source, and its state goes on with every file."""

    def __init__(self, watch: Watch, state: WatchState, progress: Progress | None = None):
        self.watch, self.state, self.progress = watch, state, progress
        self.quoting = watch.quoting(watch.measured.joined(state.measured), progress)
        self.fitted = {name: method.fit(watch.outputs) for name, method in self.quoting.estimators.items()}

    def follow(self, table: ScoreTable) -> tuple[FileRecord, bool]:
        """Add a file; return it, and whether it was counted before; refuse images that come too late or too early."""
        state, settings, path = self.state, self.watch.settings, table.files[0].path
        name, sha256 = path.name, sha256_of(path) if path.is_file() else ""
        counted = [each for each in state.files if sha256 and each.sha256 == sha256]
        if counted:
            return counted[0], True
        reading = _Reading(self.watch, state, table, self.progress)
        after, opened = state, None
        opening = None if state.opened is None else state.opened.span
        for span in spans(reading, seed=settings.seed, opened=opening, before=state.n):
            if opened is not None:
                after = self._finish(after, reading.period(opened), name)
            opened = span
        content = reading.digest.hexdigest()
        counted = [each for each in state.files if each.content == content]
        if counted:
            return counted[0], True
        if reading.refusal:
            raise OpenworldError(reading.refusal)
        period = reading.period(present(opened, "a period, of at least one image,"))
        # A file ends a period where it is one, and so do as many rows as a period has.
        if period.span.sample.n == settings.chunk_rows or not settings.cuts:
            after, period = self._finish(after, period, name), None
        record = FileRecord(name, sha256, content, reading.n, len(state.records), len(after.records))
        files, n = (*state.files, record), state.n + reading.n
        self.state = replace(after, last=reading.last, n=n, files=files, opened=period, measured=self.measured_since)
        return record, False

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
        return None if opened is None else self._judged(self.state, opened, "", ends=False)

    def _finish(self, state: WatchState, period: OpenPeriod, file: str) -> WatchState:
        record = self._judged(state, period, file, ends=True)
        last_periods = (*state.kept, KeptPeriod.of(self.watch, record.number, period))[-KEPT:]
        return replace(state, records=(*state.records, record), closed=period.span.key, kept=last_periods)

    def _judged(self, state: WatchState, period: OpenPeriod, file: str, *, ends: bool) -> Period:
        before, quoting = state.records[-1] if state.records else None, self.quoting
        label = name_of(self.watch.settings, period.span, period.began, file)
        options = {"ends": ends, "beside": quoting.first is None}
        record = judge(quoting, self.fitted, period.span, before, label, period.images, **options)
        record = replace(record, began=period.began, ended=period.ended, file=file)
        return corrected(record, state.records, self.watch.source.right)


class _Reading:
    """The images of a file with the keys of their periods; iterate over it once."""

    # `refusal` says why the file cannot be counted; it is read to its end all the same, for it may have been counted.

    def __init__(self, watch: Watch, state: WatchState, table: ScoreTable, progress: Progress | None):
        self.watch, self.state, self.table, self.progress = watch, state, table, progress
        self.n, self.last, self.refusal, self.digest = 0, state.last, "", hashlib.sha256()
        self._images: dict[int, list[tuple[np.ndarray, np.ndarray | None]]] = {}
        self._times = Times()
        if (opened := state.opened) is not None:
            self._times[opened.span.key] = opened.began, opened.ended
            self._images[opened.span.key] = [(opened.span.first + opened.span.sample.rows, opened.images)]

    def __iter__(self) -> Iterator[tuple[Outputs, np.ndarray]]:
        blocks, softmax, number = self.table.scores("reading", self.progress), 0, len(self.state.files)
        pieces = ((block, np.full(block.outputs.n, number)) for block in blocks)
        if self.watch.settings.cuts:
            pieces = keyed(blocks, self.watch.settings, 0, self._times, self.state.n)
        for block, keys in pieces:
            outputs = self._needed(block.outputs)
            softmax += int(are_probabilities(outputs.logits).sum())
            self.digest.update(np.ascontiguousarray(outputs.logits, np.float32).data)
            if block.times is not None:
                self.digest.update(block.times.astype(np.int64).data)
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
        sample_names = None
        if all(names is not None for names in images):
            places = np.searchsorted(np.concatenate(rows), span.first + span.sample.rows)
            sample_names = np.concatenate([names.astype(str) for names in images])[places]
        return OpenPeriod(span, *self._times.get(span.key, ("", "")), sample_names)

    def _needed(self, outputs: Outputs) -> Outputs:
        """Return what the methods look at, without labels; and vectors of images, where the source has them, too."""
        name, home, needs = self.table.name, self.watch.outputs, self.watch.needs
        if outputs.classes != home.classes:
            raise OpenworldError(
                f"{name} has {outputs.classes} classes and the watch was fitted with {home.classes}; score both with "
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
            expected = getattr(home, vector)
            if rows is not None and expected is not None and rows.shape[1] != expected.shape[1]:
                raise OpenworldError(
                    f"{name} has {rows.shape[1]} numbers of {vector} an image and the watch was fitted with "
                    f"{expected.shape[1]}; take them from one model."
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


def read_labels(watch: Watch, state: WatchState, late: LateLabels) -> tuple[WatchState, SheetRecord]:
    """Let labels speak for the finished periods that they are of; refuse images of no period that is kept.

    Returns the state, the very same where the sheet had been read before, and the sheet.
    """
    earlier = [sheet for sheet in state.sheets if sheet.content == late.content]
    if earlier:
        return state, earlier[0]
    images_of = {period: period.images(late.key) for period in state.kept}
    images_of = {period: images for period, images in images_of.items() if images is not None}
    if not images_of:
        has = f"name their images by `{state.kept[-1].key}`" if state.kept else "have no image that is kept"
        raise OpenworldError(
            f"the labels name images by {late.key}, and the {len(state.kept)} finished periods that are kept {has}; "
            "`row` counts all images of the watch from 0."
        )
    names = ("ids", "predicted", "expected")
    images = ImagesAtHand(*(np.concatenate([getattr(each, name) for each in images_of.values()]) for name in names))
    places = places_of(late, images.ids)
    there = np.flatnonzero(places >= 0)
    _require_kept(state, late, there, [period.number for period in images_of])
    spots, first = {}, 0
    for period in images_of:
        spots[period.number] = first, len(period.rows), state.records[period.number].sampled is not None
        first += len(period.rows)
    classes, names = watch.outputs.classes, watch.classnames
    by_period = labels_by_period(images, late.take(there), places[there], spots, classes, names)
    records, left_out = list(state.records), len(places) - len(there)
    sheet = SheetRecord(late.name, late.content, len(late.ids), len(records), tuple(by_period.items()), left_out)
    for number, labelled in by_period.items():
        before = records[number].labelled
        # What gives no number takes no place of what did.
        if labelled.accuracy is not None or before is None or before.accuracy is None:
            records[number] = replace(records[number], labelled=labelled)
    return replace(state, records=tuple(records), sheets=(*state.sheets, sheet)), sheet


def _require_kept(state: WatchState, late: LateLabels, there: np.ndarray, numbers: Sequence[int]) -> None:
    """Refuse labels of images that were never counted; those of a period that is no longer kept are left out."""
    everything = len(numbers) == len(state.records) and all(record.sampled is None for record in state.records)
    if len(there) == len(late.ids) or (len(there) and not everything):
        return
    unknown = str(np.delete(late.ids, there)[0])
    first, last = (state.records[number].label for number in (numbers[0], numbers[-1]))
    opened, way = state.opened, "labels are read before new files."
    if opened is not None:
        names = opened.span.first + opened.span.sample.rows if late.key == ROW else opened.images
        if names is not None and unknown in set(map(str, names)):
            way = "it is of the period that is not finished: give its labels when it is (--close)."
    raise OpenworldError(
        f"{len(late.ids) - len(there)} of {len(late.ids)} images of {late.name} are of no finished period that is kept "
        f"({first} to {last}), the first {unknown!r}; {way}"
    )


def proposed_labels(watch: Watch, state: WatchState, n: int) -> tuple[str, bytes]:
    """Return the name of a worksheet and the sheet: about n images of the last finished period, which tell most."""
    if not state.kept:
        raise OpenworldError("--propose is for the last finished period, and none is kept: finish it with --close.")
    last = state.kept[-1]
    label = re.sub(r"[^\w.-]+", "-", state.records[last.number].label)
    sheet = f"{Path(SHEET).stem}-{label}{Path(SHEET).suffix}"
    images, key = present(last.images(last.key), "the images of a kept period"), last.key
    images_by_period = [period.images(IMAGE_COLUMNS[0]) for period in state.kept]
    names = [name for at_hand in images_by_period if at_hand is not None for name in at_hand.ids.tolist()]
    if key != ROW and len(set(names)) < len(names):  # as of cameras that count anew every day
        images, key = replace(images, ids=last.rows.astype(str), paths=images.ids), ROW
    return sheet, worksheet(images, key, n, watch.classnames, PlanSettings("poisson", seed=watch.settings.seed))
