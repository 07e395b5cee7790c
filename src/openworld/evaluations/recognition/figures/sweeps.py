"""OpenworldAUC against what a run varies: shots (Hua et al., 2025, 1 to 16), a hyperparameter, the mix of images."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from openworld.evaluations.recognition.figures.learners import kept, title_of
from openworld.evaluations.recognition.mixes import swept_mixes
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
    with_shots = sorted((setting for setting in settings if setting.key.shots), key=lambda setting: setting.key.shots)
    by_rest: dict[Setting, list[SettingResults]] = {replace(setting.key, shots=None): [] for setting in settings}
    for setting in with_shots:
        by_rest[replace(setting.key, shots=None)].append(setting)
    swept = {rest: each for rest, each in by_rest.items() if len(each) > 1}
    lines = {rest: lines for rest, each in swept.items() if (lines := _over_shots(each))}
    if not lines:
        return None
    charts = tuple(
        LineChart(
            _title(rest) if len(lines) > 1 else "",
            SHOTS,
            AUC,
            by_learner,
            kept(swept[rest][-1]),
            ends=("lowest_seed", "highest_seed"),
        )
        for rest, by_learner in lines.items()
    )
    seeds = max(len(setting.most_seeds) for each in swept.values() for setting in each)
    caption = (
        "OpenworldAUC of learners that were tuned with more and more images of each base class, on a logarithmic "
        f"scale; lines are means over the seeds, bands reach from the lowest to the highest of {seeds} seeds.",
        "Where a line still rises at its end, more images would pay; what tunes nothing stays level, and whatever "
        "lies below it was better left untuned.",
    )
    return Figure("shots", "What do more images buy?", caption, charts, styles, names=("setting", "learner"))


def _over_shots(settings: Sequence[SettingResults]) -> dict[str, Line]:
    """Return by learner its line over the shots, where OpenworldAUC is defined."""
    learners = dict.fromkeys(learner for setting in settings for learner in setting.learners)
    known = {learner: [each for each in settings if each.auc(learner) is not None] for learner in learners}
    return {learner: _line(learner, defined) for learner, defined in known.items() if defined}


def _line(learner: str, settings: Sequence[SettingResults]) -> Line:
    results = [setting.result(learner, AUC.key) for setting in settings]
    seeds, images = [row.per_seed for row in results], [row.value.over("images") for row in results]
    ends = {
        "low_over_images": [interval and interval.low for interval in images],
        "high_over_images": [interval and interval.high for interval in images],
    }
    values, shots = [row.value.value for row in results], [setting.key.shots for setting in settings]
    return Line(shots, values, [*map(min, seeds)], [*map(max, seeds)], further=ends | {"seeds": [*map(len, seeds)]})


def _title(rest: Setting) -> str:
    return " · ".join(filter(None, (rest.target or rest.task, rest.domains, rest.backbone)))


def ratio(settings: tuple[SettingResults, ...], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return two charts per setting that has a sweep over mixes of images; None where none has one.

    Every mix is drawn several times, as for Tables 11 and 12 of Hua et al. (2025): the line is the mean, the band one
    standard deviation of a single draw on either side.
    """
    swept = tuple(each for each in settings if any(_mixes(each, learner, AUC.key).x for learner in each.learners))
    if not swept:
        return None
    charts = tuple(_mix_chart(each, metric, title_of(each, swept)) for each in swept for metric in MIXED)
    caption = (
        "The same scores on other mixes: base and new images drawn so that new ones make up the share on the "
        f"horizontal axis, mean over the seeds{_draws(swept)}.",
        "A number that tells learners apart should stay level: where overall accuracy bends with the mix, it measures "
        "the mix and not the learner.",
    )
    return Figure("ratio", "Does the mix matter?", caption, charts, styles, names=("setting", "learner"))


def _mix_chart(setting: SettingResults, metric: str, title: str) -> LineChart:
    name = f"{title}: {MIXED[metric]}" if title else MIXED[metric]
    lines = {learner: _mixes(setting, learner, metric) for learner in setting.learners}
    return LineChart(name, SHARE, Quantity(metric, f"{MIXED[metric]}, %"), lines, kept(setting), named=not title)


def _mixes(setting: SettingResults, learner: str, metric: str) -> Line:
    """The line of a learner; its band has no width where no spread is known."""
    mixes = sorted(swept_mixes(setting.outcomes), key=lambda mix: mix.share_of_new)
    points = {mix.share_of_new: setting.value(learner, metric, ratio=float(mix.ratio)) for mix in mixes}
    known = {share: value for share, value in points.items() if value.value is not None}
    low, high = ([value.value + sign * (value.deviation or 0) for value in known.values()] for sign in (-1, 1))
    return Line(tuple(known), tuple(value.value for value in known.values()), low, high)


def _draws(settings: tuple[SettingResults, ...]) -> str:
    """What the bands are over; nothing where there are none."""
    draws = {mix.resamples for setting in settings for mix in setting.first.record.ratio_sweep}
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
    sweeps = [sweep for each in settings for sweep in _sweeps(each)]
    if not sweeps:
        return None
    several = len({sweep.results.title for sweep in sweeps}) > 1
    charts = tuple(_chart(sweep, several) for sweep in sweeps)
    caption = (
        "OpenworldAUC of entries of one learner that differ in a single setting, means over the seeds; the bar through "
        "a dot is 95 % over images, given the seeds.",
        "Where the line is level the setting hardly matters; bars of two dots may overlap although the two differ, for "
        "they were scored on the same images: the table's tests tell.",
    )
    return Figure("setting", "What does a setting do?", caption, charts, styles, names=("method", "learner"))


def _chart(sweep: SettingSweep, several: bool) -> ScatterChart:
    title = f"{sweep.results.title}: {sweep.method}" if several else sweep.method
    values = tuple(sweep.learners)
    wide = values[0] > 0 and values[-1] >= WIDE * values[0]
    x = Quantity("value", sweep.key, "number", 6, log=wide, at_values=True)
    clouds = {learner: _entry(sweep, value, learner) for value, learner in sweep.learners.items()}
    return ScatterChart(title, x, AUC, clouds, "path", named=None)


def _entry(sweep: SettingSweep, value: float, learner: str) -> Cloud:
    auc = sweep.results.value(learner, AUC.key)
    interval = auc.over("images")
    ends = ((value, interval.low), (value, interval.high)) if interval else ()
    further = {
        "low_over_images": (interval and interval.low,),
        "high_over_images": (interval and interval.high,),
        "setting": (sweep.key,),
        "table": (sweep.results.title,),
    }
    text = f"{sweep.key} {value:g}, OpenworldAUC {percent(auc.value)}"
    return Cloud(((value, auc.value),), ends, text, further)


def _sweeps(setting: SettingResults) -> Iterator[SettingSweep]:
    """Return per method and numeric setting the longest list of entries that agree in everything else."""
    by_method: dict[str, list[tuple[str, dict]]] = {}
    for learner, seeds in setting.outcomes.items():
        chosen, method = _chosen(seeds), seeds[0].record.method
        if chosen and method and setting.auc(learner) is not None:
            by_method.setdefault(method, []).append((learner, chosen))
    for method, entries in by_method.items():
        for key in dict.fromkeys(key for _, chosen in entries for key, value in chosen.items() if _is_number(value)):
            longest = max(_agreeing(entries, key), key=len)
            if len(longest) >= FEWEST:
                yield SettingSweep(setting, method, key, dict(sorted(longest.items())))


def _agreeing(entries: list[tuple[str, dict]], key: str) -> list[dict[float, str]]:
    """Entries by the value of `key`, apart where they differ in anything else."""
    by_others: dict[str, dict[float, str]] = {}
    for learner, chosen in entries:
        if _is_number(chosen.get(key)):
            others = json.dumps({name: value for name, value in chosen.items() if name != key}, sort_keys=True)
            by_others.setdefault(others, {})[chosen[key]] = learner
    return list(by_others.values())


def _chosen(seeds: Sequence[Outcome]) -> dict:
    """The settings of a learner, schedules written flat; empty where its seeds differ in them."""
    first, *others = (_flat(outcome.record.detail.get("chosen") or {}) for outcome in seeds)
    return first if all(chosen == first for chosen in others) else {}


def _flat(settings: Mapping, above: str = "") -> dict:
    flat: dict = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return flat


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
