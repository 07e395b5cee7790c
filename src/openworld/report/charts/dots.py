"""Many dots in a plane: a colour for the kind, a shape for the model, and no more text than a page can bear.

A dot is a few letters of a path, one path per colour and shape, on whole user units, so that dots that would cover
each other are drawn once; a marker of its own for each of 50,000 would weigh ten times as much.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.guides import guide_lines
from openworld.report.charts.drawing.plane import axis_of, cut, plane, references
from openworld.report.charts.drawing.svg import Frame, drawing, element, sample
from openworld.report.charts.quantity import Quantity, Reference
from openworld.report.series_style import SeriesStyle

GLYPHS = (
    ("", "h0"),
    ("solid", "m0-2l2 3.4h-4z"),
    ("solid", "m-1.5-1.5h3v3h-3z"),
    ("solid", "m0-2.3l2.3 2.3-2.3 2.3-2.3-2.3z"),
)
LARGE = (
    ("", "h0"),
    ("solid", "m0-3.2l3 5.2h-6z"),
    ("solid", "m-2.2-2.2h4.4v4.4h-4.4z"),
    ("solid", "m0-3.2l3.2 3.2-3.2 3.2-3.2-3.2z"),
)
FEW = 400  # dots of a chart that may be large
KINDS = {"synthetic": "synthetic shift", "natural": "natural shift"}  # what is drawn last lies on top


@dataclass(frozen=True)
class Dots:
    """Points (x, y) of one colour and shape: a kind of KINDS or another, and the name of the shape."""

    kind: str
    shape: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class DotsChart:
    """Dots by kind and shape.

    Args:
        series: names it on the page, for those who choose it there. shapes: in the order of their glyphs.
        guide: "equal" for the line on which x = y. note: stands in the upper left corner. small: for one of many.
    """

    title: str
    x: Quantity
    y: Quantity
    groups: tuple[Dots, ...]
    shapes: tuple[str, ...] = ("",)
    series: str = ""
    guide: str = ""
    references: tuple[Reference, ...] = ()
    note: str = ""
    small: bool = False

    def rows(self) -> Iterator[dict]:
        """Yield a row per dot."""
        for group in self.groups:
            for x, y in group.points:
                yield {"kind": group.kind, "shape": group.shape, self.x.key: x, self.y.key: y}

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page."""
        x, y = self._axes()
        plot = Frame(220.0, 206.0, (6.0, 8.0, 36.0, 38.0), x, y) if self.small else plane(x, y, alone=alone)
        text = f"{self.y.title} against {self.x.title}, {sum(len(group.points) for group in self.groups)} cases."
        guides = [
            plot.line(*zip(*points, strict=True), class_="reference")
            for points, _ in guide_lines(self.guide, x, y, [(0, 0)])
        ]
        label = f"{self.series}: {text}" if self.series else text
        dots = element("g", element("title", label), *self._paths(plot), data_learner=self.series or None)
        note = (
            element("text", self.note, x=plot.box[0] + 6, y=plot.box[1] + 12, class_="contour-name")
            if self.note
            else ""
        )
        return drawing(plot.width, plot.height, label, [plot.axes(), references(plot, self), *guides, dots, note])

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        """Draw on matplotlib axes."""
        x, y = self._axes()
        paper.set_axes(axes, self.title, x, y)
        paper.references(axes, self)
        for points, _ in guide_lines(self.guide, x, y, [(0, 0)]):
            axes.plot(*zip(*points, strict=True), color=paper.MUTED, linestyle="--", linewidth=0.8, zorder=1)
        for group in sorted(self.groups, key=lambda dots: _layer(dots.kind)):
            name = " · ".join(filter(None, (KINDS.get(group.kind, group.kind), group.shape)))
            paper.dots(axes, self._scale(group), group.kind, self.shapes.index(group.shape), paper.text(name))
        if self.note:
            place = {"xycoords": "axes fraction", "xytext": (3, -3), "textcoords": "offset points", "va": "top"}
            axes.annotate(paper.text(self.note), (0, 1), color=paper.MUTED, **place)

    def _axes(self):
        points = [point for group in self.groups for point in group.points]
        steps = 4 if self.small else 5
        return axis_of(self.x, [x for x, _ in points], steps), axis_of(self.y, [y for _, y in points], steps)

    def _scale(self, group: Dots) -> list[tuple[float, float]]:
        return [(self.x.scaled(x), self.y.scaled(y)) for x, y in group.points]

    def _paths(self, plot: Frame) -> Iterator[Markup]:
        """A path per group; values beyond the axes are drawn on the edge."""
        few = sum(len(group.points) for group in self.groups) <= FEW
        for group in sorted(self.groups, key=lambda dots: _layer(dots.kind)):
            css, stroke = _glyph(self.shapes.index(group.shape), large=few)
            places = {
                (round(plot.across(cut(plot.x, x))), round(plot.up(cut(plot.y, y)))) for x, y in self._scale(group)
            }
            path = "".join(f"M{x} {y}{stroke}" for x, y in sorted(places))
            yield element("path", d=path, class_=f"{css} {group.kind}")


def dots_key(kinds: Sequence[str], shapes: Sequence[str]) -> tuple[tuple[Markup, str], ...]:
    """Return what colours and shapes mean, for the key over a figure; shapes only where there are several."""
    known = sorted(dict.fromkeys(kinds), key=_layer)
    entries = [(_sample(kind, 0), KINDS.get(kind, kind)) for kind in known]
    named = [(_sample("grey", place), shape) for place, shape in enumerate(shapes)] if len(shapes) > 1 else []
    return tuple(entries + named)


def _glyph(place: int, *, large: bool) -> tuple[str, str]:
    css, stroke = (LARGE if large else GLYPHS)[place % len(GLYPHS)]
    return " ".join(["dots", *[css] * bool(css), *["large"] * large]), stroke


def _layer(kind: str) -> int:
    return [*KINDS].index(kind) if kind in KINDS else -1


def _sample(kind: str, glyph: int) -> Markup:
    css, stroke = _glyph(glyph, large=True)
    shape = {"d": f"M13 7{stroke}", "class_": f"{css} {kind}", "transform": "translate(-6.5 -3.5) scale(1.5)"}
    return sample(element("path", **shape))
