"""The charts of a layout that are no plots of points: maps of cells, and diagrams of mean ranks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from openworld.report.charts import CellChart, ChartCell, RankChart
from openworld.report.figure import Chart, Figure
from openworld.report.layout.charts import AREA, Charts
from openworld.report.layout.parts import ENTITY, Brief
from openworld.report.sentences import listed
from openworld.report.series_style import SeriesStyle
from openworld.results import Result
from openworld.results.standing import CHANCE

CRITICAL_DIFFERENCE = "critical_difference"  # the metric, of nobody, that says how far apart two mean ranks must lie


@dataclass(frozen=True, kw_only=True)
class Map(Charts):
    """Grids of one metric, a grid per entity, all on one scale, with the number in every cell.

    Shades of AUROCs start at chance and those of differences, in points, at 0, blue above and orange below; of others
    they run from the least to the largest.

    Args:
        rows, columns: keys of whole numbers from 0. titles: of the two axes; their keys where they are "".
    """

    rows: str
    columns: str
    titles: tuple[str, str] = ("", "")
    _spread = "tooltips"

    @property
    def _required(self) -> tuple[str, ...]:
        return (self.rows, self.columns)

    def _legend(self, rows: Sequence[Result]) -> str:
        if any(row.metric.key == AREA.key for row in rows):
            return "AUROC: blue above 50, chance, and orange below; dashed: the interval over images holds 50."
        if any(row.metric.unit == "points" for row in rows):
            return "Blue above 0, orange below."
        return ""

    def _charts(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Iterator[Chart]:
        panels = [*self._panels(brief, self._required)]
        known: dict[str, list[float]] = {}
        for _, rows in panels:
            for row in rows:
                if row.value.value is not None:
                    known.setdefault(row.metric.key, []).append(row.value.value)
        ends = {key: (min(values), max(values)) for key, values in known.items()}
        ends |= {AREA.key: (CHANCE, 1.0)} if AREA.key in ends else {}
        signed = {row.metric.key for _, rows in panels for row in rows if row.metric.unit == "points"}
        ends |= {key: (0.0, max(map(abs, ends[key]))) for key in signed & ends.keys()}
        for title, rows in panels:
            cells = {(int(row.where[self.rows]), int(row.where[self.columns])): _map_cell(row, ends) for row in rows}
            down, across = ([str(level) for level in range(max(place[at] for place in cells) + 1)] for at in (0, 1))
            axes = [title or key.replace("_", " ") for title, key in zip(self.titles, self._required, strict=True)]
            yield CellChart(title, axes[0], axes[1], down, across, cells, (self.rows, self.columns))


def _map_cell(row: Result, ends: Mapping[str, tuple[float, float]]) -> ChartCell:
    """A number with its shade between the ends of its metric; of an AUROC that may be chance with a dashed outline."""
    value, metric, interval = row.value.value, row.metric, row.value.over("images")
    if value is None:
        return ChartCell("N/A", hint=row.value.reason, row={metric.key: None})
    low, high = ends[metric.key]
    text, further = metric.write(value), {}
    if interval is not None:
        further = {"low": interval.low, "high": interval.high}
    dashed = metric.key == AREA.key and interval is not None and interval.low <= CHANCE <= interval.high
    hint = f"{metric.title} {text} {metric.write_interval(row.value.over())}".strip()
    return ChartCell(text, (value - low) / ((high - low) or 1.0), hint, dashed, row={metric.key: value} | further)


@dataclass(frozen=True, kw_only=True)
class Ranks(Charts):
    """Critical-difference diagrams of mean ranks, one per place where a critical difference is known."""

    @property
    def _required(self) -> tuple[str, ...]:
        return (ENTITY,)

    def _charts(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Iterator[Chart]:
        for title, rows in self._panels(brief, self._required):
            place = rows[0].where
            about = {row.metric.key: row.value for row in brief.results.where(entity="") if row.where == place}
            distance = about.get(CRITICAL_DIFFERENCE)
            if distance is not None and distance.value is not None:
                means = {row.entity: row.value.value for row in rows if row.value.value is not None}
                p = about.get("friedman_p")
                further = {} if p is None else {"friedman_p": p.value}
                yield RankChart(title, means, distance.value, further)

    def figure(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Figure | None:
        drawn = super().figure(brief, styles)
        missing = [
            row.value.reason
            for row in brief.results.where(entity="", metric=CRITICAL_DIFFERENCE)
            if row.value.value is None and row.where.keys() <= {*self.per, *self.of, *self.beside}
        ]
        why = f"No diagram: {listed([*dict.fromkeys(missing)])}." if missing else ""
        if drawn is None and not missing:
            return None
        joined = "1 = best; a bar joins what is not shown to differ at 5 % (Nemenyi)."
        return Figure(
            self.name,
            self.title,
            tuple(filter(None, (joined if drawn else "", why, *(drawn.caption[1:] if drawn else ())))),
            drawn.charts if drawn else (),
            styles,
            names=("panel", brief.label),
        )
