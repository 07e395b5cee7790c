"""Every number of a period: one list of fields, of which rows, JSON lines and Prometheus text are made."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from openworld.applications.estimate.results import (
    ESTIMATED,
    IMAGES,
    LABELS,
    NO_ACCURACY,
    QUOTED,
    SHIFT_ALARM,
    SHIFT_SCORE,
    quoted_value,
)
from openworld.applications.watch.labelled import quoted_chunk
from openworld.applications.watch.state import PeriodRecord
from openworld.estimators.quote.shift_signs import CONFIDENCES, NAMED
from openworld.results import Metric, Result, Value

ALARM = Metric("alarm_ratio", "accuracy alarm", "number", 2, 0, (0.0, None))
CLASS_SHIFT = Metric("class_shift", "class shift", "fraction", 2, 0, (-1.0, 1.0))
CONFIDENCE_SHIFT = Metric("confidence_shift", "confidence shift", "fraction", 2, 0, (-1.0, 1.0))


class Field(NamedTuple):
    """A number of a period.

    name: in JSON lines. entity, metric: of its row. collected, help: its name in Prometheus text, and what it is.
    """

    name: str
    entity: str
    metric: Metric
    collected: str
    help: str


FIELDS = (
    Field("images", "", IMAGES, "period_images", "Images of the last finished period."),
    Field(
        *("accuracy", QUOTED, ESTIMATED, "accuracy_ratio"),
        "Estimated accuracy of the last finished period; absent where it cannot be told.",
    ),
    Field(
        *("alarm_ratio", QUOTED, ALARM, "alarm_ratio"),
        "Statistic of the accuracy alarm relative to its limit; it stands above 1; absent without.",
    ),
    Field(
        *("shift_alarm_ratio", "", SHIFT_ALARM, "shift_alarm_ratio"),
        "Statistic of the shift alarm relative to its limit; it stands above 1.",
    ),
    Field(
        *("shift_score", "", SHIFT_SCORE, "shift_score"),
        "How far the last finished period lies from the source, in deviations of source-like ones.",
    ),
    Field(
        *("class_shift", "", CLASS_SHIFT, "class_shift_ratio"),
        "Energy distance of the predicted classes from the source beyond chance; 0 to 1.",
    ),
    Field(
        *("confidence_shift", "", CONFIDENCE_SHIFT, "confidence_shift_ratio"),
        "Energy distance of the confidences from the source beyond chance; 0 to 1.",
    ),
)


def values_of(record: PeriodRecord, *, labels: bool = True) -> dict[str, Value]:
    """Return the numbers of a period by the names of `FIELDS`, without those that it does not have.

    labels: whether its own labels speak; without them it is what was said when the period was finished.
    """
    chunk, shift = quoted_chunk(record, labels=labels), record.chunk.shift_alarm
    values = {"images": Value(chunk.n), "accuracy": quoted_value(chunk.quote)}
    if chunk.alarm is not None:
        values["alarm_ratio"] = Value(float(chunk.alarm.statistic))
    if shift is not None:
        values["shift_alarm_ratio"] = Value(float(shift.statistic))
        score = None if shift.score is None else float(shift.score)
        values["shift_score"] = Value(score, reason="" if score is not None else "no sign could be compared")
    values["class_shift"] = Value(float(record.signs[NAMED].distance))
    values["confidence_shift"] = Value(float(record.signs[CONFIDENCES].distance))
    return values


def rows_of(record: PeriodRecord) -> Iterator[Result]:
    """Yield the rows of a period, those of its methods and labels too."""
    place = {"period": record.number + 1, "period_name": record.chunk.label}
    values, labelled = values_of(record), quoted_chunk(record).labelled
    yield from (
        Result(field.entity, field.metric, values[field.name], place) for field in FIELDS if field.name in values
    )
    for name, accuracy in record.chunk.methods.items():
        reason = "" if accuracy is not None else NO_ACCURACY
        yield Result(name, ESTIMATED, Value(accuracy, reason=reason), place)
    if labelled is not None:
        yield Result("", LABELS, Value(labelled.n), place)


def line_numbers(record: PeriodRecord) -> Mapping[str, Any]:
    """Return the numbers of a period for JSON, as they were when it was finished; None where there is none."""
    values = values_of(record, labels=False)
    numbers = {field.name: values[field.name].value if field.name in values else None for field in FIELDS}
    ends = values["accuracy"].over()
    alarms = {
        name: None if numbers[f"{name}_ratio"] is None else numbers[f"{name}_ratio"] > 1
        for name in ("alarm", "shift_alarm")
    }
    return numbers | {"low": ends.low, "high": ends.high} | alarms


def collected_numbers(record: PeriodRecord) -> Iterator[tuple[str, float | int, str]]:
    """Yield (name in Prometheus text, number, what it is) of the numbers that a period has."""
    values = values_of(record)
    for field in FIELDS:
        if field.name in values and values[field.name].value is not None:
            yield field.collected, values[field.name].value, field.help
    accuracy, of_it = values["accuracy"], "of its 95 % interval, or of the bounds where it cannot be told."
    yield "accuracy_low_ratio", accuracy.over().low, f"Low end {of_it}"
    yield "accuracy_high_ratio", accuracy.over().high, f"High end {of_it}"
    known = "1 where the accuracy of the last finished period can be told, else 0."
    yield "accuracy_known", int(accuracy.value is not None), known
    yield "shift_alarm", int(values["shift_alarm_ratio"].value > 1), "1 where the shift alarm stands, else 0."
