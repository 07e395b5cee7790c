"""Learners side by side: where their points are lost, their Miss/Hit curves, naming against noticing.

OpenworldAUC = a b A splits exactly: wrong base names (1 - a)(1 + b)/2, wrong new names (1 - b)(1 + a)/2, base and
new mixed up a b (1 - A), with a and b the accuracies among the base and new names and A the AUROC among the
correctly named (after OpenworldAUC, Hua et al., 2025, Proposition 4.2).

MissRate(t) is the share of base images rejected or misnamed at threshold t, HitRate(t) the share of new images
flagged and named right; the area under the curve is OpenworldAUC (Section 4.2). A learner's curve is the mean of its
seeds' curves at equal miss rates, so its area is the mean of their OpenworldAUC.
"""

from collections.abc import Sequence

import numpy as np

from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.results import LOSSES, SettingResults
from openworld.metrics import miss_hit_curve
from openworld.report.charts import (
    BarChart,
    Cloud,
    Line,
    LineChart,
    Quantity,
    Reference,
    Region,
    ScatterChart,
    Spot,
)
from openworld.report.charts.bars import bars_key
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.text import percent

MISS_GRID = tuple(round(float(miss), 4) for miss in np.linspace(0.0, 1.0, 101))
PARTS = (Quantity("openworld_auc", "OpenworldAUC"), *(Quantity(key, loss.title) for key, loss in LOSSES.items()))
MISSED, HIT = (
    Quantity("miss_rate", "base images missed, %", ends=(0, 1)),
    Quantity("hit_rate", "new images hit, %", ends=(0, 1)),
)
NAMING, NOTICING = (
    Quantity("harmonic_mean", "HM of base and new accuracy, %"),
    Quantity("auroc", "AUROC base against new, %"),
)
CORNER = Region((0, 0.5), (0.5, 1), "few misses, many hits", "corner")
RULES = {"miss_rate": "x", "hit_rate": "y"}
NAMES = ("setting", "learner")
Settings = tuple[SettingResults, ...]


def title_of(setting: SettingResults, settings: Settings) -> str:
    """Return the title of a setting's chart; none where it stands alone."""
    return setting.title if len(settings) > 1 else ""


def kept(setting: SettingResults) -> tuple[str, ...]:
    """Return the learners that stay in front of many: the best, and the one that tunes nothing."""
    return tuple(learner for learner in (setting.baseline, setting.best) if learner is not None)


def points_lost(settings: Settings, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart per setting, one bar per learner; None where no number is defined."""
    charts = tuple(
        BarChart(
            title_of(setting, settings), PARTS, {learner: _parts(setting, learner) for learner in setting.learners}
        )
        for setting in settings
    )
    if not any(parts for chart in charts for parts in chart.series.values()):
        return None
    caption = (
        "Each bar splits 100 points into the OpenworldAUC that a learner earned (in its colour) and the three ways it "
        "lost the rest, on average over the seeds.",
        "The longest hatched part is what to work on first: names of base classes, names of new classes, or telling "
        "base from new.",
    )
    return Figure(
        "points-lost", "Where the points are lost", caption, charts, styles, bars_key(PARTS, "learner"), names=NAMES
    )


def _parts(setting: SettingResults, learner: str) -> tuple[float, ...] | None:
    if setting.auc(learner) is None or setting.find(learner, PARTS[-1].key) is None:
        return None
    return tuple(setting.value(learner, part.key).value for part in PARTS)


def miss_hit(settings: Settings, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart per setting, one curve per learner; None where no curve is defined.

    Operating points that the run has chosen are ringed; a line shows the rate that was required.
    """
    charts = tuple(_curves(setting, title_of(setting, settings)) for setting in settings)
    if not any(chart.series for chart in charts):
        return None
    ringed = any(line.rings for chart in charts for line in chart.series.values())
    rings = "; a ring marks where one is, on the test images." if ringed else "."
    caption = (
        "Moving the threshold trades base images missed (rejected or misnamed) against new images hit (flagged and "
        "named right); each curve is the mean of a learner's seeds.",
        "Higher and further left is better: the area under a curve is its OpenworldAUC, and the marked corner, few "
        f"misses and many hits, is where a system would be run{rings}",
    )
    return Figure("miss-hit", "Few misses, many hits?", caption, charts, styles, shared=_wide(charts))


def _wide(charts: tuple[LineChart, ...]) -> tuple[dict, ...]:
    """A row per miss rate and a column per learner: a fifth of the length of a row per point."""
    lines = {
        f"{name} ({chart.title})" if chart.title else name: line
        for chart in charts
        for name, line in chart.series.items()
    }
    return tuple(
        {MISSED.key: miss} | {name: round(line.y[place], 4) for name, line in lines.items()}
        for place, miss in enumerate(MISS_GRID)
    )


def _curves(setting: SettingResults, title: str) -> LineChart:
    rates = {point.learner: (point.rate("miss").value, point.rate("hit").value) for point in setting.operating_points}
    rings = {learner: (_ring(*both),) for learner, both in rates.items() if None not in both}
    rule = next((point.rule for point in setting.operating_points if point.learner in rings), {})
    lines = {
        learner: Line(MISS_GRID, mean_curve(seeds), rings=rings.get(learner, ()))
        for learner, seeds in setting.outcomes.items()
        if setting.auc(learner) is not None
    }
    references = tuple(Reference(rule[key], "required", axis) for key, axis in RULES.items() if key in rule)
    return LineChart(title, MISSED, HIT, lines, kept(setting), references=references, regions=(CORNER,))


def mean_curve(outcomes: Sequence[Outcome]) -> tuple[float, ...]:
    """Return the hit rates at the miss rates of MISS_GRID, means over the seeds.

    No hit is reached below the share of misnamed base images.
    """
    curves = [miss_hit_curve(*outcome.test.samples) for outcome in outcomes]
    rates = [np.interp(MISS_GRID, curve.miss_rate, curve.hit_rate, left=0.0) for curve in curves]
    return tuple(np.mean(rates, axis=0).tolist())


def _ring(miss: float, hit: float) -> Spot:
    return Spot(miss, hit, f"run at {percent(miss)} % missed, {percent(hit)} % hit")


def trade_off(settings: Settings, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart per setting, one dot per learner and seed; None where there is no dot."""
    charts = tuple(
        ScatterChart(
            title_of(setting, settings),
            NAMING,
            NOTICING,
            {learner: _seeds(setting, learner) for learner in setting.learners},
            "products",
        )
        for setting in settings
    )
    if not any(chart.clouds for chart in charts):
        return None
    caption = (
        "Each dot is one learner with one seed: how well it names (HM, the harmonic mean of base and new accuracy) and "
        "how well it tells base from new (AUROC).",
        "Up and to the right is better; the thin lines join equal products of the two, so a dot on a higher line does "
        "better at both together.",
    )
    return Figure("trade-off", "Naming against noticing", caption, charts, styles, names=NAMES)


def _seeds(setting: SettingResults, learner: str) -> Cloud:
    naming, noticing = (setting.result(learner, quantity.key).per_seed for quantity in (NAMING, NOTICING))
    dots = zip(setting.seeds(learner), naming, noticing, strict=True)
    known = [dot for dot in dots if None not in dot]
    text = "; ".join(f"seed {seed}: HM {percent(hm)}, AUROC {percent(auroc)}" for seed, hm, auroc in known)
    return Cloud([dot[1:] for dot in known], text=text, further={"seed": [dot[0] for dot in known]})
