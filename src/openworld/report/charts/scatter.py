"""Named dots in a plane, one or several per series, with thin lines: to their mean, through them, or of an interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.axes import LogAxis
from openworld.report.charts.drawing.guides import guide_lines
from openworld.report.charts.drawing.label_placement import Placed, near
from openworld.report.charts.drawing.plane import axis_of, plane
from openworld.report.charts.drawing.svg import Frame, drawing, element
from openworld.report.charts.quantity import Quantity
from openworld.report.series_style import SeriesStyle

Point = tuple[float, float]


@dataclass(frozen=True)
class Cloud:
    """One series: its dots, and what is said of it."""

    dots: Sequence[Point]
    spread: tuple[Point, Point] | tuple[()] = ()  # the ends of an interval through the dots
    text: str = ""  # of a tooltip; "" for the numbers
    further: Mapping[str, Sequence] = field(default_factory=dict)  # columns of the data, one value per dot
    in_order: bool = False  # whether lines lead from dot to dot; else several have lines to their mean

    def lines(self, dots: Sequence[Point], spread: Sequence[Point]) -> list[Sequence[Point]]:
        """Return the lines of the series through its dots and the ends of its interval, wherever these are drawn."""
        if spread:
            return [spread]
        if self.in_order:
            return list(pairwise(dots))
        return [(_mean(dots), dot) for dot in dots if len(dots) > 1]


@dataclass(frozen=True)
class ScatterChart:
    """Dots by name.

    Args:
        guide: a thin line under the dots: "products" (curves of equal x times y), "frontier" (steps under those that
            nothing further left beats) or "equal" (x = y).
        named: whether names stand near the dots although the chart does not stand alone; None for no names at all.
    """

    title: str
    x: Quantity
    y: Quantity
    series: Mapping[str, Cloud]
    guide: str = ""
    named: bool | None = False

    @property
    def clouds(self) -> dict[str, Cloud]:
        """The series that have a dot."""
        return {name: cloud for name, cloud in self.series.items() if cloud.dots}

    def rows(self) -> Iterator[dict]:
        """Yield a row per dot."""
        for name, cloud in self.series.items():
            for place, (x, y) in enumerate(cloud.dots):
                further = {key: values[place] for key, values in cloud.further.items()}
                yield {"series": name, self.x.key: x, self.y.key: y} | further

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page."""
        named = self.named is not None and (alone or self.named)
        plot = plane(*self._axes(), alone=alone, near=self.clouds if named else ())
        under = [plot.axes(), _break(plot), *self._guides(plot)]
        names = self._names(plot, styles) if named else []
        drawn = [self._cloud(plot, name, cloud, styles[name]) for name, cloud in self.clouds.items()]
        text = f"{self.y.title} against {self.x.title}, {len(self.clouds)} series."
        return drawing(plot.width, plot.height, text, [*under, *names, *drawn])

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        """Draw on matplotlib axes."""
        x, y = self._axes()
        paper.set_axes(axes, self.title, x, y)

        for points, text in guide_lines(self.guide, x, y, self._dots()):
            axes.plot(*zip(*points, strict=True), color=paper.MUTED, alpha=0.55, linewidth=0.5, zorder=1)
            if text:
                axes.annotate(text, points[-1], (-2, 2), textcoords="offset points", color=paper.MUTED, ha="right")
        for name, cloud in self.clouds.items():
            dots, spread = self._scale(cloud.dots), self._scale(cloud.spread)
            style = paper.mark_style(styles[name])
            for line in cloud.lines(dots, spread):
                axes.plot(*zip(*line, strict=True), color=style["color"], alpha=0.6, linewidth=0.7, zorder=2)
            axes.plot(*zip(*dots, strict=True), linestyle="", label=paper.text(name), zorder=3, **style)

    def _axes(self):
        points = [point for cloud in self.clouds.values() for point in (*cloud.dots, *cloud.spread)]
        return axis_of(self.x, [x for x, _ in points]), axis_of(self.y, [y for _, y in points])

    def _scale(self, points: Sequence[Point]) -> list[Point]:
        return [(self.x.scaled(x), self.y.scaled(y)) for x, y in points]

    def _dots(self) -> list[Point]:
        return [dot for cloud in self.clouds.values() for dot in self._scale(cloud.dots)]

    def _guides(self, plot: Frame) -> Iterator[Markup]:
        for points, text in guide_lines(self.guide, plot.x, plot.y, self._dots()):
            yield plot.line(*zip(*points, strict=True), class_="contour")
            if text:
                (x, y) = _place(plot, points[-1:])[0]
                on_the_right = x > plot.box[2] - 1
                place = {"x": x - 4, "y": y - 4} if on_the_right else {"x": x + 4, "y": y - 5}
                yield element("text", text, **place, class_="contour-name" + " end" * on_the_right)

    def _cloud(self, plot: Frame, name: str, cloud: Cloud, style: SeriesStyle) -> Markup:
        places, spread = (_place(plot, self._scale(points)) for points in (cloud.dots, cloud.spread))
        lines = cloud.lines(places, spread)
        spokes = [element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="spoke") for (x1, y1), (x2, y2) in lines]
        marks = [plot.mark(x, y, style.marker) for x, y in self._scale(cloud.dots)]
        text = cloud.text or "; ".join(
            f"{self.y.title} {self.y.write(y)} at {self.x.title} {self.x.write(x)}" for x, y in cloud.dots
        )
        title = element("title", f"{name}: {text}")
        return element("g", title, *spokes, *marks, class_=style.css_class, data_learner=name)

    def _names(self, plot: Frame, styles: Mapping[str, SeriesStyle]) -> list[Markup]:
        """Each name near the dot that is nearest to the mean of its dots."""
        every = [_place(plot, self._scale((*cloud.dots, *cloud.spread))) for cloud in self.clouds.values()]
        anchors = [_nearest(_place(plot, self._scale(cloud.dots))) for cloud in self.clouds.values()]
        places = near(plot, list(self.clouds), anchors, [place for places in every for place in places])
        return [_name(name, place, styles[name]) for name, place in zip(self.clouds, places, strict=True)]


def _place(plot: Frame, points: Sequence[Point]) -> list[Point]:
    return [(plot.across(x), plot.up(y)) for x, y in points]


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _nearest(places: Sequence[Point]) -> Point:
    x, y = _mean(places)
    return min(places, key=lambda place: (place[0] - x) ** 2 + (place[1] - y) ** 2)


def _name(text: str, place: Placed, style: SeriesStyle) -> Markup:
    parts = []
    if place.leader:
        x1, y1, x2, y2 = place.leader
        parts.append(element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="leader"))
    parts.append(element("text", text, x=place.x, y=place.y, class_=f"label near {place.end}".strip()))
    return element("g", *parts, class_=style.css_class, data_learner=text)


def _break(plot: Frame) -> Markup:
    """Two strokes across the foot of a logarithmic axis, between none and the rest."""
    if not isinstance(plot.x, LogAxis) or not plot.x.break_share:
        return Markup("")
    left, top, right, bottom = plot.box
    x = left + plot.x.break_share * (right - left)
    line = element("line", x1=x, x2=x, y1=top, y2=bottom - 6, class_="break")
    return line + element("path", d=f"M{x - 5:.1f} {bottom + 5:.1f}l4-10m2 10l4-10", class_="break-stroke")
