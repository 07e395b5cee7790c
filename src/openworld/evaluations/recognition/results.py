"""From records to results: seeds joined, intervals put on, every learner of a setting tested against every other.

Two kinds of chance are kept apart: over images (others could have been taken; clustered by drawing or whatever else
they share, given these seeds) and over seeds (training could have gone otherwise; Student's t on the seeds' values).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from openworld._short_repr import short_repr
from openworld.evaluations.recognition.comparison import average_over_seeds, compare_all
from openworld.evaluations.recognition.mixes import mix_comparisons, mix_results
from openworld.evaluations.recognition.operating_results import operating_results
from openworld.evaluations.recognition.outcome import Outcome, outcomes
from openworld.evaluations.recognition.record import RecognitionRecord, TrainingImages
from openworld.evaluations.recognition.settings import Setting, by_setting, titles
from openworld.evaluations.shots import shots_in_words
from openworld.metrics import QUANTITIES, SeedAverage, harmonic_mean
from openworld.metrics.estimate import Estimate, combine
from openworld.results import (
    METRICS,
    Comparison,
    Metric,
    Result,
    Results,
    RunFolder,
    Value,
    find_comparison,
    interval_of,
    mean,
    over_seeds,
)

AUC = METRICS["openworld_auc"]
HM = METRICS["harmonic_mean_of_means"]
MEASURED = {
    **{name: METRICS[name] for name in ("base_accuracy", "new_accuracy", "harmonic_mean", "auroc", "correct_auroc")},
    **{name: METRICS[name] for name in ("overall_accuracy", "aupr_in", "aupr_out")},
    **{name: METRICS[name] for name in ("fpr95_in_positive", "fpr95_out_positive")},
    "ece": METRICS["expected_calibration_error"],
}
"""Number of a record -> its metric."""

LOSSES = {
    "wrong_base": Metric("wrong_base", "wrong base names", better=-1),
    "wrong_new": Metric("wrong_new", "wrong new names", better=-1),
    "mixed_up": Metric("mixed_up", "base and new mixed up", better=-1),
}
"""The three ways in which points are lost."""

_COUNT = {"unit": "count", "digits": 0, "better": 0, "bounds": (0.0, None)}
GROUPS = Metric("groups", "groups", **_COUNT)
FEWEST, MOST = (
    Metric("fewest_training_images", "fewest training images of a class", **_COUNT),
    Metric("most_training_images", "most training images of a class", **_COUNT),
)
NO_TIME, NOT_TRAINED = "no time was kept", "it was not trained here"


@dataclass(frozen=True)
class Counts:
    """How many images and classes of either side, groups of dependent images, and seeds stand behind a setting."""

    base_images: int
    new_images: int
    base_classes: int
    new_classes: int
    groups: int
    seeds: int

    @property
    def images(self) -> int:
        """Base and new ones."""
        return self.base_images + self.new_images


@dataclass(frozen=True, eq=False)
class SettingResults:
    """The results of one setting.

    Args:
        setting: what its learners have in common.
        title: what tells it from the other settings of its run.
        outcomes: by learner, in the order of the run; seeds in increasing order.
        rows: every number, all of them in the place of the setting.
        comparisons: the tests between all pairs of learners; those of another mix of images name it in `where`.
    """

    setting: Setting
    title: str
    outcomes: Mapping[str, tuple[Outcome, ...]]
    rows: tuple[Result, ...]
    comparisons: tuple[Comparison, ...]

    __repr__ = short_repr

    @cached_property
    def results(self) -> Results:
        """The rows, for lookups."""
        return Results("recognition", self.rows)

    @property
    def place(self) -> dict[str, str | int]:
        """Where its results are."""
        return {"setting": self.title} | self.setting.place

    @property
    def learners(self) -> tuple[str, ...]:
        """In the order of the run."""
        return tuple(self.outcomes)

    def result(self, learner: str, metric: str, **place: str | float) -> Result:
        """A result of a learner; `place` is what tells it apart within the setting, such as a mix."""
        return self.results.result(learner, metric, **self.place | place)

    def value(self, learner: str, metric: str, **place: str | float) -> Value:
        """The value of `result`."""
        return self.result(learner, metric, **place).value

    def find(self, learner: str, metric: str) -> Value | None:
        """The value of a learner on the images as they are; None where it was not measured."""
        row = next((row for row in self.results.where(entity=learner, metric=metric) if row.where == self.place), None)
        return row and row.value

    def auc(self, learner: str) -> float | None:
        """OpenworldAUC of a learner; None where it is not defined, or the learner is not here."""
        return self.value(learner, "openworld_auc").value if learner in self.outcomes else None

    def seeds(self, learner: str) -> tuple[int, ...]:
        """The seeds of a learner."""
        return tuple(outcome.record.seed for outcome in self.outcomes[learner])

    @property
    def best(self) -> str:
        """The learner of the largest OpenworldAUC."""
        return max(self.learners, key=lambda learner: -1.0 if (value := self.auc(learner)) is None else value)

    @property
    def baseline(self) -> str | None:
        """The learner that tunes nothing (the first one if there are several), or None."""
        return next((name for name, own in self.outcomes.items() if own[0].record.tuned_parameters == 0), None)

    @property
    def trained(self) -> bool:
        """Whether any learner was trained here, so that its size and times are known."""
        return any(own[0].record.tuned_parameters is not None for own in self.outcomes.values())

    @property
    def opponents(self) -> tuple[str, ...]:
        """Whom every learner is compared with: what tunes nothing, and the best of all; none beside one alone."""
        found = dict.fromkeys(name for name in (self.baseline, self.best) if name is not None)
        return tuple(found) if len(self.learners) > 1 else ()

    @cached_property
    def counts(self) -> Counts:
        """Of the first learner; the seeds are those of the learner with most."""
        first = counts_of(next(iter(self.outcomes.values())))
        return replace(first, seeds=max(map(len, self.outcomes.values())))

    @property
    def training_images(self) -> TrainingImages | None:
        """How many training images a class has, over learners and seeds; None where not known."""
        return training_images([outcome for own in self.outcomes.values() for outcome in own])

    @property
    def shots(self) -> str:
        """The shots in words, with what there was where that is less; "" without shots."""
        had = self.training_images
        return shots_in_words(self.setting.shots, had and {"fewest": had.fewest, "most": had.most})

    @property
    def group_name(self) -> str:
        """What images that are not independent have in common ("drawing"); "" where every image stands alone."""
        alone = self.counts.groups == self.counts.images
        return "" if alone else next(iter(self.outcomes.values()))[0].record.group_name or "group"

    def compare(self, learner: str, other: str, mix: str | None = None) -> Comparison | None:
        """The test of `learner` against `other`, on the images as they are or in a mix; None against itself."""
        return find_comparison((test for test in self.comparisons if test.where.get("mix") == mix), learner, other)

    @property
    def tested(self) -> int:
        """How many pairs of learners could be tested."""
        return sum(test.p is not None for test in self.comparisons if "mix" not in test.where)


@dataclass(frozen=True, eq=False)
class RecognitionResults:
    """The results of a run, setting by setting."""

    settings: tuple[SettingResults, ...]

    __repr__ = short_repr

    @cached_property
    def learners(self) -> tuple[str, ...]:
        """Every learner of the run, in order of appearance."""
        return tuple(dict.fromkeys(learner for one in self.settings for learner in one.learners))

    @property
    def baselines(self) -> tuple[str, ...]:
        """The learners that tune nothing."""
        found = (name for one in self.settings for name, own in one.outcomes.items() if _tunes_nothing(own))
        return tuple(dict.fromkeys(found))

    @cached_property
    def averages(self) -> dict[str, float]:
        """Mean OpenworldAUC over all settings, equally weighted, of the learners that have one in each."""
        found = {learner: mean([one.auc(learner) for one in self.settings]) for learner in self.learners}
        return {learner: value for learner, value in found.items() if value is not None}

    def results(self, evaluation: str = "recognition", further: Sequence[Result] = ()) -> Results:
        """All of them, with means over the settings where there are several, and `further` ones, as rows."""
        rows = [row for one in self.settings for row in one.rows]
        if len(self.settings) > 1:
            where = {"setting": f"mean over {len(self.settings)} settings"}
            rows += [Result(name, AUC, Value(value), where) for name, value in self.averages.items()]
        tests = tuple(test for one in self.settings for test in one.comparisons)
        return Results(evaluation, (*rows, *further), tests)


def results(run: RunFolder) -> RecognitionResults:
    """The results of a run; raises as `outcomes`."""
    return join(outcomes(run))


def join(found: Sequence[Outcome]) -> RecognitionResults:
    """Outcomes as results, setting by setting in order of first appearance."""
    settings = by_setting(found)
    named = titles(list(settings))
    return RecognitionResults(
        tuple(setting_results(setting, named[setting], learners) for setting, learners in settings.items())
    )


def setting_results(setting: Setting, title: str, learners: Mapping[str, tuple[Outcome, ...]]) -> SettingResults:
    """The results of the learners of one setting, and the tests between them."""
    place = {"setting": title} | setting.place
    rows = [row for name, own in learners.items() for row in learner_results(name, own, place)]
    rows += [*mix_results(learners, place), *operating_results(learners, place)]
    tests = compare_all({name: [outcome.test for outcome in own] for name, own in learners.items()}, place)
    found = SettingResults(setting, title, learners, tuple(rows), (*tests, *mix_comparisons(learners, place)))
    return SettingResults(setting, title, learners, (*found.rows, *_counts(found)), found.comparisons)


def learner_results(learner: str, own: Sequence[Outcome], place: Mapping) -> Iterator[Result]:
    """Every number of one learner on the images as they are, its seeds joined."""
    records, seeds = [outcome.record for outcome in own], tuple(outcome.record.seed for outcome in own)
    average = average_over_seeds([outcome.test for outcome in own])
    images = len(own[0].test.is_base)

    def result(metric: Metric, per_seed: Sequence[float | None], of: str = "", value: Value | None = None) -> Result:
        estimate = average.estimate(of) if average and of in QUANTITIES else None
        joined = value or _over_seeds(per_seed, metric, average, estimate, images)
        return Result(learner, metric, joined, place, seeds, tuple(per_seed))

    reasons = dict.fromkeys(filter(None, (record.openworld_auc.reason for record in records)))
    per_seed = [record.openworld_auc.value for record in records]
    undefined = Value(None, reason="; ".join(reasons)) if reasons and None in per_seed else None
    yield result(AUC, per_seed, "openworld_auc", undefined)
    per_seed = [record.harmonic_mean for record in records]
    yield result(HM, per_seed, value=_hm_of_means(records, per_seed, average, images))
    for name, metric in MEASURED.items():
        yield result(metric, [getattr(record, name) for record in records], name)
    if all(record.points_lost for record in records):
        for name, metric in LOSSES.items():
            yield result(metric, [getattr(record.points_lost, name) for record in records], name)
    tuned = records[0].tuned_parameters
    unknown = Value(None, reason=NOT_TRAINED)
    yield Result(learner, METRICS["tuned_parameters"], unknown if tuned is None else Value(tuned), place)
    times = {
        "fit_seconds": [outcome.seconds.get("fit") for outcome in own],
        "score_seconds": [outcome.score_seconds for outcome in own],
    }
    for name, spent in times.items():
        yield Result(learner, METRICS[name], over_seeds(spent, METRICS[name], reason=NO_TIME), place, seeds, (*spent,))


def _over_seeds(
    per_seed: Sequence[float | None],
    metric: Metric,
    average: SeedAverage | None,
    estimate: Estimate | None,
    images: int,
) -> Value:
    """The mean with its intervals; with none where the seeds were scored on different images."""
    value = over_seeds(per_seed, metric, intervals=_over_images(estimate, images))
    return value if average or value.value is None else Value(value.value, deviation=value.deviation)


def _over_images(estimate: Estimate | None, images: int):
    ends = None if estimate is None or estimate.value is None else estimate.interval()
    return interval_of(ends, "images", images)


def _hm_of_means(records: Sequence[RecognitionRecord], per_seed, average: SeedAverage | None, images: int) -> Value:
    """HM of the two mean accuracies, as Hua et al. (2025) print it; its interval over seeds is of the seeds' own HM."""
    accuracies = [mean([getattr(record, name) for record in records]) for name in ("base_accuracy", "new_accuracy")]
    if None in accuracies:
        return Value(None, reason="there are no images of one side")
    value, spread = harmonic_mean(*accuracies), over_seeds(per_seed, HM, reason="it is known of no seed")
    if not average or not value:
        return Value(value, deviation=spread.deviation)
    base, new = (average.estimate(name) for name in ("base_accuracy", "new_accuracy"))
    slopes = [2 * (other / (base.value + new.value)) ** 2 for other in (new.value, base.value)]
    estimate = Estimate(value, None, lambda: combine([base.influence, new.influence], slopes))
    return Value(value, (*_over_images(estimate, images), *spread.intervals), deviation=spread.deviation)


def counts_of(own: Sequence[Outcome]) -> Counts:
    """What the numbers of one learner rest on; images are those of its first seed."""
    record, test = own[0].record, own[0].test
    base, groups = int(test.is_base.sum()), len({*test.groups[0], *test.groups[1]})
    classes = (record.n_base_classes, record.n_new_classes)
    return Counts(base, len(test.is_base) - base, *classes, groups, len(own))


def training_images(found: Sequence[Outcome]) -> TrainingImages | None:
    """The fewest and the most training images of a class that any record knows of; None where none does."""
    known = [outcome.record.training_images for outcome in found if outcome.record.training_images]
    if not known:
        return None
    return TrainingImages(min(one.fewest for one in known), max(one.most for one in known))


def _counts(one: SettingResults) -> Iterator[Result]:
    """What the numbers of a setting rest on, as results of nobody."""
    counts = one.counts
    sides = {"base": (counts.base_images, counts.base_classes), "new": (counts.new_images, counts.new_classes)}
    for side, found in sides.items():
        for metric, count in zip((METRICS["images"], METRICS["classes"]), found, strict=True):
            yield Result("", metric, Value(count), one.place | {"side": side})
    yield Result("", GROUPS, Value(counts.groups), one.place)
    if one.training_images:
        yield Result("", FEWEST, Value(one.training_images.fewest), one.place)
        yield Result("", MOST, Value(one.training_images.most), one.place)


def _tunes_nothing(own: Sequence[Outcome]) -> bool:
    return own[0].record.tuned_parameters == 0
