"""What more pictures buy: OpenworldAUC against the shots of a run that has several (Hua et al., 2025, 1 to 16)."""

from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from openworld.evaluations.recognition.summary import Row, Setting, Table
from openworld.report.axes import Axis, LogAxis
from openworld.report.label_placement import beside, margin
from openworld.report.panels import NAMED, Figure, Panel, frame
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent

Sweep = dict[int, Table]


def shots(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """One panel per setting that was run with several shots, one line per learner; `None` where there is none."""
    sweeps = {setting: sweep for setting, sweep in _sweeps(tables).items() if any(_curves(sweep))}
    if not sweeps:
        return None
    alone = len(sweeps) == 1
    panels = tuple(
        Panel("" if alone else _title(setting), _panel(sweep, looks, alone=alone)) for setting, sweep in sweeps.items()
    )
    caption = (
        "OpenworldAUC of learners that were tuned with more and more pictures of each base class, on a logarithmic "
        f"scale; lines are means over the seeds, bands {_band_told(sweeps)}.",
        "Where a line still rises at its end, more pictures would pay; what tunes nothing stays level, and whatever "
        "lies below it was better left untuned.",
    )
    header = ("setting", "learner", "shots", "openworld_auc", "images_low", "images_high", "lowest_seed")
    header += ("highest_seed", "seeds")
    rows = tuple(line for setting, sweep in sweeps.items() for line in _lines(_title(setting), sweep))
    return Figure("shots", "What do more pictures buy?", caption, panels, header, rows)


def _sweeps(tables: tuple[Table, ...]) -> dict[Setting, Sweep]:
    """By setting, shots aside, its tables by shots, of those that have several."""
    found: dict[Setting, Sweep] = {}
    for table in tables:
        if table.setting.shots:
            found.setdefault(replace(table.setting, shots=None), {})[table.setting.shots] = table
    return {setting: dict(sorted(sweep.items())) for setting, sweep in found.items() if len(sweep) > 1}


def _curves(sweep: Sweep) -> dict[str, dict[int, Row]]:
    """By learner its rows by shots, where OpenworldAUC is defined."""
    found: dict[str, dict[int, Row]] = {}
    for count, table in sweep.items():
        for row in table.rows:
            if row.openworld_auc is not None:
                found.setdefault(row.learner, {})[count] = row
    return found


def _lines(title: str, sweep: Sweep) -> Iterator[tuple]:
    for learner, rows in _curves(sweep).items():
        for count, row in rows.items():
            images, seeds = row.over_images or (None, None), row.per_seed["openworld_auc"]
            yield (title, learner, count, row.openworld_auc, *images, min(seeds), max(seeds), len(seeds))


def _panel(sweep: Sweep, looks: dict[str, Look], *, alone: bool) -> Markup:
    curves, counts = _curves(sweep), tuple(sweep)
    ends = [100 * value for rows in curves.values() for row in rows.values() for value in row.per_seed["openworld_auc"]]
    x = LogAxis("training pictures of each base class", min(counts), max(counts), counts)
    y = Axis.around("OpenworldAUC, %", ends)
    named = curves if alone else {}
    plot = frame(x, y, alone=alone, names=len(named), right=margin(named))
    back = _standing_back(sweep)
    lines = [_line(plot, learner, rows, looks[learner], learner in back) for learner, rows in curves.items()]
    places = {learner: (max(rows), rows[max(rows)].openworld_auc) for learner, rows in named.items()}
    tips = {learner: (plot.across(count), plot.up(100 * value)) for learner, (count, value) in places.items()}
    told = f"OpenworldAUC of {len(curves)} learners with {', '.join(map(str, counts))} pictures of each class."
    return drawing(plot.width, plot.height, told, [plot.axes(), *lines, *beside(plot, tips, looks)])


def _line(plot: Frame, learner: str, rows: dict[int, Row], look: Look, back: bool) -> Markup:
    counts, values = [*rows], [100 * row.openworld_auc for row in rows.values()]
    seeds = [[100 * value for value in row.per_seed["openworld_auc"]] for row in rows.values()]
    told = ", ".join(f"{percent(value / 100)} with {count}" for count, value in zip(counts, values, strict=True))
    parts = [
        element("title", f"{learner}: {told}"),
        plot.band(counts, [*map(min, seeds)], [*map(max, seeds)], class_="band"),
    ]
    parts.append(plot.line(counts, values, class_="line", stroke_dasharray=look.dash or None))
    parts += [plot.mark(count, value, look.marker) for count, value in zip(counts, values, strict=True)]
    return element("g", *parts, class_=look.css_class + " back" * back, data_learner=learner)


def _standing_back(sweep: Sweep) -> set[str]:
    """In a crowd, all learners but the best with most shots and the one that tunes nothing."""
    last = sweep[max(sweep)]
    kept = {row.learner for row in (last.best, last.yardstick) if row is not None}
    learners = set(_curves(sweep))
    return learners - kept if len(learners) > NAMED else set()


def _band_told(sweeps: dict[Setting, Sweep]) -> str:
    rows = [row for sweep in sweeps.values() for table in sweep.values() for row in table.rows]
    return f"reach from the lowest to the highest of {max(len(row.seeds) for row in rows)} seeds"


def _title(setting: Setting) -> str:
    return " · ".join(filter(None, (setting.target or setting.task, setting.domains, setting.backbone)))
