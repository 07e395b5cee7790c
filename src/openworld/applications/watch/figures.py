"""The figures of a watch's page: accuracy, alarm and shift, period by period."""

import numpy as np

from openworld.applications.watch.fitted import Watch
from openworld.applications.watch.labelled import labels_of, quoted_chunk
from openworld.applications.watch.state import PeriodRecord
from openworld.estimators.quote.alarm import HIGHEST
from openworld.estimators.quote.shift_signs import CONFIDENCES, NAMED
from openworld.report.charts import Line, LineChart, Quantity, Reference, Region
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle

Records = tuple[PeriodRecord, ...]
ACCURACY, ALARM, SHIFT, CLASSES, CONFIDENCE = "accuracy", "accuracy alarm", "shift alarm", "classes", "confidence"
"""Names of the lines."""


def _time(records: Records) -> Quantity:
    return Quantity("period", "", labels=tuple(record.chunk.label.removeprefix("from ") for record in records))


def accuracy_figure(watch: Watch, records: Records, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return what is quoted with its interval, period by period; shaded where an alarm stands."""
    alert = watch.settings.alert
    if not records:
        return None
    quotes, places = [quoted_chunk(record).quote for record in records], range(len(records))
    accuracies = [quote.accuracy for quote in quotes]
    further = {"images": [record.chunk.n for record in records], "method": [quote.method for quote in quotes]}
    further |= {name: [record.chunk.methods.get(name) for record in records] for name in watch.names}
    line = Line(places, accuracies, [quote.low for quote in quotes], [quote.high for quote in quotes], further=further)
    references = [Reference(watch.source.accuracy)]
    words = "Dashed: the accuracy on the source."
    if alert is not None:
        references.append(Reference(alert, kind="alert"))
        words += " Red: the alert."
    words += " Shaded: periods in which an alarm stands, for which those before count too."
    percents = Quantity("accuracy", "estimated accuracy, %")
    chart = LineChart(
        "", _time(records), percents, {ACCURACY: line}, references=tuple(references), regions=_alarming(records)
    )
    gaps = "A band without a line: the accuracy cannot be told, and may lie anywhere in the band."
    labels = " Where labels were drawn it is what they say." * any(map(labels_of, records))
    caption = (f"What is quoted, period by period, with its interval.{labels} {gaps}", words)
    return Figure("over-time", "Accuracy over time", caption, (chart,), styles)


def _alarming(records: Records) -> tuple[Region, ...]:
    """Return periods that follow each other in which an alarm stands, shaded."""
    standing = np.array([0, *(record.chunk.alarming or record.chunk.shifted for record in records), 0], int)
    first, last = (np.flatnonzero(np.diff(standing) == step) for step in (1, -1))
    return tuple(Region(x=(begin - 0.5, end - 0.5)) for begin, end in zip(first, last, strict=True))


def alarm_figure(watch: Watch, records: Records, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return the statistics of both alarms, period by period."""
    if not records:
        return None
    places = range(len(records))
    lines = {SHIFT: Line(places, [record.chunk.shift_alarm.statistic for record in records])}
    if watch.settings.alert is not None:
        lines = {ALARM: Line(places, [record.chunk.alarm.statistic for record in records])} | lines
    numbers = Quantity("alarm_ratio", "statistic / limit", "number", 2, ends=(0.0, HIGHEST))
    references = (Reference(1.0, kind="alert"),)
    chart = LineChart("", _time(records), numbers, lines, references=references)
    caption = (
        "An alarm stands where its statistic is above its limit, the red line. The shift alarm adds up what speaks for "
        "images that are no longer like the source's, the accuracy alarm for an accuracy below the alert. They stop at "
        "1.25 and 2, so that an alarm ends soon after a recovery.",
    )
    return Figure("alarm", "Alarms", caption, (chart,), styles)


def shift_figure(watch: Watch, records: Records, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return how far predicted classes and confidences lie from the source, period by period."""
    if not records:
        return None
    series = {
        CLASSES: [record.signs[NAMED].distance for record in records],
        CONFIDENCE: [record.signs[CONFIDENCES].distance for record in records],
    }
    lines = {name: Line(range(len(records)), values) for name, values in series.items()}
    most, least = (pick(map(pick, series.values())) for pick in (max, min))
    ends = min(0.0, least), next(top for top in (0.1, 0.5, 1.0) if top >= min(most, 1.0))
    chart = LineChart("", _time(records), Quantity("shift", "shift", "fraction", 2, ends=ends), lines)
    caption = (
        "How far predicted classes and confidences of periods lie from the source: energy distances beyond chance, "
        "about 0 where nothing has shifted, 1 where nothing is alike.",
    )
    return Figure("shift", "Shift", caption, (chart,), styles)
