"""Thin lines under the dots of a scatter chart, in the units that are drawn."""

import math
from collections.abc import Callable, Iterator, Sequence

from openworld.report.charts.drawing.axes import Axis, LogAxis

Point = tuple[float, float]
Guide = tuple[list[Point], str]
FEWEST, STEPS = 7, (1, 2, 5, 10, 20, 50)  # curves of equal products: about so many, at round numbers


def guide_lines(guide: str, x: Axis | LogAxis, y: Axis, dots: Sequence[Point]) -> list[Guide]:
    """Return the lines of a guide, each with its name; nothing where there is none."""
    return list(GUIDES[guide](x, y, dots)) if guide and dots else []


def _frontier(x, y, dots: Sequence[Point]) -> Iterator[Guide]:
    """Steps under the dots that nothing further left, or as far, beats."""
    steps: list[Point] = []
    for cost, value in sorted(dots, key=lambda dot: (dot[0], -dot[1])):
        if not steps or value > steps[-1][1]:
            steps += [(cost, steps[-1][1])] if steps else []
            steps.append((cost, value))
    yield [*steps, (_end(x), steps[-1][1])], ""


def _end(x: Axis | LogAxis) -> float:
    """The value at the end of the axis."""
    if isinstance(x, Axis):
        return x.high
    return x.low * (x.high / x.low) ** ((1 - x.share(x.low)) / (x.share(x.high) - x.share(x.low)))


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


GUIDES: dict[str, Callable[..., Iterator[Guide]]] = {
    "frontier": _frontier,
    "equal": _equal,
    "products": _products,
}
