"""The schema of all results: a row is one number.

evaluation, entity, what else tells it apart (a column each), metric, unit, value, deviation, the ends of its 95 %
intervals and what they rest on (low_images, high_images, n_images, low_seeds, ...), seeds, the number for every seed,
and the reason why there is none. Values are not rounded; shares are fractions.
"""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError
from openworld.results.value import Interval

FIRST = ("evaluation", "entity")
LAST = ("metric", "unit", "value", "deviation", "seeds", "per_seed", "reason")
COLUMNS = (*FIRST, *LAST)
"""Those of every table; places and intervals come between."""

ENDS = ("low_", "high_", "n_")


def records(evaluation: str, rows: Sequence) -> list[dict[str, Any]]:
    """One dict per Result, all with the same keys in the same order."""
    places = list(dict.fromkeys(name for row in rows for name in row.where))
    kinds = _in_order([[interval.over for interval in row.value.intervals] for row in rows])
    return [_record(evaluation, row, places, kinds) for row in rows]


def _in_order(kinds: Sequence[Sequence[str]]) -> list[str]:
    """Every kind of interval once, in an order that every row has; in that of appearance where rows disagree."""
    before: dict[str, set[str]] = {kind: set() for order in kinds for kind in order}
    for order in kinds:
        for first, second in pairwise(order):
            before[second].add(first)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError:
        return list(before)


def _record(evaluation: str, row, places: Sequence[str], kinds: Sequence[str]) -> dict[str, Any]:
    value = row.value
    columns = {"evaluation": evaluation, "entity": row.entity} | {name: row.where.get(name) for name in places}
    columns |= {"metric": row.metric.key, "unit": row.metric.stored_unit}
    columns |= {"value": value.value, "deviation": value.deviation}
    for over in kinds:
        interval, name = value.over(over), over.replace(" ", "_")
        columns |= {f"{end}{name}": getattr(interval, end.strip("_"), None) for end in ENDS}
    return columns | {"seeds": list(row.seeds), "per_seed": list(row.per_seed), "reason": value.reason}


def places(record: Mapping[str, Any]) -> dict[str, str | int | float]:
    """What tells a record apart besides entity and metric."""
    names = list(record)
    between = names[len(FIRST) : names.index("metric")]
    return {name: record[name] for name in between if record[name] is not None}


def intervals(record: Mapping[str, Any]) -> tuple[Interval, ...]:
    """The intervals of a record."""
    kinds = [name.removeprefix("low_") for name, low in record.items() if name.startswith("low_") and low is not None]
    return tuple(
        Interval(*(record[f"{end}{kind}"] for end in ENDS[:2]), kind.replace("_", " "), record[f"n_{kind}"])
        for kind in kinds
    )


def arrow(records: Sequence[Mapping[str, Any]]):
    """Records as a `pyarrow.Table`."""
    import pyarrow

    names = list(records[0]) if records else COLUMNS
    return pyarrow.table(
        {name: pyarrow.array([record[name] for record in records], _type(name, records)) for name in names}
    )


def csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV; a list stands in one field, with spaces between."""
    names = list(records[0]) if records else COLUMNS
    rows = [[record[name] for name in names] for record in records]
    for row in rows:
        for place, value in enumerate(row):
            if isinstance(value, list):
                row[place] = " ".join("" if number is None else str(number) for number in value)
    return csv_text(names, rows)


def _type(name: str, records: Sequence[Mapping[str, Any]]):
    """The type of a column: the same for every evaluation, and for places what they hold."""
    import pyarrow

    lists = {"seeds": pyarrow.list_(pyarrow.int64()), "per_seed": pyarrow.list_(pyarrow.float64())}
    if name in lists:
        return lists[name]
    if name in ("value", "deviation") or name.startswith(("low_", "high_")):
        return pyarrow.float64()
    if name.startswith("n_"):
        return pyarrow.int64()
    kinds = {type(record[name]) for record in records} - {type(None)}
    if not kinds <= {int, float} and not kinds <= {str}:
        types = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise OpenworldError(f"the column {name!r} holds {types}, expected text alone, or numbers alone.")
    return pyarrow.float64() if float in kinds else pyarrow.int64() if int in kinds else pyarrow.string()
