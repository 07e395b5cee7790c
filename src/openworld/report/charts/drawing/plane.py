"""The plane of a plot: axes around the data, the frame, lines and regions across it, and thin lines under its dots."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from markupsafe import Markup

from openworld.report.charts.drawing.label_placement import LINE, margin
from openworld.report.charts.drawing.lettering import PIXELS, staggered, text_width
from openworld.report.charts.drawing.svg import Frame, Point, element
from openworld.report.charts.quantity import CROWDED, Axis

Guide = tuple[list[Point], str]
FEWEST, STEPS = 7, (1, 2, 5, 10, 20, 50)  # curves of equal products: about so many, at round numbers
ROOM = 180.0  # of a frame, for the names beside its plot; longer names widen the frame


def axes_around(chart, points: Sequence[Point], steps: int = 5) -> tuple[Axis, Axis]:
    """Return the axes of a chart that hold the points."""
    return chart.x.axis([x for x, _ in points], steps), chart.y.axis([y for _, y in points], steps)


def plane(x: Axis, y: Axis, *, alone: bool, beside: Iterable[str] = (), near: Iterable[str] = ()) -> Frame:
    """Return the frame: larger when it stands alone, taller among many names, wide enough for those beside it."""
    beside = list(beside)
    many = len(beside) + len(list(near)) > CROWDED
    width, height = (470.0, 440.0 if many else 350.0) if alone else (400.0, 310.0)
    right = margin(beside)
    width += max(0.0, right - ROOM)
    height = max(height, 60.0 + 1.25 * LINE * len(beside))
    return Frame(width, height, (10.0, right, 42.0, 54.0), x, y)


def cut(axis: Axis, value: float) -> float:
    """Return the value, or the nearest end of the axis."""
    return min(max(value, axis.low), axis.high)


def placed_references(chart, planes, size: float, apart: float, *, upwards: bool = False):
    """Yield each reference line, where it lies, on which side of it its name stands, and where along it this begins."""
    # `planes`: for "x" and "y" the place of a value, the ends of the axis there and the room of a name beside its line.
    for axis, (place, ends, room) in planes.items():
        chosen = [reference for reference in chart.references if reference.axis == axis]
        places = [place(getattr(chart, axis).scaled(reference.value)) for reference in chosen]
        sides = [((at - room, at), (at, at + room)) for at in places]
        if upwards and axis == "y":  # names stand above their lines first, where the values are larger
            sides = [(above, below) for below, above in sides]
        lengths = [text_width(reference.text, size) + apart for reference in chosen]
        for reference, at, (side, start) in zip(chosen, places, staggered(sides, lengths, ends), strict=True):
            yield reference, at, side, start


def references(plot: Frame, chart) -> Markup:
    """Return the reference lines of a chart, with their names."""
    left, top, right, bottom = plot.box
    planes = {"x": (plot.across, (left, right), LINE), "y": (plot.up, (top, bottom), LINE)}
    parts = []
    for reference, at, side, start in placed_references(chart, planes, PIXELS, 8):
        beside = at + 12 if side else at - 5
        if reference.axis == "x":
            line = {"x1": at, "x2": at, "y1": bottom, "y2": top}
            move = f"translate({beside:.1f} {bottom - 8 - start:.1f}) rotate(-90)"
        else:
            line = {"x1": left, "x2": right, "y1": at, "y2": at}
            move = f"translate({left + 8 + start:.1f} {beside:.1f})"
        parts.append(element("line", **line, class_=reference.kind))
        if reference.text:
            parts.append(element("text", reference.text, transform=move, class_="contour-name"))
    return Markup("").join(parts)


def guide_lines(guide: str, x: Axis, y: Axis, dots: Sequence[Point]) -> list[Guide]:
    """Return the lines of a guide, each with its name; nothing where there is none."""
    return list(GUIDES[guide](x, y, dots)) if guide and dots else []


def _frontier(x, y, dots: Sequence[Point]) -> Iterator[Guide]:
    """Steps under the dots that nothing further left, or as far, beats."""
    steps: list[Point] = []
    for cost, value in sorted(dots, key=lambda dot: (dot[0], -dot[1])):
        if not steps or value > steps[-1][1]:
            steps += [(cost, steps[-1][1])] if steps else []
            steps.append((cost, value))
    end = x.high
    if x.log:  # which leaves room behind its highest value
        end = x.low * (x.high / x.low) ** ((1 - x.share(x.low)) / (x.share(x.high) - x.share(x.low)))
    yield [*steps, (end, steps[-1][1])], ""


def _equal(x, y, dots) -> Iterator[Guide]:
    """The line on which both numbers are equal, as far as the plot reaches."""
    low, high = max(x.low, y.low), min(x.high, y.high)
    if low < high:
        yield [(low, low), (high, high)], ""


def _products(x, y, dots) -> Iterator[Guide]:
    """Curves of percent times percent, at round numbers of percent."""
    low, high = x.low * y.low / 100, x.high * y.high / 100
    step = next((step for step in STEPS if (high - low) / step <= FEWEST), STEPS[-1])
    for level in range(math.ceil(low / step) * step, math.ceil(high), step):
        if low < level < high:
            start, stop = max(x.low, 100 * level / y.high), min(x.high, 100 * level / max(y.low, 1e-9))
            xs = [start + (stop - start) * part / 24 for part in range(25)]
            yield [(at, 100 * level / at) for at in xs], str(level)


GUIDES: dict[str, Callable[..., Iterator[Guide]]] = {"frontier": _frontier, "equal": _equal, "products": _products}
