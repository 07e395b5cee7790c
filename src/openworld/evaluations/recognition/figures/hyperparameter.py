"""What a setting does: OpenworldAUC against a number in which entries of one learner differ, and in nothing else.

Such as K, alpha and lambda of GMoP (Hua et al., 2025, Figure 10 and its neighbours).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.axes import Axis, LogAxis
from openworld.report.panels import Figure, Panel, frame
from openworld.report.series_style import Look
from openworld.report.svg import drawing, element
from openworld.report.text import percent

FEWEST = 3  # values of a setting that make a line
WIDE = 20.0  # a setting whose largest value is so many times its smallest is drawn on a logarithmic axis


@dataclass(frozen=True, eq=False)
class Ladder:
    """Entries of one learner that differ in one number: `rows` by its value, increasing."""

    table: Table
    method: str
    key: str
    rows: dict[float, Row]


def setting(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """One panel per setting that takes at least FEWEST values while all others stand still, or `None`."""
    ladders = [ladder for table in tables for ladder in _ladders(table)]
    if not ladders:
        return None
    several = len({ladder.table.title for ladder in ladders}) > 1
    panels = tuple(
        Panel(f"{one.table.title}: {one.method}" if several else one.method, _panel(one, looks)) for one in ladders
    )
    caption = (
        "OpenworldAUC of entries of one learner that differ in a single setting, means over the seeds; the bar through "
        "a dot is 95 % over images, given the seeds.",
        "Where the line is level the setting hardly matters; bars of two dots may overlap although the two differ, for "
        "they were scored on the same images: the table's tests tell.",
    )
    header = ("table", "method", "setting", "value", "learner", "openworld_auc", "images_low", "images_high")
    rows = tuple(
        (
            one.table.title,
            one.method,
            one.key,
            value,
            row.learner,
            row.openworld_auc,
            *(row.over_images or (None, None)),
        )
        for one in ladders
        for value, row in one.rows.items()
    )
    return Figure("setting", "What does a setting do?", caption, panels, header, rows)


def _ladders(table: Table) -> Iterator[Ladder]:
    """Per method and numeric setting, the longest list of entries that agree in everything else."""
    by_method: dict[str, list[tuple[Row, dict]]] = {}
    for row in table.rows:
        told, method = _settings(row), row.outcomes[0].metrics.get("method")
        if told and method and row.openworld_auc is not None:
            by_method.setdefault(method, []).append((row, told))
    for method, entries in by_method.items():
        for key in dict.fromkeys(key for _, told in entries for key, value in told.items() if _is_number(value)):
            longest = max(_agreeing(entries, key), key=len)
            if len(longest) >= FEWEST:
                yield Ladder(table, method, key, dict(sorted(longest.items())))


def _agreeing(entries: list[tuple[Row, dict]], key: str) -> list[dict[float, Row]]:
    """Entries by the value of `key`, apart where they differ in anything else."""
    found: dict[str, dict[float, Row]] = {}
    for row, told in entries:
        if _is_number(told.get(key)):
            others = json.dumps({name: value for name, value in told.items() if name != key}, sort_keys=True)
            found.setdefault(others, {})[told[key]] = row
    return list(found.values())


def _settings(row: Row) -> dict:
    """The settings of a learner, schedules written flat; empty where its seeds differ in them."""
    each = [_flat(outcome.metrics.get("detail", {}).get("chosen") or {}) for outcome in row.outcomes]
    return each[0] if all(one == each[0] for one in each) else {}


def _flat(told: Mapping, above: str = "") -> dict:
    flat: dict = {}
    for name, value in told.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return flat


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _panel(ladder: Ladder, looks: dict[str, Look]) -> Markup:
    values = tuple(ladder.rows)
    ends = [100 * end for row in ladder.rows.values() for end in (row.openworld_auc, *(row.over_images or ()))]
    room = 0.05 * (values[-1] - values[0])
    wide = values[0] > 0 and values[-1] >= WIDE * values[0]
    linear = Axis(ladder.key, values[0] - room, values[-1] + room, values)
    plot = frame(
        LogAxis(ladder.key, values[0], values[-1], values) if wide else linear,
        Axis.around("OpenworldAUC, %", ends),
        alone=False,
    )
    heights = [100 * row.openworld_auc for row in ladder.rows.values()]
    parts = [plot.axes(), plot.line(values, heights, class_="contour")]
    for value, row in ladder.rows.items():
        told = f"{row.learner}: {ladder.key} {value:g}, OpenworldAUC {percent(row.openworld_auc)}"
        bar = []
        if row.over_images:
            y1, y2 = (plot.up(100 * end) for end in row.over_images)
            bar = [element("line", x1=plot.across(value), x2=plot.across(value), y1=y1, y2=y2, class_="spoke")]
        look = looks[row.learner]
        dot = plot.mark(value, 100 * row.openworld_auc, look.marker)
        parts.append(element("g", element("title", told), *bar, dot, class_=look.css_class, data_learner=row.learner))
    return drawing(plot.width, plot.height, f"OpenworldAUC at {len(values)} values of {ladder.key}.", parts)
