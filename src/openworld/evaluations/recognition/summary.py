"""From outcomes to tables: seeds joined, intervals put on, every learner tested against every other.

A table holds the learners that were run in one setting (task, split, domains, backbone, shots). Two kinds of
chance are kept apart: over images (others could have been taken; clustered by drawing or whatever else they share,
given these seeds) and over seeds (training could have gone otherwise; Student's t on the seeds' values).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from openworld._short_repr import short_repr
from openworld.evaluations.recognition.comparison import average_over_seeds, compare_all
from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.shots import shots_in_words, training_images
from openworld.metrics import harmonic_mean, miss_hit_curve
from openworld.report.comparison import Comparison

NUMBERS = (
    "base_accuracy",
    "new_accuracy",
    "harmonic_mean",
    "auroc",
    "correct_auroc",
    "overall_accuracy",
    "aupr_in",
    "aupr_out",
    "fpr95_in_positive",
    "fpr95_out_positive",
    "ece",
)
MISS_GRID = tuple(round(float(miss), 4) for miss in np.linspace(0.0, 1.0, 101))
Interval = tuple[float, float]


@dataclass(frozen=True)
class Setting:
    """What the learners of one table have in common; `None` for what does not apply.

    `target` is the short name of one of several places where learners that were tuned once are scored.
    """

    task: str
    split: str
    train_domain: str | None
    test_domain: str | None
    backbone: str
    shots: int | None
    target: str | None = None

    @property
    def domains(self) -> str:
        """The domain, or where it was trained and where it was tested."""
        same = self.train_domain == self.test_domain
        return (self.test_domain or "") if same else f"{self.train_domain} → {self.test_domain}"


@dataclass(frozen=True, eq=False)
class Row:
    """One learner in one setting, its seeds joined. Fractions in [0, 1]; `None` where a number is not defined.

    `fit_seconds` of one fit and `score_seconds` of one image are means over the seeds; `None` where times were lost.
    """

    learner: str
    tuned_parameters: int | None
    outcomes: tuple[Outcome, ...]
    openworld_auc: float | None
    over_images: Interval | None
    over_seeds: Interval | None
    mean: dict[str, float | None]
    harmonic_mean_of_means: float | None
    points_lost: dict[str, float]
    hit_rates: tuple[float, ...]
    ratio_sweep: tuple[tuple[float, dict], ...]
    fit_seconds: float | None
    score_seconds: float | None

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, in increasing order."""
        return tuple(outcome.metrics["seed"] for outcome in self.outcomes)

    @property
    def per_seed(self) -> dict[str, tuple[float | None, ...]]:
        """Every number, one value per seed in the order of `seeds`."""
        values = {name: tuple(outcome.metrics.get(name) for outcome in self.outcomes) for name in NUMBERS}
        return values | {"openworld_auc": tuple(outcome.openworld_auc for outcome in self.outcomes)}


@dataclass(frozen=True, eq=False)
class Table:
    """The learners of one setting in the order of the run, and the tests between all pairs of them."""

    setting: Setting
    title: str
    rows: tuple[Row, ...]
    comparisons: dict[tuple[str, str], Comparison]

    __repr__ = short_repr

    @property
    def best(self) -> Row:
        """The learner of the largest OpenworldAUC."""
        return max(self.rows, key=lambda row: -1.0 if row.openworld_auc is None else row.openworld_auc)

    @property
    def yardstick(self) -> Row | None:
        """The learner that tunes nothing (the first one if there are several), or `None`."""
        return next((row for row in self.rows if row.tuned_parameters == 0), None)

    @property
    def counts(self) -> dict[str, int]:
        """How many images and classes of either side, groups of dependent images, and seeds stand behind the table."""
        return self.rows[0].outcomes[0].counts | {"seeds": max(len(row.seeds) for row in self.rows)}

    @property
    def training_images(self) -> dict[str, int] | None:
        """How many training images a class has, `fewest` and `most` over learners and seeds; None where not known."""
        return training_images(outcome.metrics for row in self.rows for outcome in row.outcomes)

    @property
    def shots(self) -> str:
        """The shots in words, with what there was where that is less; "" without shots."""
        return shots_in_words(self.setting.shots, self.training_images)

    @property
    def group_name(self) -> str | None:
        """What images that are not independent have in common ("drawing"); `None` where every image stands alone."""
        counts = self.counts
        if counts["groups"] == counts["base_images"] + counts["new_images"]:
            return None
        return self.rows[0].outcomes[0].metrics.get("group_name") or "group"

    @property
    def tested(self) -> int:
        """How many pairs of learners could be tested."""
        return sum(test.p is not None for test in self.comparisons.values())

    def compare(self, learner: str, other: str) -> Comparison | None:
        """The test of `learner` against `other`, or `None` for a learner against itself."""
        if learner == other:
            return None
        if (learner, other) in self.comparisons:
            return self.comparisons[learner, other]
        return self.comparisons[other, learner].reversed()


@dataclass(frozen=True)
class Summary:
    """All tables of a run."""

    tables: tuple[Table, ...]

    __repr__ = short_repr

    @cached_property
    def learners(self) -> tuple[str, ...]:
        """Every learner of the run, in order of appearance."""
        return tuple(dict.fromkeys(row.learner for table in self.tables for row in table.rows))

    @property
    def averages(self) -> dict[str, float]:
        """Mean OpenworldAUC over all settings, equally weighted, of the learners that have one in each."""
        found = {
            name: [row.openworld_auc for table in self.tables for row in table.rows if row.learner == name]
            for name in self.learners
        }
        whole = {name: _mean(values) for name, values in found.items() if len(values) == len(self.tables)}
        return {name: value for name, value in whole.items() if value is not None}

    @property
    def yardsticks(self) -> tuple[str, ...]:
        """The learners that tune nothing."""
        rows = [row for table in self.tables for row in table.rows]
        return tuple(dict.fromkeys(row.learner for row in rows if row.tuned_parameters == 0))


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Join outcomes into tables, one per setting, in order of first appearance.

    Args:
        outcomes: recognition outcomes; those that tune nothing and name no shots join every setting they match.
    """
    settings = list(dict.fromkeys(_setting(outcome) for outcome in outcomes))
    tuned = [setting for setting in settings if setting.shots] or settings
    titles = _titles(tuned)
    return Summary(tuple(_table(setting, titles[setting], _members(setting, outcomes)) for setting in tuned))


def _setting(outcome: Outcome) -> Setting:
    told = outcome.metrics
    names = (told["task"], told["split"], told["train_domain"], told["test_domain"], told["backbone"])
    return Setting(*names, told.get("shots") or None, told.get("target"))


def _members(setting: Setting, outcomes: Sequence[Outcome]) -> list[Outcome]:
    def belongs(outcome: Outcome) -> bool:
        other = _setting(outcome)
        without_shots = replace(setting, shots=None)
        return other == setting or (outcome.metrics["tuned_parameters"] == 0 and other == without_shots)

    return [outcome for outcome in outcomes if belongs(outcome)]


def _titles(settings: list[Setting]) -> dict[Setting, str]:
    """A short title per setting: the task, and whatever else differs between the settings."""

    def parts(setting: Setting) -> dict[str, str]:
        shots = f"{setting.shots} shot{'s' * (setting.shots > 1)}" if setting.shots else "no shots"
        place = (setting.target, "", "") if setting.target else (setting.task, setting.split, setting.domains)
        return dict(zip(("task", "split", "domains", "shots", "on"), (*place, shots, setting.backbone), strict=True))

    told = [parts(setting) for setting in settings]
    differing = [key for key in told[0] if len({one[key] for one in told}) > 1] if len(told) > 1 else ["task"]
    return {
        setting: " · ".join(filter(None, (one[key] for key in differing)))
        for setting, one in zip(settings, told, strict=True)
    }


def _table(setting: Setting, title: str, outcomes: list[Outcome]) -> Table:
    by_learner: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_learner.setdefault(outcome.metrics["learner"], []).append(outcome)
    sorted_by_seed = {name: sorted(group, key=lambda one: one.metrics["seed"]) for name, group in by_learner.items()}
    rows = tuple(_row(name, tuple(group)) for name, group in sorted_by_seed.items())
    return Table(setting, title, rows, compare_all(sorted_by_seed))


def _row(learner: str, outcomes: tuple[Outcome, ...]) -> Row:
    numbers = {name: _mean([outcome.metrics.get(name) for outcome in outcomes]) for name in NUMBERS}
    base, new = numbers["base_accuracy"], numbers["new_accuracy"]
    over_images, over_seeds = _intervals(outcomes)
    losses = [outcome.metrics.get("points_lost") or {} for outcome in outcomes]
    return Row(
        learner=learner,
        tuned_parameters=outcomes[0].metrics["tuned_parameters"],
        outcomes=outcomes,
        openworld_auc=_mean([outcome.openworld_auc for outcome in outcomes]),
        over_images=over_images,
        over_seeds=over_seeds,
        mean=numbers,
        harmonic_mean_of_means=None if base is None or new is None else harmonic_mean(base, new),
        points_lost={name: _mean([loss.get(name) for loss in losses]) for name in losses[0]},
        hit_rates=_mean_curve(outcomes),
        ratio_sweep=_mean_sweep(outcomes),
        fit_seconds=_mean([outcome.seconds.get("fit") for outcome in outcomes]),
        score_seconds=_mean([outcome.score_seconds for outcome in outcomes]),
    )


def _intervals(outcomes: tuple[Outcome, ...]) -> tuple[Interval | None, Interval | None]:
    """95 % over images, given these seeds, and 95 % over seeds, on these images; None where it cannot be known."""
    mean = average_over_seeds(outcomes)
    if mean is None or mean.value is None:
        return None, None
    seeds = mean.seed_interval()
    return mean.interval(), None if seeds.low is None else (seeds.low, seeds.high)


def _mean(values: Sequence[float | None]) -> float | None:
    return None if not values or any(value is None for value in values) else float(np.mean(values))


def _mean_curve(outcomes: tuple[Outcome, ...]) -> tuple[float, ...]:
    if any(outcome.openworld_auc is None for outcome in outcomes):
        return ()
    return tuple(np.mean([_hit_rates(outcome) for outcome in outcomes], axis=0).tolist())


def _hit_rates(outcome: Outcome) -> np.ndarray:
    """Hit rates at the miss rates of MISS_GRID; none is reached below the share of misnamed base images."""
    curve = miss_hit_curve(*outcome.samples)
    return np.interp(MISS_GRID, curve.miss_rate, curve.hit_rate, left=0.0)


def _mean_sweep(outcomes: tuple[Outcome, ...]) -> tuple[tuple[float, dict], ...]:
    """(share of new images, numbers) in increasing share, for the mixes that every seed has.

    Numbers are means over the seeds; under `spread` stands the standard deviation of one draw, None where not known.
    """
    sweeps = [{_share(point): point for point in outcome.metrics.get("ratio_sweep") or ()} for outcome in outcomes]
    shares = sorted(set.intersection(*map(set, sweeps)))
    names = ("openworld_auc", "overall_accuracy")
    return tuple((share, _mixed([sweep[share] for sweep in sweeps], names)) for share in shares)


def _mixed(points: Sequence[dict], names: Sequence[str]) -> dict:
    deviations = {name: [point.get("spread", {}).get(name) for point in points] for name in names}
    squares = {name: _mean([None if one is None else one**2 for one in found]) for name, found in deviations.items()}
    spread = {name: None if square is None else float(np.sqrt(square)) for name, square in squares.items()}
    return {name: _mean([point.get(name) for point in points]) for name in names} | {"spread": spread}


def _share(point: dict) -> float:
    return point["n_new"] / (point["n_base"] + point["n_new"])
