"""The trade-off: naming (HM of base and new accuracy) against telling base from new (AUROC), one dot per seed."""

import math

from markupsafe import Markup

from openworld.report.figures.figure import NAMED, Figure, Panel, belongs, frame, percent
from openworld.report.palette import Look
from openworld.report.summary import Row, Table
from openworld.report.svg import Axis, Frame, drawing, element


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
    dots = [(100 * hm, 100 * auroc) for row in table.rows for _, hm, auroc in _dots(row)] or [(50.0, 50.0)]
    x = Axis.around("HM of base and new accuracy, %", [hm for hm, _ in dots])
    y = Axis.around("AUROC base against new, %", [auroc for _, auroc in dots])
    plot = frame(x, y, alone=alone)
    learners = [
        element("g", *_dotted(plot, row, looks[row.learner]), **belongs(row, table, looks)) for row in table.rows
    ]
    named = [row for row in table.rows if _dots(row)] if alone and len(table.rows) <= NAMED else []
    told = f"AUROC ({_told(y)}) against HM ({_told(x)}), {len(dots)} dots of {len(table.rows)} learners."
    return drawing(
        plot.width, plot.height, told, [plot.axes(), *_contours(plot), *learners, *_names(plot, named, looks)]
    )


def _dotted(plot: Frame, row: Row, look: Look) -> list[Markup]:
    told = [f"seed {seed}: HM {percent(hm)}, AUROC {percent(auroc)}" for seed, hm, auroc in _dots(row)]
    title = element("title", f"{row.learner}, {'; '.join(told)}")
    return [title, *(plot.mark(100 * hm, 100 * auroc, look.marker) for _, hm, auroc in _dots(row))]


def _names(plot: Frame, rows: list[Row], looks: dict[str, Look]) -> list[Markup]:
    """The learners' names at their highest dots: above, or else at the nearest free place within the plot."""
    names, taken = [], []
    for row in rows:
        _, hm, auroc = max(_dots(row), key=lambda dot: dot[2])
        place = _free_place(plot, plot.across(100 * hm), plot.up(100 * auroc), taken)
        taken.append(place)
        css = f"label mid {looks[row.learner].css_class}"
        names.append(element("text", row.learner, x=place[0], y=place[1], class_=css, data_learner=row.learner))
    return names


def _free_place(plot: Frame, x: float, y: float, taken: list[tuple[float, float]]) -> tuple[float, float]:
    """The place nearest above or below a dot that no name in `taken` covers; right above it where there is none."""
    width, height = 70.0, 14.0
    top, bottom = plot.up(plot.y.high) + height, plot.up(plot.y.low) - 4
    steps = [step for line in range(8) for step in (-10 - height * line, 20 + height * line)]
    inside = [y + step for step in steps if top <= y + step <= bottom]
    free = [at for at in inside if not any(abs(x - left) < width and abs(at - up) < height for left, up in taken)]
    return x, (free or [y - 10])[0]


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
