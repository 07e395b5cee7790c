"""Learners as dots in a plane, joined to their mean, with their names where they cover nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from openworld.report.axes import LogAxis
from openworld.report.label_placement import Placed, near
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element


@dataclass(frozen=True)
class Cloud:
    """One learner in the plane: its dots (x, y) in the units of the axes, and what is told of them.

    Thin lines join the mean of the dots to each of them, or to the points of `spread`, which get no mark.
    """

    learner: str
    dots: tuple[tuple[float, float], ...]
    told: str
    spread: tuple[tuple[float, float], ...] = ()


def scatter(
    plot: Frame, clouds: Sequence[Cloud], looks: dict[str, Look], told: str, *, under=(), named: bool
) -> Markup:
    """The drawing of `clouds` in the frame `plot`, over the parts `under`; with names where `named`."""
    drawn = [_drawn(plot, cloud, looks[cloud.learner]) for cloud in clouds]
    names = _names(plot, clouds, looks) if named else []
    return drawing(plot.width, plot.height, told, [plot.axes(), _break(plot), *under, *names, *drawn])


def _drawn(plot: Frame, cloud: Cloud, look: Look) -> Markup:
    places = [(plot.across(x), plot.up(y)) for x, y in cloud.dots]
    middle = _middle(plot, cloud)
    ends = [(plot.across(x), plot.up(y)) for x, y in cloud.spread] or (places if len(places) > 1 else [])
    spokes = [element("line", x1=middle[0], y1=middle[1], x2=x, y2=y, class_="spoke") for x, y in ends]
    marks = [plot.mark(x, y, look.marker) for x, y in cloud.dots]
    title = element("title", f"{cloud.learner}: {cloud.told}")
    return element("g", title, *spokes, *marks, class_=look.css_class, data_learner=cloud.learner)


def _middle(plot: Frame, cloud: Cloud) -> tuple[float, float]:
    x, y = np.mean([(plot.across(x), plot.up(y)) for x, y in cloud.dots], axis=0).tolist()
    return x, y


def _names(plot: Frame, clouds: Sequence[Cloud], looks: dict[str, Look]) -> list[Markup]:
    texts = [cloud.learner for cloud in clouds]
    marks = [(plot.across(x), plot.up(y)) for cloud in clouds for x, y in (*cloud.dots, *cloud.spread)]
    places = near(plot, texts, [_anchor(plot, cloud) for cloud in clouds], marks)
    return [_name(text, place, looks[text]) for text, place in zip(texts, places, strict=True)]


def _anchor(plot: Frame, cloud: Cloud) -> tuple[float, float]:
    """The dot nearest to the mean of all, where the name leads to."""
    middle = _middle(plot, cloud)
    places = [(plot.across(x), plot.up(y)) for x, y in cloud.dots]
    return min(places, key=lambda place: (place[0] - middle[0]) ** 2 + (place[1] - middle[1]) ** 2)


def _name(text: str, place: Placed, look: Look) -> Markup:
    parts = []
    if place.leader:
        x1, y1, x2, y2 = place.leader
        parts.append(element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="leader"))
    parts.append(element("text", text, x=place.x, y=place.y, class_=f"label near {place.end}".strip()))
    return element("g", *parts, class_=look.css_class, data_learner=text)


def _break(plot: Frame) -> Markup:
    """Two strokes across the foot of a logarithmic axis, between none and the rest."""
    if not isinstance(plot.x, LogAxis) or not plot.x.break_share:
        return Markup("")
    left, top, right, bottom = plot.box
    x = left + plot.x.break_share * (right - left)
    line = element("line", x1=x, x2=x, y1=top, y2=bottom - 6, class_="break")
    strokes = element("path", d=f"M{x - 5:.1f} {bottom + 5:.1f}l4-10m2 10l4-10", class_="break-stroke")
    return line + strokes
