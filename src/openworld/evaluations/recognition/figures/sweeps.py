"""OpenworldAUC against what a run varies: shots (Hua et al., 2025, 1 to 16), a hyperparameter, the mix of images."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from openworld.evaluations.recognition.figures.learners import kept, title_of
from openworld.evaluations.recognition.mixes import ratios, share_of_new
from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.results import SettingResults
from openworld.evaluations.recognition.settings import Setting
from openworld.report.charts import Cloud, Line, LineChart, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.text import percent

FEWEST = 3  # values of a hyperparameter that make a line
WIDE = 20.0  # a hyperparameter whose largest value is so many times its smallest is drawn on a logarithmic axis
AUC = Quantity("openworld_auc", "OpenworldAUC, %")
SHOTS = Quantity("shots", "training images of each base class", "number", 6, log=True, at_values=True)
SHARE = Quantity("share_of_new", "share of new images, %", digits=0, ends=(0, 1))
MIXED = {"openworld_auc": "OpenworldAUC", "overall_accuracy": "overall accuracy"}


def shots(settings: tuple[SettingResults, ...], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart per setting that was run with several shots, one line per learner; None without any."""
    by_setting: dict[Setting, dict[int, SettingResults]] = {}
    for one in settings:
        if one.setting.shots:
            by_setting.setdefault(replace(one.setting, shots=None), {})[one.setting.shots] = one
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
    seeds = max(one.counts.seeds for own in swept.values() for one in own.values())
    caption = (
        "OpenworldAUC of learners that were tuned with more and more images of each base class, on a logarithmic "
        f"scale; lines are means over the seeds, bands reach from the lowest to the highest of {seeds} seeds.",
        "Where a line still rises at its end, more images would pay; what tunes nothing stays level, and whatever "
        "lies below it was better left untuned.",
    )
    return Figure("shots", "What do more images buy?", caption, charts, styles, names=("setting", "learner"))


def _over_shots(settings: dict[int, SettingResults]) -> dict[str, Line]:
    """By learner its line over the shots, where OpenworldAUC is defined."""
    found: dict[str, dict[int, SettingResults]] = {}
    for count, one in settings.items():
        for learner in one.learners:
            if one.auc(learner) is not None:
                found.setdefault(learner, {})[count] = one
    return {learner: _line(learner, own) for learner, own in found.items()}


def _line(learner: str, settings: dict[int, SettingResults]) -> Line:
    results = [one.result(learner, AUC.key) for one in settings.values()]
    seeds, images = [one.per_seed for one in results], [one.value.over("images") for one in results]
    ends = {
        "low_over_images": [interval and interval.low for interval in images],
        "high_over_images": [interval and interval.high for interval in images],
    }
    values = [one.value.value for one in results]
    counts = {"seeds": [*map(len, seeds)]}
    return Line(list(settings), values, [*map(min, seeds)], [*map(max, seeds)], further=ends | counts)


def _title(setting: Setting) -> str:
    return " · ".join(filter(None, (setting.target or setting.task, setting.domains, setting.backbone)))


def ratio(settings: tuple[SettingResults, ...], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return two charts per setting that has a sweep over mixes of images; None where none has one.

    Every mix is drawn several times, as for Tables 11 and 12 of Hua et al. (2025): the line is the mean, the band one
    standard deviation of a single draw on either side.
    """
    swept = tuple(one for one in settings if any(_mixes(one, learner, AUC.key).x for learner in one.learners))
    if not swept:
        return None
    charts = tuple(_mixed(one, metric, title_of(one, swept)) for one in swept for metric in MIXED)
    caption = (
        "The same scores on other mixes: base and new images drawn so that new ones make up the share on the "
        f"horizontal axis, mean over the seeds{_draws(swept)}.",
        "A number that tells learners apart should stay level: where overall accuracy bends with the mix, it measures "
        "the mix and not the learner.",
    )
    return Figure("ratio", "Does the mix matter?", caption, charts, styles, names=("setting", "learner"))


def _mixed(one: SettingResults, metric: str, title: str) -> LineChart:
    name = f"{title}: {MIXED[metric]}" if title else MIXED[metric]
    lines = {learner: _mixes(one, learner, metric) for learner in one.learners}
    return LineChart(name, SHARE, Quantity(metric, f"{MIXED[metric]}, %"), lines, kept(one), named=not title)


def _mixes(one: SettingResults, learner: str, metric: str) -> Line:
    """The line of a learner; its band has no width where no spread is known."""
    shares = {share_of_new(one.outcomes, ratio): float(ratio) for ratio in ratios(one.outcomes)}
    points = {share: one.value(learner, metric, ratio=shares[share]) for share in sorted(shares)}
    known = {share: value for share, value in points.items() if value.value is not None}
    low, high = ([value.value + sign * (value.deviation or 0) for value in known.values()] for sign in (-1, 1))
    return Line(tuple(known), tuple(value.value for value in known.values()), low, high)


def _draws(settings: tuple[SettingResults, ...]) -> str:
    """What the bands are over; nothing where there are none."""
    first = [next(iter(one.outcomes.values()))[0].record.ratio_sweep for one in settings]
    draws = {point.resamples for sweep in first for point in sweep}
    if max(draws) < 2:
        return ""
    return f" and {' or '.join(map(str, sorted(draws)))} draws; the band is one standard deviation of a single draw"


@dataclass(frozen=True, eq=False)
class SettingSweep:
    """Entries of one learner that differ in one number: `learners`, their labels, by its value, increasing."""

    results: SettingResults
    method: str
    key: str
    learners: dict[float, str]


def setting(settings: tuple[SettingResults, ...], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart per hyperparameter that takes at least FEWEST values while all others stand still, or None.

    Such as K, alpha and lambda of GMoP (Hua et al., 2025, Figure 10 and its neighbours).
    """
    sweeps = [sweep for one in settings for sweep in _sweeps(one)]
    if not sweeps:
        return None
    several = len({sweep.results.title for sweep in sweeps}) > 1
    charts = tuple(_chart(one, f"{one.results.title}: {one.method}" if several else one.method) for one in sweeps)
    caption = (
        "OpenworldAUC of entries of one learner that differ in a single setting, means over the seeds; the bar through "
        "a dot is 95 % over images, given the seeds.",
        "Where the line is level the setting hardly matters; bars of two dots may overlap although the two differ, for "
        "they were scored on the same images: the table's tests tell.",
    )
    return Figure("setting", "What does a setting do?", caption, charts, styles, names=("method", "learner"))


def _chart(sweep: SettingSweep, title: str) -> ScatterChart:
    values = tuple(sweep.learners)
    wide = values[0] > 0 and values[-1] >= WIDE * values[0]
    x = Quantity("value", sweep.key, "number", 6, log=wide, at_values=True)
    clouds = {learner: _entry(sweep, value, learner) for value, learner in sweep.learners.items()}
    return ScatterChart(title, x, AUC, clouds, "path", named=None)


def _entry(sweep: SettingSweep, value: float, learner: str) -> Cloud:
    found = sweep.results.value(learner, AUC.key)
    interval = found.over("images")
    low, high = (interval.low, interval.high) if interval else (None, None)
    ends = () if low is None else ((value, low), (value, high))
    further = {
        "low_over_images": (low,),
        "high_over_images": (high,),
        "setting": (sweep.key,),
        "table": (sweep.results.title,),
    }
    text = f"{sweep.key} {value:g}, OpenworldAUC {percent(found.value)}"
    return Cloud(((value, found.value),), ends, text, further)


def _sweeps(one: SettingResults) -> Iterator[SettingSweep]:
    """Per method and numeric setting, the longest list of entries that agree in everything else."""
    by_method: dict[str, list[tuple[str, dict]]] = {}
    for learner, own in one.outcomes.items():
        settings, method = _settings(own), own[0].record.method
        if settings and method and one.auc(learner) is not None:
            by_method.setdefault(method, []).append((learner, settings))
    for method, entries in by_method.items():
        for key in dict.fromkeys(key for _, own in entries for key, value in own.items() if _is_number(value)):
            longest = max(_agreeing(entries, key), key=len)
            if len(longest) >= FEWEST:
                yield SettingSweep(one, method, key, dict(sorted(longest.items())))


def _agreeing(entries: list[tuple[str, dict]], key: str) -> list[dict[float, str]]:
    """Entries by the value of `key`, apart where they differ in anything else."""
    found: dict[str, dict[float, str]] = {}
    for learner, settings in entries:
        if _is_number(settings.get(key)):
            others = json.dumps({name: value for name, value in settings.items() if name != key}, sort_keys=True)
            found.setdefault(others, {})[settings[key]] = learner
    return list(found.values())


def _settings(own: Sequence[Outcome]) -> dict:
    """The settings of a learner, schedules written flat; empty where its seeds differ in them."""
    each = [_flat(outcome.record.chosen) for outcome in own]
    return each[0] if all(settings == each[0] for settings in each) else {}


def _flat(settings: Mapping, above: str = "") -> dict:
    flat: dict = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return flat


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
