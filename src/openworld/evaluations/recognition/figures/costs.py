"""OpenworldAUC against what a learner costs: tuned parameters, seconds of fitting, milliseconds of scoring."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.recognition.results import SettingResults
from openworld.report.charts import Cloud, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.text import milliseconds, percent, seconds, tuned

Settings = tuple[SettingResults, ...]


@dataclass(frozen=True)
class LearnerCost:
    """What learners are compared by.

    Args:
        name, title: of its figure.
        quantity: its column and its axis.
        of: its value for a learner in a setting; 0 = none, None = not known.
        text: a value with its unit.
        against: what the axis shows, for the caption.
        best: how to read the chart.
    """

    name: str
    title: str
    quantity: Quantity
    of: Callable[[SettingResults, str], float | None]
    text: Callable[[float], str]
    against: str
    best: str


def _count_tuned(setting: SettingResults, learner: str) -> float | None:
    return setting.value(learner, "tuned_parameters").value


def _fit_seconds(setting: SettingResults, learner: str) -> float | None:
    """Seconds of one fit; none for a learner that tunes nothing, whatever its few milliseconds were spent on."""
    spent = setting.value(learner, "fit_seconds").value
    return 0.0 if _count_tuned(setting, learner) == 0 and spent is not None else spent


def _score_milliseconds(setting: SettingResults, learner: str) -> float | None:
    spent = setting.value(learner, "score_seconds").value
    return None if spent is None else 1000 * spent


PARAMETERS = LearnerCost(
    "parameters",
    "What do parameters buy?",
    Quantity("tuned_parameters", "tuned parameters", "number", 6, log=True),
    _count_tuned,
    lambda count: f"{tuned(round(count))} tuned",
    "how many numbers it tunes",
    "Up and to the left is better; no learner that tunes as little or less reaches above the thin steps, and what "
    "tunes nothing stands before the break.",
)
FIT_TIME = LearnerCost(
    "fit-time",
    "What does training time buy?",
    Quantity("fit_seconds", "seconds to fit, one seed", "number", 6, log=True),
    _fit_seconds,
    lambda spent: f"{seconds(spent)} to fit",
    "the seconds that one fit took on the machine of the run",
    "Up and to the left is better; no learner that fits as fast or faster reaches above the thin steps, and what fits "
    "nothing stands before the break.",
)
SCORE_TIME = LearnerCost(
    "score-time",
    "What does a slow answer buy?",
    Quantity("score_milliseconds", "milliseconds to score an image", "number", 6, log=True),
    _score_milliseconds,
    lambda spent: f"{milliseconds(spent / 1000)} ms an image",
    "the milliseconds that scoring one test image took on the machine of the run",
    "Up and to the left is better, and no learner that answers as fast or faster reaches above the thin steps; "
    "encoding the names is counted in, encoding the images only where a learner does it by itself.",
)


def parameters(settings: Settings, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per learner; None where no learner is known to tune anything."""
    return _figure(settings, styles, PARAMETERS)


def fit_time(settings: Settings, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per learner; None where no time is known."""
    return _figure(settings, styles, FIT_TIME)


def score_time(settings: Settings, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per learner; None where no time is known."""
    return _figure(settings, styles, SCORE_TIME)


def _figure(settings: Settings, styles: dict[str, SeriesStyle], cost: LearnerCost) -> Figure | None:
    """One chart of means over all settings; a learner that lacks a number is not drawn, and named as such."""
    clouds = {learner: _cloud(settings, learner, cost) for learner in styles}
    known = {learner: cloud for learner, cloud in clouds.items() if cloud is not None}
    if not any(cloud.dots[0][0] > 0 for cloud in known.values()):
        return None
    mean = f", mean of {len(settings)} settings" if len(settings) > 1 else ""
    chart = ScatterChart("", cost.quantity, Quantity("openworld_auc", f"OpenworldAUC{mean}, %"), known, "frontier")
    missing = [learner for learner in styles if learner not in known]
    names = ", ".join(missing) if len(missing) <= 4 else f"{len(missing)} learners"
    lacking = f"; not drawn, for want of a number: {names}." if missing else "."
    caption = (
        f"Each dot is one learner: its OpenworldAUC against {cost.against}, on a logarithmic scale; the bar through a "
        "dot spans its seeds.",
        f"{cost.best.removesuffix('.')}{lacking}",
    )
    return Figure(cost.name, cost.title, caption, (chart,), styles, names=("setting", "learner"))


def _cloud(settings: Settings, learner: str, cost: LearnerCost) -> Cloud | None:
    """A learner's cost and OpenworldAUC, means over the settings; None where one of them is not known."""
    where = [setting for setting in settings if learner in setting.learners]
    costs, values = [cost.of(setting, learner) for setting in where], [setting.auc(learner) for setting in where]
    if len(where) < len(settings) or None in costs or None in values:
        return None
    rows = [setting.result(learner, "openworld_auc") for setting in where]
    same = len({row.seeds for row in rows}) == 1
    seeds = np.mean([row.per_seed for row in rows], axis=0) if same else np.mean([values], axis=1)
    price, value, low, high = map(float, (np.mean(costs), np.mean(values), seeds.min(), seeds.max()))
    text = f"OpenworldAUC {percent(value)} ({percent(low)} to {percent(high)} by seed), {cost.text(price)}"
    ends = {"lowest_seed": (low,), "highest_seed": (high,)}
    return Cloud(((price, value),), ((price, low), (price, high)), text, ends)
