"""The charts of an estimate: what every method says, beside what is known; and the accuracy over time, as a watch's."""

from collections.abc import Mapping, Sequence

from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate
from openworld.label_free.estimate.period import Period
from openworld.report.charts import IntervalChart, IntervalRow, Line, LineChart, Points, Quantity, Reference
from openworld.report.figure import Figure
from openworld.report.sentences import percent
from openworld.report.series_style import SeriesStyle

ACCURACY = Quantity("accuracy", "estimated accuracy, %")


def methods_figure(estimate: AccuracyEstimate, styles: Mapping[str, SeriesStyle]) -> Figure | None:
    """Return every method's accuracy with its interval, from above the highest; None where no method has one."""
    quote, methods = estimate.quote, sorted(estimate.answers, key=lambda method: -method.accuracy)
    if not methods:
        return None
    series = {}
    for method in methods:
        behind, quoted = method.on_source and method.on_source[1:], method.name == quote.method
        series[method.name] = IntervalRow(method.accuracy, method.interval, behind, quoted, {"quoted": quoted})
    known = {
        "source": (estimate.source.accuracy, "reference"),
        "truth": (estimate.target.accuracy, "known"),
        "alert": (estimate.alert, "alert"),
    }
    marks = tuple(Reference(number, name, "x", kind) for name, (number, kind) in known.items() if number is not None)
    caption = (
        "What every method says, with the interval that resampling gives. Faint bars: what each says of as many images "
        "like the source. Ring: the method that is quoted. Shaded: its interval, or between what the accuracy may lie "
        f"where it cannot be told. Lines: {' and '.join(f'{mark.text} ({percent(mark.value)} %)' for mark in marks)}.",
    )
    chart = IntervalChart("", ACCURACY, series, marks, (quote.low, quote.high))
    return Figure("methods", "What every method says", caption, (chart,), styles, names=("panel", "method"))


def over_time_figure(
    chunks: Sequence[Period], source: float, alert: float | None, styles: Mapping[str, SeriesStyle]
) -> Figure | None:
    """Return what is quoted, chunk by chunk, before the methods, with the source's accuracy; None without chunks."""
    if not chunks:
        return None
    places = range(len(chunks))
    lines = {name: Line(places, [chunk.methods.get(name) for chunk in chunks]) for name in styles}
    quotes = [(chunk.quote.accuracy, chunk.quote.low, chunk.quote.high, _text(chunk)) for chunk in chunks]
    points = {"quoted": Points(places, *zip(*quotes, strict=True))}
    alarms = {place: chunk.alarm.counted for place, chunk in enumerate(chunks) if chunk.alarming}
    alarms = {place: accuracy for place, accuracy in alarms.items() if accuracy is not None}
    if alarms:
        points["alarm"] = Points([*alarms], [*alarms.values()], mark="ring")
    if any(chunk.accuracy is not None for chunk in chunks):
        points["true accuracy"] = Points(places, [chunk.accuracy for chunk in chunks], mark="dash")

    references = [Reference(source), *([] if alert is None else [Reference(alert, kind="alert")])]
    time = Quantity("chunk", "", labels=tuple(chunk.label.removeprefix("from ") for chunk in chunks))
    caption = (
        "What is quoted, with its interval; the methods stand back. A bar without a mark: the accuracy cannot be told, "
        "and may lie anywhere on the bar. Dashed: the accuracy on the source.",
        "Few images move by chance."
        if alert is None
        else "Red: the alert. A ring: an alarm stands, for which what came before counts too.",
    )
    chart = LineChart("", time, ACCURACY, lines, points=points, references=tuple(references))
    shared = tuple(row for chunk in chunks for row in _rows(chunk))
    return Figure("over-time", "Over time", caption, (chart,), styles, shared=shared)


def _text(chunk: Period) -> str:
    quote = chunk.quote
    text = f"{percent(quote.accuracy)} %"
    if quote.accuracy is None:
        text = f"cannot be told, {percent(quote.low)} to {percent(quote.high)} %"
    alarms = f"{', alarm' if chunk.alarming else ''}{', shift alarm' if chunk.shifted else ''}"
    return f"{chunk.label}: {text}{alarms}, {chunk.n:,} images"


def _rows(chunk: Period) -> list[dict]:
    """Return what is quoted, and what every method says."""
    where = {"chunk": chunk.label, "first_image": chunk.first, "images": chunk.n}
    quote = {"method": "quoted", "accuracy": chunk.quote.accuracy, "low": chunk.quote.low, "high": chunk.quote.high}
    rows = [quote, *({"method": name, "accuracy": accuracy} for name, accuracy in chunk.methods.items())]
    return [where | row | {"true_accuracy": chunk.accuracy} for row in rows]
