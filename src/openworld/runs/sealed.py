"""JSON of ours that is read again: its keys and types are checked, and what decides bears a seal, a hash over the rest.

A seal tells of damage and of edits by hand. There is no secret in it: whoever computes it anew can forge a file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from openworld._errors import OpenworldError
from openworld._plain import parse_json, read_plain
from openworld.runs.canonical import digest, readable_json
from openworld.runs.spec import read_spec

Schema = TypeVar("Schema")
SEAL = "seal"


def seal(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a JSON file with a seal on all that it says.

    >>> unseal(seal({"shots": 4}))
    {'shots': 4}
    """
    return readable_json({**content, SEAL: digest(content)})


def unseal(data: bytes) -> dict[str, Any]:
    """Return what a sealed file says, without its seal.

    Raises:
        ValueError: no JSON, no table, no seal, or not what was sealed.
    """
    content = _table(data)
    if SEAL not in content:
        raise ValueError("it has no seal")
    given = content.pop(SEAL)
    try:
        as_sealed = digest(content) == given
    except RecursionError:
        as_sealed = False
    if not as_sealed:
        raise ValueError("its bytes have changed since it was written")
    return content


def read_saved(place: Path, schema: type[Schema], refusal: str, remedy: str, *, sealed: bool = False) -> Schema:
    """Return what a JSON file of ours says, as the dataclass that it was written from.

    Args:
        place: of the file. refusal: says what is not there, such as "runs/x holds no whole learner".
        remedy: says what to do. sealed: whether it bears a seal.

    Raises:
        OpenworldError: no such file, damage, a key or a type that it should not have: one sentence.
    """
    try:
        data = read_plain(place)
        return read_spec(unseal(data) if sealed else _table(data), schema)
    except (OSError, ValueError) as error:  # ours among them
        raise OpenworldError(f"{refusal} ({str(error).removesuffix('.')}); {remedy}") from error


def _table(data: bytes) -> dict[str, Any]:
    content = parse_json(data)
    if not isinstance(content, dict):
        raise ValueError(f"it is a {type(content).__name__}, expected a table of keys")
    return content
