"""What a watch says: its new periods and the last ones as a table, the history as a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate, ScoredSet
from openworld.applications.estimate.figures import over_time_figure
from openworld.applications.estimate.report import remark
from openworld.applications.estimate.results import SHIFT_ALARM
from openworld.applications.estimate.verdict import alert, answer, late_labels, shift_alert
from openworld.applications.watch.exports import label_lines, line_of
from openworld.applications.watch.fitted import Watch
from openworld.applications.watch.following import Followed
from openworld.applications.watch.labelled import CORRECTED, LabelsRead, quoted_chunk
from openworld.applications.watch.results import ALARM, CLASS_SHIFT, CONFIDENCE_SHIFT, rows_of
from openworld.applications.watch.state import PeriodRecord, WatchState
from openworld.report.data_files import json_text
from openworld.report.figure import Figure
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Lines, Own, Pivot
from openworld.report.page import chart_files
from openworld.report.report import Report
from openworld.report.sentences import bracketed, counted, listed, percent
from openworld.report.series_style import series_styles
from openworld.results import Results

SAID = 3  # labelled periods, or images, that a sentence names
JSON = "watch.json"


@dataclass(frozen=True, eq=False)
class WatchView:
    """A watch after a call."""

    watch: Watch
    state: WatchState
    followed: tuple[Followed, ...] = ()  # what became of its files
    open: PeriodRecord | None = None  # the period that is not finished
    name: str = ""
    labels: LabelsRead | None = None  # the sheet of this call

    @property
    def new(self) -> tuple[PeriodRecord, ...]:
        """The periods that the files of this call finished."""
        return tuple(record for followed in self.followed for record in followed.records)

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


def _over_time_chart(brief: Brief) -> Iterator[Figure | None]:
    watch, chunks = brief.source.watch, [quoted_chunk(record) for record in brief.source.state.records]
    styles = {name: brief.styles[name] for name in watch.names}
    yield over_time_figure(chunks, watch.source.accuracy, watch.settings.alert, styles)


ALARMS, SHIFTS = (SHIFT_ALARM, ALARM), (CLASS_SHIFT, CONFIDENCE_SHIFT)
LAYOUT = Layout(
    "Accuracy over time, without labels",
    "",
    (
        Own(name="over-time", title="Over time", draw=_over_time_chart),
        Pivot(
            name="periods",
            title="Over time",
            metrics=(
                *("images", "estimated_accuracy", "labels", "alarm_ratio", "shift_alarm_ratio"),
                *("shift_score", "class_shift", "confidence_shift"),
            ),
            rows=("period",),
            columns=(METRIC, ENTITY),
            note="Quoted: the number, or between what it may lie; under the name of a method what that says. Alarms: "
            "statistics relative to their limits; an alarm stands above 1.",
            terminal=True,
        ),
        Lines(
            name="alarm",
            title="Alarms",
            metrics=tuple(metric.key for metric in ALARMS),
            along="period",
            series=METRIC,
            note="Statistics relative to their limits: an alarm stands above 1. The shift alarm adds up what speaks "
            "for images that are no longer like the source's, the accuracy alarm for an accuracy below the alert. "
            "They stop at 1.25 and 2, so that an alarm ends soon after a recovery.",
        ),
        Lines(
            name="shift",
            title="Shift",
            metrics=tuple(metric.key for metric in SHIFTS),
            along="period",
            series=METRIC,
            note="How far predicted classes and confidences lie from the source: energy distances beyond chance, about "
            "0 where nothing has shifted, 1 where nothing is alike.",
        ),
    ),
)


def watch_report(view: WatchView) -> Report:
    """Return all that is to be said after a call; its files are the charts and `watch.json`."""
    records, said = view.state.records, tuple(_sentences(view))
    notes = tuple(f"Note: {warning}." for warning in view.watch.warnings)
    brief = Brief(
        Results("watch", tuple(row for record in records for row in rows_of(record))),
        label="line",
        subtitle=(
            f"{view.name}: {counted(view.state.n, 'image')}, {counted(len(records), 'finished period')}",
            f"source {view.watch.source.name}",
        ),
        words={"periods": {"remark": _remarks(view)}} if records else {},
        sentences=said,
        warnings=notes,
        styles=series_styles([*view.watch.names, *(metric.title for metric in (*ALARMS, *SHIFTS))]),
        source=view,
    )
    text = json_text(json_of(view))
    made = LAYOUT.report(brief, text=said[1:], notes=notes, found=view, json=text)
    charts = chart_files(made.page, ("over-time", "shift", "alarm"))
    return replace(made, files={JSON: text.encode(), **charts})


def _remarks(view: WatchView) -> dict[str, str]:
    """Return what is new, which alarms stand, what labels did, and what moved, by period."""
    new, remarks = {record.number for record in view.new}, {}
    for record in view.state.records:
        words = ["new" if record.number in new else "", remark(quoted_chunk(record))]
        words.append("corrected" if CORRECTED in record.further else "")
        words.append(record.further.get("cause", "") if record.further.get("cause_why") else "")
        remarks[record.chunk.label] = ", ".join(filter(None, words))
    return remarks


def json_of(view: WatchView) -> dict:
    """Return new labels and periods as in JSON lines, the period that is not finished, and where the watch stands."""
    fingerprint, sheet = view.watch.fingerprint, view.labels and view.labels.sheet
    return {
        "labels": [] if sheet is None else label_lines(sheet, view.state, view.name),
        "new": [line_of(record, fingerprint, view.name) for record in view.new],
        "open": view.open and line_of(view.open, fingerprint, view.name),
        "files": [{"file": each.file.name, "images": each.file.n, "again": each.again} for each in view.followed],
        "alerts": list(view.alerts),
        "shift_alerts": list(view.shift_alerts),
        "untold": list(view.unknown),
        "state": {
            "watch": fingerprint,
            "name": view.name,
            "images": view.state.n,
            "periods": len(view.state.records),
            "last": view.state.last or None,
        },
    }


def _sentences(view: WatchView) -> Iterator[str]:
    """Yield the last finished period, what became of the files, the alert, and the period that goes on."""
    records, source = view.state.records, view.watch.source
    if records:
        yield from _last_period(records[-1])
    else:
        yield "No period is finished yet: it is when an image of a later one comes, or with --close."
    yield f"On the source the accuracy is {percent(source.accuracy)} % of {source.n:,} labelled images."
    if view.labels is not None:
        yield _of_labels(view, view.labels)
    for each in view.followed:
        finished = each.file.last - each.file.first
        which = f", which finished {counted(finished, 'period')}" if finished else ""
        if each.again:
            images = f"{counted(each.file.n, 'image')}{which}"
            yield f"{each.file.name} had been counted before ({images}): nothing is counted twice."
        else:
            yield f"{each.file.name}: {counted(each.file.n, 'image')}{which}."
    if view.open is not None:
        began = f", which began {view.open.began}," if view.open.began else ""
        yield (
            f"The period {view.open.chunk.label}{began} is not finished: {counted(view.open.chunk.n, 'image')} so far, "
            f"{_accuracy(quoted_chunk(view.open))}. It counts for the alarms when it ends."
        )
    if view.new:
        estimate = _estimate(view, [record.chunk for record in view.new])
        yield from filter(None, (alert(estimate, "period"), shift_alert(estimate, "period")))


def _last_period(record: PeriodRecord) -> Iterator[str]:
    """Yield the number of a period, or that it cannot be told; why; which alarms stand; and what moved."""
    chunk = quoted_chunk(record)
    yield answer(chunk.quote, f"in {chunk.label} ({counted(chunk.n, 'image')})")
    yield f"Why: {chunk.quote.why}."
    standing = {"an accuracy alarm": chunk.alarming, "a shift alarm": chunk.shifted}
    alarms = [name for name, stands in standing.items() if stands]
    if alarms:
        yield f"In {chunk.label} {listed(alarms)} {'stands' if len(alarms) == 1 else 'stand'}."
    if record.further.get("cause_why"):
        images = ", ".join(map(str, record.further["cause_images"][:SAID]))
        cause = f"{record.further['cause']} ({record.further['cause_why']})"
        yield f"Likely cause of what moved: {cause}; images: {images}."


def _of_labels(view: WatchView, read: LabelsRead) -> str:
    """Return what a sheet of labels says, and of which periods."""
    sheet, records = read.sheet, view.state.records
    if read.again:
        return f"{sheet.name} had been read before ({counted(sheet.n, 'label')}): nothing is counted twice."
    chunks = [replace(quoted_chunk(records[number]), labelled=labelled) for number, labelled in sheet.found]
    parts = [f"{sheet.name}: {late_labels(_estimate(view, chunks), 'period')}"]
    by_labels = [
        f"{records[number].chunk.label} {percent(labelled.accuracy)} % {bracketed(labelled.interval)} "
        f"(without labels {_accuracy(quoted_chunk(records[number], labels=False))})"
        for number, labelled in sheet.found
        if labelled.accuracy is not None
    ]
    if by_labels:
        parts.append(f"By labels: {'; '.join(by_labels[:SAID])}{', ...' if len(by_labels) > SAID else ''}.")
    if sheet.left_out:
        parts.append(f"{counted(sheet.left_out, 'label')} left out, of images that are no longer kept.")
    return " ".join(parts)


def _accuracy(chunk: ChunkEstimate) -> str:
    quote = chunk.quote
    if quote.accuracy is None:
        return f"whose accuracy cannot be told, {percent(quote.low)} to {percent(quote.high)} %"
    interval = f" {bracketed((quote.low, quote.high))}" if quote.low < quote.high else ""
    return f"{percent(quote.accuracy)} %{interval}"


def _estimate(view: WatchView, chunks: Sequence[ChunkEstimate]) -> AccuracyEstimate:
    """Return periods as an estimate over time, of which the same sentences speak."""
    settings, source = view.watch.settings, view.watch.source
    target, quote = ScoredSet(view.name, view.state.n, source.classes), view.state.records[-1].chunk.quote
    rates = {"alert": settings.alert, "false_alarms": settings.false_alarms}
    return AccuracyEstimate(source, target, quote, (), tuple(chunks), **rates)
