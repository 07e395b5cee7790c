"""A finished run, read and verified once; and two runs of one evaluation side by side, number by number.

Numbers are paired by entity and place, and tested over the seeds that both runs have (paired t-test, Holm).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.metrics import PairedTest, seeds_test
from openworld.results.comparison import Comparison, comparison_of, correct_for_many
from openworld.results.results import Result, Results
from openworld.results.value import unknown_metric

if TYPE_CHECKING:
    from openworld.runs import Record


@dataclass(frozen=True, eq=False)
class RunFolder:
    """What a run folder holds for a report: its records, its spec, and what ran it.

    Args:
        folder: where it lies.
        evaluation: its name, as its spec gives it; "" of predictions that were scored.
        records: of every unit, in the order of the run.
        given, resolved: the spec as given, and with every default filled in.
        provenance: of every start.
    """

    folder: Path
    evaluation: str
    records: tuple["Record", ...]
    given: Any = None
    resolved: Any = None
    provenance: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def read(cls, folder: Path | str) -> "RunFolder":
        """The run in a folder, every record verified.

        Raises:
            OpenworldError: when there is no run, no record, or a unit is missing or damaged.
        """
        from openworld.runs import RunStore  # not for readers of scores, which have no run

        store = RunStore(folder)
        description = store.description()
        resolved = description["resolved"]
        records = tuple(store.records())
        if not records:
            raise OpenworldError(f"{folder} holds no record, so there is nothing to report on; start the run again.")
        name = resolved.get("protocol", "") if isinstance(resolved, Mapping) else ""
        return cls(Path(folder), name, records, description["given"], resolved, tuple(description["provenance"]))

    @property
    def data(self) -> Mapping[str, str]:
        """The fingerprint of every image set that the run reads, by name."""
        return self.provenance[0].get("data", {}) if self.provenance else {}


@checked
@dataclass(frozen=True)
class Pair:
    """A number in two runs; the comparison is the second minus the first."""

    first: Result
    second: Result
    comparison: Comparison


@checked
def require_same_data(first: RunFolder, second: RunFolder) -> None:
    """Raise unless the runs read the same images: otherwise their difference would be one of images too."""
    ours, theirs = first.data, second.data
    other = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    if other:
        raise OpenworldError(
            f"{first.folder} and {second.folder} read other images under the same names, {len(other)} of them, such as "
            f"{other[0]!r}: their difference would be one of images too. Give two runs on the same data."
        )


@checked
def pair_results(first: Results, second: Results, metric: str = "") -> tuple[Pair, ...]:
    """Pair the numbers of two runs and test every pair, all corrected together.

    Args:
        first, second: of two runs of one evaluation.
        metric: which numbers; "" those of the first metric of the first run that says how good something is.

    Raises:
        OpenworldError: an unknown metric, or no number that both have.
    """
    metrics = first.metrics()
    metric = metric or next((key for key, of in metrics.items() if of.better), next(iter(metrics)))
    if metric not in metrics:
        raise unknown_metric("this pair of runs", metric, metrics)
    theirs = {row.key: row for row in second.where(metric=metric)}
    paired = [(row, theirs[row.key]) for row in first.where(metric=metric) if row.key in theirs]
    if not paired:
        raise OpenworldError(
            f"the two runs have no {metric} of the same thing: the first is of {', '.join(first.entities[:5])}, the "
            f"second of {', '.join(second.entities[:5])}."
        )
    tests = correct_for_many(_test(*pair) for pair in paired)
    return tuple(Pair(*pair, test) for pair, test in zip(paired, tests, strict=True))


def _test(first: Result, second: Result) -> Comparison:
    ours, theirs = (dict(zip(row.seeds, row.per_seed, strict=True)) for row in (first, second))
    shared = [seed for seed in ours if theirs.get(seed) is not None and ours[seed] is not None]
    test = seeds_test([theirs[seed] for seed in shared], [ours[seed] for seed in shared])
    if not shared:
        undefined = first.value.reason or second.value.reason
        test = replace(
            test, reason=undefined or ("the runs have no seed in common" if ours and theirs else "it has no seeds")
        )
    if first.value.value is not None and second.value.value is not None and test.difference is None:
        test = PairedTest(second.value.value - first.value.value, None, None, None, test.reason)
    return comparison_of(second.entity, first.entity, first.metric, test, over="seeds", where=first.where)
