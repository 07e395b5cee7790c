"""Learners as dots in a plane, joined to their mean, with their names where they cover nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from openworld.report.axes import Axis, LogAxis
from openworld.report.figures.figure import Figure, Panel, frame, percent
from openworld.report.figures.names import Placed, near
from openworld.report.palette import Look
from openworld.report.summary import Row, Table
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


@dataclass(frozen=True)
class Cost:
    """What learners are compared by: `of` a row gives it (0 = none, `None` = not known), `told` says it with its unit.

    `title` is the axis's; `column` names it in the download.
    """

    title: str
    column: str
    of: Callable[[Row], float | None]
    told: Callable[[float], str]


def scatter(
    plot: Frame, clouds: Sequence[Cloud], looks: dict[str, Look], told: str, *, under=(), named: bool
) -> Markup:
    """The drawing of `clouds` in the frame `plot`, over the parts `under`; with names where `named`."""
    drawn = [_drawn(plot, cloud, looks[cloud.learner]) for cloud in clouds]
    names = _names(plot, clouds, looks) if named else []
    return drawing(plot.width, plot.height, told, [plot.axes(), _break(plot), *under, *names, *drawn])


def against_cost(tables: tuple[Table, ...], looks: dict[str, Look], cost: Cost, **texts) -> Figure | None:
    """OpenworldAUC against a cost: one plot, one dot per learner, the mean over all settings.

    Args:
        tables: of a run; a learner that lacks a setting, its OpenworldAUC or its cost is not drawn, and named as such.
        looks: of every learner.
        cost: what stands on the horizontal axis.
        texts: `name`, `heading` and `caption` of the figure.

    Returns:
        The figure, or `None` where no learner is known to cost anything.
    """
    found = {learner: _averaged(tables, learner, cost) for learner in looks}
    priced = {learner: one for learner, one in found.items() if one is not None}
    if not any(price > 0 for price, *_ in priced.values()):
        return None
    rows = tuple((learner, price, value, min(seeds), max(seeds)) for learner, (price, value, seeds) in priced.items())
    header = ("learner", cost.column, "openworld_auc", "lowest_seed", "highest_seed")
    panel = Panel("", _cost_panel(rows, looks, cost, len(tables)))
    return Figure(
        panels=(panel,), header=header, rows=rows, **texts | {"caption": _with_missing(texts["caption"], found)}
    )


def _averaged(tables, learner: str, cost: Cost) -> tuple[float, float, tuple[float, ...]] | None:
    """(cost, OpenworldAUC, OpenworldAUC by seed), means over the settings; `None` where one of them is not known."""
    rows = [row for table in tables for row in table.rows if row.learner == learner]
    prices, values = [cost.of(row) for row in rows], [row.openworld_auc for row in rows]
    if len(rows) < len(tables) or None in prices or None in values:
        return None
    same = all(row.seeds == rows[0].seeds for row in rows)
    seeds = np.mean([row.per_seed["openworld_auc"] for row in rows], axis=0).tolist() if same else [np.mean(values)]
    return float(np.mean(prices)), float(np.mean(values)), tuple(map(float, seeds))


def _with_missing(caption: tuple[str, str], found: dict) -> tuple[str, str]:
    """The caption, naming the learners that are not drawn."""
    missing = [learner for learner, one in found.items() if one is None]
    if not missing:
        return caption
    told = ", ".join(missing) if len(missing) <= 4 else f"{len(missing)} learners"
    return caption[0], f"{caption[1].removesuffix('.')}; not drawn, for want of a number: {told}."


def _cost_panel(rows: tuple[tuple, ...], looks: dict[str, Look], cost: Cost, settings: int) -> Markup:
    prices = [price for _, price, *_ in rows]
    ends = [100 * end for row in rows for end in row[2:]]
    mean = f", mean of {settings} settings" if settings > 1 else ""
    x, y = LogAxis.around(cost.title, prices), Axis.around(f"OpenworldAUC{mean}, %", ends)
    plot = frame(x, y, alone=True, names=len(rows))
    clouds = [
        Cloud(
            learner,
            ((price, 100 * value),),
            f"OpenworldAUC {percent(value)} ({percent(low)} to {percent(high)} by seed), {cost.told(price)}",
            ((price, 100 * low), (price, 100 * high)),
        )
        for learner, price, value, low, high in rows
    ]
    told = f"OpenworldAUC against {cost.title}, logarithmic, {len(rows)} learners."
    return scatter(plot, clouds, looks, told, under=[_frontier(plot, rows)], named=True)


def _frontier(plot: Frame, rows: tuple[tuple, ...]) -> Markup:
    """Steps under the learners that nothing cheaper or equally cheap beats."""
    points, best = [], -1.0
    for _, price, value, *_ in sorted(rows, key=lambda row: (row[1], -row[2])):
        if value > best:
            x, y = plot.across(price), plot.up(100 * value)
            points += [(x, level) for _, level in points[-1:]] + [(x, y)]
            best = value
    points.append((plot.box[2], points[-1][1]))
    return element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_="contour")


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
