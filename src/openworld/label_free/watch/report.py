"""What a watch says: its new periods and the last ones as a table, the history as a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from openworld.estimators.quote.decision import Quote
from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate, Period, ScoredSet
from openworld.label_free.estimate.report import over_time_figure, over_time_parts, over_time_words
from openworld.label_free.estimate.results import ALARM_RATIO, SHIFT_ALARM, SHIFTS, period_rows
from openworld.label_free.estimate.verdict import alert, answer, late_labels, shift_alert
from openworld.label_free.watch.exports import label_lines, line_of
from openworld.label_free.watch.fitted import Watch
from openworld.label_free.watch.following import Followed, LabelsRead
from openworld.label_free.watch.state import WatchState
from openworld.report.data_files import json_text
from openworld.report.figure import Figure
from openworld.report.layout import METRIC, Brief, Layout, Lines, Own
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
    open: Period | None = None  # the period that is not finished
    name: str = ""
    labels: LabelsRead | None = None  # the sheet of this call

    @property
    def new(self) -> tuple[Period, ...]:
        return tuple(record for file, _ in self.followed for record in self.state.records[file.first : file.last])

    @property
    def alerts(self) -> tuple[str, ...]:
        return tuple(period.label for period in self.new if period.alarming)

    @property
    def shift_alerts(self) -> tuple[str, ...]:
        return tuple(period.label for period in self.new if period.shifted)

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(period.label for period in self.new if period.quote.accuracy is None)


def _over_time_chart(brief: Brief) -> Iterator[Figure | None]:
    watch, periods = brief.source.watch, brief.source.state.records
    styles = {name: brief.styles[name] for name in watch.names}
    yield over_time_figure(periods, watch.source.accuracy, watch.settings.alert, styles)


ALARMS = (SHIFT_ALARM, ALARM_RATIO)
LAYOUT = Layout(
    "Accuracy over time, without labels",
    "",
    (
        Own(name="over-time", title="Over time", draw=_over_time_chart),
        *over_time_parts("period", alarms=True),
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
    records = view.state.records
    places = ((period, {"period": period.number + 1, "period_name": period.label}) for period in records)
    words = over_time_words(records, {period.number for period in view.new})
    brief = Brief(
        Results("watch", tuple(row for period, place in places for row in period_rows(period, place))),
        label="line",
        subtitle=(
            f"{view.name}: {counted(view.state.n, 'image')}, {counted(len(records), 'finished period')}",
            f"source {view.watch.source.name}",
        ),
        words={name: {title: own for title, own in columns.items() if own} for name, columns in words.items()},
        sentences=tuple(_sentences(view)),
        warnings=tuple(f"Note: {warning}." for warning in view.watch.warnings),
        styles=series_styles([*view.watch.names, *(metric.title for metric in (*ALARMS, *SHIFTS))]),
        source=view,
    )
    made = LAYOUT.report(brief, found=view, json=json_text(json_of(view)))
    charts = chart_files(made.page, ("over-time", "shift", "alarm"))
    return replace(made, files={JSON: made.json.encode(), **charts})


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
        "unknown": list(view.unknown),
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
            f"The period {view.open.label}{began} is not finished: {counted(view.open.n, 'image')} so far, "
            f"{_accuracy(view.open.quote)}. It counts for the alarms when it ends."
        )
    if view.new:
        estimate = _estimate(view, view.new)
        yield from filter(None, (alert(estimate, "period"), shift_alert(estimate, "period")))


def _last_period(period: Period) -> Iterator[str]:
    """Yield the number of a period, or that there is none; why; which alarms stand; and the likely cause."""
    yield answer(period.quote, f"in {period.label} ({counted(period.n, 'image')})")
    yield f"Why: {period.quote.why}."
    standing = {"an accuracy alarm": period.alarming, "a shift alarm": period.shifted}
    alarms = [name for name, stands in standing.items() if stands]
    if alarms:
        yield f"In {period.label} {listed(alarms)} {'stands' if len(alarms) == 1 else 'stand'}."
    if period.cause is not None and period.cause.likely.why:
        images = ", ".join(str(image.id or image.row) for image in period.cause.images[:SAID])
        cause = f"{period.cause.text or period.cause.likely.cause} ({period.cause.likely.why})"
        yield f"Likely cause of the change: {cause}; images: {images}."


def _of_labels(view: WatchView, read: LabelsRead) -> str:
    """Return what a sheet of labels says, and of which periods."""
    sheet, records = read.sheet, view.state.records
    if read.again:
        return f"{sheet.name} had been read before ({counted(sheet.n, 'label')}): nothing is counted twice."
    periods = [replace(records[number], labelled=labelled) for number, labelled in sheet.found]
    parts = [f"{sheet.name}: {late_labels(_estimate(view, periods), 'period')}"]
    by_labels = [
        f"{records[number].label} {percent(labelled.accuracy)} % {bracketed(labelled.interval)} "
        f"(without labels {_accuracy(records[number].finished)})"
        for number, labelled in sheet.found
        if labelled.accuracy is not None
    ]
    if by_labels:
        parts.append(f"By labels: {'; '.join(by_labels[:SAID])}{', ...' if len(by_labels) > SAID else ''}.")
    if sheet.left_out:
        parts.append(f"{counted(sheet.left_out, 'label')} left out, of images that are no longer kept.")
    return " ".join(parts)


def _accuracy(quote: Quote) -> str:
    if quote.accuracy is None:
        return f"which cannot be estimated, {percent(quote.low)} to {percent(quote.high)} %"
    interval = f" {bracketed((quote.low, quote.high))}" if quote.low < quote.high else ""
    return f"{percent(quote.accuracy)} %{interval}"


def _estimate(view: WatchView, periods: Sequence[Period]) -> AccuracyEstimate:
    """Return periods as an estimate over time, of which the same sentences speak."""
    settings, source = view.watch.settings, view.watch.source
    target, quote = ScoredSet(view.name, view.state.n, source.classes), periods[-1].quote
    return AccuracyEstimate(
        source, target, quote, (), tuple(periods), alert=settings.alert, false_alarms=settings.false_alarms
    )
