"""OpenworldAUC against what a run varies: shots (Hua et al., 2025, 1 to 16), a hyperparameter, the mix of images."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from openworld.evaluations.recognition.figures.learners import kept, title_of
from openworld.evaluations.recognition.summary import Row, Setting, Table
from openworld.report.charts import Cloud, Line, LineChart, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import Look
from openworld.report.text import percent

FEWEST = 3  # values of a hyperparameter that make a line
WIDE = 20.0  # a hyperparameter whose largest value is so many times its smallest is drawn on a logarithmic axis
AUC = Quantity("openworld_auc", "OpenworldAUC, %")
SHOTS = Quantity("shots", "training images of each base class", "number", 6, log=True, at_values=True)
SHARE = Quantity("share_of_new", "share of new images, %", digits=0, ends=(0, 1))
MIXED = {"openworld_auc": "OpenworldAUC", "overall_accuracy": "overall accuracy"}


def shots(tables: tuple[Table, ...], styles: dict[str, Look]) -> Figure | None:
    """Return one chart per setting that was run with several shots, one line per learner; None without any."""
    by_setting: dict[Setting, dict[int, Table]] = {}
    for table in tables:
        if table.setting.shots:
            by_setting.setdefault(replace(table.setting, shots=None), {})[table.setting.shots] = table
    swept = {setting: dict(sorted(own.items())) for setting, own in by_setting.items() if len(own) > 1}
    lines = {setting: _over_shots(own) for setting, own in swept.items()}
    lines = {setting: own for setting, own in lines.items() if own}
    if not lines:
        return None
    charts = tuple(
        LineChart(
            _title(setting) if len(lines) > 1 else "",
            SHOTS,
            AUC,
            own,
            kept(swept[setting][max(swept[setting])]),
            ends=("lowest_seed", "highest_seed"),
        )
        for setting, own in lines.items()
    )
    seeds = max(len(row.seeds) for own in swept.values() for table in own.values() for row in table.rows)
    caption = (
        "OpenworldAUC of learners that were tuned with more and more images of each base class, on a logarithmic "
        f"scale; lines are means over the seeds, bands reach from the lowest to the highest of {seeds} seeds.",
        "Where a line still rises at its end, more images would pay; what tunes nothing stays level, and whatever "
        "lies below it was better left untuned.",
    )
    return Figure("shots", "What do more images buy?", caption, charts, styles, names=("setting", "learner"))


def _over_shots(tables: dict[int, Table]) -> dict[str, Line]:
    """By learner its line over the shots, where OpenworldAUC is defined."""
    found: dict[str, dict[int, Row]] = {}
    for count, table in tables.items():
        for row in table.rows:
            if row.openworld_auc is not None:
                found.setdefault(row.learner, {})[count] = row
    return {learner: _line(rows) for learner, rows in found.items()}


def _line(rows: dict[int, Row]) -> Line:
    seeds = [row.per_seed["openworld_auc"] for row in rows.values()]
    images = [row.over_images or (None, None) for row in rows.values()]
    ends = {"low_over_images": [low for low, _ in images], "high_over_images": [high for _, high in images]}
    values = [row.openworld_auc for row in rows.values()]
    return Line(
        list(rows), values, [*map(min, seeds)], [*map(max, seeds)], further=ends | {"seeds": [*map(len, seeds)]}
    )


def _title(setting: Setting) -> str:
    return " · ".join(filter(None, (setting.target or setting.task, setting.domains, setting.backbone)))


def ratio(tables: tuple[Table, ...], styles: dict[str, Look]) -> Figure | None:
    """Return two charts per table that has a sweep over mixes of images; None where no table has one.

    Every mix is drawn several times, as for Tables 11 and 12 of Hua et al. (2025): the line is the mean, the band one
    standard deviation of a single draw on either side.
    """
    swept = [
        table
        for table in tables
        if any(point["openworld_auc"] is not None for row in table.rows for _, point in row.ratio_sweep)
    ]
    if not swept:
        return None
    charts = tuple(_mixed(table, metric, title_of(table, tuple(swept))) for table in swept for metric in MIXED)
    caption = (
        "The same scores on other mixes: base and new images drawn so that new ones make up the share on the "
        f"horizontal axis, mean over the seeds{_draws(swept)}.",
        "A number that tells learners apart should stay level: where overall accuracy bends with the mix, it measures "
        "the mix and not the learner.",
    )
    return Figure("ratio", "Does the mix matter?", caption, charts, styles, names=("setting", "learner"))


def _mixed(table: Table, metric: str, title: str) -> LineChart:
    name = f"{title}: {MIXED[metric]}" if title else MIXED[metric]
    lines = {row.learner: _mixes(row, metric) for row in table.rows}
    return LineChart(name, SHARE, Quantity(metric, f"{MIXED[metric]}, %"), lines, kept(table), named=not title)


def _mixes(row: Row, metric: str) -> Line:
    """The line of a learner; its band has no width where no spread is known."""
    known = [
        (share, point[metric], point["spread"][metric] or 0)
        for share, point in row.ratio_sweep
        if point[metric] is not None
    ]
    shares, values, spread = zip(*known, strict=True) if known else ((), (), ())
    low, high = ([value + sign * own for value, own in zip(values, spread, strict=True)] for sign in (-1, 1))
    return Line(shares, values, low, high)


def _draws(tables: list[Table]) -> str:
    """What the bands are over; nothing where there are none."""
    sweeps = [row.outcomes[0].metrics.get("ratio_sweep") or () for table in tables for row in table.rows]
    draws = {point.get("resamples", 1) for sweep in sweeps for point in sweep}
    if max(draws) < 2:
        return ""
    return f" and {' or '.join(map(str, sorted(draws)))} draws; the band is one standard deviation of a single draw"


@dataclass(frozen=True, eq=False)
class Ladder:
    """Entries of one learner that differ in one number: `rows` by its value, increasing."""

    table: Table
    method: str
    key: str
    rows: dict[float, Row]


def setting(tables: tuple[Table, ...], styles: dict[str, Look]) -> Figure | None:
    """Return one chart per hyperparameter that takes at least FEWEST values while all others stand still, or None.

    Such as K, alpha and lambda of GMoP (Hua et al., 2025, Figure 10 and its neighbours).
    """
    ladders = [ladder for table in tables for ladder in _ladders(table)]
    if not ladders:
        return None
    several = len({ladder.table.title for ladder in ladders}) > 1
    charts = tuple(_ladder_chart(one, f"{one.table.title}: {one.method}" if several else one.method) for one in ladders)
    caption = (
        "OpenworldAUC of entries of one learner that differ in a single setting, means over the seeds; the bar through "
        "a dot is 95 % over images, given the seeds.",
        "Where the line is level the setting hardly matters; bars of two dots may overlap although the two differ, for "
        "they were scored on the same images: the table's tests tell.",
    )
    return Figure("setting", "What does a setting do?", caption, charts, styles, names=("method", "learner"))


def _ladder_chart(ladder: Ladder, title: str) -> ScatterChart:
    values = tuple(ladder.rows)
    wide = values[0] > 0 and values[-1] >= WIDE * values[0]
    x = Quantity("value", ladder.key, "number", 6, log=wide, at_values=True)
    clouds = {row.learner: _entry(ladder, value, row) for value, row in ladder.rows.items()}
    return ScatterChart(title, x, AUC, clouds, "path", named=None)


def _entry(ladder: Ladder, value: float, row: Row) -> Cloud:
    low, high = row.over_images or (None, None)
    ends = () if low is None else ((value, low), (value, high))
    further = {
        "low_over_images": (low,),
        "high_over_images": (high,),
        "setting": (ladder.key,),
        "table": (ladder.table.title,),
    }
    return Cloud(
        ((value, row.openworld_auc),),
        ends,
        f"{ladder.key} {value:g}, OpenworldAUC {percent(row.openworld_auc)}",
        further,
    )


def _ladders(table: Table) -> Iterator[Ladder]:
    """Per method and numeric setting, the longest list of entries that agree in everything else."""
    by_method: dict[str, list[tuple[Row, dict]]] = {}
    for row in table.rows:
        settings, method = _settings(row), row.outcomes[0].metrics.get("method")
        if settings and method and row.openworld_auc is not None:
            by_method.setdefault(method, []).append((row, settings))
    for method, entries in by_method.items():
        for key in dict.fromkeys(key for _, own in entries for key, value in own.items() if _is_number(value)):
            longest = max(_agreeing(entries, key), key=len)
            if len(longest) >= FEWEST:
                yield Ladder(table, method, key, dict(sorted(longest.items())))


def _agreeing(entries: list[tuple[Row, dict]], key: str) -> list[dict[float, Row]]:
    """Entries by the value of `key`, apart where they differ in anything else."""
    found: dict[str, dict[float, Row]] = {}
    for row, settings in entries:
        if _is_number(settings.get(key)):
            others = json.dumps({name: value for name, value in settings.items() if name != key}, sort_keys=True)
            found.setdefault(others, {})[settings[key]] = row
    return list(found.values())


def _settings(row: Row) -> dict:
    """The settings of a learner, schedules written flat; empty where its seeds differ in them."""
    each = [_flat(outcome.metrics.get("detail", {}).get("chosen") or {}) for outcome in row.outcomes]
    return each[0] if all(own == each[0] for own in each) else {}


def _flat(settings: Mapping, above: str = "") -> dict:
    flat: dict = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return flat


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
