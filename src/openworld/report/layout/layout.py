"""A layout: what a page, a terminal and a paper show of the rows of a run or a command, declared.

Every row is shown once in a table: what no part takes stands at the end, opened on demand.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from openworld.report.album import Album
from openworld.report.figure import Figure
from openworld.report.layout.captions import columns_of, headed
from openworld.report.layout.charts import Charts, Lines
from openworld.report.layout.maps import Map
from openworld.report.layout.parts import ENTITY, METRIC, Brief, Part
from openworld.report.layout.tables import Pivot, Tests
from openworld.report.layout.verdict import verdict
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted, listed
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.table import Cell, Table
from openworld.results import Comparison, Result, Results

OPEN = 4  # tables of a part that stand open; of more the first
TERMINAL_TABLES, TERMINAL_ROWS = 5, 30
ON_PAGE, CELLS_ON_PAGE = 500, 3000  # at most, of one table
REST = "Every other number"


@dataclass(frozen=True, kw_only=True)
class Own(Part):
    """What rows cannot say: paragraphs, tables, figures and images that a function makes of `Brief.source`."""

    draw: Callable[[Brief], Iterable[str | Table | Figure | Album | None]]


@dataclass(frozen=True)
class Layout:
    """What is shown of the rows of an evaluation or a command.

    Args:
        title: of the page: the question.
        headline: key of the metric by which entities are compared; "" where none is.
        parts: in the order of the page; a terminal shows the tables of the first.
        places: keys of the places where the headline is told and tested; () for numbers of the run as a whole.
        beside: of all parts and of the verdict: keys that tell nothing apart, but for parts that arrange by them.
    """

    title: str
    headline: str
    parts: tuple[Part, ...]
    places: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parts = (replace(part, beside=(*part.beside, *self.beside)) for part in self.parts)
        object.__setattr__(self, "parts", tuple(parts))

    def report(self, brief: Brief, **fields) -> Report:
        """Return the report.

        Args:
            brief: the rows, and what no row can tell. fields: further ones of `Report`, such as files.
        """
        styles = dict(brief.styles) or self._styles(brief)
        tables = {part.name: tuple(part.tables(brief)) for part in self.parts if isinstance(part, Pivot | Tests)}
        printed = [row for part in self.parts if isinstance(part, Map) for row in part.rows_of(brief.results)]
        rest = tuple(map(_for_page, _rest(brief, printed, [table for own in tables.values() for table in own])))
        tables = {name: tuple(map(_for_page, own)) for name, own in tables.items()}
        sections = [*self._sections(brief, styles, tables)]
        if rest:
            sections.append(Section(REST, folded=tuple(Section(table.title, tables=(table,)) for table in rest)))
        first = self.parts[0].name
        shown = [
            _for_terminal(part, table, brief)
            for part in self.parts
            if part.terminal or part.name == first
            for table in tables.get(part.name, ())
        ]
        more = len(shown) - TERMINAL_TABLES
        if more > 0:
            last = shown[TERMINAL_TABLES - 1]
            caption = f"{last.caption} The page has {counted(more, 'more table')}."
            shown[TERMINAL_TABLES - 1 :] = [replace(last, caption=caption)]
        papers = tuple(table for part in self.parts if not part.folded for table in tables.get(part.name, ()))
        series = f"{brief.label[0].upper()}{brief.label[1:]}s"
        said = verdict(self.headline, self.places, brief, beside=self.beside, along=self._along)
        about: dict[str, Any] = {"text": said[1 : len(said) - len(brief.warnings)], "notes": brief.warnings}
        about |= {"headline": self.headline if self.headline in brief.results.metrics() else ""} | fields
        page = Page(self.title, brief.subtitle, said, tuple(sections), styles=styles, series=series, facts=brief.facts)
        return Report(brief.results, tuple(shown), page, papers=papers, run_folder=brief.run, **about)

    @property
    def _along(self) -> Lines | None:
        """The first chart of the headline along a key."""
        charts = (part for part in self.parts if isinstance(part, Lines) and self.headline in part.metrics)
        return next(charts, None)

    def _styles(self, brief: Brief) -> dict[str, SeriesStyle]:
        """A style for whatever the charts draw, or for every entity where there is no chart; what is true is grey."""
        charts = [part for part in self.parts if isinstance(part, Charts)]
        truths = [part.names(brief.results)[:1] for part in charts if isinstance(part, Lines) and part.truth]
        drawn = [name for part in charts for name in part.names(brief.results)] or brief.results.entities
        grey = [brief.baseline, *(name for names in truths for name in names)]
        return series_styles([*filter(None, dict.fromkeys(drawn))], grey)

    def _sections(self, brief: Brief, styles, tables) -> Iterator[Section]:
        """Parts under the same title are one section, what is folded at its end."""
        for title, parts in groupby(self.parts, key=lambda part: part.title):
            shown, folded = [], []
            for part in parts:
                contents = list(tables.get(part.name, ()))
                if isinstance(part, Charts):
                    contents = [part.figure(brief, styles)]
                elif isinstance(part, Own):
                    contents = list(part.draw(brief))
                contents = [each for each in contents if each is not None]
                if part.folded or (isinstance(part, Pivot | Tests) and len(contents) > OPEN):
                    start = 0 if part.folded else 1
                    folded += _folded(part, contents[start:], brief)
                    contents = contents[:start]
                shown += contents
            if shown or folded:
                yield replace(_section(title, shown), folded=_told_apart(folded))


def _folded(part: Part, each: Sequence[Any], brief: Brief) -> list[Section]:
    """A section for each of few, one for all of many; headings say by what their numbers are arranged."""
    metrics = brief.results.metrics()
    of = listed([metrics[key].title for key in part.metrics if key in metrics][:OPEN])
    if len(each) <= OPEN:
        headings = [headed(part.title, of) if own.title == part.title else own.title for own in each]
        return [_section(heading, [own]) for heading, own in zip(headings, each, strict=True)]
    by = columns_of(part)
    heading = f"{of} {by}" if of and by else f"{part.title}: {len(each)} {'tables' if part.folded else 'more'}"
    return [_section(f"{heading[0].upper()}{heading[1:]}", each)]


def _section(heading: str, each: Sequence[str | Table | Figure | Album]) -> Section:
    kinds: list[Any] = [tuple(part for part in each if isinstance(part, kind)) for kind in (str, Table, Figure, Album)]
    return Section(heading, *kinds)


def _told_apart(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Sections with headings of their own on the page, each behind the name of what it holds where two are alike."""
    names = [section.name for section in sections]
    return tuple(
        replace(section, heading=f"{section.heading} ({names[:at].count(section.name) + 1})")
        if names.count(section.name) > 1
        else section
        for at, section in enumerate(sections)
    )


def _for_page(table: Table) -> Table:
    most = min(ON_PAGE, CELLS_ON_PAGE // len(table.columns))
    return _shortened(table, most, "the files of the run, or the JSON, have all")


def _for_terminal(part: Part, table: Table, brief: Brief) -> Table:
    """Return the first rows of a long table, or the last of one that follows a number such as that of a chunk."""
    places = brief.results.places(part.rows[0]) if isinstance(part, Pivot) else ()
    along = bool(places) and all(isinstance(place, int | float) for place in places)
    return _shortened(table, TERMINAL_ROWS, "the page has all", last=along)


def _shortened(table: Table, most: int, elsewhere: str, *, last: bool = False) -> Table:
    """Return so many rows of a longer table, which says how many there are."""
    if len(table.rows) <= most:
        return table
    caption = f"{table.caption} The {'last' if last else 'first'} {most} of {len(table.rows):,}; {elsewhere}."
    return replace(table, rows=table.rows[-most:] if last else table.rows[:most], caption=caption)


def _rest(brief: Brief, printed: Sequence[Result], tables: Sequence[Table]) -> Iterator[Table]:
    """Yield tables of the rows that no table and no map shows, by the keys of their places, and of few such tests."""
    contents = [_content(cell) for table in tables for row in table.rows for cell in row.cells]
    values = {id(content) for content in contents} | {id(row.value) for row in printed}
    rows = [row for row in brief.results if id(row.value) not in values]
    by_keys: dict[tuple[str, ...], list] = {}
    for row in rows:
        by_keys.setdefault(tuple(row.where), []).append(row)
    for number, (keys, own) in enumerate(by_keys.items(), 1):
        same = tuple(key for key in keys if len(own) > 1 and len({row.where[key] for row in own}) == 1)
        different = [key for key in keys if key not in same]
        at = ", ".join(key.replace("_", " ") for key in different)
        title = f"{REST}, by {at}" if at else REST if same else f"{REST} of the whole"
        part = Pivot(name=f"rest-{number}", title=title, rows=(ENTITY, *different), columns=(METRIC,), per=same)
        yield from part.tables(replace(brief, results=Results(brief.results.evaluation, tuple(own))))
    pairs = {_pair(content) for content in contents if isinstance(content, Comparison)}
    tests = tuple(test for test in brief.results.comparisons if _pair(test) not in pairs)
    results = replace(brief.results, comparisons=tests)
    for number, numbered in enumerate(dict.fromkeys(_numbers(test) for test in tests[:ON_PAGE]), 1):
        alike = tuple(test for test in tests if _numbers(test) == numbered)
        part = Tests(name=f"rest-tests-{number}", title="Every other test", rows=numbered)
        yield from part.tables(replace(brief, results=replace(results, comparisons=alike)))


def _content(cell):
    return cell.content if isinstance(cell, Cell) else cell


def _numbers(test: Comparison) -> tuple[str, ...]:
    return tuple(key for key, value in test.where.items() if not isinstance(value, str))


def _pair(test: Comparison) -> tuple:
    return test.metric.key, frozenset((test.entity, test.other)), tuple(test.where.items())
