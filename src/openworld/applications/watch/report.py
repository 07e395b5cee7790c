"""What a watch says: its new periods and the last ones as a table, the history as a page."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from openworld.applications.estimate.accuracy_estimate import (
    AccuracyEstimate,
    ChunkEstimate,
    MethodEstimate,
    ScoredSet,
)
from openworld.applications.estimate.report import remark
from openworld.applications.estimate.results import ESTIMATED, IMAGES, LABELS, QUOTED, SHIFT_ALARM, SHIFT_SCORE
from openworld.applications.estimate.verdict import alert, late_labels, shift_alert
from openworld.applications.watch import figures as drawing
from openworld.applications.watch.causes import cause_sentence
from openworld.applications.watch.exports import label_lines, line_of
from openworld.applications.watch.fitted import Watch
from openworld.applications.watch.following import Followed
from openworld.applications.watch.labelled import CORRECTED, LabelsRead, quoted_chunk
from openworld.applications.watch.state import PeriodRecord, WatchState
from openworld.estimators import find_estimator
from openworld.estimators.quote.shift_signs import CONFIDENCES, NAMED
from openworld.report.data_files import json_text
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.series_style import series_styles
from openworld.report.standalone import standalone
from openworld.report.table import Cell, Column, Row, Table
from openworld.report.text import bracketed, percent
from openworld.results import TEXT, Metric, Result, Results, Value, interval_of

SAID = 3  # labelled periods that a sentence names
LAST, MOST = 14, 31  # periods before the new ones, and in all, that a terminal shows
JSON = "watch.json"
ALARM = Metric("alarm_ratio", "accuracy alarm", "number", 2, 0, (0.0, None))
CLASS_SHIFT = Metric("class_shift", "class shift", "fraction", 2, 0, (-1.0, 1.0))
CONFIDENCE_SHIFT = Metric("confidence_shift", "confidence shift", "fraction", 2, 0, (-1.0, 1.0))


@dataclass(frozen=True, eq=False)
class WatchView:
    """A watch after a call. followed: its files; open: the period that is not finished; name: of the watch;
    labels: the sheet of this call.
    """

    watch: Watch
    state: WatchState
    followed: tuple[Followed, ...] = ()
    open: PeriodRecord | None = None
    name: str = ""
    labels: LabelsRead | None = None

    @property
    def new(self) -> tuple[PeriodRecord, ...]:
        """The periods that the files of this call finished."""
        return tuple(record for followed in self.followed for record in followed.records)

    @property
    def alarms(self) -> bool:
        """Whether there is an alert."""
        return self.watch.settings.alert is not None

    @property
    def alerts(self) -> tuple[str, ...]:
        """New periods in which an alarm stands that the accuracy is below the alert."""
        return tuple(record.chunk.label for record in self.new if record.chunk.alarming)

    @property
    def shift_alerts(self) -> tuple[str, ...]:
        """New periods in which an alarm stands that the images are no longer like the source's."""
        return tuple(record.chunk.label for record in self.new if record.chunk.shifted)

    @property
    def unknown(self) -> tuple[str, ...]:
        """New periods whose accuracy cannot be told."""
        return tuple(record.chunk.label for record in self.new if quoted_chunk(record).quote.accuracy is None)


def watch_report(view: WatchView) -> Report:
    """Return all that is to be said after a call."""
    shifts = [drawing.SHIFT, drawing.CLASSES, drawing.CONFIDENCE]
    styles = series_styles([drawing.ACCURACY, *[drawing.ALARM] * view.alarms, *shifts])
    results, records = _results(view), view.state.records
    before = records[: len(records) - len(view.new)] if records[-len(view.new) :] == view.new else records
    shown = [*before[-LAST:], *view.new] if before is not records else [*records[-LAST:]]
    shown = shown[-MOST:]
    draw = {
        "over-time.svg": drawing.accuracy_figure,
        "shift.svg": drawing.shift_figure,
        "alarm.svg": drawing.alarm_figure,
    }
    figures = {name: figure(view.watch, records, styles) for name, figure in draw.items()}
    verdict, notes = list(_sentences(view)), tuple(f"Note: {warning}." for warning in view.watch.warnings)
    drawn = [figure for figure in figures.values() if figure is not None]
    page = Page(
        title=f"Accuracy over time without labels: {view.name}",
        subtitle=(
            f"{counted(view.state.n, 'image')}, {counted(len(records), 'finished period')}",
            f"source {view.watch.source.name}",
        ),
        verdict=(*verdict, *notes),
        sections=(
            *(Section(figure.title, figures=(figure,)) for figure in drawn),
            *([Section("Every period", tables=(_table(view, results, records[::-1]),))] if records else ()),
        ),
        styles=styles,
        series="Lines",
    )
    files = {name: figure and standalone(figure.panels[0].svg, styles).encode() for name, figure in figures.items()}
    text = json_text(json_of(view))
    return Report(
        results,
        (_table(view, results, shown),) if shown else (),
        page,
        text=tuple(verdict[1:]),
        notes=notes,
        found=view,
        json=text,
        files={JSON: text.encode(), **files},
    )


def json_of(view: WatchView) -> dict:
    """Return new labels and periods as in JSON lines, the period that is not finished, and where the watch stands."""
    entry = {"watch": view.watch.fingerprint, "name": view.name}
    sheet = view.labels and view.labels.sheet
    return {
        "labels": [] if sheet is None else label_lines(sheet, view.state, view.name),
        "new": [line_of(record, view.watch.fingerprint, view.name) for record in view.new],
        "open": view.open and line_of(view.open, view.watch.fingerprint, view.name),
        "files": [{"file": each.file.name, "images": each.file.n, "again": each.again} for each in view.followed],
        "alerts": list(view.alerts),
        "shift_alerts": list(view.shift_alerts),
        "untold": list(view.unknown),
        "state": entry | {"images": view.state.n, "periods": len(view.state.records), "last": view.state.last or None},
    }


def _sentences(view: WatchView) -> Iterator[str]:
    """Return the last finished period, what became of the files, the alert, and the period that goes on."""
    records, source = view.state.records, view.watch.source
    if records:
        yield _said(records[-1])
        if cause_sentence(records[-1]):
            yield cause_sentence(records[-1])
    else:
        yield "No period is finished yet: it is when an image of a later one comes, or with --close."
    yield f"On the source the accuracy is {percent(source.accuracy)} % of {source.n:,} labelled images."
    if view.labels is not None:
        yield _of_labels(view, view.labels)
    yield from map(_of_file, view.followed)
    if view.open is not None:
        began = f", which began {view.open.began}," if view.open.began else ""
        yield (
            f"The period {view.open.chunk.label}{began} is not finished: {counted(view.open.chunk.n, 'image')} so far, "
            f"{_accuracy(quoted_chunk(view.open))}. It counts for the alarms when it ends."
        )
    for say in (alert, shift_alert) if view.new else ():
        yield from filter(None, [say(_estimate(view, view.new)).replace("chunk", "period")])


def _of_labels(view: WatchView, read: LabelsRead) -> str:
    """Return what a sheet of labels says, and of which periods."""
    sheet, records = read.sheet, view.state.records
    if read.again:
        return f"{sheet.name} had been read before ({counted(sheet.n, 'label')}): nothing is counted twice."
    chunks = [replace(quoted_chunk(records[number]), labelled=labelled) for number, labelled in sheet.found]
    words = late_labels(replace(_estimate(view, records), chunks=tuple(chunks))).replace("chunk", "period")
    by_labels = [
        f"{records[number].chunk.label} {percent(labelled.accuracy)} % {bracketed(labelled.interval)} "
        f"(without labels {_accuracy(quoted_chunk(records[number], labels=False))})"
        for number, labelled in sheet.found
        if labelled.accuracy is not None
    ]
    parts = [f"{sheet.name}: {words}"]
    if by_labels:
        parts.append(f"By labels: {'; '.join(by_labels[:SAID])}{', ...' * (len(by_labels) > SAID)}.")
    if sheet.left_out:
        parts.append(f"{counted(sheet.left_out, 'label')} left out, of images that are no longer kept.")
    return " ".join(parts)


def _said(record: PeriodRecord) -> str:
    """Return the number of a period, by which method and why; or that it cannot be told."""
    chunk = quoted_chunk(record)
    quote = chunk.quote
    of = f"in {chunk.label} ({counted(chunk.n, 'image')})"
    alarm = " An accuracy alarm stands." * chunk.alarming + " A shift alarm stands." * chunk.shifted
    if quote.accuracy is None:
        between = f"between {percent(quote.low)} % and {percent(quote.high)} %"
        return f"The accuracy {of} cannot be told; it may lie {between}: {quote.why}.{alarm}"
    return f"Estimated accuracy {of}: {_accuracy(chunk)}, by {quote.method}: {quote.why}.{alarm}"


def _accuracy(chunk: ChunkEstimate) -> str:
    quote = chunk.quote
    if quote.accuracy is None:
        return f"whose accuracy cannot be told, {percent(quote.low)} to {percent(quote.high)} %"
    return f"{percent(quote.accuracy)} % {bracketed((quote.low, quote.high))}"


def _of_file(followed: Followed) -> str:
    file, finished = followed.file, followed.file.last - followed.file.first
    which = f", which finished {counted(finished, 'period')}" if finished else ""
    if followed.again:
        return f"{file.name} had been counted before ({counted(file.n, 'image')}{which}): nothing is counted twice."
    return f"{file.name}: {counted(file.n, 'image')}{which}."


def _estimate(view: WatchView, records: tuple[PeriodRecord, ...]) -> AccuracyEstimate:
    """Return periods as an estimate over time."""
    watch, rate = view.watch, view.watch.settings.false_alarms
    return AccuracyEstimate(
        source=watch.source,
        target=ScoredSet(view.name, view.state.n, watch.source.classes),
        quote=records[-1].chunk.quote,
        methods=tuple(MethodEstimate(name, find_estimator(name).summary, None, None) for name in watch.names),
        chunks=tuple(record.chunk for record in records),
        alert=watch.settings.alert,
        false_alarms=rate,
    )


def _results(view: WatchView) -> Results:
    rows = []
    for record in view.state.records:
        chunk, place = quoted_chunk(record), {"period": record.number + 1, "period_name": record.chunk.label}
        quote = chunk.quote
        reason = "" if quote.accuracy is not None else f"cannot be told: {quote.why}"
        accuracy = Value(quote.accuracy, interval_of((quote.low, quote.high), "sets and shifts"), reason)
        rows += [Result("", IMAGES, Value(chunk.n), place), Result(QUOTED, ESTIMATED, accuracy, place)]
        rows += [
            Result(name, ESTIMATED, Value(number, (), "" if number is not None else "the method tells none"), place)
            for name, number in chunk.methods.items()
        ]
        if chunk.labelled is not None:
            rows.append(Result("", LABELS, Value(chunk.labelled.n), place))
        if chunk.alarm is not None:
            rows.append(Result(QUOTED, ALARM, Value(chunk.alarm.statistic), place))
        shift = chunk.shift_alarm
        score = Value(shift.score, (), "" if shift.score is not None else "no sign could be compared")
        rows += [Result("", SHIFT_ALARM, Value(shift.statistic), place), Result("", SHIFT_SCORE, score, place)]
        rows.append(Result("", CLASS_SHIFT, Value(record.signs[NAMED].distance), place))
        rows.append(Result("", CONFIDENCE_SHIFT, Value(record.signs[CONFIDENCES].distance), place))
    return Results("watch", tuple(rows))


def _table(view: WatchView, results: Results, records) -> Table:
    """Return a row per period, in order of time."""
    alarms = view.alarms
    values: dict[int, dict] = {}
    for row in results:
        values.setdefault(row.where["period"], {})[row.entity, row.metric] = row.value
    new = {record.number for record in view.new}
    rows = []
    for record in records:
        own = values[record.number + 1]
        cause = record.further.get("cause", "") if record.further.get("cause_why") else ""
        words = ", ".join(
            filter(
                None,
                [
                    "new" * (record.number in new),
                    remark(quoted_chunk(record)),
                    "corrected" * (CORRECTED in record.further),
                    cause,
                ],
            )
        )
        cells = (
            own["", IMAGES],
            Cell(own[QUOTED, ESTIMATED], bold=record.chunk.alarming),
            *([own[QUOTED, ALARM]] if alarms else ()),
            Cell(own["", SHIFT_ALARM], bold=record.chunk.shifted),
            own["", CLASS_SHIFT],
            own["", CONFIDENCE_SHIFT],
            words,
        )
        rows.append(Row(record.chunk.label, cells))
    columns = (
        Column(IMAGES, priority=2),
        Column(ESTIMATED, "accuracy", 2, headline=True),
        *([Column(ALARM, priority=2)] if alarms else ()),
        Column(SHIFT_ALARM, priority=2),
        Column(CLASS_SHIFT, priority=1),
        Column(CONFIDENCE_SHIFT, priority=0),
        Column(TEXT, "remark", 2),
    )
    left = len(view.state.records) - len(rows)
    caption = (
        "Percent [interval, or bounds where it cannot be told]; statistics of the alarms relative to their limits (an "
        "alarm stands above 1); how far predicted classes and confidences lie from the source (energy distance beyond "
        "chance, up to 1)."
    )
    caption += f" {left} earlier periods are on the page that --out keeps." if left else ""
    return Table("periods", "Periods", caption, "period", columns, tuple(rows), best="")
