"""The figures of an estimate: what every method says, beside what is known; and the accuracy over time."""

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate, MethodEstimate
from openworld.report.charts import Estimate, IntervalChart, Line, LineChart, Points, Quantity, Reference
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.text import percent

ACCURACY = Quantity("accuracy", "estimated accuracy, %")
NAMES = ("panel", "method")


def methods(estimate: AccuracyEstimate, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return every method's accuracy with its interval, from above the highest; None where no method has one."""
    known = sorted((one for one in estimate.methods if one.accuracy is not None), key=lambda one: -one.accuracy)
    if not known:
        return None
    quote, marks = estimate.quote, _marks(estimate)
    ends = f"{percent(quote.low)} to {percent(quote.high)} %"
    shaded = f"the interval of what is quoted, {ends}" if quote.method else f"where the accuracy may lie, {ends}"
    lines = " and ".join(f"{mark.text} ({percent(mark.value)} %)" for mark in marks)
    caption = (
        "What every method says, with the interval that resampling gives. Ring: the one that is quoted.",
        f"Faint bars: what each says of as many images like the source. Lines: {lines}. Shaded: {shaded}.",
    )
    series = {one.name: _estimate(one, quoted=one.name == quote.method) for one in known}
    chart = IntervalChart("", ACCURACY, series, marks, (quote.low, quote.high))
    return Figure("methods", "What every method says", caption, (chart,), styles, names=NAMES)


def _estimate(one: MethodEstimate, *, quoted: bool) -> Estimate:
    behind = None if one.on_source is None else one.on_source[1:]
    return Estimate(one.accuracy, one.interval, behind, quoted, {"quoted": quoted})


def _marks(estimate: AccuracyEstimate) -> tuple[Reference, ...]:
    """What is known, and the alert."""
    found = [Reference(estimate.source.accuracy, "source", "x")]
    if estimate.target.accuracy is not None:
        found.append(Reference(estimate.target.accuracy, "truth", "x", "known"))
    if estimate.alert is not None:
        found.append(Reference(estimate.alert, "alert", "x", "alert"))
    return tuple(found)


def over_time(estimate: AccuracyEstimate, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return what is quoted, chunk by chunk, before the methods; None where the target was not cut."""
    chunks = estimate.chunks
    if not chunks:
        return None
    places = range(len(chunks))
    lines = {one.name: Line(places, [chunk.methods.get(one.name) for chunk in chunks]) for one in estimate.methods}
    quotes = [chunk.quote for chunk in chunks]
    quoted = Points(places, [quote.accuracy for quote in quotes], [quote.low for quote in quotes],
                    [quote.high for quote in quotes], [_text(chunk) for chunk in chunks])  # fmt: skip
    alarms = {place: chunk.alarm.counted for place, chunk in enumerate(chunks) if chunk.alarming}
    alarms = {place: counted for place, counted in alarms.items() if counted is not None}
    points = {"quoted": quoted, "alarm": Points([*alarms], [*alarms.values()], mark="ring")}
    if estimate.target.accuracy is not None:
        points["true accuracy"] = Points(places, [chunk.accuracy for chunk in chunks], mark="dash")
    references = [Reference(estimate.source.accuracy)]
    references += [Reference(estimate.alert, kind="alert")] if estimate.alert is not None else []
    time = Quantity("chunk", "", labels=tuple(chunk.label.removeprefix("from ") for chunk in chunks))
    points = {name: own for name, own in points.items() if own.x}
    chart = LineChart("", time, ACCURACY, lines, points=points, references=tuple(references))
    caption = (
        "What is quoted, chunk by chunk, with its interval; the methods stand back. A bar without a mark: the accuracy "
        "cannot be told, and may lie anywhere on the bar.",
        "Dashed: the accuracy on the source. "
        + (
            "Red: the alert. A ring: an alarm stands, for which the chunks before count too."
            if estimate.alert is not None
            else "Chunks of few images move by chance."
        ),
    )
    shared = tuple(row for chunk in chunks for row in _rows(chunk))
    return Figure("over-time", "Over time", caption, (chart,), styles, shared=shared)


def _text(chunk: ChunkEstimate) -> str:
    quote, alarm = chunk.quote, ", alarm" if chunk.alarming else ""
    if quote.accuracy is None:
        text = f"cannot be told, {percent(quote.low)} to {percent(quote.high)} %"
    else:
        text = f"{percent(quote.accuracy)} %"
    return f"{chunk.label}: {text}{alarm}, {chunk.n:,} images"


def _rows(chunk: ChunkEstimate) -> list[dict]:
    """What is quoted, and what every method says."""
    where = {"chunk": chunk.label, "first_image": chunk.first, "images": chunk.n}
    quote = {"method": "quoted", "accuracy": chunk.quote.accuracy, "low": chunk.quote.low, "high": chunk.quote.high}
    said = [quote, *({"method": name, "accuracy": accuracy} for name, accuracy in chunk.methods.items())]
    return [where | row | {"true_accuracy": chunk.accuracy} for row in said]
