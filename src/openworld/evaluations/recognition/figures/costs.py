"""OpenworldAUC against what a learner costs: the plot that size, training and scoring share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.axes import Axis, LogAxis
from openworld.report.panels import Figure, Panel, frame
from openworld.report.scatter import Cloud, scatter
from openworld.report.series_style import Look
from openworld.report.svg import Frame, element
from openworld.report.text import percent


@dataclass(frozen=True)
class Cost:
    """What learners are compared by: `of` a row gives it (0 = none, `None` = not known), `told` says it with its unit.

    `title` is the axis's; `column` names it in the download.
    """

    title: str
    column: str
    of: Callable[[Row], float | None]
    told: Callable[[float], str]


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
