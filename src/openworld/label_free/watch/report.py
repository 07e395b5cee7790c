"""What a watch says, when it was fitted and after every call: new periods and the last ones, the history as a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from openworld.estimators.engine.checks import check_confidence
from openworld.estimators.quote.decision import Quote
from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate, Period, ScoredSet
from openworld.label_free.estimate.report import over_time_parts, over_time_words
from openworld.label_free.estimate.results import ALARM, ALARM_RATIO, SHIFT_ALARM, SHIFTS, period_rows
from openworld.label_free.estimate.verdict import alert, answer, late_labels, shift_alert
from openworld.label_free.watch.exports import label_lines, line_of
from openworld.label_free.watch.state import FileRecord, SheetRecord, Watch, WatchState
from openworld.report.data_files import json_text
from openworld.report.layout import METRIC, Brief, Layout, Lines, Pivot
from openworld.report.page import chart_files
from openworld.report.report import Report
from openworld.report.sentences import bracketed, counted, listed, percent
from openworld.report.series_style import series_styles
from openworld.results import Metric, Result, Results, Value

SAID = 3  # labelled periods, or images, that a sentence names
JSON = "watch.json"


@dataclass(frozen=True, eq=False)
class WatchView:
    """A watch after a call."""

    watch: Watch
    state: WatchState
    files: tuple[tuple[FileRecord, bool], ...] = ()  # of this call, and whether each had been counted before
    open: Period | None = None  # the period that is not finished
    name: str = ""
    labels: SheetRecord | None = None  # the sheet of this call
    labels_again: bool = False  # whether that had been read before

    @property
    def new(self) -> tuple[Period, ...]:
        return tuple(record for file, _ in self.files for record in self.state.records[file.first : file.last])

    @property
    def alerts(self) -> tuple[str, ...]:
        return tuple(period.label for period in self.new if period.alarming)

    @property
    def shift_alerts(self) -> tuple[str, ...]:
        return tuple(period.label for period in self.new if period.shifted)

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(period.label for period in self.new if period.quote.accuracy is None)


ALARMS = (SHIFT_ALARM, ALARM_RATIO)
LAYOUT = Layout(
    "Accuracy over time, without labels",
    "",
    (
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
        words={name: {title: each for title, each in columns.items() if each} for name, columns in words.items()},
        sentences=tuple(_sentences(view)),
        warnings=tuple(f"Note: {warning}." for warning in view.watch.warnings),
        styles=series_styles([*view.watch.names, *(metric.title for metric in (*ALARMS, *SHIFTS))]),
        source=(_estimate(view, records), Path()),
    )
    made = LAYOUT.report(brief, found=view, json=json_text(json_of(view)))
    charts = chart_files(made.page, ("over-time", "shift", "alarm"))
    return replace(made, files={JSON: made.json.encode(), **charts})


def json_of(view: WatchView) -> dict:
    """Return new labels and periods as in JSON lines, the period that is not finished, and where the watch stands."""
    fingerprint = view.watch.fingerprint
    return {
        "labels": [] if view.labels is None else label_lines(view.labels, view.state, view.name),
        "new": [line_of(record, fingerprint, view.name) for record in view.new],
        "open": view.open and line_of(view.open, fingerprint, view.name),
        "files": [{"file": file.name, "images": file.n, "again": again} for file, again in view.files],
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
    for file, again in view.files:
        finished = file.last - file.first
        images = counted(file.n, "image") + (f", which finished {counted(finished, 'period')}" if finished else "")
        if again:
            yield f"{file.name} had been counted before ({images}): nothing is counted twice."
        else:
            yield f"{file.name}: {images}."
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


def _of_labels(view: WatchView, sheet: SheetRecord) -> str:
    """Return what a sheet of labels says, and of which periods."""
    records = view.state.records
    if view.labels_again:
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
    target = ScoredSet(view.name, view.state.n, source.classes)
    quote = periods[-1].quote if periods else Quote(None, None, 0.0, 1.0, "no period is finished")
    return AccuracyEstimate(
        source, target, quote, (), tuple(periods), alert=settings.alert, false_alarms=settings.false_alarms
    )


LOW = Metric("source_like_low", "of the source, low", better=0)
HIGH = Metric("source_like_high", "of the source, high", better=0)
FITTED_LAYOUT = Layout(
    "A source fitted for watching",
    "",
    (
        Pivot(
            name="sizes",
            title="Sizes of periods",
            rows=("period",),
            note="What DoC says of periods like the source, 95 % of them; and what raises an alarm.",
        ),
    ),
)


def fit_report(watch: Watch, path: Path) -> Report:
    """Return what was fitted, and what it takes for an alarm by size of a period."""
    source = watch.source
    first = (
        f"Fitted on {source.name} ({counted(source.n, 'labelled image')}, {percent(source.accuracy)} % right): {path}, "
        f"{path.stat().st_size / 1e6:.1f} MB."
    )
    sampled = "" if watch.outputs.n == source.n else f"It holds a uniform sample of {watch.outputs.n:,} of them. "
    said = (
        first,
        f"{sampled}Methods: {', '.join(watch.names)}. Other sizes of periods are measured when they are first met.",
        f"Then, with every new file: openworld estimate watch {path} NEW.parquet",
        *_alarms(watch),
    )
    facts = {
        "fingerprint": watch.fingerprint,
        "source": {"name": source.name, "images": source.n, "accuracy": source.accuracy},
        "kept": watch.outputs.n,
        "methods": list(watch.names),
        "sizes": sorted({*watch.measured.quotes, *watch.measured.limits}),
        "alarms": {"accuracy_below": watch.settings.alert, "shift": True, "false_alarms": watch.settings.false_alarms},
        "confidence_tells": check_confidence(watch.outputs).tells,
        "warnings": list(watch.warnings),
        "made": dict(watch.made),
    }
    notes = tuple(f"Note: {warning}." for warning in watch.warnings)
    results = Results("watch-fit", tuple(_sizes(watch)))
    brief = Brief(results, subtitle=(source.name,), sentences=said, warnings=notes)
    return FITTED_LAYOUT.report(brief, found=watch, made=watch.made, facts=facts)


def _alarms(watch: Watch) -> list[str]:
    """Return which alarms there are, how often they are false, and whether confidences show the accuracy."""
    settings, check = watch.settings, check_confidence(watch.outputs)
    rate = f"{100 * settings.false_alarms:.3g} % of years of 365 periods"
    text = [f"Shift alarm: where images over time are no longer like the source's; by chance in {rate}."]
    if settings.alert is not None:
        by = f"Accuracy alarm: where the accuracy is found below {percent(settings.alert)} %"
        text.append(f"{by}; by chance in {rate} that are all {percent(settings.alert)} % right.")
    elif check.tells:
        text.append("No accuracy alarm: add --alert 0.8, say, for one.")
    if not check.tells:
        rest = "no accuracy alarm"
        if settings.alert is not None:
            rest = "the accuracy alarm tests what the reference shows"
        text.append(f"Beware: {check.why}. So {rest}, and only labels give the accuracy.")
    return text


def _sizes(watch: Watch) -> Iterator[Result]:
    """Yield, by size of a period, what is quoted of periods like the source, and what raises an alarm."""
    measured, alert = watch.measured, watch.settings.alert
    for size in sorted({*measured.quotes, *measured.limits}):
        null = measured.quotes.get(size, {}).get("DoC")
        low, high = (None, None) if null is None else null.range
        numbers = {LOW: low, HIGH: high}
        if alert is not None and size in measured.limits:
            limit = measured.limits[size]
            numbers |= {ALARM["alone"]: limit.alone(size, alert), ALARM["lasting"]: limit.lasting(size, alert)}
        for metric, number in numbers.items():
            value = Value(number, (), "" if number is not None else "not measured")
            yield Result("", metric, value, {"period": size, "period_name": f"{size:,} images"})
