"""Named dots in a plane, one or several per series, with thin lines: to their mean, through them, or of an interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.axes import LogAxis
from openworld.report.charts.drawing.label_placement import near
from openworld.report.charts.drawing.plane import axes_around, guide_lines, plane
from openworld.report.charts.drawing.svg import Frame, Point, drawing, element, marker
from openworld.report.charts.quantity import Quantity, drawn_points
from openworld.report.series_style import SeriesStyle


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
        return {name: cloud for name, cloud in self.series.items() if cloud.dots}

    def rows(self) -> Iterator[dict]:
        for name, cloud in self.series.items():
            for place, (x, y) in enumerate(cloud.dots):
                further = {key: values[place] for key, values in cloud.further.items()}
                yield {"series": name, self.x.key: x, self.y.key: y} | further

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        clouds, has_names = self.clouds, self.named is not None and (alone or self.named)
        x, y, guides = self._plane()
        plot = plane(x, y, alone=alone, near=clouds if has_names else ())
        parts = [plot.axes()]
        if isinstance(x, LogAxis) and x.break_share:  # two strokes across the axis, between none and the rest
            left, top, right, bottom = plot.box
            at = left + x.break_share * (right - left)
            parts.append(element("line", x1=at, x2=at, y1=top, y2=bottom - 6, class_="break"))
            parts.append(element("path", d=f"M{at - 5:.1f} {bottom + 5:.1f}l4-10m2 10l4-10", class_="break-stroke"))
        for points, text in guides:
            parts.append(plot.line(points, class_="contour"))
            if text:
                x, y = plot.place(points[-1])
                if x > plot.box[2] - 1:  # to the left of the frame's right edge
                    parts.append(element("text", text, x=x - 4, y=y - 4, class_="contour-name end"))
                else:
                    parts.append(element("text", text, x=x + 4, y=y - 5, class_="contour-name"))

        dots = {name: [*map(plot.place, drawn_points(self, cloud.dots))] for name, cloud in clouds.items()}
        spreads = {name: [*map(plot.place, drawn_points(self, cloud.spread))] for name, cloud in clouds.items()}
        if has_names:
            parts += _names(plot, dots, spreads, styles)
        for name, cloud in clouds.items():
            lines = cloud.lines(dots[name], spreads[name])
            spokes = [element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="spoke") for (x1, y1), (x2, y2) in lines]
            marks = [marker(styles[name].marker, *dot) for dot in dots[name]]
            text = cloud.text or "; ".join(
                f"{self.y.title} {self.y.write(y)} at {self.x.title} {self.x.write(x)}" for x, y in cloud.dots
            )
            title, css = element("title", f"{name}: {text}"), styles[name].css_class
            parts.append(element("g", title, *spokes, *marks, class_=css, data_learner=name))
        text = f"{self.y.title} against {self.x.title}, {len(clouds)} series."
        return drawing(plot.width, plot.height, text, parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        x, y, guides = self._plane()
        paper.set_axes(axes, self.title, x, y)
        for points, text in guides:
            paper.line(axes, points, color=paper.MUTED, alpha=0.55, linewidth=0.5, zorder=1)
            if text:
                axes.annotate(text, points[-1], (-2, 2), textcoords="offset points", color=paper.MUTED, ha="right")
        for name, cloud in self.clouds.items():
            dots, spread = drawn_points(self, cloud.dots), drawn_points(self, cloud.spread)
            style = paper.mark_style(styles[name])
            for line in cloud.lines(dots, spread):
                paper.line(axes, line, color=style["color"], alpha=0.6, linewidth=0.7, zorder=2)
            paper.line(axes, dots, linestyle="", label=paper.text(name), zorder=3, **style)

    def _plane(self):
        """The two axes around all dots and intervals, and the lines of the guide under the dots."""
        clouds = self.clouds.values()
        x, y = axes_around(self, [point for cloud in clouds for point in (*cloud.dots, *cloud.spread)])
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
    for name, place in zip(dots, near(plot, list(dots), anchors, marks), strict=True):
        label = element("text", name, x=place.x, y=place.y, class_=f"label near {place.end}".strip())
        if place.leader:
            x1, y1, x2, y2 = place.leader
            label = element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="leader") + label
        yield element("g", label, class_=styles[name].css_class, data_learner=name)
