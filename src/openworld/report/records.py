"""What a run folder holds for a report: which protocol it is of, its records, verified, and how they came to be."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld.runs import Record, RunStore

Description = tuple[Any, Any, tuple[Mapping[str, Any], ...]]
"""The spec as given and as resolved, and the provenance of every start."""


def protocol_of(folder: Path | str) -> str | None:
    """The protocol of the run in a folder, whole or not; None where its spec names none.

    Raises:
        OpenworldError: when there is no run.
    """
    resolved = RunStore(folder).description()["resolved"]
    return resolved.get("protocol") if isinstance(resolved, dict) else None


def protocol_records(folder: Path | str, protocol: str, lacking: str) -> tuple[tuple[Record, ...], Description]:
    """The records of a protocol, and the description of the run.

    Raises:
        OpenworldError: when there is no run, a unit is missing or damaged, or no record is of the protocol; then it
            says that the folder holds no record of what is `lacking`.
    """
    store = RunStore(folder)
    told = store.description()
    records = tuple(record for record in store.records() if record.metrics.get("protocol") == protocol)
    if not records:
        raise OpenworldError(f"{folder} holds no record of {lacking}.")
    return records, (told["given"], told["resolved"], tuple(told["provenance"]))
