"""Arrays beside JSON in one safetensors file, whole or not at all: a watch, its state, a plan of labels, detectors.

All JSON is one entry of the metadata, with a SHA-256 over itself and the arrays, so that a damaged or edited file is
refused before anything in it is used.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save, save_file

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.runs.atomic import writing
from openworld.runs.canonical import canonical_json, to_json
from openworld.runs.spec import read_spec

ENTRY, VERSION = "openworld", 1
Found = TypeVar("Found")


@dataclass(frozen=True)
class _Head:
    """The entry of the metadata: what the file is, its version, the hash over the rest, and what it says."""

    kind: str
    version: int
    sha256: str
    about: dict[str, Any]


def sealed_bytes(kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> tuple[bytes, str]:
    """Return the bytes of a file of a `kind`, and its fingerprint, the same for the same content."""
    arrays, head, fingerprint = _sealed(kind, about, arrays)
    return save(arrays, head), fingerprint


def write_arrays(path: Path, kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """Write a file in one step; return its fingerprint. Arguments as for `sealed_bytes`."""
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
    if said.get("version") != VERSION:
        raise OpenworldError(
            f"{path} is of version {said.get('version')}, and this openworld reads {VERSION}; make it anew."
        )
    try:
        head = read_spec(said, _Head)
        as_sealed = _fingerprint(kind, head.about, arrays) == head.sha256
    except (OpenworldError, RecursionError):
        as_sealed = False
    if not as_sealed:
        raise OpenworldError(f"{path} is damaged: its content is not what its SHA-256 says; take a copy of it.")
    try:
        return read(head.about, arrays, head.sha256)
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
    digest = hashlib.sha256(canonical_json([kind, VERSION, content]).encode())
    for name in sorted(arrays):
        digest.update(canonical_json([name, str(arrays[name].dtype), arrays[name].shape]).encode())
        array = np.asarray(arrays[name], order="C")
        digest.update(array)  # ty: ignore[invalid-argument-type]: NumPy's stubs have buffers from Python 3.12 on
    return digest.hexdigest()
