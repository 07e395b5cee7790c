"""Every number of a period as rows, and one list of fields by which JSON lines and Prometheus text are made of them."""

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
    shift_alarm_rows,
    value_of,
)
from openworld.applications.watch.labelled import quoted_chunk
from openworld.applications.watch.state import PeriodRecord
from openworld.estimators.quote.shift_signs import CONFIDENCES, NAMED
from openworld.results import Metric, Result, Value

ALARM = Metric("alarm_ratio", "accuracy alarm", "number", 2, 0, (0.0, None))
CLASS_SHIFT = Metric("class_shift", "class shift", "fraction", 2, 0, (-1.0, 1.0))
CONFIDENCE_SHIFT = Metric("confidence_shift", "confidence shift", "fraction", 2, 0, (-1.0, 1.0))


class Field(NamedTuple):
    """A number of a period."""

    name: str  # in JSON lines
    entity: str  # of its row
    metric: Metric
    collected: str  # its name in Prometheus text
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


def rows_of(record: PeriodRecord, *, labels: bool = True) -> Iterator[Result]:
    """Yield the rows of a period; without its own labels they are what was said when it was finished."""
    chunk = quoted_chunk(record, labels=labels)
    place = {"period": record.number + 1, "period_name": chunk.label}
    yield Result("", IMAGES, Value(chunk.n), place)
    yield Result(QUOTED, ESTIMATED, quoted_value(chunk.quote), place)
    if chunk.alarm is not None:
        yield Result(QUOTED, ALARM, Value(float(chunk.alarm.statistic)), place)
    if chunk.shift_alarm is not None:
        yield from shift_alarm_rows(chunk.shift_alarm, place)
    yield Result("", CLASS_SHIFT, Value(float(record.signs[NAMED].distance)), place)
    yield Result("", CONFIDENCE_SHIFT, Value(float(record.signs[CONFIDENCES].distance)), place)
    for name, accuracy in chunk.methods.items():
        yield Result(name, ESTIMATED, value_of(accuracy, NO_ACCURACY), place)
    if chunk.labelled is not None:
        yield Result("", LABELS, Value(chunk.labelled.n), place)


def _values(record: PeriodRecord, *, labels: bool) -> dict[str, Value]:
    """Return the numbers of a period by the names of `FIELDS`, without those that it does not have."""
    rows = {(row.entity, row.metric): row.value for row in rows_of(record, labels=labels)}
    return {field.name: rows[field[1:3]] for field in FIELDS if field[1:3] in rows}


def line_numbers(record: PeriodRecord) -> Mapping[str, Any]:
    """Return the numbers of a period for JSON, as they were when it was finished; None where there is none."""
    values = _values(record, labels=False)
    numbers = {field.name: values[field.name].value if field.name in values else None for field in FIELDS}
    ends = values["accuracy"].over()
    for name in ("alarm", "shift_alarm"):
        ratio = numbers[f"{name}_ratio"]
        numbers[name] = None if ratio is None else ratio > 1
    return numbers | {"low": ends.low, "high": ends.high}


def collected_numbers(record: PeriodRecord) -> Iterator[tuple[str, float | int, str]]:
    """Yield (name in Prometheus text, number, what it is) of the numbers that a period has."""
    values = _values(record, labels=True)
    for field in FIELDS:
        if field.name in values and values[field.name].value is not None:
            yield field.collected, values[field.name].value, field.help
    accuracy, of_it = values["accuracy"], "of its 95 % interval, or of the bounds where it cannot be told."
    yield "accuracy_low_ratio", accuracy.over().low, f"Low end {of_it}"
    yield "accuracy_high_ratio", accuracy.over().high, f"High end {of_it}"
    known = "1 where the accuracy of the last finished period can be told, else 0."
    yield "accuracy_known", int(accuracy.value is not None), known
    yield "shift_alarm", int(values["shift_alarm_ratio"].value > 1), "1 where the shift alarm stands, else 0."
