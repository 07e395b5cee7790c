"""What the parts of a layout have in common: which rows they take, and how these are arranged.

A row says who (entity), what (metric), how much (value with intervals) and where (place: level, setting, target ...). A
part names the keys that it arranges by; "entity" and "metric" are keys as well. It takes the rows whose place has no
other key, so that a mean over levels never stands among the levels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from openworld.report.series_style import SeriesStyle
from openworld.report.table import Cell
from openworld.results import Comparison, Result, Results, RunFolder
from openworld.results.results import Place
from openworld.results.standing import CHANCE_NAME

ENTITY = "entity"  # each on a line, where the reference finds it
METRIC = "metric"
BASELINE = "baseline"
NAME_OF = "_name"  # a key may have its words in another of this ending: chunk 3 is chunk_name "May"

Key = tuple[Place | None, ...]


@dataclass(frozen=True)
class Mark:
    """A sign behind an entity's name, what it means, and whether its numbers may still be called the best."""

    sign: str
    meaning: str
    may_be_best: bool = True


@dataclass(frozen=True, eq=False)
class Brief:
    """What a run or a command says: its rows, and the little that no row can tell.

    Args:
        results: every number and every test.
        baseline: the entity that all are compared with; "" for none.
        label: what the entities are: "learner", "detector", ...
        subtitle: what, on what, with what. facts: seeds and durations, as (name, value).
        notes: {name of a part: a sentence for its caption}.
        words: {name of a part: {title of a column: {row: text}}}, columns of words; a row is known by its label.
        marks: {entity: mark}.
        sentences: of the verdict, behind those that follow from the rows. warnings: notes at its end.
        styles: of the series; {} for one each.
        source: what own charts are drawn from.
        run: whose records the rows are of.
    """

    results: Results
    baseline: str = ""
    label: str = "learner"
    subtitle: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, Mapping[str, str | Cell]]] = field(default_factory=dict)
    marks: Mapping[str, Mark] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    styles: Mapping[str, SeriesStyle] = field(default_factory=dict)
    source: Any = None
    run: RunFolder | None = None

    @cached_property
    def _tests(self) -> dict[tuple, list[Comparison]]:
        by_place: dict[tuple, list[Comparison]] = {}
        for test in self.results.comparisons:
            if test.other != CHANCE_NAME:
                by_place.setdefault((test.metric.key, frozenset(test.where.items())), []).append(test)
        return by_place

    def tests(self, metric: str, place: Mapping[str, Place]) -> list[Comparison]:
        """Return the tests of a metric at exactly a place, but for those against chance."""
        return self._tests.get((metric, frozenset(place.items())), [])

    @cached_property
    def _by_pair(self) -> dict[tuple, Comparison]:
        return {(*key, test.entity, test.other): test for key, tests in self._tests.items() for test in tests}

    def test(self, metric: str, place: Mapping[str, Place], entity: str, other: str) -> Comparison | None:
        """Return the test of one entity against another, whichever way round it was made; None where there is none."""
        key = metric, frozenset(place.items())
        turned = self._by_pair.get((*key, other, entity))
        return self._by_pair.get((*key, entity, other)) or (turned.reversed() if turned else None)

    def may_be_best(self, entity: str) -> bool:
        """Return whether the numbers of an entity may be called the best: no mark of its own says otherwise."""
        return entity not in self.marks or self.marks[entity].may_be_best


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a report: name, title and metrics in this order, all else by its name."""

    name: str = field(kw_only=False)  # of its tables or its figure, in small letters with hyphens
    title: str = field(kw_only=False)  # a heading; parts that follow one another under the same title share a section
    metrics: tuple[str, ...] = field(default=(), kw_only=False)  # keys, in order; () for all that lie in its places
    per: tuple[str, ...] = ()  # keys that tell one table or chart from the next; a row need not have them
    of: Mapping[str, Place] = field(default_factory=dict)  # what else the place of a row must have, and what it must be
    beside: tuple[str, ...] = ()  # keys that rows may have and that tell nothing apart, since another key says the same
    note: str = ""  # a sentence that no row can tell
    folded: bool = False  # whether it is opened on demand
    terminal: bool = False  # whether a terminal shows it too; the first part is always shown
    label: str = ""  # what its entities are, where that is not what those of the report are

    def take(self, results: Results, required: Sequence[str]) -> Iterator[tuple[Key, Result]]:
        """Yield (what tells its table or chart from the next, row); rows lack none of the keys that are required."""
        keys = {*self.per, *self.of, *self.beside, *required} - {ENTITY, METRIC}
        keys |= {f"{key}{NAME_OF}" for key in keys}
        needed = {*self.of, *required} - {ENTITY, METRIC}
        apart = (*self.per, *(key for key in (METRIC, ENTITY) if key not in (*required, *self.per)))
        for row in results:
            place = row.where.keys()
            fits = (not self.metrics or row.metric.key in self.metrics) and needed <= place <= keys
            if fits and all(row.where[key] == value for key, value in self.of.items()):
                yield tuple(key_of(row, key) for key in apart), row

    def groups(self, results: Results, required: Sequence[str]) -> list[list[Result]]:
        """Return the rows of every table or chart: the most general place first, metrics in the order of the part."""
        groups: dict[Key, list[Result]] = {}
        for apart, row in self.take(results, required):
            groups.setdefault(apart, []).append(row)
        places = {tuple(rows[0].where.items()): None for rows in groups.values()}
        number_of = {place: number for number, place in enumerate(places)}

        def order(rows: Sequence[Result]) -> tuple[int, int, int]:
            where, metric = tuple(rows[0].where.items()), rows[0].metric.key
            return len(where), number_of[where], self.metrics.index(metric) if self.metrics else 0

        return sorted(groups.values(), key=order)


def key_of(row: Result, key: str) -> Place | None:
    """Return what a row has at a key; None where its place lacks it."""
    if key == ENTITY:
        return row.entity
    return row.metric.key if key == METRIC else row.where.get(key)


def words_of(row: Result, keys: Sequence[str]) -> list[str]:
    """Return what a row has at some keys, in words: metrics by their titles, numbers behind the name of their key."""
    return [text for key in keys if (text := _word(row, key))]


def _word(row: Result, key: str) -> str:
    if key == METRIC:
        return row.metric.title
    if key == ENTITY:
        return row.entity
    if f"{key}{NAME_OF}" in row.where:
        return str(row.where[f"{key}{NAME_OF}"])
    value = row.where.get(key)
    if value is None:
        return ""
    if key == BASELINE:
        return f"against {value}"
    return value if isinstance(value, str) else f"{key.replace('_', ' ')} {value:g}"
