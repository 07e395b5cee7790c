"""From recognition and generalisation records to the numbers of OpenworldAUC's tables (Hua et al., 2025), by task."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from openworld._errors import OpenworldError
from openworld.evaluations.recognition.mixes import ALL_RATIOS, VARIANCES, mix_results
from openworld.evaluations.recognition.outcome import Outcome, load
from openworld.evaluations.recognition.record import RecognitionRecord
from openworld.evaluations.recognition.results import HM, Counts, counts_of, learner_results
from openworld.papers.results import PaperResult, PaperRun, paper_result
from openworld.results import Interval, Result, Results

KEYS = {
    "OpenworldAUC": "openworld_auc",
    "HM": "harmonic_mean",
    "AUROC": "auroc",
    "BaseAcc": "base_accuracy",
    "NewAcc": "new_accuracy",
    "OverallAcc": "overall_accuracy",
}
"""A metric of the paper -> the number of a record. Over several seeds its HM is that of the mean accuracies."""

SIDES = {"forward": "base:new=5:1 (Fwd)", "backward": "base:new=1:5 (Bwd)"}
BOTH_SIDES = "mean of Fwd and Bwd columns"
MEAN, VARIANCE = "mean over the ten ratios", "variance over the ten ratios"
CROSSED = "base classes = 500 ImageNet classes"
KINDS = {  # kinds of target of a generalisation record that a task reads; None is a recognition record
    "recognition": (None, "source"),
    "gates": (None, "source"),
    "imbalance": (None,),
    "ratio sweep": (None,),
    "size": (None, "source"),
    "time": (None, "source"),
    "domain generalisation": ("source", "variant"),
    "cross-data-set": ("other",),
}


@dataclass(frozen=True, eq=False)
class MethodOutcomes:
    """One method on one data set: its outcomes, one per seed, seeds in increasing order."""

    dataset: str
    kind: str | None
    method: str
    backbone: str
    outcomes: tuple[Outcome, ...]

    @cached_property
    def results(self) -> Results:
        """Every number, its seeds joined."""
        own = {self.method: self.outcomes}
        return Results("recognition", (*learner_results(self.method, self.outcomes, {}), *mix_results(own, {})))

    @cached_property
    def counts(self) -> Counts:
        """How many images and groups there are."""
        return counts_of(self.outcomes)

    def number(self, metric: str, key: str, setting: str = "", **place: str | float) -> PaperResult:
        """A result of this method as a number of the paper."""
        return self.measured(metric, self.results.result(self.method, key, **place), setting)

    def measured(self, metric: str, result: Result, setting: str = "") -> PaperResult:
        """A result as a number of the paper; its first interval says what images were drawn by."""
        intervals = tuple(self._named(interval) for interval in result.value.intervals)
        result = replace(result, value=replace(result.value, intervals=intervals))
        names = {"dataset": self.dataset, "method": self.method, "backbone": self.backbone}
        return paper_result(result, metric, setting=setting, **names)

    def _named(self, interval: Interval) -> Interval:
        if interval.over != "images" or self.counts.groups == self.counts.images:
            return interval
        group = self.outcomes[0].record.group_name or "group"
        return replace(interval, over=f"{group}s", n=self.counts.groups)


def methods_of(runs: Sequence[PaperRun]) -> tuple[MethodOutcomes, ...]:
    """Every method on every data set of the runs, in order of appearance.

    Raises:
        OpenworldError: when two runs hold different outcomes of the same method, data set and seed.
    """
    found: dict[tuple, dict[int, Outcome]] = {}
    for run in runs:
        for outcome in run.read(load):
            record = outcome.record
            key = (_dataset(run, record), record.kind, run.method(record.learner), run.backbone)
            seeds = found.setdefault(key, {})
            seen = seeds.setdefault(record.seed, outcome)
            if seen.record.openworld_auc.value != record.openworld_auc.value:
                raise OpenworldError(
                    f"two records of {key[2]} on {key[0]}, seed {record.seed}, differ in OpenworldAUC; give each "
                    "learner its own name, or read only one of the runs."
                )
    return tuple(MethodOutcomes(*key, tuple(seeds[seed] for seed in sorted(seeds))) for key, seeds in found.items())


def _dataset(run: PaperRun, record: RecognitionRecord) -> str:
    """A recognition record names its task and domains, a target of a generalisation record its data set and domain."""
    if record.kind:
        return run.dataset(record.dataset, record.domain)
    trained, tested = record.train_domain, record.test_domain
    return run.dataset(record.task, tested if trained == tested else f"{trained} → {tested}")


def detection(one: MethodOutcomes, metric: str, setting: str = "") -> PaperResult:
    """A number of the per-image tables: mean over seeds; HM is that of the mean accuracies, as the paper prints it."""
    return one.number(metric, HM.key if metric == "HM" else KEYS[metric], setting)


def recognition(one: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Tables 2, 8, 9, 14 and 17."""
    yield from (detection(one, metric) for metric in metrics)


def domain_generalisation(one: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Tables 4 and 10: the source, and other appearances of its classes."""
    setting = "source" if one.kind == "source" else "target"
    yield from (detection(one, metric, setting) for metric in metrics)


def cross_dataset(one: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Table 13: base classes of the source, new classes of another data set."""
    yield from (detection(one, metric, CROSSED) for metric in metrics)


def imbalance(one: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Table 3: one half of the images cut to a fifth; means over the records' draws."""
    _require(one, "imbalance")
    for direction, setting in SIDES.items():
        yield one.number("OpenworldAUC", "openworld_auc", setting, mix=direction)


def ratio_sweep(one: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Tables 11 and 12: other shares of new images, then mean and sample variance over them, of one draw each."""
    _require(one, "ratio_sweep", "ratio_variation")
    for metric in metrics:
        for ratio in one.results.places("ratio"):
            yield one.number(metric, KEYS[metric], f"new/base={ratio:g}", ratio=ratio)
        yield one.number(metric, KEYS[metric], MEAN, mix=ALL_RATIOS)
        variance = one.results.result(one.method, VARIANCES[KEYS[metric]].key, mix=ALL_RATIOS)
        yield one.measured(metric, _in_points(variance), VARIANCE)


def _in_points(variance: Result) -> Result:
    """A variance of fractions, as it has to be for the square of a percentage to come out."""
    value = variance.value
    intervals = tuple(replace(one, low=100 * one.low, high=100 * one.high) for one in value.intervals)
    number = None if value.value is None else 100 * value.value
    per_seed = tuple(None if one is None else 100 * one for one in variance.per_seed)
    return replace(variance, value=replace(value, value=number, intervals=intervals), per_seed=per_seed)


def size(one: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Table 7, and a column of Table 15: tuned parameters."""
    yield from (one.number(metric, "tuned_parameters") for metric in metrics)


def time(one: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Table 16: seconds of scoring one image, names included, on the machine at hand."""
    yield from (one.number(metric, "score_seconds") for metric in metrics)


READERS: dict[str, Callable[[MethodOutcomes, Sequence[str]], Iterator[PaperResult]]] = {
    "recognition": recognition,
    "gates": recognition,
    "imbalance": imbalance,
    "ratio sweep": ratio_sweep,
    "size": size,
    "time": time,
    "domain generalisation": domain_generalisation,
    "cross-data-set": cross_dataset,
}


def numbers_of(task: str, methods: Sequence[MethodOutcomes], metrics: Sequence[str]) -> tuple[PaperResult, ...]:
    """Every number of one task, data set by data set.

    A generalisation record scores its source as a recognition record of that data set would; where there are both, the
    recognition record is read.
    """
    chosen: dict[tuple[str, str], MethodOutcomes] = {}
    for kind in KINDS[task]:
        for one in methods:
            if one.kind == kind:
                chosen.setdefault((one.dataset, one.method), one)
    ordered = [one for one in methods if chosen.get((one.dataset, one.method)) is one]
    return tuple(number for one in ordered for number in READERS[task](one, metrics))


def _require(one: MethodOutcomes, *names: str) -> None:
    for outcome in one.outcomes:
        missing = [name for name in names if not getattr(outcome.record, name)]
        if missing:
            raise OpenworldError(
                f"the record of {one.method} on {one.dataset}, seed {outcome.record.seed}, holds no {missing[0]!r}; it "
                "was made by an older version or without it: run again in a new folder."
            )
