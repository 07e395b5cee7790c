"""Lines with bands over a common axis, one per series."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.label_placement import beside
from openworld.report.charts.drawing.plane import axis_of, cut, plane, references, regions
from openworld.report.charts.drawing.svg import MANY_POINTS, Frame, drawing, element
from openworld.report.charts.quantity import CROWDED, Quantity, Reference, Region, Spot, in_front
from openworld.report.series_style import SeriesStyle

MARKED = 12  # points of a line that have a mark each; a longer line has some along its way


@dataclass(frozen=True)
class Line:
    """One series: values y at x, None where there is none, and the ends of its band.

    `rings` mark points that need not lie on the line; the axis holds them. `further` are columns of the data, one value
    per x.
    """

    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    rings: tuple[Spot, ...] = ()
    further: Mapping[str, Sequence] = field(default_factory=dict)

    @property
    def known(self) -> list[tuple[float, float]]:
        """The points that have a value."""
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if y is not None]

    @property
    def band(self) -> list[tuple[float, float, float]]:
        """(x, low, high) where the band has both ends."""
        ends = zip(self.x, self.low, self.high, strict=True) if self.low else ()
        return [(x, low, high) for x, low, high in ends if low is not None and high is not None]


@dataclass(frozen=True)
class Points:
    """Points over the lines, each with its interval: mark "dot", "ring" or "dash", none where y is None."""

    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    texts: Sequence[str] = ()
    mark: str = "dot"


@dataclass(frozen=True)
class LineChart:
    """Lines over an axis x.

    Args:
        series: lines by name. highlight: names that stay in front among many.
        points: over the lines, by name; lines stand back behind them.
        ends: columns of the data for the two ends of a band.
        named: whether names stand beside the lines although the chart does not stand alone.
    """

    title: str
    x: Quantity
    y: Quantity
    series: Mapping[str, Line]
    highlight: tuple[str, ...] = ()
    points: Mapping[str, Points] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    regions: tuple[Region, ...] = ()
    ends: tuple[str, str] = ("low", "high")
    named: bool = False

    @property
    def lines(self) -> dict[str, Line]:
        """The series that have a value, the highlighted last, so that they lie on top."""
        known = {name: line for name, line in self.series.items() if line.known}
        return dict(sorted(known.items(), key=lambda item: item[0] in self.highlight))

    def rows(self) -> Iterator[dict]:
        """Yield a row per point."""
        low, high = self.ends
        for name, line in (*self.series.items(), *self.points.items()):
            further = getattr(line, "further", {})
            for place, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
                at = self.x.labels[round(x)] if self.x.labels else x
                ends = {low: line.low[place], high: line.high[place]} if line.low else {}
                yield {"series": name, self.x.key: at, self.y.key: y} | ends | {k: v[place] for k, v in further.items()}

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page."""
        lines, named = self.lines, (alone or self.named) and not self.points
        plot = plane(*self._axes(), alone=alone or self.named, beside=lines if named else ())
        parts = [regions(plot, self), plot.axes(), references(plot, self)]
        parts += [self._line(plot, name, line, styles[name]) for name, line in lines.items()]
        parts += [_spots(plot, self, name, points) for name, points in self.points.items()]
        if named:
            ends = {name: _place(plot, self, *lines[name].known[-1]) for name in self.series if name in lines}
            parts += beside(plot, ends, styles)
        return drawing(plot.width, plot.height, f"{self.y.title} by {self.x.title}, {len(lines)} lines.", parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        """Draw on matplotlib axes."""
        paper.set_axes(axes, self.title, *self._axes())
        paper.regions(axes, self)
        front = self._front()
        known = {name: line for name, line in self.series.items() if line.known}
        for place, (name, line) in enumerate(known.items()):
            xs, ys = zip(*((self.x.scaled(x), self.y.scaled(y)) for x, y in line.known), strict=True)
            style = paper.line_style(styles[name], back=name not in front, top=name in self.highlight)
            axes.plot(xs, ys, label=paper.text(name), markevery=self._marked(line, place, 5), **style)
            if line.band and name in front:
                band = [[self.x.scaled(x), self.y.scaled(low), self.y.scaled(high)] for x, low, high in line.band]
                axes.fill_between(*zip(*band, strict=True), color=styles[name].light, alpha=0.15, linewidth=0)
            for ring in line.rings:
                paper.ring(axes, self.x.scaled(ring.x), self.y.scaled(ring.y), styles[name].light)
        for name, points in self.points.items():
            paper.points(axes, self, name, points)
        paper.references(axes, self)

    def _axes(self):
        """The two axes, around the data; bands are cut where `y.covers` says what the axis holds."""
        several = (*self.series.values(), *self.points.values())
        xs = [x for series in several for x in series.x]
        ys = [y for series in several for y in series.y] + [reference.value for reference in self.references
                                                       if reference.axis == "y"]  # fmt: skip
        ys += [ring.y for line in self.series.values() for ring in line.rings]
        ys += [end for series in self.points.values() for end in (*series.low, *series.high)]
        if not self.y.covers:
            ys += [end for line in self.series.values() for _, *ends in line.band for end in ends]
        return axis_of(self.x, xs), axis_of(self.y, ys)

    def _front(self) -> set[str]:
        return set() if self.points else in_front(tuple(self.lines), self.highlight)

    def _marked(self, line: Line, place: int, count: int) -> list[int]:
        """The places of known points that have a mark; along long lines they are shifted from line to line."""
        known = 0 if self.points else len(line.known)
        if known <= MARKED:
            return list(range(known))
        spacing = max(1, known // count)
        return list(range(3 + spacing * (place % 5) // 5, known, spacing))

    def _line(self, plot: Frame, name: str, line: Line, style: SeriesStyle) -> Markup:
        crowded, back = len(self.lines) > CROWDED, name not in self._front()
        points = [(self.x.scaled(x), self.y.scaled(y)) for x, y in line.known]
        few = len(points) <= MARKED
        text = ", ".join(f"{self.y.write(y)} at {self.x.write(x)}" for x, y in line.known) if few else ""
        parts = [element("title", f"{name}: {text}" if text else name), *self._band(plot, line)]
        parts.append(plot.line(*zip(*points, strict=True), class_="line", stroke_dasharray=style.dash or None))
        marked = (
            [0, -1][: len(points)]
            if back and few
            else self._marked(line, list(self.lines).index(name), 2 if back else 5)
        )
        parts += [plot.mark(*points[at], style.marker) for at in marked]
        parts += [_ring(plot, self, ring, f"{name}: {ring.text}") for ring in line.rings]
        css = style.css_class + " crowded" * crowded + " back" * back
        return element("g", *parts, class_=css, data_learner=name)

    def _band(self, plot: Frame, line: Line) -> list[Markup]:
        """The band, cut at the frame."""
        if len(line.band) < 2:
            return []
        ends = [(self.x.scaled(x), *(cut(plot.y, self.y.scaled(end)) for end in both)) for x, *both in line.band]
        return [plot.band(*map(list, zip(*ends, strict=True)), class_="band")]


def _place(plot: Frame, chart: LineChart, x: float, y: float) -> tuple[float, float]:
    return plot.across(chart.x.scaled(x)), plot.up(chart.y.scaled(y))


def _ring(plot: Frame, chart: LineChart, ring: Spot, text: str) -> Markup:
    x, y = _place(plot, chart, ring.x, ring.y)
    return element("circle", element("title", text), cx=x, cy=y, r=9.0, class_="ring")


def _spots(plot: Frame, chart: LineChart, name: str, points: Points) -> Markup:
    """Points with their intervals; many are drawn finer, so that a year of days is no blot."""
    parts, many = [], len(points.x) > MANY_POINTS
    for place, (x, y) in enumerate(zip(points.x, points.y, strict=True)):
        text = points.texts[place] if points.texts else f"{name}: {'–' if y is None else chart.y.write(y)}"
        drawn = [element("title", text)]
        if points.low:
            (across, bottom), (_, top) = (_place(plot, chart, x, ends[place]) for ends in (points.low, points.high))
            drawn.append(element("line", x1=across, x2=across, y1=bottom, y2=top, class_="quoted" + " many" * many))
        if y is not None:
            drawn.append(_mark(*_place(plot, chart, x, y), points.mark, many=many))
        parts.append(element("g", *drawn))
    return Markup("").join(parts)


def _mark(x: float, y: float, mark: str, *, many: bool = False) -> Markup:
    if mark == "dash":
        return element("line", x1=x - (1.5 if many else 7), x2=x + (1.5 if many else 7), y1=y, y2=y, class_="bar")
    radius, css = (1.8 if many else 4.0, "quoted-mark") if mark == "dot" else (8.5, "alarm")
    return element("circle", cx=x, cy=y, r=radius, class_=css)
