"""What stands below a table or figure: units, seeds, over what intervals are, what was tested, which way is better."""

from collections.abc import Sequence

from openworld.report.layout.parts import ENTITY, METRIC, Brief, Part, words_of
from openworld.report.sentences import HOLM, listed
from openworld.results import Comparison, Result

UNITS = ("percent", "points", "points per level", "squared points")  # units that a number does not show by itself

DEVIATION = "±: the standard deviation of what a number is the mean of, which is no interval"


def title_of(part: Part, row: Result) -> str:
    """Return the title of a table or chart: that of the part, where it is, and by what its columns are."""
    arranged = {*getattr(part, "rows", ()), *getattr(part, "columns", ())}
    keys = [key for key in dict.fromkeys((*part.per, METRIC, ENTITY)) if key not in arranged]
    return headed(part.title, " ".join(filter(None, (", ".join(words_of(row, keys)), columns_of(part)))))


def headed(title: str, place: str) -> str:
    """Return the title of a part with what tells one of its tables from the next behind it."""
    if title.endswith("?") and place:
        return f"{title} {place[0].upper()}{place[1:]}"
    return ": ".join(filter(None, (title, place)))


def columns_of(part: Part) -> str:
    """Return by what the columns of a table are: "by level"; "" where they are entities or metrics."""
    columns = getattr(part, "columns", ())
    columns = () if isinstance(columns, str) else columns  # a map has one key, which its axis names
    keys = [key.replace("_", " ") for key in columns if key not in (ENTITY, METRIC)]
    return f"by {listed(keys)}" if keys else ""


def caption(
    part: Part,
    rows: Sequence[Result],
    brief: Brief,
    tests: Sequence[Comparison] = (),
    spanned: Sequence[Result] | None = None,
    *,
    noted: bool = True,
) -> str:
    metrics, entities = {row.metric.key: row.metric for row in rows}, {row.entity for row in rows}
    over = _intervals(rows if spanned is None else spanned)
    over = f"; {DEVIATION}" if getattr(part, "show", "") == "deviation" else over
    parts = [f"{_units(metrics)}{_seeds(rows)}{over}.", _direction(metrics)]
    places = ((row.metric.key, row.where, row.entity) for row in rows)
    if METRIC not in getattr(part, "columns", ()) and any(brief.test(*place, brief.baseline) for place in places):
        parts.append(f"▲ ▼: better or worse than {brief.baseline} ({HOLM}).")
    parts.append(_tests(tests))
    marks = (mark for name, mark in brief.marks.items() if name in entities)
    parts += dict.fromkeys(f"{mark.sign}: {mark.meaning}." for mark in marks)
    parts += [brief.notes.get(part.name, ""), part.note] if noted else []
    return " ".join(filter(None, parts))


def _tests(tests: Sequence[Comparison]) -> str:
    """What tests are over, and for how many pairs they are corrected."""
    tested = [test for test in tests if test.p is not None]
    kinds = {test.interval.over for test in tested if test.interval} - {"images"}
    over = f"over {listed(sorted(kinds))}" if kinds else "the same images"
    pairs = {frozenset((test.entity, test.other)) for test in tested}
    family = f"over {len(tested)} pairs" if len(pairs) == len(tested) else "in each column"
    return f"Tests: {over}, p after Holm {family}." if len(tested) > 1 else ""


def _units(metrics) -> str:
    """The units that numbers do not show, and whose they are where there are several."""
    by_unit: dict[str, list[str]] = {}
    for metric in metrics.values():
        if metric.unit in UNITS:
            by_unit.setdefault(metric.unit, []).append(metric.title)
    if not by_unit:
        title = next(iter(metrics.values())).title
        return "Numbers as they are" if len(metrics) > 1 else f"{title[0].upper()}{title[1:]}"
    first, *others = by_unit
    text = first if len(metrics) > 1 else f"{next(iter(metrics.values())).title}, {first}"
    if len(metrics) >= 2 * len(by_unit[first]):
        text = f"{listed(by_unit[first])} in {first}"
    more = "".join(f"; {listed(by_unit[unit])} in {unit}" for unit in others)
    return f"{text[0].upper()}{text[1:]}{more}"


def _seeds(rows: Sequence[Result]) -> str:
    most = max((len(row.seeds) for row in rows), default=0)
    return f", means of {most} seeds" if most > 1 else ""


def _intervals(rows: Sequence[Result]) -> str:
    """What the first intervals are over, and of how many where that is one number; "" where there are none."""
    first = [row.value.intervals[0] for row in rows if row.value.intervals]
    kinds, counts = dict.fromkeys(interval.over for interval in first), {interval.n for interval in first} - {None}
    over = " or ".join(f"over {kind}" for kind in kinds)
    count = f", {next(iter(counts)):,} of them" if len(counts) == len(kinds) == 1 else ""
    return f"; [95 % {over}{count}]" if first else ""


def _direction(metrics) -> str:
    lower = [metric.title for metric in metrics.values() if metric.better < 0]
    if not lower:
        return ""
    if len(metrics) == 1:
        return "Lower is better."
    return f"Lower is better: {listed(lower)}." if len(lower) < len(metrics) else "Lower is better in each."


def figure_caption(
    part: Part, rows: Sequence[Result], brief: Brief, what: str, *, each_seed: bool = False
) -> tuple[str, ...]:
    """Return the caption of a figure: what is drawn, over what bands or bars are, and its note."""
    over = dict.fromkeys(row.value.intervals[0].over for row in rows if row.value.intervals)
    bands = f"; {what}: 95 % over {' or '.join(over)}" if over and what else ""
    metrics = {row.metric.key: row.metric for row in rows}
    seeds = "" if each_seed else _seeds(rows)
    first = f"{_units(metrics)}{seeds}{bands}. {_direction(metrics)}".strip()
    note = " ".join(filter(None, (brief.notes.get(part.name, ""), part.note)))
    first = "" if note and first == "Numbers as they are." else first
    return tuple(filter(None, (first, note)))
