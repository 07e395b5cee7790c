"""JSON of ours that is read again: its keys and types are checked, and what decides bears a seal, a hash over the rest.

A seal tells of damage and of edits by hand. There is no secret in it: whoever computes it anew can forge a file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json, read_plain
from openworld.runs.canonical import digest, readable_json
from openworld.runs.spec import read_spec

Schema = TypeVar("Schema")
SEAL = "seal"


def seal(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a JSON file with a seal on all that it says."""
    return readable_json({**content, SEAL: digest(content)})


def unseal(data: bytes) -> dict[str, Any]:
    """Return what a sealed file says, without its seal; ValueError where it was not sealed so."""
    return without_seal(_table(data))


def without_seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a sealed table says; ValueError where it has no seal, or was changed."""
    said = {key: value for key, value in content.items() if key != SEAL}
    if SEAL not in content:
        raise ValueError("it has no seal")
    if digest(said) != content[SEAL]:
        raise ValueError("its bytes have changed since it was written")
    return said


def read_saved(place: Path | bytes, schema: type[Schema], refusal: str, remedy: str, *, sealed: bool = False) -> Schema:
    """Return what a JSON file of ours (or its bytes) says, as the dataclass that it was written from.

    `refusal` says in errors what is not there, such as "runs/x holds no whole learner", and `remedy` what to do.
    """
    try:
        data = place if isinstance(place, bytes) else read_plain(place)
        return read_spec(unseal(data) if sealed else _table(data), schema)
    except (OSError, ValueError) as error:  # ours among them
        raise OpenworldError(f"{refusal} ({str(error).removesuffix('.')}); {remedy}") from error


def _table(data: bytes) -> dict[str, Any]:
    content = parse_json(data)
    if not isinstance(content, dict):
        raise ValueError(f"it is a {type(content).__name__}, expected a table of keys")
    return content
