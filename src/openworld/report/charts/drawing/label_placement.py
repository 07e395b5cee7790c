"""Where the learners' names go in a plot: near their dots, or in a column beside the ends of their lines.

A name near a dot takes the cheapest of many places around it: one that covers no other name, covers few dots and
lies close by, with a thin line to the dot where it does not touch it. The names choose in turn, and choose again
knowing where all others went, so that the same dots always give the same plot. Widths are estimated from above,
for the largest size that a narrow screen gives the text.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from markupsafe import Markup

from openworld.report.charts.drawing.lettering import PIXELS, text_width, widest
from openworld.report.charts.drawing.svg import Frame, element, marker
from openworld.report.series_style import SeriesStyle

LINE = 14.0  # user units: a line's height
REACH = (0.0, 8.0, 16.0, 26.0, 38.0, 52.0, 70.0, 90.0, 115.0, 145.0)  # gaps between a dot and its name
DIRECTIONS = np.deg2rad(np.arange(0, 360, 15))
ROUNDS = 4
MARGIN = np.array([-4.0, 0.0, 4.0, 0.0])  # what a name keeps free of others: left, top, right, bottom


Placed = tuple[float, float, str, tuple[float, float, float, float] | None]
"""Where a name's text is anchored (x, y), by which end, and the line that leads there from its dot."""


def near(plot: Frame, texts: Sequence[str], dots: Sequence[tuple[float, float]], marks=()) -> list[Placed]:
    """A place for every text near its dot: in the plot, and off further points, the `marks`, where that can be."""
    obstacles = _around(np.array([*dots, *marks]).reshape(-1, 2), 6.0)
    options = [_places(plot, text, dot) for text, dot in zip(texts, dots, strict=True)]
    base = [8 * gaps + 3 * _overlap(boxes, obstacles) for boxes, gaps, _ in options]
    chosen: dict[int, int] = {}
    for _ in range(ROUNDS):
        for index, (boxes, _, tips) in enumerate(options):
            others = [other for other in chosen if other != index]
            taken = [options[other][0][chosen[other]] + MARGIN for other in others]
            taken = np.array(taken).reshape(-1, 4)
            paths = [_path(dots[other], options[other][2][chosen[other]]) for other in others]
            covered = _overlap(boxes, taken)
            cost = base[index] + 60 * covered + 1000 * (covered > 0)
            cost += 40 * _overlap(boxes, np.concatenate([np.empty((0, 4)), *paths]))
            cost += 40 * sum(_overlap(step, taken) for step in np.moveaxis(_path(dots[index], tips), 1, 0))
            chosen[index] = int(np.argmin(cost))
    placed = []
    for index, (dot, (boxes, gaps, tips)) in enumerate(zip(dots, options, strict=True)):
        left, top, right, _ = boxes[chosen[index]].tolist()
        x, y = tips[chosen[index]].tolist()
        end = "" if abs(x - left) < 1e-6 else "end" if abs(x - right) < 1e-6 else "mid"
        placed.append((x, top + LINE - 3.5, end, None if gaps[chosen[index]] == 0 else (*dot, x, y)))
    return placed


def beside(plot: Frame, ends: Mapping[str, tuple[float, float]], styles: Mapping[str, SeriesStyle]) -> list[Markup]:
    """The learners' names in a column right of the plot, each with a thin line to the end of its own line."""
    _, top, right, bottom = plot.box
    heights = spread([y for _, y in ends.values()], 1.25 * LINE, top + 4, bottom)
    names = []
    for (learner, (x, y)), height in zip(ends.items(), heights, strict=True):
        style = styles[learner]
        points = f"{x:.1f},{y:.1f} {right:.1f},{y:.1f} {right + 13:.1f},{height:.1f}"
        name = element("text", learner, x=right + 27, y=height + 4, class_="label near")
        parts = (element("polyline", points=points, class_="leader"), marker(style.marker, right + 19, height), name)
        names.append(element("g", *parts, class_=style.css_class, data_learner=learner))
    return names


def margin(learners: Iterable[str]) -> float:
    """The right margin that holds a column of these names, or the usual one where there are none."""
    longest = widest(learners, PIXELS)
    return 30 + longest if longest else 12.0


def spread(heights: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """The heights moved as little as it takes (in the sum of squares) to be `apart` and within [low, high]."""
    # Neighbours that would stand too close are pooled and spread about their mean, as in isotonic regression.
    apart = min(apart, (high - low) / max(len(heights) - 1, 1))
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    pools: list[list[float]] = []
    for rank, place in enumerate(order):
        pools.append([heights[place] - rank * apart])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    moved = [float(np.mean(pool)) for pool in pools for _ in pool]
    ceiling = high - (len(order) - 1) * apart
    ranked = {place: min(max(moved[rank], low), ceiling) + rank * apart for rank, place in enumerate(order)}
    return [ranked[place] for place in range(len(heights))]


def _places(plot: Frame, text: str, dot: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places within the plot: boxes float[P, 4] (left, top, right, bottom), gaps [P], points led to [P, 2]."""
    gaps, angles = (grid.ravel() for grid in np.meshgrid(REACH, DIRECTIONS, indexing="ij"))
    x, y = dot[0] + (9 + gaps) * np.cos(angles), dot[1] + (9 + gaps) * np.sin(angles)
    width = text_width(text, PIXELS)
    # A name is anchored by its beginning right of its dot, by its end left of it, and by its middle above or below.
    anchor = np.where(np.abs(np.cos(angles)) < 0.3, 0, np.sign(np.cos(angles)))
    left = x - width * (1 - anchor) / 2
    top = y - LINE * (1 - np.sin(angles).round(6)) / 2
    boxes = np.stack([left, top, left + width, top + LINE], axis=1)
    inside = ((boxes[:, :2] >= np.array(plot.box[:2])) & (boxes[:, 2:] <= np.array(plot.box[2:]))).min(axis=1)
    if not inside.any():  # a name wider than the plot
        inside[:] = True
    return boxes[inside], gaps[inside], np.stack([x, y], axis=1)[inside]


def _path(dot: tuple[float, float], tip: np.ndarray) -> np.ndarray:
    """Small boxes along the line from a dot to tip(s) [..., 2]: float[..., 4, 4], or [4, 4] for one tip."""
    steps = np.array([0.3, 0.5, 0.7, 0.9])[:, None]
    return _around(np.asarray(dot) + steps * (tip[..., None, :] - np.asarray(dot)), 1.0)


def _around(points: np.ndarray, half: float) -> np.ndarray:
    """Squares [..., 4] around points [..., 2]."""
    return np.concatenate([points - half, points + half], axis=-1)


def _overlap(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """float[P]: by how many square units each of P boxes is covered by the others [Q, 4], summed over them."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    return (high - low).clip(min=0).prod(axis=-1).sum(axis=1)
