"""Dots in a plane, one or several per series, with thin lines: to their mean, through them, or of an interval.

Dots of a crowd are a few letters of a path, one path per series, on whole user units, so that dots that would cover
each other are drawn once; a marker of its own for each of 50,000 would weigh ten times as much.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.label_placement import near
from openworld.report.charts.drawing.plane import axes_around, cut, guide_lines, plane, references
from openworld.report.charts.drawing.svg import MANY_POINTS, Frame, Point, drawing, element, marker
from openworld.report.charts.quantity import Quantity, Reference, drawn_points
from openworld.report.series_style import SeriesStyle

STROKES = {
    "circle": ("h0", "h0"),
    "triangle": ("m0-2l2 3.4h-4z", "m0-3.2l3 5.2h-6z"),
    "square": ("m-1.5-1.5h3v3h-3z", "m-2.2-2.2h4.4v4.4h-4.4z"),
    "diamond": ("m0-2.3l2.3 2.3-2.3 2.3-2.3-2.3z", "m0-3.2l3.2 3.2-3.2 3.2-3.2-3.2z"),
}
"""Marker -> a dot of a large crowd, and a larger one of a small crowd."""
LARGE = 400  # dots of a crowd beyond which each is smaller
IMAGE = 2000  # dots of a series that are an image on paper, so that a file stays small


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
        references: straight lines across the plot. note: stands in the upper left corner.
        small: for one of many, whose dots are those of a crowd.
        learner: whose dots all are, for readers who choose it on the page; "" for those of every series.
    """

    title: str
    x: Quantity
    y: Quantity
    series: Mapping[str, Cloud]
    guide: str = ""
    named: bool | None = False
    references: tuple[Reference, ...] = ()
    note: str = ""
    small: bool = False
    learner: str = ""

    @property
    def count(self) -> int:
        """How many dots it has."""
        return sum(len(cloud.dots) for cloud in self.series.values())

    @property
    def is_crowded(self) -> bool:
        return self.small or self.count > MANY_POINTS

    @property
    def clouds(self) -> dict[str, Cloud]:
        return {name: cloud for name, cloud in self.series.items() if cloud.dots}

    def rows(self) -> Iterator[dict]:
        for name, cloud in self.series.items():
            for place, (x, y) in enumerate(cloud.dots):
                further = {key: values[place] for key, values in cloud.further.items()}
                yield {"series": name, self.x.key: x, self.y.key: y} | further

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        clouds, has_names = self.clouds, self.named is not None and (alone or self.named) and not self.is_crowded
        x, y, guides = self._plane()
        plot = plane(x, y, alone=alone, near=clouds if has_names else ())
        plot = Frame(220.0, 206.0, (6.0, 8.0, 36.0, 38.0), x, y) if self.small else plot
        parts = [plot.axes(), references(plot, self)]
        if x.break_share:  # two strokes across the axis, between none and the rest
            left, top, right, bottom = plot.box
            at = left + x.break_share * (right - left)
            parts.append(element("line", x1=at, x2=at, y1=top, y2=bottom - 6, class_="break"))
            parts.append(element("path", d=f"M{at - 5:.1f} {bottom + 5:.1f}l4-10m2 10l4-10", class_="break-stroke"))
        for points, text in guides:
            parts.append(plot.line(points, class_="contour"))
            end, height = plot.place(points[-1])
            if text and end > plot.box[2] - 1:  # to the left of the frame's right edge
                parts.append(element("text", text, x=end - 4, y=height - 4, class_="contour-name end"))
            elif text:
                parts.append(element("text", text, x=end + 4, y=height - 5, class_="contour-name"))

        dots = {name: [*map(plot.place, drawn_points(self, cloud.dots))] for name, cloud in clouds.items()}
        spreads = {name: [*map(plot.place, drawn_points(self, cloud.spread))] for name, cloud in clouds.items()}
        if has_names:
            parts += _names(plot, dots, spreads, styles)
        for name, cloud in clouds.items():
            if self.is_crowded:
                text, marks = f"{len(cloud.dots)} dots", [self._crowd(plot, cloud, styles[name])]
            else:
                text = cloud.text or "; ".join(
                    f"{self.y.title} {self.y.write(high)} at {self.x.title} {self.x.write(wide)}"
                    for wide, high in cloud.dots
                )
                lines = cloud.lines(dots[name], spreads[name])
                marks = [element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="spoke") for (x1, y1), (x2, y2) in lines]
                marks += [marker(styles[name].marker, *dot) for dot in dots[name]]
            title, css = element("title", f"{name}: {text}"), styles[name].css_class
            parts.append(element("g", title, *marks, class_=css, data_learner=self.learner or name))
        if self.note:
            left, top, _, _ = plot.box
            parts.append(element("text", self.note, x=left + 6, y=top + 12, class_="contour-name"))
        text = f"{self.y.title} against {self.x.title}, {len(clouds)} series."
        return drawing(plot.width, plot.height, text, parts)

    def _crowd(self, plot: Frame, cloud: Cloud, style: SeriesStyle) -> Markup:
        """All dots of a series as one path; what lies beyond the axes stands on the edge."""
        large = self.count <= LARGE
        stroke = STROKES.get(style.marker, STROKES["circle"])[large]
        points = drawn_points(self, cloud.dots)
        places = {(round(plot.across(cut(plot.x, x))), round(plot.up(cut(plot.y, y)))) for x, y in points}
        kinds = ["dots", "" if stroke == "h0" else "solid", "large" if large else "", style.css_class]
        path = "".join(f"M{x} {y}{stroke}" for x, y in sorted(places))
        return element("path", d=path, class_=" ".join(filter(None, kinds)))

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        x, y, guides = self._plane()
        paper.set_axes(axes, self.title, x, y)
        paper.references(axes, self)
        for points, text in guides:
            paper.line(axes, points, color=paper.MUTED, alpha=0.55, linewidth=0.5, zorder=1)
            if text:
                axes.annotate(text, points[-1], (-2, 2), textcoords="offset points", color=paper.MUTED, ha="right")
        for name, cloud in self.clouds.items():
            dots, spread = drawn_points(self, cloud.dots), drawn_points(self, cloud.spread)
            style = paper.mark_style(styles[name])
            if self.is_crowded:
                style |= {"markersize": 2.5, "markeredgewidth": 0, "alpha": 0.6, "rasterized": len(dots) > IMAGE}
            for line in () if self.is_crowded else cloud.lines(dots, spread):
                paper.line(axes, line, color=style["color"], alpha=0.6, linewidth=0.7, zorder=2)
            paper.line(axes, dots, linestyle="", label=paper.text(name), zorder=3, **style)
        if self.note:
            place = {"xycoords": "axes fraction", "xytext": (3, -3), "textcoords": "offset points", "va": "top"}
            axes.annotate(paper.text(self.note), (0, 1), color=paper.MUTED, **place)

    def _plane(self):
        """The two axes around all dots and intervals, and the lines of the guide under the dots."""
        clouds = self.clouds.values()
        points = [point for cloud in clouds for point in (*cloud.dots, *cloud.spread)]
        x, y = axes_around(self, points, 4 if self.small else 5)
        return x, y, guide_lines(self.guide, x, y, drawn_points(self, [dot for cloud in clouds for dot in cloud.dots]))


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _names(plot: Frame, dots, spreads, styles: Mapping[str, SeriesStyle]) -> Iterator[Markup]:
    """Each name near the dot that is nearest to the mean of its dots."""
    anchors = []
    for points in dots.values():
        x, y = _mean(points)
        anchors.append(min(points, key=lambda dot: (dot[0] - x) ** 2 + (dot[1] - y) ** 2))  # noqa: B023
    marks = [point for name in dots for point in (*dots[name], *spreads[name])]
    for name, (x, y, end, leader) in zip(dots, near(plot, list(dots), anchors, marks), strict=True):
        label = element("text", name, x=x, y=y, class_=f"label near {end}".strip())
        if leader:
            x1, y1, x2, y2 = leader
            label = element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="leader") + label
        yield element("g", label, class_=styles[name].css_class, data_learner=name)
