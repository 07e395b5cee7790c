"""A run of decomposed zero-shot accuracy as the report sees it: methods over seeds, told for the same rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from openworld.report.records import protocol_records
from openworld.runs import Record

PROTOCOL = "decomposed-zero-shot"
PARTS = {"whole": "whole feature", "semantic": "semantic half", "covariate": "covariate half"}
"""A part of the features -> what tables call it."""

RANKS = {"top1": "top-1", "top5": "top-5"}


@dataclass(frozen=True, eq=False)
class DecomposedRun:
    """Records by method, one per seed where it draws, in the order of the run; rows are the same in all of them."""

    records: Mapping[str, tuple[Record, ...]]
    given: Any = None
    resolved: Any = None
    provenance: tuple[Mapping[str, Any], ...] = ()

    @property
    def methods(self) -> tuple[str, ...]:
        """Labels, in the order of the run."""
        return tuple(self.records)

    @property
    def any(self) -> Mapping[str, Any]:
        """The metrics of some record, for what all have in common."""
        return self.records[self.methods[0]][0].metrics

    @property
    def rows(self) -> tuple[str, ...]:
        """What tables call the pictures, in the order of the run."""
        return tuple(dict.fromkeys(one["row"] for one in self.any["sets"]))

    @property
    def seeds(self) -> tuple[int, ...]:
        """In increasing order."""
        return tuple(sorted({one.metrics["seed"] for records in self.records.values() for one in records}))

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """(part, method) of every line of the table; whole features are the same whatever splits them."""
        halves = [(part, method) for part in PARTS if part != "whole" for method in self.methods]
        return (("whole", self.methods[0]), *halves)

    def sets(self, method: str, row: str) -> list[list[Mapping[str, Any]]]:
        """What the records say of each image set of a row, by seed."""
        return [[one for one in record.metrics["sets"] if one["row"] == row] for record in self.records[method]]

    def accuracies(self, part: str, method: str, row: str, rank: str) -> list[float | None]:
        """By seed, the mean over the row's image sets; None of too few classes. Whole features have no seeds."""
        found = []
        for sets in self.sets(method, row):
            told = [one["parts"][part][rank] for one in sets]
            found.append(None if None in told else fmean(one["value"] for one in told))
        return found[:1] if part == "whole" else found


def load_decomposed(folder: Path | str) -> DecomposedRun:
    """A run, its records verified.

    Raises:
        OpenworldError: when there is no run, or a unit is missing or damaged.
    """
    records, description = protocol_records(folder, PROTOCOL, "decomposed zero-shot accuracy")
    return decomposed_run(records, *description)


def decomposed_run(records: Iterable[Record], given=None, resolved=None, provenance=()) -> DecomposedRun:
    """The same from records."""
    by_method: dict[str, list[Record]] = {}
    for one in sorted(records, key=lambda one: one.metrics["seed"]):
        by_method.setdefault(one.metrics["method"], []).append(one)
    first = [one["label"] for one in (resolved or {}).get("methods", ()) if one["label"] in by_method]
    return DecomposedRun({name: tuple(by_method[name]) for name in first or by_method}, given, resolved, provenance)
