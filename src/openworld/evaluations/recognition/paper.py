"""From recognition and generalisation records to OpenworldAUC's tables (Hua et al., 2025): rows, columns, averages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from openworld._errors import OpenworldError
from openworld.evaluations.recognition.mixes import ALL_RATIOS, VARIANCES, mix_results
from openworld.evaluations.recognition.outcome import Outcome, load
from openworld.evaluations.recognition.record import RecognitionRecord
from openworld.evaluations.recognition.results import HM, learner_results
from openworld.papers import AVERAGE, AVERAGED, METRICS, PaperTable, published_numbers
from openworld.papers.results import PaperResult, PaperRun, average_of, paper_result, several_datasets
from openworld.results import Interval, Results

SIDES = {"forward": "base:new=5:1 (Fwd)", "backward": "base:new=1:5 (Bwd)"}
BOTH_SIDES = "mean of Fwd and Bwd columns"
MEAN, VARIANCE = "mean over the ten ratios", "variance over the ten ratios"
CROSSED = "base classes = 500 ImageNet classes"
ON_SOURCE = {None: "", "source": ""}
SETTINGS = {
    "recognition": ON_SOURCE,
    "gates": ON_SOURCE,
    "size": ON_SOURCE,
    "time": ON_SOURCE,
    "imbalance": {None: ""},
    "ratio sweep": {None: ""},
    "domain generalisation": {"source": "source", "variant": "target"},
    "cross-data-set": {"other": CROSSED},
}
"""Task -> the kinds of target of a generalisation record that it reads (None is a recognition record), and the setting
as the paper has it. Where there are two kinds on one data set, the first is read."""


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
        mixes = mix_results({self.method: self.outcomes}, {})
        return Results("recognition", (*learner_results(self.method, self.outcomes, {}), *mixes))

    def number(self, metric: str, setting: str = "", key: str = "", **place: str | float) -> PaperResult:
        """A number of the paper: the mean over seeds; its first interval says what images were drawn by.

        Args:
            metric: what the paper calls it.
            setting: as the paper has it.
            key: of our metric, where it is not the one that the paper's name stands for.
            place: what tells the result apart, such as a mix.
        """
        result = self.results.result(self.method, key or METRICS[metric].key, **place)
        value = replace(result.value, intervals=tuple(map(self._named, result.value.intervals)))
        names = {"dataset": self.dataset, "method": self.method, "backbone": self.backbone}
        return paper_result(replace(result, value=value), metric, setting=setting, **names)

    def _named(self, interval: Interval) -> Interval:
        group = self.outcomes[0].group_name
        if interval.over != "images" or not group:
            return interval
        return replace(interval, over=f"{group}s", n=self.outcomes[0].test.n_groups)


def read(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return our numbers of a table.

    Args:
        wanted: the table.
        runs: whole runs of recognition, generalisation, or both.

    Raises:
        OpenworldError: when no run holds what the table shows.
    """
    numbers = tuple(_numbers(wanted, methods_of(runs)))
    if not numbers:
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of {' and '.join(wanted.kinds)}; none of the {len(runs)} given "
            f"holds {' or '.join(wanted.tasks)}."
        )
    return numbers


def methods_of(runs: Sequence[PaperRun]) -> tuple[MethodOutcomes, ...]:
    """Every method on every data set of the runs, in order of appearance.

    Raises:
        OpenworldError: when two runs hold different outcomes of the same method, data set and seed.
    """
    by_method: dict[tuple, dict[int, Outcome]] = {}
    for run in runs:
        for outcome in run.read(load):
            record = outcome.record
            key = (dataset_of(run, record), record.kind, run.method(record.learner), run.backbone)
            known = by_method.setdefault(key, {}).setdefault(record.seed, outcome)
            if known.record.openworld_auc.value != record.openworld_auc.value:
                raise OpenworldError(
                    f"two records of {key[2]} on {key[0]}, seed {record.seed}, differ in OpenworldAUC; give each "
                    "learner its own name, or read only one of the runs."
                )
    return tuple(MethodOutcomes(*key, tuple(seeds[seed] for seed in sorted(seeds))) for key, seeds in by_method.items())


def dataset_of(run: PaperRun, record: RecognitionRecord) -> str:
    """A recognition record names its task and domains, a target of a generalisation record its data set and domain."""
    if record.kind:
        return run.dataset(record.dataset, record.domain)
    trained, tested = record.train_domain, record.test_domain
    return run.dataset(record.task, tested if trained == tested else f"{trained} → {tested}")


def detection(method: MethodOutcomes, metric: str, setting: str = "") -> PaperResult:
    """A number of the records themselves; HM is that of the mean accuracies, as the paper prints it."""
    return method.number(metric, setting, HM.key if metric == "HM" else "")


def _imbalance(method: MethodOutcomes) -> Iterator[PaperResult]:
    """Table 3: one half of the images cut to a fifth; means over the records' draws."""
    _require(method, "imbalance")
    for direction, setting in SIDES.items():
        yield method.number("OpenworldAUC", setting, mix=direction)


def _ratio_sweep(method: MethodOutcomes, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Tables 11 and 12: other shares of new images, then mean and sample variance over them, of one draw each."""
    _require(method, "ratio_sweep", "ratio_variation")
    for metric in metrics:
        for ratio in method.results.places("ratio"):
            yield method.number(metric, f"new/base={ratio:g}", ratio=ratio)
        yield method.number(metric, MEAN, mix=ALL_RATIOS)
        yield _in_points(method.number(metric, VARIANCE, VARIANCES[METRICS[metric].key].key, mix=ALL_RATIOS))


def _in_points(variance: PaperResult) -> PaperResult:
    """A variance of fractions, as it has to be for the square of a percentage to come out."""
    value = variance.value
    intervals = tuple(replace(each, low=100 * each.low, high=100 * each.high) for each in value.intervals)
    number = None if value.value is None else 100 * value.value
    per_seed = tuple(100 * each for each in variance.per_seed)
    return replace(variance, value=replace(value, value=number, intervals=intervals), per_seed=per_seed)


def _require(method: MethodOutcomes, *names: str) -> None:
    for outcome in method.outcomes:
        missing = [name for name in names if not getattr(outcome.record, name)]
        if missing:
            raise OpenworldError(
                f"the record of {method.method} on {method.dataset}, seed {outcome.record.seed}, holds no "
                f"{missing[0]!r}; it was made without it: run again in a new folder."
            )


def _of_task(task: str, methods: Sequence[MethodOutcomes], metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Every number of one task, data set by data set."""
    chosen: dict[tuple[str, str], MethodOutcomes] = {}
    for kind in SETTINGS[task]:
        for method in methods:
            if method.kind == kind:
                chosen.setdefault((method.dataset, method.method), method)
    for method in methods:
        if chosen.get((method.dataset, method.method)) is not method:
            continue
        if task == "imbalance":
            yield from _imbalance(method)
        elif task == "ratio sweep":
            yield from _ratio_sweep(method, metrics)
        else:
            yield from (detection(method, metric, SETTINGS[task][method.kind]) for metric in metrics)


def _numbers(wanted: PaperTable, methods: Sequence[MethodOutcomes]) -> Iterator[PaperResult]:
    if wanted.columns == ("task",):
        yield from _task_columns(methods)
        return
    numbers = [number for task in wanted.tasks for number in _of_task(task, methods, wanted.metrics)]
    printed = published_numbers(wanted.paper, wanted.number)
    if "source" not in {number.setting for number in printed}:
        numbers = [number for number in numbers if number.setting != "source"]
    numbers = _of_datasets(numbers, wanted.datasets)
    if wanted.rows == "setting":
        named = {number.method for number in printed}
        yield from [number for number in numbers if number.method in named] or numbers
    elif "dataset" in wanted.columns:
        yield from numbers
        setting = BOTH_SIDES if "imbalance" in wanted.tasks else ""
        yield from (average_of(group, setting) for group in _groups(numbers) if several_datasets(group))
    else:
        yield from (average_of(group, dataset="") for group in _groups(numbers, with_source=True))


def _task_columns(methods: Sequence[MethodOutcomes]) -> Iterator[PaperResult]:
    """Table 15. Its column of domain adaption repeats the source, and so does ours, to be of the same thing."""
    for name, (task, datasets) in AVERAGED.items():
        metrics = ("n_params_thousand",) if task == "size" else ("OpenworldAUC",)
        numbers = _of_datasets(list(_of_task(task, methods, metrics)), datasets)
        if task == "domain generalisation":
            numbers = [number for number in numbers if number.setting == "source"]
        for group in _groups(numbers, with_source=True):
            yield average_of(group, task=name, dataset="" if task == "size" else AVERAGE)


def _of_datasets(numbers: list[PaperResult], datasets: Sequence[str]) -> list[PaperResult]:
    """Return those on the table's own data sets; all of them where none is."""
    return [number for number in numbers if number.dataset in datasets] or numbers


def _groups(numbers: Sequence[PaperResult], *, with_source: bool = False) -> list[list[PaperResult]]:
    """The numbers of each method and metric; a source is averaged with its targets only where that is asked for."""
    groups: dict[tuple[str, str], list[PaperResult]] = {}
    for number in numbers:
        if with_source or number.setting != "source":
            groups.setdefault((number.method, number.metric), []).append(number)
    return list(groups.values())
