"""From recognition and generalisation records to the numbers of OpenworldAUC's tables (Hua et al., 2025), by task."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from openworld._errors import OpenworldError
from openworld.evaluations.recognition.comparison import average_over_seeds
from openworld.evaluations.recognition.outcome import Outcome, load
from openworld.metrics import SeedAverage
from openworld.metrics.estimate import Estimate, combine
from openworld.papers import METRICS
from openworld.papers.measured import Measured, StandsFor
from openworld.results import Interval
from openworld.results.seeds import mean, student

KEYS = {
    "OpenworldAUC": "openworld_auc",
    "HM": "harmonic_mean",
    "AUROC": "auroc",
    "BaseAcc": "base_accuracy",
    "NewAcc": "new_accuracy",
    "OverallAcc": "overall_accuracy",
}
SIDES = {"forward": "base:new=5:1 (Fwd)", "backward": "base:new=1:5 (Bwd)"}
BOTH_SIDES = "mean of Fwd and Bwd columns"
OVER_RATIOS = {"mean": "mean over the ten ratios", "variance": "variance over the ten ratios"}
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
class Played:
    """One method on one data set: its outcomes, one per seed, seeds in increasing order."""

    dataset: str
    kind: str | None
    method: str
    backbone: str
    outcomes: tuple[Outcome, ...]

    def measured(self, metric: str, value: float | None, setting: str = "", **facts) -> Measured:
        """A number of this method on this data set; `value` is in the paper's unit."""
        told = {"datasets": (self.dataset,), "backbone": self.backbone} | facts
        return Measured(self.dataset, setting, self.method, metric, value, **told)


def played(runs: Sequence[StandsFor]) -> tuple[Played, ...]:
    """Every method on every data set of the runs, in order of appearance.

    Raises:
        OpenworldError: when two runs hold different outcomes of the same method, data set and seed.
    """
    found: dict[tuple, dict[int, Outcome]] = {}
    for run in runs:
        backbone = run.backbone
        for outcome in run.read(load).outcomes:
            told = outcome.metrics
            key = (_dataset(run, told), told.get("kind"), run.method(told["learner"]), backbone)
            seeds = found.setdefault(key, {})
            seen = seeds.setdefault(told["seed"], outcome)
            if seen.openworld_auc != outcome.openworld_auc:
                raise OpenworldError(
                    f"two records of {key[2]} on {key[0]}, seed {told['seed']}, differ in OpenworldAUC; give each "
                    "learner its own name, or read only one of the runs."
                )
    return tuple(Played(*key, tuple(seeds[one] for one in sorted(seeds))) for key, seeds in found.items())


def _dataset(run: StandsFor, told: Mapping) -> str:
    """A recognition record names its task and domains, a target of a generalisation record its data set and domain."""
    if told.get("kind"):
        return run.dataset(told["dataset"], told.get("domain"))
    trained, tested = told.get("train_domain"), told.get("test_domain")
    return run.dataset(told["task"], tested if trained == tested else f"{trained} → {tested}")


def detection(one: Played, metric: str, setting: str = "") -> Measured:
    """A number of the per-image tables: mean over seeds; HM is that of the mean accuracies, as the paper prints it."""
    key, unit = KEYS[metric], METRICS[metric].per_one
    values = [_of_record(outcome, key) for outcome in one.outcomes]
    average = average_over_seeds(one.outcomes)
    estimate = None if average is None or metric == "OverallAcc" else _estimate(average, key)
    value = mean(values) if estimate is None else estimate.value
    per_seed = () if None in values else tuple(unit * each for each in values)
    intervals = (*_over_images(one, estimate, unit), *student(per_seed, METRICS[metric]))
    return one.measured(
        metric, None if value is None else unit * value, setting, intervals=intervals, per_seed=per_seed
    )


def _of_record(outcome: Outcome, key: str) -> float | None:
    return outcome.openworld_auc if key == "openworld_auc" else outcome.metrics[key]


def _estimate(average: SeedAverage, key: str) -> Estimate:
    if key != "harmonic_mean":
        return average.estimate(key)
    base, new = average.estimate("base_accuracy"), average.estimate("new_accuracy")
    value = average.harmonic_mean_of_accuracies
    if not value:
        return Estimate(value, "there are no images of one side")
    slopes = [2 * (other / (base.value + new.value)) ** 2 for other in (new.value, base.value)]
    return Estimate(value, None, lambda: combine([base.influence, new.influence], slopes))


def _over_images(one: Played, estimate: Estimate | None, unit: float) -> tuple[Interval, ...]:
    ends = None if estimate is None or estimate.value is None else estimate.interval()
    return () if ends is None else (Interval(unit * ends[0], unit * ends[1], *_images(one)),)


def _images(one: Played) -> tuple[str, int]:
    """What an interval over images is over, and how many there are."""
    counts, told = one.outcomes[0].counts, one.outcomes[0].metrics.get("group_name")
    alone = counts["groups"] == counts["base_images"] + counts["new_images"]
    return "images" if alone else f"{told or 'group'}s", counts["groups"]


def recognition(one: Played, metrics: Sequence[str]) -> Iterator[Measured]:
    """Tables 2, 8, 9, 14 and 17."""
    yield from (detection(one, metric) for metric in metrics)


def domain_generalisation(one: Played, metrics: Sequence[str]) -> Iterator[Measured]:
    """Tables 4 and 10: the source, and other looks of its classes."""
    setting = "source" if one.kind == "source" else "target"
    yield from (detection(one, metric, setting) for metric in metrics)


def cross_dataset(one: Played, metrics: Sequence[str]) -> Iterator[Measured]:
    """Table 13: base classes of the source, new classes of another data set."""
    yield from (detection(one, metric, CROSSED) for metric in metrics)


def imbalance(one: Played, metrics: Sequence[str]) -> Iterator[Measured]:
    """Table 3: one half of the pictures cut to a fifth; means over the records' draws."""
    for side, setting in SIDES.items():
        found = [_require(outcome, "imbalance", one)[side] for outcome in one.outcomes]
        values = tuple(100 * each["openworld_auc"] for each in found if each["openworld_auc"] is not None)
        ends = found[0]["expected"]["interval"]  # of another seed there would be another, so only of one alone
        over = _images(one)
        images = (Interval(100 * ends[0], 100 * ends[1], *over),) if ends and len(found) == 1 else ()
        told = {"intervals": (*images, *student(values, METRICS["OpenworldAUC"])), "per_seed": values}
        yield one.measured("OpenworldAUC", mean(values) if len(values) == len(found) else None, setting, **told)


def ratio_sweep(one: Played, metrics: Sequence[str]) -> Iterator[Measured]:
    """Tables 11 and 12: other shares of new pictures, then mean and sample variance over them, of one draw each."""
    sweeps = [_require(outcome, "ratio_sweep", one) for outcome in one.outcomes]
    varied = [_require(outcome, "ratio_variation", one) for outcome in one.outcomes]
    for metric in metrics:
        rows = {f"new/base={points[0]['ratio']:g}": points for points in zip(*sweeps, strict=True)}
        found = {setting: [point[KEYS[metric]] for point in points] for setting, points in rows.items()}
        found |= {setting: [each[KEYS[metric]][name] for each in varied] for name, setting in OVER_RATIOS.items()}
        for setting, values in found.items():
            unit = 10_000 if setting == OVER_RATIOS["variance"] else 100
            per_seed = () if None in values else tuple(unit * value for value in values)
            over = student(per_seed, METRICS[metric])
            yield one.measured(metric, mean(per_seed), setting, intervals=over, per_seed=per_seed)


def size(one: Played, metrics: Sequence[str]) -> Iterator[Measured]:
    """Table 7, and a column of Table 15: tuned parameters."""
    counts = [outcome.metrics["tuned_parameters"] for outcome in one.outcomes]
    for metric in metrics:
        value = mean(counts)
        yield one.measured(metric, None if value is None else METRICS[metric].per_one * value)


def time(one: Played, metrics: Sequence[str]) -> Iterator[Measured]:
    """Table 16: seconds of scoring one picture, names included, on the machine at hand."""
    values = [outcome.score_seconds for outcome in one.outcomes]
    per_seed = () if None in values else tuple(values)
    for metric in metrics:
        yield one.measured(metric, mean(values), intervals=student(per_seed, METRICS[metric]), per_seed=per_seed)


READERS: dict[str, Callable[[Played, Sequence[str]], Iterator[Measured]]] = {
    "recognition": recognition,
    "gates": recognition,
    "imbalance": imbalance,
    "ratio sweep": ratio_sweep,
    "size": size,
    "time": time,
    "domain generalisation": domain_generalisation,
    "cross-data-set": cross_dataset,
}


def read(task: str, all_played: Sequence[Played], metrics: Sequence[str]) -> tuple[Measured, ...]:
    """Every number of one task, data set by data set.

    A generalisation record scores its source as a recognition record of that data set would; where there are both, the
    recognition record is read.
    """
    chosen: dict[tuple[str, str], Played] = {}
    for kind in KINDS[task]:
        for one in all_played:
            if one.kind == kind:
                chosen.setdefault((one.dataset, one.method), one)
    ordered = [one for one in all_played if chosen.get((one.dataset, one.method)) is one]
    return tuple(number for one in ordered for number in READERS[task](one, metrics))


def _require(outcome: Outcome, name: str, one: Played):
    if not outcome.metrics.get(name):
        raise OpenworldError(
            f"the record of {one.method} on {one.dataset}, seed {outcome.metrics['seed']}, holds no {name!r}; it was "
            "made by an older version or without it: run again in a new folder."
        )
    return outcome.metrics[name]
