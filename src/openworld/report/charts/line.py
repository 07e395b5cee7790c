"""Lines with bands over a common axis, one per series."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, Literal

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.label_placement import beside
from openworld.report.charts.drawing.plane import cut, plane, references
from openworld.report.charts.drawing.svg import MANY_POINTS, Frame, drawing, element, marker
from openworld.report.charts.quantity import CROWDED, Quantity, Reference, Region, drawn_points
from openworld.report.series_style import SeriesStyle

MARKED = 12  # points of a line that have a mark each; a longer line has some along its way


@dataclass(frozen=True)
class Line:
    """One series: values y at x, None where there is none, and the ends of its band.

    `rings` (x, y, text) mark points that need not lie on the line; the axis holds them. `further` are columns of the
    data, one value per x. As points over the lines it has marks of a kind, none where y is None, and a text for each.
    """

    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[Any] = ()  # numbers, or None
    high: Sequence[Any] = ()
    rings: tuple[tuple[float, float, str], ...] = ()
    further: Mapping[str, Sequence] = field(default_factory=dict)
    mark: Literal["dot", "ring", "dash"] = "dot"
    texts: Sequence[str] = ()

    @property
    def known(self) -> list[tuple[float, float]]:
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if y is not None]

    @property
    def band(self) -> list[tuple[float, float, float]]:
        """(x, low, high) where the band has both ends."""
        ends = zip(self.x, self.low, self.high, strict=True) if self.low else ()
        return [(x, low, high) for x, low, high in ends if low is not None and high is not None]


@dataclass(frozen=True)
class LineChart:
    """Lines over an axis x.

    Args:
        series: lines by name. highlight: names that stay in front among many.
        points: over the lines, by name, each with its interval; lines stand back behind them.
        named: whether names stand beside the lines although the chart does not stand alone.
    """

    title: str
    x: Quantity
    y: Quantity
    series: Mapping[str, Line]
    highlight: tuple[str, ...] = ()
    points: Mapping[str, Line] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    regions: tuple[Region, ...] = ()
    named: bool = False

    @property
    def lines(self) -> dict[str, Line]:
        """The series that have a value, the highlighted last, so that they lie on top."""
        lines_drawn = {name: line for name, line in self.series.items() if line.known}
        return dict(sorted(lines_drawn.items(), key=lambda item: item[0] in self.highlight))

    @property
    def front(self) -> set[str]:
        """The series in front: none behind points, all of few, and of many the highlighted, if there are any."""
        names = set(self.lines)
        chosen = names.intersection(self.highlight)
        if self.points:
            return set()
        return chosen if chosen and len(names) > CROWDED else names

    def rows(self) -> Iterator[dict]:
        for name, line in (*self.series.items(), *self.points.items()):
            for place, (x, y) in enumerate(zip(line.x, line.y, strict=True)):
                at = self.x.labels[round(x)] if self.x.labels else x
                ends = {"low": line.low, "high": line.high} if line.low else {}
                further = {key: column[place] for key, column in (*ends.items(), *line.further.items())}
                yield {"series": name, self.x.key: at, self.y.key: y} | further

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        lines, has_legend = self.lines, (alone or self.named) and not self.points
        plot = plane(*self._axes(), alone=alone or self.named, beside=lines if has_legend else ())
        parts = []
        for region in self.regions:
            (left, bottom), (right, top) = map(plot.place, drawn_points(self, zip(region.x, region.y, strict=True)))
            parts.append(element("rect", x=left, y=top, width=right - left, height=bottom - top, class_="corner"))
            parts.append(element("text", region.text, x=left + 8, y=top + 16, class_="corner-name"))
        parts += [plot.axes(), references(plot, self)]
        parts += [self._line(plot, name, line, styles[name]) for name, line in lines.items()]
        parts += [element("g", *drawn) for name, points in self.points.items()
                  for drawn in self._points(plot, name, points)]  # fmt: skip
        if has_legend:
            names = [name for name in self.series if name in lines]
            ends = {name: plot.place(drawn_points(self, lines[name].known[-1:])[0]) for name in names}
            parts += beside(plot, ends, styles)
        return drawing(plot.width, plot.height, f"{self.y.title} by {self.x.title}, {len(lines)} lines.", parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        paper.set_axes(axes, self.title, *self._axes())
        for region in self.regions:
            (left, low), (right, high) = drawn_points(self, zip(region.x, region.y, strict=True))
            axes.fill_between([left, right], low, high, color=paper.ACCENT, alpha=0.08, lw=0, zorder=0)
            place = {"xytext": (3, -3), "textcoords": "offset points", "va": "top"}
            axes.annotate(paper.text(region.text), (left, high), color=paper.ACCENT, **place)
        front = self.front
        known = {name: line for name, line in self.series.items() if line.known}
        for place, (name, line) in enumerate(known.items()):
            style = paper.line_style(styles[name], back=name not in front, top=name in self.highlight)
            marks = self._marked(line, place, 5)
            paper.line(axes, drawn_points(self, line.known), label=paper.text(name), markevery=marks, **style)
            if line.band and name in front:
                band = zip(*self._band(line), strict=True)
                axes.fill_between(*band, color=styles[name].light, alpha=0.15, linewidth=0)
            for x, y in drawn_points(self, (ring[:2] for ring in line.rings)):
                paper.ring(axes, x, y, styles[name].light)
        for name, points in self.points.items():
            xs, many = [self.x.scaled(x) for x in points.x], len(points.x) > MANY_POINTS
            if points.low:
                ends = ([self.y.scaled(end) for end in side] for side in (points.low, points.high))
                axes.vlines(xs, *ends, color=paper.INK, linewidth=0.4 if many else 1.2, zorder=4)
            style = {"marker": "_" if points.mark == "dash" else "o", "markersize": 2 if many else 4}
            if points.mark == "ring":
                style |= {"markerfacecolor": "none", "markersize": 7}
            ys = [nan if y is None else self.y.scaled(y) for y in points.y]
            axes.plot(xs, ys, linestyle="", color=paper.INK, label=paper.text(name), zorder=5, **style)
        paper.references(axes, self)

    def _axes(self):
        """The two axes, around the data; bands are cut where `y.covers` says what the axis holds."""
        lines, points = self.series.values(), self.points.values()
        ys = [y for series in (*lines, *points) for y in series.y]
        ys += [reference.value for reference in self.references if reference.axis == "y"]
        ys += [y for line in lines for _, y, _ in line.rings]
        ys += [end for series in points for end in (*series.low, *series.high)]
        if not self.y.covers:
            ys += [end for line in lines for _, *ends in line.band for end in ends]
        return self.x.axis([x for series in (*lines, *points) for x in series.x]), self.y.axis(ys)

    def _band(self, line: Line) -> list[tuple[float, float, float]]:
        return [(self.x.scaled(x), self.y.scaled(low), self.y.scaled(high)) for x, low, high in line.band]

    def _marked(self, line: Line, place: int, count: int) -> list[int]:
        """The places of known points that have a mark; along long lines they are shifted from line to line."""
        known = 0 if self.points else len(line.known)
        if known <= MARKED:
            return list(range(known))
        spacing = max(1, known // count)
        return list(range(3 + spacing * (place % 5) // 5, known, spacing))

    def _line(self, plot: Frame, name: str, line: Line, style: SeriesStyle) -> Markup:
        back, points, css = name not in self.front, drawn_points(self, line.known), style.css_class
        few = len(points) <= MARKED
        text = ", ".join(f"{self.y.write(y)} at {self.x.write(x)}" for x, y in line.known) if few else ""
        parts = [element("title", f"{name}: {text}" if text else name)]
        if len(line.band) > 1:  # cut at the frame
            parts.append(plot.band([(x, cut(plot.y, low), cut(plot.y, high)) for x, low, high in self._band(line)]))
        parts.append(plot.line(points, class_="line", stroke_dasharray=style.dash or None))

        if back and few:
            marked = [0, -1][: len(points)]
        else:
            marked = self._marked(line, list(self.lines).index(name), 2 if back else 5)
        parts += [marker(style.marker, *plot.place(points[at])) for at in marked]
        for x, y, text in line.rings:
            x, y = plot.place((self.x.scaled(x), self.y.scaled(y)))
            parts.append(element("circle", element("title", f"{name}: {text}"), cx=x, cy=y, r=9.0, class_="ring"))
        if len(self.lines) > CROWDED:
            css += " crowded"
        return element("g", *parts, class_=f"{css} back" if back else css, data_learner=name)

    def _points(self, plot: Frame, name: str, points: Line) -> Iterator[list[Markup]]:
        """Yield points with their intervals; many are drawn finer, so that a year of days is no blot."""
        many = len(points.x) > MANY_POINTS
        for place, (x, y) in enumerate(zip(points.x, points.y, strict=True)):
            text = points.texts[place] if points.texts else f"{name}: {'–' if y is None else self.y.write(y)}"
            drawn, across = [element("title", text)], plot.across(self.x.scaled(x))
            if points.low:
                bottom, top = (plot.up(self.y.scaled(ends[place])) for ends in (points.low, points.high))
                css = "quoted many" if many else "quoted"
                drawn.append(element("line", x1=across, x2=across, y1=bottom, y2=top, class_=css))
            up = None if y is None else plot.up(self.y.scaled(y))
            if up is not None and points.mark == "dash":
                half = 1.5 if many else 7
                drawn.append(element("line", x1=across - half, x2=across + half, y1=up, y2=up, class_="bar"))
            elif up is not None:
                radius, css = (1.8 if many else 4.0, "quoted-mark") if points.mark == "dot" else (8.5, "alarm")
                drawn.append(element("circle", cx=across, cy=up, r=radius, class_=css))
            yield drawn
