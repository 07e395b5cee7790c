"""The tables of a layout: rows of results arranged by their places, with captions, marks and tests that follow."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from openworld.report.layout.captions import caption, headed, title_of
from openworld.report.layout.parts import ENTITY, METRIC, Brief, Key, Part, key_of, words_of
from openworld.report.sentences import listed
from openworld.report.table import Cell, Column, Row, Table, cell_of
from openworld.results import TEXT, Comparison, Metric, Result, Value, standing
from openworld.results.standing import CHANCE_NAME
from openworld.results.value import SIGNED

FEW = 6  # columns of numbers of which each shows its interval; of more, the first
HALF = 4  # by how much the priority of a metric's second entity and of further ones is less than that of its first
WHOLE = 9  # priority on a narrow terminal of what is never left out
WHAT_IT_IS = "what it is"  # a column of words that a narrow terminal leaves out first
UP, DOWN = "▲", "▼"
DIFFERENCE = Metric("difference", "difference", "points", better=0, bounds=(None, None))


@dataclass(frozen=True, kw_only=True)
class Pivot(Part):
    """Tables of numbers.

    Args:
        rows, columns: keys; what is in neither tells one table from the next.
        sort: a metric by which rows stand, the best first; "" as they come.
        show: "interval" or "deviation" behind a number.
    """

    rows: tuple[str, ...] = (ENTITY,)
    columns: tuple[str, ...] = (METRIC,)
    sort: str = ""
    show: str = "interval"

    def tables(self, brief: Brief) -> Iterator[Table]:
        """Yield a table for each place that has rows, the most general place first."""
        for number, rows in enumerate(self.groups(brief.results, (*self.rows, *self.columns)), 1):
            name = self.name if number == 1 else f"{self.name}-{number}"
            yield self._table(name, rows, brief)

    def _table(self, name: str, rows: Sequence[Result], brief: Brief) -> Table:
        cells = {(self._key(row, self.rows), self._key(row, self.columns)): row for row in rows}
        heads = self._ordered({column: row for (_, column), row in cells.items()}, self.columns)
        labels = self._ordered({line: row for (line, _), row in cells.items()}, self.rows)
        if self.sort:
            labels = self._sorted(labels, rows)
        first = next(iter(heads.values())).metric
        place = {key: value for key, value in rows[0].where.items() if key not in (*self.rows, *self.columns)}
        opponents = self._opponents(brief, place, first)
        columns = [
            *self._columns(heads, rows, brief),
            *(Column(TEXT, f"against {name}", WHOLE - 2) for name in opponents),
        ]
        words = brief.words.get(self.name, {})
        columns += [Column(TEXT, title, 1 if title == WHAT_IT_IS else WHOLE - 1) for title in words]
        lines, grid = [], all(len(key) == 1 and isinstance(key[0], int) for key in (*heads, *labels))
        for line, row in labels.items():
            label = str(line[0]) if grid else ", ".join(words_of(row, self.rows)) or "all"
            cells_of_row: list[Any] = [self._cell(cells.get((line, column)), brief) for column in heads]
            cells_of_row += cells_of_row[:1] * sum(column.show == "interval" for column in columns)
            cells_of_row += [brief.test(first.key, place, row.entity, other) for other in opponents]
            cells_of_row += [texts.get(label) for texts in words.values()]
            mark = brief.marks.get(row.entity)
            series = row.entity if ENTITY in self.rows else ""
            sign = f" {mark.sign}" if mark and series else ""
            rule = len(self.rows) > 1 and bool(lines) and line[0] != lines[-1][0][0]
            lines.append((line, Row(label + sign, tuple(cells_of_row), series, rule=rule)))
        against = brief.tests(first.key, place) if opponents else []
        spans = {column for column, shown in zip(heads, columns, strict=False) if shown.intervals}
        spanned = [row for (_, column), row in cells.items() if column in spans]
        text = caption(self, rows, brief, against, spanned, noted=name == self.name)
        best = "columns" if ENTITY in self.rows and len(self.rows) == 1 else "rows" if ENTITY in self.columns else ""
        if best == "rows" and len({row.metric for row in rows}) > 1:
            best = ""
        label = self.label or (brief.label if self.rows[0] == ENTITY else self.rows[0].replace("_", " "))
        if grid:  # of levels along two ways, which the corner names
            label = f"{label} \\ {self.columns[0].replace('_', ' ')}"
            titles = [str(key[0]) for key in heads] + [column.title for column in columns[len(heads) :]]
            columns = [replace(column, title=title) for column, title in zip(columns, titles, strict=True)]
        return Table(name, title_of(self, rows[0]), text, label, tuple(columns), tuple(row for _, row in lines), best)

    def _columns(self, heads: Mapping[Key, Result], rows: Sequence[Result], brief: Brief) -> list[Column]:
        columns, many = [], len(heads) > FEW
        metrics = {row.metric for row in heads.values()}
        main = self.metrics[0] if self.metrics else next(iter(metrics)).key
        alone = self.columns == (METRIC,)
        spans = [] if METRIC not in self.columns or alone else [bool(row.value.intervals) for row in heads.values()]
        first = spans.index(True) if any(spans) else 0 if alone else None
        for at, row in enumerate(heads.values()):
            mark = brief.marks.get(row.entity) if ENTITY in self.columns else None
            title = ", ".join(words_of(row, self._heading(row, heads.values()))) or row.metric.title
            title += f" {mark.sign}" if mark else ""
            show = "deviation" if self.show == "deviation" else "value"
            intervals = int(show == "value" and (not many or at == first))
            priority = WHOLE if alone and at == 0 else max(0, WHOLE - 1 - at)
            if {ENTITY, METRIC} <= {*self.columns}:  # of a metric that several entities have the first is kept longest
                order = [each.metric for each in heads.values()]
                again = HALF if row.metric in order[:at] else 0
                priority = max(0, WHOLE - 1 - list(dict.fromkeys(order)).index(row.metric) - again)
            headline = alone and at == 0 and row.metric.better != 0
            columns.append(Column(row.metric, title, priority, intervals, show, headline=headline))
        if self.show == "interval" and (len(heads) == 1 or self.columns == (METRIC,)):
            seconds = [row.value.intervals[1:] for row in rows if len(heads) == 1 or row.metric.key == main]
            for over in dict.fromkeys(interval.over for intervals in seconds for interval in intervals):
                columns.append(Column(columns[0].metric, f"95 % over {over}", 1, show="interval", over=over))
        return columns

    def _heading(self, row: Result, heads: Collection[Result]) -> list[str]:
        """The keys that tell a column from the others: of metrics and entities those that are needed."""
        one = len({each.metric for each in heads}) == 1
        if one or METRIC not in self.columns or self.columns == (METRIC,):
            return [key for key in self.columns if key != METRIC or not one]
        entities: dict[Metric, set[str]] = {}
        for each in heads:
            entities.setdefault(each.metric, set()).add(each.entity)
        shared = [metric for metric, names in entities.items() if len(names) > 1]
        needless = ENTITY if row.metric not in shared else METRIC if len(shared) == 1 else ""
        return [key for key in self.columns if key != needless]

    def _cell(self, row: Result | None, brief: Brief) -> Cell | None:
        """A number; with a mark where it is shown to be better or worse than the baseline's at the same level."""
        if row is None:
            return None
        cell = cell_of(row)
        cell = cell if brief.may_be_best(row.entity) else replace(cell, bold=False)
        if self.columns == (METRIC,) or not brief.baseline:
            return cell
        test = brief.test(row.metric.key, row.where, row.entity, brief.baseline)
        if test is None:
            return cell
        note = "; ".join(filter(None, (test.sentence, cell.note)))
        return replace(cell, mark=UP if test.better else DOWN if test.worse else "", note=note)

    def _opponents(self, brief: Brief, place: Mapping, metric: Metric) -> list[str]:
        """Whom each entity is tested against: the baseline, and who has the best number."""
        tests = brief.tests(metric.key, place)
        if self.columns != (METRIC,) or self.rows != (ENTITY,) or not tests:
            return []
        rows = (row for row in brief.results.where(metric=metric.key) if row.where == place)
        values = {row.entity: row.value.value for row in rows if brief.may_be_best(row.entity)}
        best = standing(values, better=metric.better) if metric.better else None
        leaders = [name for name in (best.names[:1] if best else ()) if any(name in _pair(test) for test in tests)]
        baseline = [brief.baseline] if any(brief.baseline in _pair(test) for test in tests) else []
        return list(dict.fromkeys([*baseline, *leaders]))

    def _ordered(self, keys: Mapping[Key, Result], names: Sequence[str]) -> dict[Key, Result]:
        """Metrics in the order of the part, numbers from the least, all else as it came; what shares a key together."""
        order = list(keys)
        if len(names) == 1 and names != (METRIC,) and all(isinstance(key[0], int | float) for key in order):
            order.sort()
        if METRIC in names and self.metrics:
            column = names.index(METRIC)
            order.sort(key=lambda key: self.metrics.index(key[column]))
        if len(names) > 1:  # the sort is stable: what shares its first name stays in the order that it has
            first_names = list(dict.fromkeys(key[0] for key in order))
            order.sort(key=lambda key: first_names.index(key[0]))
        return {key: keys[key] for key in order}

    def _sorted(self, labels: Mapping[Key, Result], rows: Sequence[Result]) -> dict[Key, Result]:
        """Rows by a metric: the best first, of one that has no better way the least first, what lacks it last."""
        row_of = {self._key(row, self.rows): row for row in rows if row.metric.key == self.sort}

        def rank(line: Key) -> float:
            value = row_of[line].value.value if line in row_of else None
            return inf if value is None else -value if row_of[line].metric.better > 0 else value

        return {line: labels[line] for line in sorted(labels, key=rank)}

    def _key(self, row: Result, names: Sequence[str]) -> Key:
        return tuple(key_of(row, name) for name in names)


@dataclass(frozen=True, kw_only=True)
class Tests(Part):
    """Tables of tests: who is compared with whom, the difference, its interval and the verdict, one per place.

    Args:
        rows: keys of places that share a table, and stand behind the names of who is compared.
    """

    rows: tuple[str, ...] = ()

    def tables(self, brief: Brief) -> Iterator[Table]:
        """Yield a table for each place that has tests, the most general first; those against chance are apart."""
        places: dict[tuple, list[Comparison]] = {}
        for test in brief.results.comparisons:
            keys = {*self.per, *self.of, *self.beside, *self.rows}
            apart = {key: value for key, value in test.where.items() if key in self.per or key not in self.beside}
            place = tuple(item for item in apart.items() if item[0] not in self.rows)
            fits = not self.metrics or test.metric.key in self.metrics
            fits = fits and {*self.rows} <= test.where.keys() and self.of.items() <= test.where.items()
            if fits and (not self.per or test.where.keys() <= keys):
                places.setdefault((test.metric, test.other == CHANCE_NAME, *place), []).append(test)
        general_first = sorted(places.items(), key=lambda place: len(place[0]))
        several = len(places) > 1
        same = {item for item in next(iter(places), ()) if several and all(item in place for place in places)}
        for number, ((metric, by_chance, *where), tests) in enumerate(general_first, 1):
            signed = replace(DIFFERENCE, unit=SIGNED.get(metric.unit, metric.unit), digits=metric.digits)
            rows = tuple(_test_row(test, self.rows) for test in tests)
            apart = [(key, value) for key, value in where if (key, value) not in same]
            place = ", ".join(value if isinstance(value, str) else f"{key} {value:g}" for key, value in apart)
            over = dict.fromkeys(test.interval.over for test in tests if test.interval)
            about = f"Differences in {metric.title}, {signed.unit}"
            about += f" [95 % over {' or '.join(over)}]" if over else ""
            family = "correction for all tests against chance" if by_chance else "Holm over all pairs"
            text = f"{about}; p after {family}. {self.note}".strip()
            name = self.name if number == 1 else f"{self.name}-{number}"
            by = f"tests by {listed([key.replace('_', ' ') for key in self.rows])}" if self.rows else ""
            title = headed(self.title, ", ".join(filter(None, (place, by))))
            yield Table(name, title, text, "pair", (Column(signed), Column(TEXT, "verdict")), rows, best="")


def _test_row(test: Comparison, keys: Sequence[str]) -> Row:
    spans = (test.interval,) if test.interval else ()
    reason = test.reason or "it is not defined"
    value = Value(
        test.difference, spans if test.difference is not None else (), "" if test.difference is not None else reason
    )
    place = ", ".join(words_of(Result(test.entity, test.metric, value, test.where), keys))
    return Row(f"{test.entity} − {test.other}{f', {place}' if place else ''}", (value, Cell(test, note=test.sentence)))


def _pair(test: Comparison) -> tuple[str, str]:
    return test.entity, test.other
