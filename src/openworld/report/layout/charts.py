"""The charts of a layout: lines, bars and dots, drawn from rows of results arranged by their places."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import log
from typing import Any

from openworld.report.charts.bars import BarChart, bars_key
from openworld.report.charts.intervals import IntervalChart, IntervalRow
from openworld.report.charts.line import Line, LineChart
from openworld.report.charts.quantity import Quantity, Reference
from openworld.report.charts.scatter import Cloud, ScatterChart
from openworld.report.figure import Chart, Figure
from openworld.report.layout.captions import figure_caption
from openworld.report.layout.parts import ENTITY, METRIC, NAME_OF, Brief, Key, Part, key_of, words_of
from openworld.report.series_style import SeriesStyle
from openworld.results import METRICS, Metric, Result, Results
from openworld.results.standing import CHANCE

MOST, MARKS = 36, 3000  # charts of a figure, and points, bars or cells of all of them
WIDE = 20  # numbers without a limit, the largest so many times the least, are drawn on a logarithmic axis
SEED = "seed"  # the key of dots that are a row's numbers of every seed

AREA = METRICS["auroc"]


class Charts(Part):
    """A part that is one figure."""

    def figure(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Figure | None:
        rows = [row for row in self.rows_of(brief.results) if row.value.value is not None]
        charts = tuple(self._charts(brief, styles)) if rows else ()
        if not charts:
            return None
        about = figure_caption(self, rows, brief, self._spread, each_seed=SEED in getattr(self, "dots", ()))
        about = tuple(filter(None, (*about, self._legend(rows))))
        marks = accumulate(len(list(chart.rows())) for chart in charts)
        most = min(MOST, max(1, sum(count <= MARKS for count in marks)))
        if len(charts) > most:
            about = (*about, f"The first {most} of {len(charts)} charts; results.parquet has all numbers.")
        small, series = len(charts) > 6, "series" if ENTITY in (*self.per,) else brief.label
        return Figure(self.name, self.title, about, charts[:most], styles, small=small, names=("panel", series))

    def rows_of(self, results: Results) -> list[Result]:
        return [row for _, row in self.take(results, self._required)]

    def names(self, results: Results) -> list[str]:
        return list(dict.fromkeys(row.entity for row in self.rows_of(results)))

    def _legend(self, rows: Sequence[Result]) -> str:
        """What colours and dashes say, where a caption of numbers does not."""
        return ""

    _spread = "bars"

    @property
    def _required(self) -> tuple[str, ...]:
        return ()

    def _charts(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Iterator[Chart]:
        return iter(())

    def _panels(self, brief: Brief, required: Sequence[str]) -> Iterator[tuple[str, list[Result]]]:
        keys = [key for key in (*self.per, METRIC, ENTITY) if key not in required]
        groups = self.groups(brief.results, required)
        several = len({tuple(key_of(rows[0], key) for key in self.per) for rows in groups}) > 1
        for rows in groups:
            one = len(self.metrics) == 1 or len({row.metric for row in rows}) > 1
            keys_shown = [key for key in keys if key != METRIC] if one else keys
            whole = several and all(key_of(rows[0], key) is None for key in self.per)
            yield ", ".join([*["all"] * whole, *words_of(rows[0], keys_shown)]), rows


@dataclass(frozen=True, kw_only=True)
class Lines(Charts):
    """Charts of a metric along a place, a line per series.

    Args:
        along: key of the axis. series: key whose values are the lines; METRIC for a line per
            metric, whoever has it.
        truth: metric that is drawn beside each of the others: of nobody, or of whom the place of a row names, such as
            an estimator's of {"learner": ...}.
        show: whether bands are an "interval" or a "deviation" on either side.
    """

    along: str
    series: str = ENTITY
    truth: str = ""
    show: str = "interval"

    @property
    def _spread(self) -> str:
        return "bands" if self.show == "interval" else ""

    def _legend(self, rows: Sequence[Result]) -> str:
        has_areas = self.series != METRIC and any(row.metric.key == AREA.key for row in rows)
        return "Dashed: an AUROC of 50, chance." if has_areas else ""

    @property
    def _required(self) -> tuple[str, ...]:
        return (self.along, self.series, *([ENTITY] if self.series == METRIC else []))

    def names(self, results: Results) -> list[str]:
        """Return the values of the key of the series, and the title of what is true."""
        rows = self.rows_of(results)
        truth = [self._truth_title(results)] if self.truth and rows else []
        return [*truth, *dict.fromkeys(map(self._series_of, rows))]

    def _series_of(self, row: Result) -> str:
        return row.metric.title if self.series == METRIC else str(key_of(row, self.series))

    def _truth_title(self, results: Results) -> str:
        metric = results.metrics().get(self.truth)
        return f"true {metric.title.removeprefix('true ')}" if metric else ""

    def _charts(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Iterator[Chart]:
        true = {row.key: row for row in brief.results.where(metric=self.truth)} if self.truth else {}
        for title, rows in self._panels(brief, self._required):
            lines: dict[str, list[Result]] = {}
            for row in rows:
                lines.setdefault(self._series_of(row), []).append(row)
            beside = {found.key: found for row in rows for found in [_truth_of(row, self.truth, true)] if found}
            if beside:
                lines = {self._truth_title(brief.results): list(beside.values())} | lines
            ticks = list(dict.fromkeys(row.where[self.along] for row in rows))
            counted = f"{self.along}{NAME_OF}" in rows[0].where and all(isinstance(tick, int) for tick in ticks)
            numbers = [tick for tick in ticks if isinstance(tick, int | float)]
            if len(numbers) == len(ticks) and not counted:
                x, at = _along(self.along, sorted(numbers)), {}
            else:
                texts = {tick: words_of(row, (self.along,))[0] for row in rows for tick in [row.where[self.along]]}
                x = Quantity(self.along, "", labels=tuple(texts.values()))
                at = {tick: place for place, tick in enumerate(texts)}
            drawn = {name: _line(own, self.along, at, self.show) for name, own in lines.items() if name in styles}
            if any(line.known for line in drawn.values()):
                metric, several = rows[0].metric, self.series == METRIC
                chance = (CHANCE,) if metric.key == AREA.key and not several else ()
                y, references = Quantity.of(metric, covers=chance), tuple(map(Reference, chance))
                y = replace(y, title=self.title.lower()) if several else y
                yield LineChart(title, x, y, drawn, (brief.baseline,), references=references)


def _truth_of(row: Result, truth: str, true: Mapping[tuple, Result]) -> Result | None:
    """What is true where a row stands: of nobody at its place, or of whom the place names at the rest of it."""
    places = [("", row.where)]
    for key, name in row.where.items():
        places.append((name, {other: value for other, value in row.where.items() if other != key}))
    keys = ((name, truth, frozenset(place.items())) for name, place in places)
    return next((true[key] for key in keys if key in true), None)


def _along(key: str, ticks: Sequence[float]) -> Quantity:
    """The axis of a numeric place: shares in percent, numbers that grow by a factor on a logarithmic axis."""
    share, positive = key.endswith("share"), ticks[0] > 0 and len(ticks) > 2 and ticks[-1] >= 8 * ticks[0]
    steps = [second - first for first, second in pairwise(ticks)]
    factors = [log(second / first) for first, second in pairwise(ticks)] if positive else []
    by_factor = positive and not share and 2 * max(factors) / min(factors) <= max(steps) / min(steps)
    unit, digits = ("percent", 0) if share else ("number", 6)
    title = f"{key.replace('_', ' ')}{', %' if share else ''}"
    return Quantity(key, title, unit, digits, log=by_factor, at_values=len(ticks) < 12 and not share)


def _line(rows: Sequence[Result], along: str, at: Mapping, show: str) -> Line:
    """One series: its values, the band of its first interval or deviation, and what is known over seeds."""
    rows = sorted(rows, key=lambda row: at.get(row.where[along], row.where[along]) if at else row.where[along])
    spans = [row.value.over() for row in rows]
    further = {}
    if any(len(row.per_seed) > 1 for row in rows):
        over = [row.value.over("seeds") for row in rows]
        seeds = [[number for number in row.per_seed if number is not None] for row in rows]
        further = {
            "lowest_seed": [min(own, default=None) for own in seeds],
            "highest_seed": [max(own, default=None) for own in seeds],
            "low_over_seeds": [getattr(span, "low", None) for span in over],
            "high_over_seeds": [getattr(span, "high", None) for span in over],
        }
    x = [at.get(row.where[along], row.where[along]) for row in rows]
    low, high = ([getattr(span, end, None) for span in spans] for end in ("low", "high"))
    if show == "deviation":
        known = [(row.value.value, row.value.deviation or 0.0) for row in rows]
        low, high = ([None if value is None else value + sign * by for value, by in known] for sign in (-1, 1))
    return Line(x, [row.value.value for row in rows], low, high, further=further)


@dataclass(frozen=True, kw_only=True)
class Bars(Charts):
    """Numbers with their intervals, one below the other; or stacked: the metrics of an entity one behind the other."""

    stacked: bool = False

    @property
    def _spread(self) -> str:
        return "" if self.stacked else "bars"

    @property
    def _required(self) -> tuple[str, ...]:
        return (ENTITY, METRIC) if self.stacked else (ENTITY,)

    def figure(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Figure | None:
        """Return the figure; of stacked bars with a key of their parts."""
        drawn = super().figure(brief, styles)
        if drawn is None or not self.stacked:
            return drawn
        metrics = brief.results.metrics()
        return replace(drawn, key=bars_key([metrics[key] for key in self.metrics if key in metrics], brief.label))

    def _charts(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Iterator[Chart]:
        for title, rows in self._panels(brief, self._required):
            if self.stacked:
                known = brief.results.metrics()
                parts = [known[key] for key in self.metrics if key in known]
                values = {(row.entity, row.metric.key): row.value.value for row in rows}
                bars: Any = {name: [values.get((name, part.key)) for part in parts] for name in _entities(rows, styles)}
                bars = {name: None if None in own else own for name, own in bars.items()}
                if any(bars.values()):
                    yield BarChart(title, tuple(map(Quantity.of, parts)), bars)
                continue
            series = {
                row.entity: IntervalRow(row.value.value, (span.low, span.high) if (span := row.value.over()) else None)
                for row in rows
                if row.value.value is not None and row.entity in styles
            }
            if series:
                yield IntervalChart(title, Quantity.of(rows[0].metric), series)


@dataclass(frozen=True, kw_only=True)
class Scatter(Charts):
    """A dot per entity and place: the first metric over each of the others, a chart for each.

    Args:
        dots: keys whose values are the dots of one entity, which a line joins in order; "seed" for a dot per seed, with
            lines to their mean. A single dot has a thin line through the numbers of its seeds.
        guide: as of `ScatterChart`.
    """

    dots: tuple[str, ...] = ()
    guide: str = ""
    _spread = ""

    @property
    def _required(self) -> tuple[str, ...]:
        return (ENTITY, METRIC, *(key for key in self.dots if key != SEED))

    def _charts(self, brief: Brief, styles: Mapping[str, SeriesStyle]) -> Iterator[Chart]:
        main, *others = self.metrics
        for title, rows in self._panels(brief, self._required):
            metrics: dict[str, Metric] = {row.metric.key: row.metric for row in rows}
            values: dict[tuple[str, str], dict[Key, float | None]] = {}
            for row in rows:
                values.setdefault((row.entity, row.metric.key), {}).update(self._numbers(row))
            seeds = {row.entity: row.per_seed for row in rows if row.metric.key == main}
            for key in (key for key in others if key in metrics and main in metrics):
                clouds = {}
                for name in _entities(rows, styles):
                    across, up = values.get((name, key), {}), values.get((name, main), {})
                    dots = {
                        dot: (x, y) for dot, x in across.items() if x is not None and (y := up.get(dot)) is not None
                    }
                    if dots:
                        known = [] if self.dots else [number for number in seeds[name] if number is not None]
                        clouds[name] = _cloud(dots, known, in_order=bool(self.dots) and SEED not in self.dots)
                if clouds:
                    own = ", ".join(filter(None, (title, metrics[key].title if len(others) > 1 else "")))
                    x = _axis(metrics[key], [x for cloud in clouds.values() for x, _ in cloud.dots])
                    has_legend = None if self.dots else False
                    yield ScatterChart(own, x, Quantity.of(metrics[main]), clouds, self.guide, named=has_legend)

    def _numbers(self, row: Result) -> Iterator[tuple[Key, float | None]]:
        place = tuple(key_of(row, key) for key in self.dots if key != SEED)
        if SEED in self.dots:
            yield from (((*place, seed), number) for seed, number in zip(row.seeds, row.per_seed, strict=True))
        else:
            yield place, row.value.value


def _axis(metric: Metric, values: Sequence[float]) -> Quantity:
    """The axis of a metric, logarithmic for times and where it has no limit and its numbers span much."""
    positive = [value for value in values if value > 0]
    unlimited = metric.bounds[0] == 0 and metric.bounds[1] is None and bool(positive)
    wide = unlimited and (min(values) == 0 or max(positive) >= WIDE * min(positive))
    return Quantity.of(metric, log=bool(positive) and (metric.stored_unit == "seconds" or wide))


def _cloud(dots: Mapping[Key, tuple[float, float]], seeds: Sequence[float], *, in_order: bool) -> Cloud:
    """The dots of an entity; a single one with a line through the numbers of its seeds."""
    points = list(dots.values())
    if len(points) > 1 or len(seeds) < 2:
        return Cloud(points, in_order=in_order)
    (x, _), low, high = points[0], min(seeds), max(seeds)
    return Cloud(points, ((x, low), (x, high)), further={"lowest_seed": (low,), "highest_seed": (high,)})


def _entities(rows: Sequence[Result], styles: Mapping[str, SeriesStyle]) -> list[str]:
    return [name for name in dict.fromkeys(row.entity for row in rows) if name in styles]
