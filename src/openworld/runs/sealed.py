"""JSON of ours that is read again: its keys and types are checked, and what decides bears a seal, a hash over the rest.

A seal tells of damage and of edits by hand. There is no secret in it: whoever computes it anew can forge a file.
Arrays lie beside JSON in one safetensors file, whole or not at all: a watch, its state, a plan of labels, detectors.
All JSON is one entry of the metadata there, with a SHA-256 over itself and the arrays, so that a damaged or edited file
is refused before anything in it is used.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json, read_plain
from openworld.runs.atomic import writing
from openworld.runs.canonical import canonical_json, digest, readable_json, to_json
from openworld.runs.spec import read_spec

Schema = TypeVar("Schema")
SEAL = "seal"
ENTRY, VERSION = "openworld", 1
Found = TypeVar("Found")


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


def sealed_bytes(kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> tuple[bytes, str]:
    """Return the bytes of a file of a `kind`, and its fingerprint, the same for the same content."""
    from safetensors.numpy import save

    arrays, head, fingerprint = _sealed(kind, about, arrays)
    return save(arrays, head), fingerprint


def write_arrays(path: Path, kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """Write a file in one step; return its fingerprint. Arguments as for `sealed_bytes`."""
    from safetensors.numpy import save_file

    arrays, head, fingerprint = _sealed(kind, about, arrays)
    with writing(path) as file:  # not as bytes: banks are large
        save_file(arrays, file.name, head)
    return fingerprint


def _sealed(
    kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, str], str]:
    """Return arrays as they lie in a file, its header, and its fingerprint."""
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    fingerprint = _fingerprint(kind, about, arrays)
    entry = {"kind": kind, "version": VERSION, "sha256": fingerprint, "about": about}
    text = json.dumps(to_json(entry), separators=(",", ":"), ensure_ascii=False, allow_nan=False)  # in the order given
    return arrays, {ENTRY: text}, fingerprint


def read_arrays(path: Path, kind: str, read: Callable[[dict[str, Any], dict[str, np.ndarray], str], Found]) -> Found:
    """Return what `read` makes of what a file says, of its arrays, and of its fingerprint; damage and edits raise."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise OpenworldError(f"there is no file {path}; expected {kind}.")
    try:
        with safe_open(path, "numpy") as tensors:
            said = parse_json((tensors.metadata() or {}).get(ENTRY, "{}"))
            arrays = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, OSError) as error:
        raise OpenworldError(f"{path} cannot be read ({error}); expected {kind}.") from error
    if not isinstance(said, dict) or said.get("kind") != kind:
        other = said.get("kind") if isinstance(said, dict) else None
        raise OpenworldError(f"{path} is {other or 'some other file'}; expected {kind}.")
    version = said.get("version")
    if version != VERSION or type(version) is not int:  # true and 1.0 equal 1, and no seal covers them
        raise OpenworldError(f"{path} is of version {version}, and this openworld reads {VERSION}; make it anew.")
    try:
        about, fingerprint = said["about"], said["sha256"]
        as_sealed = len(said) == 4 and _fingerprint(kind, about, arrays) == fingerprint
    except (OpenworldError, AttributeError, KeyError, RecursionError):
        as_sealed = False
    if not as_sealed:
        raise OpenworldError(f"{path} is damaged: its content is not what its SHA-256 says; take a copy of it.")
    try:
        return read(about, arrays, fingerprint)
    except OpenworldError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:  # sealed, of another shape
        raise OpenworldError(
            f"{path} is {kind} of another openworld ({type(error).__name__}: {error}); read it with that, or make it "
            "anew."
        ) from error


def _fingerprint(kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    # How it was made is no part of what it is.
    content = {name: value for name, value in about.items() if name != "made"}
    hashed = hashlib.sha256(canonical_json([kind, VERSION, content]).encode())
    for name in sorted(arrays):
        hashed.update(canonical_json([name, str(arrays[name].dtype), arrays[name].shape]).encode())
        array = np.asarray(arrays[name], order="C")
        hashed.update(array)  # ty: ignore[invalid-argument-type]: NumPy's stubs have buffers from Python 3.12 on
    return hashed.hexdigest()
