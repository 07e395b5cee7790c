"""The two files of a watch, what was fitted and its state: arrays beside JSON in safetensors, whole or not at all.

All JSON is one entry of the metadata, with a SHA-256 over itself and the arrays, so that a damaged file is refused.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from openworld._errors import OpenworldError
from openworld.runs import canonical_json, to_json
from openworld.runs.atomic import write_file

ENTRY, VERSION = "openworld", 1
FITTED, STATE = "what `openworld estimate fit` writes", "the state of `openworld estimate watch`"
"""What a file may be."""


def write_arrays(path: Path, kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """Write a file in one step; return its fingerprint, the same for the same content.

    Args:
        path: of the file. kind: what it is. about: all that JSON can hold. arrays: of numbers, by name.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    fingerprint = _fingerprint(kind, about, arrays)
    entry = {"kind": kind, "version": VERSION, "sha256": fingerprint, "about": about}
    text = json.dumps(to_json(entry), separators=(",", ":"), ensure_ascii=False, allow_nan=False)  # in the order given
    write_file(path, save(arrays, {ENTRY: text}))
    return fingerprint


def read_arrays(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray], str]:
    """Return what is said of a file, its arrays, and its fingerprint.

    Raises:
        OpenworldError: no such file, another kind of file, one of another version, or one that is damaged.
    """
    if not path.is_file():
        raise OpenworldError(f"there is no file {path}; expected {kind}.")
    try:
        with safe_open(path, "numpy") as tensors:
            entry = json.loads((tensors.metadata() or {}).get(ENTRY, "{}"))
            arrays = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, OSError) as error:
        raise OpenworldError(f"{path} cannot be read ({error}); expected {kind}.") from error
    if not isinstance(entry, dict) or entry.get("kind") != kind:
        raise OpenworldError(f"{path} is {entry.get('kind') or 'some other file'}; expected {kind}.")
    if entry["version"] != VERSION:
        raise OpenworldError(
            f"{path} is of version {entry['version']}, and this openworld reads {VERSION}; make it anew with "
            "`openworld estimate fit`."
        )
    if _fingerprint(kind, entry["about"], arrays) != entry["sha256"]:
        raise OpenworldError(f"{path} is damaged: its content is not what its SHA-256 says; take a copy of it.")
    return entry["about"], arrays, entry["sha256"]


def narrow(array: np.ndarray) -> np.ndarray:
    """Return an array of the fewest bytes a number that still holds every value exactly.

    >>> narrow(np.array([0.5, 3.0])).dtype.name, narrow(np.array([0.1])).dtype.name
    ('float16', 'float64')
    """
    with np.errstate(over="ignore"):
        for smaller in (np.float16, np.float32):
            if np.array_equal(array.astype(smaller), array):
                return array.astype(smaller)
    return array


def _fingerprint(kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    content = {
        name: value for name, value in about.items() if name != "made"
    }  # how it was made is no part of what it is
    digest = hashlib.sha256(canonical_json([kind, VERSION, content]).encode())
    for name in sorted(arrays):
        digest.update(canonical_json([name, str(arrays[name].dtype), arrays[name].shape]).encode())
        digest.update(np.ascontiguousarray(arrays[name]))
    return digest.hexdigest()
