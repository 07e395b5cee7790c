"""Many dots in a plane: a colour for the kind, a shape for the model, and no more text than a page can bear.

A dot is a few letters of a path, one path per colour and shape, on whole user units, so that dots that would cover
each other are drawn once; a marker of its own for each of 50,000 would weigh ten times as much.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.plane import axes_around, cut, guide_lines, plane, references
from openworld.report.charts.drawing.svg import Frame, drawing, element, sample
from openworld.report.charts.quantity import Quantity, Reference, drawn_points
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
COLOURS = {"natural": "#b8480b", "synthetic": "#2b7fc4"}  # on paper
MANY = 2000  # dots that are drawn as an image on paper, so that a file stays small


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
        for group in self.groups:
            for x, y in group.points:
                yield {"kind": group.kind, "shape": group.shape, self.x.key: x, self.y.key: y}

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page; values beyond the axes are drawn on the edge."""
        x, y, guides, layers = self._plane()
        plot = Frame(220.0, 206.0, (6.0, 8.0, 36.0, 38.0), x, y) if self.small else plane(x, y, alone=alone)
        parts = [plot.axes(), references(plot, self), *(plot.line(line, class_="reference") for line, _ in guides)]

        count = sum(len(group.points) for group in self.groups)
        label = f"{self.y.title} against {self.x.title}, {count} cases."
        label = f"{self.series}: {label}" if self.series else label
        paths = []
        for group, points in layers:
            css, stroke = _glyph(self.shapes.index(group.shape), large=count <= FEW)
            places = {(round(plot.across(cut(plot.x, x))), round(plot.up(cut(plot.y, y)))) for x, y in points}
            path = "".join(f"M{x} {y}{stroke}" for x, y in sorted(places))
            paths.append(element("path", d=path, class_=f"{css} {group.kind}"))
        parts.append(element("g", element("title", label), *paths, data_learner=self.series or None))
        if self.note:
            left, top, _, _ = plot.box
            parts.append(element("text", self.note, x=left + 6, y=top + 12, class_="contour-name"))
        return drawing(plot.width, plot.height, label, parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        x, y, guides, layers = self._plane()
        paper.set_axes(axes, self.title, x, y)
        paper.references(axes, self)
        for line, _ in guides:
            paper.line(axes, line, color=paper.MUTED, linestyle="--", linewidth=0.8, zorder=1)
        for group, points in layers:
            name = " · ".join(filter(None, (KINDS.get(group.kind, group.kind), group.shape)))
            style = {"color": COLOURS.get(group.kind, paper.MUTED), "alpha": 0.6, "linewidth": 0, "s": 6}
            style |= {"marker": "o^sD"[self.shapes.index(group.shape) % 4], "rasterized": len(points) > MANY}
            axes.scatter(*zip(*points, strict=True), label=paper.text(name), **style)
        if self.note:
            place = {"xycoords": "axes fraction", "xytext": (3, -3), "textcoords": "offset points", "va": "top"}
            axes.annotate(paper.text(self.note), (0, 1), color=paper.MUTED, **place)

    def _plane(self):
        """The two axes, the lines of the guide, and the groups with their points, the uppermost last."""
        x, y = axes_around(self, [point for group in self.groups for point in group.points], 4 if self.small else 5)
        layers = sorted(self.groups, key=lambda group: _layer(group.kind))
        points = [drawn_points(self, group.points) for group in layers]
        return x, y, guide_lines(self.guide, x, y, [(0, 0)]), list(zip(layers, points, strict=True))


def dots_key(kinds: Sequence[str], shapes: Sequence[str]) -> tuple[tuple[Markup, str], ...]:
    """Return what colours and shapes mean, for the key over a figure; shapes only where there are several."""
    entries = [(kind, 0, KINDS.get(kind, kind)) for kind in sorted(dict.fromkeys(kinds), key=_layer)]
    if len(shapes) > 1:
        entries += [("grey", place, shape) for place, shape in enumerate(shapes)]
    marks = []
    for kind, place, text in entries:
        css, stroke = _glyph(place, large=True)
        turn = "translate(-6.5 -3.5) scale(1.5)"
        marks.append((sample(element("path", d=f"M13 7{stroke}", class_=f"{css} {kind}", transform=turn)), text))
    return tuple(marks)


def _glyph(place: int, *, large: bool) -> tuple[str, str]:
    css, stroke = (LARGE if large else GLYPHS)[place % len(GLYPHS)]
    return " ".join(filter(None, ("dots", css, "large" if large else ""))), stroke


def _layer(kind: str) -> int:
    return [*KINDS].index(kind) if kind in KINDS else -1
