"""OpenworldAUC's tables (Hua et al., 2025): which rows of recognition and of generalisation they hold."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from openworld.core.errors import OpenworldError
from openworld.evaluations.recognition.class_imbalance import ALL_RATIOS, VARIANCES
from openworld.evaluations.recognition.outcome import Outcome, load
from openworld.evaluations.recognition.results import HM, learner_results
from openworld.papers import METRICS, PaperTable
from openworld.papers.results import Cells, PaperRow, PaperRun
from openworld.results import Result, over_seeds

_HM = {"HM": HM.key}  # that of the mean accuracies, as the paper prints it
_ON_SOURCE = (Cells(keys=_HM), Cells({"kind": "source"}, keys=_HM))
_VARIANCES = {name: VARIANCES[METRICS[name].key].key for name in METRICS if METRICS[name].key in VARIANCES}

CELLS = {
    "recognition": _ON_SOURCE,
    "gates": _ON_SOURCE,
    "size": _ON_SOURCE,
    "time": _ON_SOURCE,
    "imbalance": (Cells({"mix": "forward"}, "base:new=5:1 (Fwd)"), Cells({"mix": "backward"}, "base:new=1:5 (Bwd)")),
    "ratio sweep": (
        Cells({"ratio": ..., "new_share": ...}, "new/base={ratio:g}"),
        Cells({"mix": ALL_RATIOS}, "mean over the ten ratios"),
        Cells({"mix": ALL_RATIOS}, "variance over the ten ratios", _VARIANCES),
    ),
    "domain generalisation": (Cells({"kind": "source"}, "source", _HM), Cells({"kind": "variant"}, "target", _HM)),
    "cross-data-set": (Cells({"kind": "other"}, "base classes = 500 ImageNet classes", _HM),),
}
"""Task -> its rows: of the images as they are in a record of recognition, else in one of generalisation; of mixes."""


def rows(_: PaperTable, runs: Sequence[PaperRun]) -> Iterator[PaperRow]:
    """Yield every number of every method on every data set; the seeds of a method are joined over the runs."""
    by_method: dict[tuple, dict[int, Outcome]] = {}
    for run in runs:
        for outcome in run.read(load):
            key = (dataset_of(run, outcome), outcome.facts.get("kind"), run.method(outcome.learner), run.backbone)
            if by_method.setdefault(key, {}).setdefault(outcome.seed, outcome).area != outcome.area:
                raise OpenworldError(
                    f"two records of {key[2]} on {key[0]}, seed {outcome.seed}, differ in OpenworldAUC; give each "
                    "learner its own name, or read only one of the runs."
                )
    for (dataset, kind, method, backbone), by_seed in by_method.items():
        outcomes = [by_seed[seed] for seed in sorted(by_seed)]
        for row in learner_results(method, outcomes, {"kind": kind} if kind else {}):
            yield PaperRow(_as_printed(row, outcomes[0]), dataset, method, backbone)


def dataset_of(run: PaperRun, outcome: Outcome) -> str:
    """A recognition record names its task and domains, a target of a generalisation record its data set and domain."""
    facts = outcome.facts
    if facts.get("kind"):
        return run.dataset(facts["dataset"], facts["domain"])
    trained, tested = facts["train_domain"], facts["test_domain"]
    return run.dataset(facts["task"], tested if trained == tested else f"{trained} → {tested}")


def _as_printed(row: Result, first: Outcome) -> Result:
    """Variances of percentages, and intervals over the groups of images that were drawn together."""
    value, group = row.value, first.group_name
    if row.metric.key in _VARIANCES.values() and value.value is not None:  # of fractions: 100 of them are one squared %
        per_seed = tuple(None if each is None else 100 * each for each in row.per_seed)
        return replace(row, value=over_seeds(per_seed, row.metric), per_seed=per_seed)
    over_groups = {"over": f"{group}s", "n": first.test.n_groups} if group else {}
    intervals = (replace(each, **over_groups) if each.over == "images" else each for each in value.intervals)
    return replace(row, value=replace(value, intervals=tuple(intervals)))
