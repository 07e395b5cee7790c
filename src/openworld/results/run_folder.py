"""A finished run, read and verified once; and two runs of one evaluation side by side: numbers, settings, versions.

Numbers are paired by entity and place, and tested over the seeds that both runs have (paired t-test, Holm).
"""

from collections.abc import Iterator, Mapping
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

WITHOUT_EFFECT = (
    *("keep_learners", "keep_validation", "operating", "threads"),
    *("ratios", "resamples", "imbalance_factor"),
    "predictions",  # the hash of a scored file: whose numbers differ is what is compared
)
"""Keys of a spec that change no number of `openworld compare`."""

KINDS = ("learner", "method", "detector", "estimator", "architecture", "backbone")
"""Keys that name what an entry of a list is; entries are compared by label."""

_PACKAGES = ("openworld", "torch")
_ABSENT = "not given"
_ENTRY = "entries of lists"


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


def differing_settings(first: RunFolder, second: RunFolder) -> tuple[tuple[str, str, str], ...]:
    """Return (setting, first, second) of all that differs; entries of lists are paired by their labels."""
    ours, theirs = (dict(_flat(_by_label(run.resolved))) for run in (first, second))
    keys = [key for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
    # Entries that only one run has are seen in its results.
    keys = [key for key in keys if key[0] != _ENTRY or all((*key[:2], "is") in flat for flat in (ours, theirs))]
    names = {key: f"{key[1]} {'.'.join(key[2:])}" if key[0] == _ENTRY else ".".join(key) for key in keys}
    changes = [(names[key], _said(ours, key), _said(theirs, key)) for key in keys]
    here, there = ((run.provenance[-1].get("packages", {}) if run.provenance else {}) for run in (first, second))
    packages = [(name, here.get(name), there.get(name)) for name in _PACKAGES]
    return (*changes, *((name, one, other) for name, one, other in packages if one and other and one != other))


def _by_label(resolved: Any) -> Mapping:
    """A spec with its entries by label, so that their order and number do not matter."""
    if not isinstance(resolved, Mapping):
        return {}
    listed = [name for name, value in resolved.items() if isinstance(value, list | tuple) and any(map(_kind, value))]
    entries = {entry.get("label") or _kind(entry): _settings(entry) for name in listed for entry in resolved[name]}
    rest = {name: value for name, value in resolved.items() if name not in (*WITHOUT_EFFECT, *listed)}
    return rest | {_ENTRY: entries}


def _kind(entry: Any) -> str:
    """What an entry of a list is; "" of what is no entry."""
    return next((entry[kind] for kind in KINDS if entry.get(kind)), "") if isinstance(entry, Mapping) else ""


def _settings(entry: Mapping) -> Mapping:
    rest = {name: value for name, value in entry.items() if name not in (*KINDS, "label", "settings")}
    return {"is": _kind(entry), **(entry.get("settings") or {}), **rest}


def flat_settings(settings: Mapping[str, Any], between: str = ".") -> dict[str, Any]:
    """Return settings by dotted keys."""
    return {between.join(path): value for path, value in _flat(settings)}


def _flat(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _flat(value, (*path, str(key)))
    else:
        yield path, node


def _said(flat: Mapping, key: tuple[str, ...]) -> str:
    value = flat.get(key, _ABSENT)
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
