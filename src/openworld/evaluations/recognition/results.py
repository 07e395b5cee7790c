"""From records to results: seeds joined, intervals put on, every learner of a setting tested against every other.

Two kinds of chance are kept apart: over images (others could have been taken; clustered by drawing or whatever else
they share, given these seeds) and over seeds (training could have gone otherwise; Student's t on the seeds' values).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from openworld.core.representation import short_repr
from openworld.evaluations.recognition.class_imbalance import SHRUNK
from openworld.evaluations.recognition.comparison import (
    AUC,
    Place,
    average_over_seeds,
    compare_all,
    mix_comparisons,
    weigh,
)
from openworld.evaluations.recognition.operating_point import REACHED, THRESHOLD, OperatingSpec, rates_at
from openworld.evaluations.recognition.operating_results import LearnerOperatingPoint, operating_points
from openworld.evaluations.recognition.outcome import Outcome, Setting, by_setting, titles
from openworld.evaluations.recognition_metrics import prediction_rows
from openworld.evaluations.shots import shots_in_words, training_images
from openworld.metrics import QUANTITIES, SeedAverage, harmonic_mean
from openworld.metrics.estimate import MetricEstimate, combine
from openworld.report.sentences import counted
from openworld.results import METRICS, Result, Results, join_seeds, standing
from openworld.results.join import mean, over_seeds
from openworld.results.over_datasets import DatasetMeans
from openworld.results.value import Interval, Metric, Value, interval_of

ALL_PAIRS = 100
"""Learners of a setting up to which every pair is tested; of more, pairs with the best and with what tunes nothing."""

HM = METRICS["harmonic_mean_of_means"]
TRAINING = {
    end: Metric(f"{end}_training_images", f"{end} training images of a class", "count", 0, 0, (0.0, None))
    for end in ("fewest", "most")
}


@dataclass(frozen=True, eq=False)
class SettingResults:
    """The results of one setting: every number in its place, and the tests between pairs of learners."""

    key: Setting  # what its learners have in common
    title: str  # what tells it from the other settings of its run
    outcomes: Mapping[str, tuple[Outcome, ...]]  # by learner, in the order of the run; seeds in increasing order
    results: Results
    operating_points: tuple[LearnerOperatingPoint, ...] = ()

    __repr__ = short_repr

    @property
    def place(self) -> Place:
        return {"setting": self.title, **self.key.place}

    @property
    def learners(self) -> tuple[str, ...]:
        return tuple(self.outcomes)

    @property
    def first(self) -> Outcome:
        """The first learner with its first seed: what all outcomes have in common is read from it."""
        return self.outcomes[self.learners[0]][0]

    def result(self, learner: str, metric: str, **place: str | float) -> Result:
        return self.results.result(learner, metric, **self.place, **place)

    def value(self, learner: str, metric: str, **place: str | float) -> Value:
        return self.result(learner, metric, **place).value

    def find(self, learner: str, metric: str) -> Value | None:
        """The value of a learner on the images as they are; None where it was not measured."""
        return self._here.get((learner, metric))

    def auc(self, learner: str) -> float | None:
        """OpenworldAUC of a learner; None where it is not defined, or the learner is not here."""
        return self.value(learner, AUC.key).value if learner in self.outcomes else None

    def seeds(self, learner: str) -> tuple[int, ...]:
        return tuple(outcome.seed for outcome in self.outcomes[learner])

    @property
    def closed_set(self) -> bool:
        """Whether its learners know base names alone, so that there is no OpenworldAUC."""
        return all(outcome.test.closed_set for outcomes in self.outcomes.values() for outcome in outcomes)

    @property
    def headline(self) -> Metric:
        return METRICS["auroc"] if self.closed_set else AUC

    @property
    def best(self) -> str:
        best_standing = standing({learner: self.value(learner, self.headline.key).value for learner in self.learners})
        return self.learners[0] if best_standing is None else best_standing.names[0]

    @property
    def untuned(self) -> tuple[str, ...]:
        return tuple(name for name, seeds in self.outcomes.items() if seeds[0].facts.get("tuned_parameters") == 0)

    @property
    def training_images(self) -> dict[str, int] | None:
        """The fewest and the most training images of a class, over learners and seeds; None where not known."""
        return training_images(outcome.facts for outcomes in self.outcomes.values() for outcome in outcomes)

    @property
    def shots(self) -> str:
        """The shots in words, with what there was where that is less; "" without shots."""
        return shots_in_words(self.key.shots, self.training_images)

    @cached_property
    def _here(self) -> dict[tuple[str, str], Value]:
        return {
            (row.entity, row.metric.key): row.value for row in reversed(self.results.rows) if row.where == self.place
        }


@dataclass(frozen=True, eq=False)
class RecognitionResults:
    """The results of a run, setting by setting, and the outcomes that they were made of."""

    settings: tuple[SettingResults, ...]
    outcomes: tuple[Outcome, ...]

    __repr__ = short_repr

    @cached_property
    def learners(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(learner for setting in self.settings for learner in setting.learners))

    @property
    def baselines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(learner for setting in self.settings for learner in setting.untuned))

    def results(self) -> Results:
        """All of them, with means over the settings where there are several."""
        where = {"setting": f"mean over {len(self.settings)} settings"}
        rows = [row for each in self.over_datasets for row in each.rows()]
        tests = [test for each in self.over_datasets for test in each.tests]
        for learner in self.learners if len(self.settings) > 1 and not rows else ():
            value = mean([setting.auc(learner) for setting in self.settings])
            if value is not None:
                rows.append(Result(learner, AUC, Value(value), where))
        rows += [row for setting in self.settings for row in setting.results]
        tests += [test for setting in self.settings for test in setting.results.comparisons]
        return Results("recognition", tuple(rows), tuple(tests))

    @cached_property
    def over_datasets(self) -> tuple[DatasetMeans, ...]:
        """Means, ranks and tests over the data sets, for each number of shots; none where there are not several."""
        return dataset_means(self.settings)


def dataset_means(settings: Sequence[SettingResults]) -> tuple[DatasetMeans, ...]:
    """Return the means over several data sets, one for each number of shots."""
    # There is none where settings share a data set, such as two domains of it: blocks must be independent.
    if any(setting.key.target or setting.closed_set for setting in settings):
        return ()
    by_shots: dict[int | None, list[SettingResults]] = {}
    for setting in settings:
        by_shots.setdefault(setting.key.shots, []).append(setting)
    groups = [group for group in by_shots.values() if 1 < len(group) == len({setting.key.task for setting in group})]
    several = len(by_shots) > 1
    return tuple(_means_of(group, {"shots": group[0].key.shots or 0} if several else {}) for group in groups)


def _means_of(settings: Sequence[SettingResults], place: Mapping[str, int]) -> DatasetMeans:
    learners = dict.fromkeys(learner for setting in settings for learner in setting.learners)
    numbers = {
        learner: [setting.result(learner, AUC.key) if learner in setting.outcomes else None for setting in settings]
        for learner in learners
    }
    shots = f" · {counted(place['shots'], 'shot')}" if place else ""
    where = {"setting": f"mean over {len(settings)} data sets{shots}", **place}
    return DatasetMeans(AUC, tuple(setting.key.task for setting in settings), numbers, where)


def join(outcomes: Sequence[Outcome], *, all_pairs: bool = False) -> RecognitionResults:
    """Return outcomes as results, setting by setting in order of first appearance."""
    settings = by_setting(outcomes)
    title_of = titles(list(settings))
    joined = (_setting_results(key, title_of[key], learners, all_pairs) for key, learners in settings.items())
    return RecognitionResults(tuple(joined), tuple(outcomes))


def _setting_results(
    key: Setting, title: str, learners: Mapping[str, tuple[Outcome, ...]], all_pairs: bool
) -> SettingResults:
    setting = SettingResults(key, title, learners, Results("recognition", ()))
    place = setting.place
    rows = [row for learner, seeds in learners.items() for row in learner_results(learner, seeds, place)]
    scores = {learner: [seed.test for seed in seeds] for learner, seeds in learners.items()}
    tables = {learner: [seed.images for seed in seeds] for learner, seeds in scores.items()}
    rows += prediction_rows(tables, setting.first.facts["classnames"], place)
    results = Results("recognition", (*rows, *_counts(setting)))
    setting = replace(setting, results=results, operating_points=operating_points(learners, results))

    many = len(learners) > ALL_PAIRS and not all_pairs
    against = tuple(dict.fromkeys((*setting.untuned[:1], setting.best))) if many else ()
    tests = compare_all(scores, place, setting.headline, against)
    tests = (*tests, *mix_comparisons(learners, place, against))
    return replace(setting, results=replace(results, comparisons=tests))


def learner_results(learner: str, outcomes: Sequence[Outcome], place: Place) -> Iterator[Result]:
    """Yield every number of one learner: what its units wrote, joined over the seeds, and how long it took."""
    seeds = tuple(outcome.seed for outcome in outcomes)
    units = [
        [replace(row, entity=learner, where={**place, **row.where}) for row in outcome.rows if row.entity]
        for outcome in outcomes
    ]
    chance = _Chance(learner, outcomes, place)
    rows = []
    for row in sorted(join_seeds(units, chance.over_images), key=lambda row: not row.seeds):
        if "part" in row.where and row.metric.key in REACHED and set(row.per_seed) == {None}:
            continue  # no seed knows it of validation images, such as hits where there is no new one
        if "rule" in row.where:  # thresholds and what they do are told seed by seed, not by how far these lie apart
            intervals = () if "part" in row.where else row.value.intervals
            row = replace(row, value=replace(row.value, intervals=intervals, deviation=None))
        rows.append(row)
    if chance.average is None:  # without images that all seeds share there is no mean whose chance could be told
        rows = [replace(row, value=replace(row.value, intervals=())) for row in rows]
    here = {row.metric.key: row for row in rows if row.where == place}
    yield rows[0]
    yield _hm_of_means(here, chance.average)
    yield from rows[1:]

    times = {"fit_seconds": [outcome.seconds.get("fit") for outcome in outcomes]}
    times["score_seconds"] = [
        outcome.seconds["score"] / len(outcome.test) if "score" in outcome.seconds else None for outcome in outcomes
    ]
    times["latency"] = [outcome.seconds.get("latency") for outcome in outcomes]
    for name, spent in times.items():
        if any(second is not None for second in spent):
            value = over_seeds(spent, METRICS[name], reason="no time was kept")
            yield Result(learner, METRICS[name], value, place, seeds, tuple(spent))


@dataclass(frozen=True, eq=False)
class _Chance:
    """Intervals over images of the means over a learner's seeds, made from its tables of images."""

    learner: str
    outcomes: Sequence[Outcome]
    place: Place

    @cached_property
    def average(self) -> SeedAverage | None:
        """Of OpenworldAUC on the images as they are; None where seeds were scored on different images."""
        return average_over_seeds([outcome.test for outcome in self.outcomes])

    @cached_property
    def at_thresholds(self) -> dict[str, Result]:
        """What the learner does on the test images of all seeds together, each at its own threshold."""
        thresholds: list[float] = []
        for outcome in self.outcomes:
            value = next((row.value.value for row in outcome.rows if row.metric == THRESHOLD), None)
            if value is None:
                return {}
            thresholds.append(value)
        rule = OperatingSpec(**self.outcomes[0].facts["operating"])
        tests = [outcome.test for outcome in self.outcomes]
        return {row.metric.key: row for row in rates_at(self.learner, rule, tests, thresholds, {})}

    def over_images(self, row: Result) -> tuple[Interval, ...] | None:
        """Return the intervals of a row over images; None of one that nothing is known of, or as its unit has them."""
        key, apart = row.metric.key, {name: at for name, at in row.where.items() if name not in self.place}
        images = len(self.outcomes[0].test)
        if apart.get("mix") in SHRUNK and row.metric == AUC:
            average = average_over_seeds([weigh(outcome, str(apart["mix"])) for outcome in self.outcomes])
            return interval_of(average.interval() if average else None, "images", images)
        if len(self.outcomes) == 1:
            return None
        if apart.keys() == {"rule"} and key in self.at_thresholds:
            return self.at_thresholds[key].value.intervals
        if apart or key not in QUANTITIES or self.average is None:
            return None
        return interval_of(self.average.estimate(key).interval(), "images", images)


def _hm_of_means(rows: Mapping[str, Result], average: SeedAverage | None) -> Result:
    """HM of the two mean accuracies, as Hua et al. (2025) print it; its interval over seeds is of the seeds' own HM."""
    of_seeds = replace(rows["harmonic_mean"], metric=HM)
    base, new = (rows[name].value for name in ("base_accuracy", "new_accuracy"))
    first, second = base.value, new.value
    if first is None or second is None:
        return replace(of_seeds, value=Value(None, reason=base.reason or new.reason))
    value, over_seeds = harmonic_mean(first, second), of_seeds.value.over("seeds")
    intervals = (over_seeds,) if over_seeds and value else ()
    if average and value:
        parts = [average.estimate(name) for name in ("base_accuracy", "new_accuracy")]
        slopes = [2 * (other / (first + second)) ** 2 for other in (second, first)]
        estimate = MetricEstimate(value, None, lambda: combine([part.influence for part in parts], slopes))
        images = average.results[0].n_base + average.results[0].n_new
        intervals = (*interval_of(estimate.interval(), "images", images), *intervals)
    return replace(of_seeds, value=Value(value, intervals, deviation=of_seeds.value.deviation))


def _counts(setting: SettingResults) -> Iterator[Result]:
    first, place = setting.first, setting.place
    yield from (replace(row, where={**place, **row.where}) for row in first.rows if not row.entity)
    for side in ("base", "new"):
        yield Result("", METRICS["classes"], Value(first.facts[f"n_{side}_classes"]), {**place, "side": side})
    for end, count in (setting.training_images or {}).items():
        yield Result("", TRAINING[end], Value(count), place)
