"""Where the points are lost: one bar of 100 points per learner, its OpenworldAUC and the three losses end to end.

OpenworldAUC = a b A splits exactly: wrong base names (1 - a)(1 + b)/2, wrong new names (1 - b)(1 + a)/2, base and
new mixed up a b (1 - A), with a and b the accuracies among the base and new names and A the AUROC among the
correctly named (after OpenworldAUC, Hua et al., 2025, Proposition 4.2).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from markupsafe import Markup

from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.label_placement import LETTER
from openworld.report.panels import Figure, Panel
from openworld.report.series_style import Look
from openworld.report.svg import drawing, element
from openworld.report.text import percent

LOSSES = {
    "wrong_base": "wrong base names",
    "wrong_new": "wrong new names",
    "mixed_up": "base and new mixed up",
}


@dataclass(frozen=True)
class Bars:
    """Sizes in user units: of the whole, the names beside the bars, a bar and the gap between two.

    `told` is the share from which on a part shows its number.
    """

    width: float
    names: float
    height: float
    gap: float
    told: float

    def across(self, fraction: float) -> float:
        """Where a share of the 100 points ends."""
        return self.names + fraction * (self.width - self.names - 12)


LONGEST = 18  # letters of a name; longer ones are cut short
ALONE, AMONG_MANY = Bars(470.0, 64.0, 20.0, 7.0, 0.055), Bars(400.0, 64.0, 16.0, 3.0, 0.11)


def points_lost(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """The figure over all tables: one panel each, one bar per learner; `None` where no number is defined."""
    if all(row.openworld_auc is None for table in tables for row in table.rows):
        return None
    bars = _with_names(ALONE if len(tables) == 1 else AMONG_MANY, looks)
    panels = tuple(Panel(table.title if len(tables) > 1 else "", _panel(table, looks, bars)) for table in tables)
    caption = (
        "Each bar splits 100 points into the OpenworldAUC that a learner earned (in its colour) and the three ways it "
        "lost the rest, on average over the seeds.",
        "The longest hatched part is what to work on first: names of base classes, names of new classes, or telling "
        "base from new.",
    )
    header = ("setting", "learner", "openworld_auc", *LOSSES)
    rows = tuple(
        (table.title, row.learner, row.openworld_auc, *(row.points_lost.get(loss) for loss in LOSSES))
        for table in tables
        for row in table.rows
    )
    return Figure("points-lost", "Where the points are lost", caption, panels, header, rows)


def _with_names(bars: Bars, learners: Iterable[str]) -> Bars:
    """Bars that leave room for the names beside them."""
    return replace(bars, names=max(bars.names, 12 + LETTER * max(len(_clipped(name)) for name in learners)))


def _panel(table: Table, looks: dict[str, Look], bars: Bars) -> Markup:
    step = bars.height + bars.gap
    height = len(table.rows) * step + 22
    drawn = [_bar(row, 2 + place * step, looks[row.learner], bars) for place, row in enumerate(table.rows)]
    scale = [
        element("text", f"{value}", x=bars.across(value / 100), y=height - 6, class_="tick mid")
        for value in range(0, 101, 20)
    ]
    told = "; ".join(f"{row.learner} {percent(row.openworld_auc)}" for row in table.rows)
    return drawing(bars.width, height, f"Stacked bars of points earned and lost. OpenworldAUC: {told}.", drawn + scale)


def _bar(row: Row, top: float, look: Look, bars: Bars) -> Markup:
    middle = top + bars.height / 2 + 4
    name = element(
        "text",
        _clipped(row.learner),
        element("title", row.learner),
        x=bars.names - 8,
        y=middle,
        class_="name end",
    )
    if row.openworld_auc is None:
        return name + element("text", "not defined", x=bars.names, y=middle, class_="tick")
    segments = {"OpenworldAUC": row.openworld_auc} | {LOSSES[loss]: row.points_lost[loss] for loss in LOSSES}
    told = ", ".join(f"{label} {percent(points)}" for label, points in segments.items())
    parts, start = [name, element("title", f"{row.learner}: {told}")], 0.0
    for place, points in enumerate(segments.values()):
        kind = f"earned {look.css_class}" if place == 0 else f"loss loss{place}"
        parts.append(_segment(start, points, top, kind, bars))
        start += points
    return element("g", *parts, data_learner=row.learner)


def _segment(start: float, points: float, top: float, kind: str, bars: Bars) -> Markup:
    left, width = bars.across(start), bars.across(start + points) - bars.across(start)
    box = element("rect", x=left, y=top, width=max(width, 0.0), height=bars.height, class_=kind)
    if points < bars.told:
        return box
    number = element(
        "text",
        percent(points),
        x=left + width / 2,
        y=top + bars.height / 2 + 4,
        class_=f"{kind.split()[0]}-number",
    )
    return box + number


def _clipped(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
