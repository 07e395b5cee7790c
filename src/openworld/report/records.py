"""Which evaluation the run in a folder is of."""

from pathlib import Path

from openworld.runs import RunStore


def protocol_of(folder: Path | str) -> str | None:
    """The protocol of the run in a folder, whole or not; None where its spec names none.

    Raises:
        OpenworldError: when there is no run.
    """
    resolved = RunStore(folder).description()["resolved"]
    return resolved.get("protocol") if isinstance(resolved, dict) else None
