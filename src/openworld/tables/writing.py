"""Tables as the bytes of a file: .parquet, .csv, .npz or .safetensors, which the readers of this room read back."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError
from openworld.tables.files import TEXTS
from openworld.tables.parquet import encode_table

WRITTEN = (".parquet", ".csv", ".npz", ".safetensors")


def require_kind(path: Path) -> None:
    """Refuse a path that has none of the endings."""
    if path.suffix.lower() not in WRITTEN or path.is_dir():
        raise OpenworldError(f"a table cannot be written as {path.name!r}; give a name ending in {', '.join(WRITTEN)}.")


def table_bytes(
    ending: str,
    columns: Mapping[str, Any],
    about: Mapping[str, Any] | None = None,
    classes: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """Return columns, [n] or [n, C], as the bytes of a file with that ending.

    `about` is what the file says of itself, as JSON; `classes` names the columns of matrices, which CSV needs.
    """
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    if ending == ".parquet":
        return encode_table("the table", arrays, about)
    if ending == ".csv":
        return _csv(arrays, classes or {})
    arrays = {name: values.astype(str) if values.dtype.kind == "O" else values for name, values in arrays.items()}
    if ending == ".npz":
        sink = io.BytesIO()
        entries: dict[str, Any] = {**arrays, **{name: np.array(value) for name, value in (about or {}).items()}}
        np.savez_compressed(sink, **entries)
        return sink.getvalue()

    from safetensors.numpy import save

    texts = {name: values.tolist() for name, values in arrays.items() if values.dtype.kind == "U"}
    said = {name: json.dumps(value) for name, value in {**(about or {}), TEXTS: texts}.items()}
    return save({name: np.ascontiguousarray(values) for name, values in arrays.items() if name not in texts}, said)


def _csv(arrays: Mapping[str, np.ndarray], classes: Mapping[str, Sequence[str]]) -> bytes:
    flat: dict[str, list] = {}
    for name in sorted(arrays, key=lambda name: arrays[name].ndim):  # what people read comes first
        if arrays[name].ndim == 2:
            flat |= {
                f"{name}:{own}": column.tolist() for own, column in zip(classes[name], arrays[name].T, strict=True)
            }
        else:
            flat[name] = arrays[name].tolist()
    return csv_text(list(flat), zip(*flat.values(), strict=True)).encode()
