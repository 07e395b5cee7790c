"""What a run folder holds for a report, read and verified once: its records, its spec, and what ran it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openworld.core.errors import OpenworldError

if TYPE_CHECKING:
    from openworld.runs import Record


@dataclass(frozen=True, eq=False)
class RunFolder:
    """A finished run.

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
