"""All numbers that a report shows, found by the shapes of things: tables have columns and rows, figures charts.

Of words, those that are a number alone are one. Numbers among words are rounded; those of every seed, and others that a
cell tells, are held by the results, which have them in full.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

PARTS = ("story", "page", "sections", "folded", "tables", "papers", "terminal_tables", "figures", "table")
"""Attributes behind which tables and figures lie, in a report and in its parts."""

RATIOS_OF_TIMES = {"times_fastest"}

Numbers = Iterator[tuple[str, float]]


def shown(report: Any) -> Numbers:
    """Yield (label, number) of every table and figure of a report, those of folded sections and of papers too."""
    seen: set[int] = set()
    held: list[Any] = [report]
    while held:
        part = held.pop(0)
        if part is None or isinstance(part, str | bytes | Real) or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            held += part.values()
        elif isinstance(part, list | tuple):
            held += part
        elif hasattr(part, "columns") and hasattr(part, "rows"):
            yield from _of_table(part)
        elif hasattr(part, "charts"):
            yield from _of_figure(part)
        else:
            held += [getattr(part, name) for name in PARTS if hasattr(part, name)]


def printed(text: str | Mapping) -> Numbers:
    """Yield (path, number) of JSON text, of which there may be one per line, or of what it was made of."""
    if isinstance(text, Mapping):
        yield from _of_json("", dict(text))
        return
    try:
        values = [json.loads(text)]
    except json.JSONDecodeError:
        values = [json.loads(line) for line in text.splitlines()]
    for value in values:
        yield from _of_json("", value)


def rows(results: Any) -> Iterator[list]:
    """Yield [entity, metric, where, value, [low, high, n, over, ...], deviation, numbers per seed] of every result."""
    for row in results.rows:
        ends = [part for interval in row.value.intervals for part in _ends(interval)]
        where = {name: str(place) for name, place in row.where.items()}
        yield [row.entity, row.metric.key, where, row.value.value, ends, row.value.deviation, list(row.per_seed)]


def tests(results: Any) -> Iterator[list]:
    """Yield [entity - other, metric, where, difference, [low, high, n, over], p, [equivalence_p]] of every test."""
    for test in results.comparisons:
        ends = _ends(test.interval) if test.interval else []
        where = {name: str(place) for name, place in test.where.items()}
        pair = f"{test.entity} - {test.other}"
        yield [pair, test.metric.key, where, test.difference, ends, test.p, [test.equivalence_p]]


def _ends(interval: Any) -> list:
    return [interval.low, interval.high, interval.n, interval.over]


def _of_table(table: Any) -> Numbers:
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            label = f"table {table.name} / {row.label} / {column.heading}"
            yield from _of_cell(label, cell, column.metric.stored_unit == "seconds")


def _of_cell(label: str, cell: Any, timed: bool) -> Numbers:
    for name in ("printed", "difference", "p", "equivalence_p", "deviation", "shared"):
        yield from _number(f"{label} / {name}", getattr(cell, name, None))
    if isinstance(getattr(cell, "value", None), Real) and not timed:
        yield from _number(label, cell.value)
    if isinstance(cell, str) and re.fullmatch(r"[\d,]+(\.\d+)?", cell):
        yield label, float(cell.replace(",", ""))
    content = getattr(cell, "content", None)
    if content is not None:
        yield from _of_cell(label, content, timed)
    for interval in (*getattr(cell, "intervals", ()), getattr(cell, "interval", None)):
        if interval is not None and not timed:
            yield from _number(f"{label} / low over {interval.over}", interval.low)
            yield from _number(f"{label} / high over {interval.over}", interval.high)


def _of_figure(figure: Any) -> Numbers:
    for row in figure.rows():
        words = " / ".join(str(value) for value in row.values() if isinstance(value, str))
        for key, value in row.items():
            yield from _number(f"figure {figure.name} / {words} / {key}", value)


def _of_json(path: str, value: Any) -> Numbers:
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _of_json(f"{path}/{key}", part)
    else:
        yield from _number(f"json {path}", value)


def _number(label: str, value: Any) -> Numbers:
    if isinstance(value, Real) and not isinstance(value, bool) and value == value:
        yield label, float(value)


def record(parts: Sequence[Any]) -> dict[str, list]:
    """Return all that is kept of reports: numbers shown, numbers printed as JSON alone, and rows and tests as data.

    Args:
        parts: reports, JSON texts, and mappings of numbers.
    """
    texts = [part for part in parts if isinstance(part, str | dict)]
    reports = [part for part in parts if not isinstance(part, str | dict)]
    texts += [getattr(report, "json", "") or _call(report, "to_json") for report in reports]
    every = [report.results for report in reports if hasattr(report, "results")]
    timed = {row.metric.key for results in every for row in results.rows if row.metric.stored_unit == "seconds"}
    kept = {"shown": _once(number for report in reports for number in shown(report))}
    kept["rows"] = [_short(row) for results in every for row in rows(results) if row[1] not in timed | RATIOS_OF_TIMES]
    kept["tests"] = [_short(row) for results in every for row in tests(results) if row[1] not in timed]
    there = {number for number, _ in kept["shown"]} | set(_numbers_of(kept["rows"])) | set(_numbers_of(kept["tests"]))
    kept["printed"] = _once(number for text in texts if text for number in printed(text))
    kept["printed"] = [entry for entry in kept["printed"] if entry[0] not in there]
    return kept


def without_what_varies(first: dict[str, list], again: dict[str, list]) -> dict[str, list]:
    """Return what two runs of the same agree on: all but times."""
    return {kind: [entry for entry in entries if entry in again[kind]] for kind, entries in first.items()}


def lacking(golden: dict[str, list], now: dict[str, list], tolerance: float) -> list[str]:
    """Return a line for everything that was and is no more: of the same entity and metric, with the same numbers."""
    pool = {"shown": [number for number, _ in now["shown"]]}
    others = [number for kind in ("printed", "rows", "tests") for number in _numbers_of(now[kind])]
    pool["printed"] = [*pool["shown"], *others]
    gone = []
    for kind, numbers in pool.items():
        held = sorted(numbers)
        gone += [f"{number!r}: {label}" for number, label in golden[kind] if not _holds(held, number, tolerance)]
    for kind in ("rows", "tests"):
        left = {}
        for row in now[kind]:
            left.setdefault((row[0], row[1]), []).append(row)
        for row in golden[kind]:
            same = left.get((row[0], row[1]), [])
            place = next((place for place, other in enumerate(same) if _includes(other, row, tolerance)), None)
            if place is None:
                gone.append(f"{kind[:-1]} {row}")
            else:
                same.pop(place)
    return gone


def _call(report: Any, name: str) -> str:
    return getattr(report, name)() if hasattr(report, name) else ""


def _once(numbers: Numbers) -> list[list]:
    """Every number once, with the first of its labels."""
    labels: dict[float, str] = {}
    for label, number in numbers:
        labels.setdefault(_rounded(number), label)
    return [[number, label] for number, label in sorted(labels.items())]


def _short(value: Any) -> Any:
    return [_short(part) for part in value] if isinstance(value, list) else _rounded(value)


def _rounded(value: Any) -> Any:
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _numbers_of(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for part in value:
            yield from _numbers_of(part)
    elif isinstance(value, Real):
        yield value


def _near(first: Any, second: Any, tolerance: float) -> bool:
    if isinstance(first, Real) and isinstance(second, Real):
        return abs(first - second) <= tolerance * (1 + abs(first))
    return first == second


def _holds(held: list[float], number: float, tolerance: float) -> bool:
    place = bisect_left(held, number)
    return any(_near(number, other, tolerance) for other in held[max(place - 1, 0) : place + 1])


def _includes(row: list, wanted: list, tolerance: float) -> bool:
    """Whether a row has the value, every interval, and what else is known of the wanted one, wherever it stands."""
    *_, value, ends, deviation, several = wanted
    *_, value_now, ends_now, deviation_now, several_now = row
    by_kind = {ends_now[at + 3]: ends_now[at : at + 3] for at in range(0, len(ends_now), 4)}
    pairs = [(value, value_now), (deviation, deviation_now), *zip(several, several_now, strict=False)]
    for at in range(0, len(ends), 4):
        pairs += zip(ends[at : at + 3], by_kind.get(ends[at + 3], (None, None, None)), strict=True)
    return len(several) == len(several_now) and all(_near(*pair, tolerance) for pair in pairs)
