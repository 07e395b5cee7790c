"""The trade-off: naming (HM of base and new accuracy) against telling base from new (AUROC), one dot per seed."""

import math

from markupsafe import Markup

from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.axes import Axis
from openworld.report.panels import Figure, Panel, frame
from openworld.report.scatter import Cloud, scatter
from openworld.report.series_style import Look
from openworld.report.svg import Frame, element
from openworld.report.text import percent


def trade_off(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """The figure over all tables: one panel each, one dot per learner and seed; `None` where there is no dot."""
    if not any(_dots(row) for table in tables for row in table.rows):
        return None
    alone = len(tables) == 1
    panels = tuple(Panel("" if alone else table.title, _panel(table, looks, alone=alone)) for table in tables)
    caption = (
        "Each dot is one learner with one seed: how well it names (HM, the harmonic mean of base and new accuracy) and "
        "how well it tells base from new (AUROC).",
        "Up and to the right is better; the thin lines join equal products of the two, so a dot on a higher line does "
        "better at both together.",
    )
    rows = tuple(
        (table.title, row.learner, seed, hm, auroc)
        for table in tables
        for row in table.rows
        for seed, hm, auroc in _dots(row)
    )
    header = ("setting", "learner", "seed", "harmonic_mean", "auroc")
    return Figure("trade-off", "Naming against noticing", caption, panels, header, rows)


def _dots(row: Row) -> list[tuple[int, float, float]]:
    triples = zip(row.seeds, row.per_seed["harmonic_mean"], row.per_seed["auroc"], strict=True)
    return [(seed, hm, auroc) for seed, hm, auroc in triples if hm is not None and auroc is not None]


def _panel(table: Table, looks: dict[str, Look], *, alone: bool) -> Markup:
    rows = [row for row in table.rows if _dots(row)]
    dots = [(100 * hm, 100 * auroc) for row in rows for _, hm, auroc in _dots(row)] or [(50.0, 50.0)]
    x = Axis.around("HM of base and new accuracy, %", [hm for hm, _ in dots])
    y = Axis.around("AUROC base against new, %", [auroc for _, auroc in dots])
    plot = frame(x, y, alone=alone, names=len(rows))
    told = f"AUROC ({_told(y)}) against HM ({_told(x)}), {len(dots)} dots of {len(table.rows)} learners."
    return scatter(plot, [_cloud(row) for row in rows], looks, told, under=_contours(plot), named=alone)


def _cloud(row: Row) -> Cloud:
    told = "; ".join(f"seed {seed}: HM {percent(hm)}, AUROC {percent(auroc)}" for seed, hm, auroc in _dots(row))
    return Cloud(row.learner, tuple((100 * hm, 100 * auroc) for _, hm, auroc in _dots(row)), told)


def _contours(plot: Frame) -> list[Markup]:
    """Lines HM x AUROC = constant, at round percentages, each labelled where it leaves the plot."""
    low, high = plot.x.low * plot.y.low / 100, plot.x.high * plot.y.high / 100
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (high - low) / step <= 7)
    levels = range(math.ceil(low / step) * step, math.ceil(high), step)
    return [_contour(plot, level) for level in levels if low < level < high]


def _contour(plot: Frame, level: float) -> Markup:
    start = max(plot.x.low, 100 * level / plot.y.high)
    stop = min(plot.x.high, 100 * level / max(plot.y.low, 1e-9))
    xs = [start + (stop - start) * part / 24 for part in range(25)]
    line = plot.line(xs, [100 * level / x for x in xs], class_="contour")
    x, y = plot.across(xs[-1]), plot.up(100 * level / xs[-1])
    on_the_right = xs[-1] >= plot.x.high - 1e-6
    place = (
        {"x": x - 4, "y": y - 4, "class_": "contour-name end"}
        if on_the_right
        else {"x": x + 4, "y": y - 5, "class_": "contour-name"}
    )
    return line + element("text", f"{level}", **place)


def _told(axis: Axis) -> str:
    return f"{axis.low:g} to {axis.high:g} %"
