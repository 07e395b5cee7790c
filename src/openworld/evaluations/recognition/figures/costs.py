"""OpenworldAUC against what a learner costs: tuned parameters, seconds of fitting, milliseconds of scoring."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.recognition.results import SettingResults
from openworld.report.charts import Cloud, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.text import milliseconds, percent, seconds, tuned


@dataclass(frozen=True)
class Cost:
    """What learners are compared by.

    Args:
        quantity: its column and its axis. of: its value for a learner in a setting; 0 = none, None = not known.
        text: a value with its unit.
    """

    quantity: Quantity
    of: Callable[[SettingResults, str], float | None]
    text: Callable[[float], str]


def parameters(settings: tuple[SettingResults, ...], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per learner; None where no learner is known to tune anything."""
    caption = (
        "Each dot is one learner: its OpenworldAUC against how many numbers it tunes, on a logarithmic scale; the bar "
        "through a dot spans its seeds.",
        "Up and to the left is better; no learner that tunes as little or less reaches above the thin steps, and what "
        "tunes nothing stands before the break.",
    )
    quantity = _axis("tuned_parameters", "tuned parameters")
    cost = Cost(
        quantity,
        lambda one, learner: one.value(learner, "tuned_parameters").value,
        lambda count: f"{tuned(round(count))} tuned",
    )
    return _against(settings, styles, cost, "parameters", "What do parameters buy?", caption)


def fit_time(settings: tuple[SettingResults, ...], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per learner; None where no time is known."""
    caption = (
        "Each dot is one learner: its OpenworldAUC against the seconds that one fit took on the machine of the run, on "
        "a logarithmic scale; the bar through a dot spans its seeds.",
        "Up and to the left is better; no learner that fits as fast or faster reaches above the thin steps, and what "
        "fits nothing stands before the break.",
    )
    cost = Cost(
        _axis("fit_seconds", "seconds to fit, one seed"), _fit_seconds, lambda spent: f"{seconds(spent)} to fit"
    )
    return _against(settings, styles, cost, "fit-time", "What does training time buy?", caption)


def score_time(settings: tuple[SettingResults, ...], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per learner; None where no time is known."""
    caption = (
        "Each dot is one learner: its OpenworldAUC against the milliseconds that scoring one test image took on the "
        "machine of the run, on a logarithmic scale; the bar through a dot spans its seeds.",
        "Up and to the left is better, and no learner that answers as fast or faster reaches above the thin steps; "
        "encoding the names is counted in, encoding the images only where a learner does it by itself.",
    )
    quantity = _axis("score_milliseconds", "milliseconds to score an image")
    cost = Cost(quantity, _score_milliseconds, lambda spent: f"{milliseconds(spent / 1000)} ms an image")
    return _against(settings, styles, cost, "score-time", "What does a slow answer buy?", caption)


def _axis(key: str, title: str) -> Quantity:
    return Quantity(key, title, "number", 6, log=True)


def _fit_seconds(one: SettingResults, learner: str) -> float | None:
    """Seconds of one fit; none for a learner that tunes nothing, whatever its few milliseconds were spent on."""
    spent = one.value(learner, "fit_seconds").value
    return 0.0 if one.value(learner, "tuned_parameters").value == 0 and spent is not None else spent


def _score_milliseconds(one: SettingResults, learner: str) -> float | None:
    spent = one.value(learner, "score_seconds").value
    return None if spent is None else 1000 * spent


def _against(settings: tuple[SettingResults, ...], styles, cost: Cost, name: str, title: str, caption) -> Figure | None:
    """One chart of means over all settings; a learner that lacks a number is not drawn, and named as such."""
    found = {learner: _cloud(settings, learner, cost) for learner in styles}
    known = {learner: cloud for learner, cloud in found.items() if cloud is not None}
    if not any(cloud.dots[0][0] > 0 for cloud in known.values()):
        return None
    mean = f", mean of {len(settings)} settings" if len(settings) > 1 else ""
    chart = ScatterChart("", cost.quantity, Quantity("openworld_auc", f"OpenworldAUC{mean}, %"), known, "frontier")
    missing = [learner for learner, cloud in found.items() if cloud is None]
    return Figure(name, title, _with_missing(caption, missing), (chart,), styles, names=("setting", "learner"))


def _cloud(settings: tuple[SettingResults, ...], learner: str, cost: Cost) -> Cloud | None:
    """A learner's cost and OpenworldAUC, means over the settings; None where one of them is not known."""
    where = [one for one in settings if learner in one.learners]
    costs, values = [cost.of(one, learner) for one in where], [one.auc(learner) for one in where]
    if len(where) < len(settings) or None in costs or None in values:
        return None
    same = all(one.seeds(learner) == where[0].seeds(learner) for one in where)
    per_seed = [one.result(learner, "openworld_auc").per_seed for one in where]
    seeds = np.mean(per_seed, axis=0) if same else np.mean([values], axis=1)
    price, value, low, high = map(float, (np.mean(costs), np.mean(values), seeds.min(), seeds.max()))
    text = f"OpenworldAUC {percent(value)} ({percent(low)} to {percent(high)} by seed), {cost.text(price)}"
    ends = {"lowest_seed": (low,), "highest_seed": (high,)}
    return Cloud(((price, value),), ((price, low), (price, high)), text, ends)


def _with_missing(caption: tuple[str, str], missing: list[str]) -> tuple[str, str]:
    """The caption, naming the learners that are not drawn."""
    if not missing:
        return caption
    names = ", ".join(missing) if len(missing) <= 4 else f"{len(missing)} learners"
    return caption[0], f"{caption[1].removesuffix('.')}; not drawn, for want of a number: {names}."
