"""Writing an open-world stream as .parquet, .csv, .npz or .safetensors; whole, or not at all."""

import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from openworld._csv import csv_text
from openworld._errors import OpenworldError
from openworld._score_files import TEXTS
from openworld.applications.open_world_stream.columns import MATRICES, REFERENCES
from openworld.runs.atomic import write_file

KINDS = (".parquet", ".csv", ".npz", ".safetensors")


def require_kind(path: Path) -> None:
    """Refuse a path that has none of the endings."""
    if path.suffix.lower() not in KINDS or path.is_dir():
        raise OpenworldError(f"a stream cannot be written as {path.name!r}; give a name ending in {', '.join(KINDS)}.")


def write_stream(path: Path, columns: Mapping[str, np.ndarray], classnames: tuple[str, ...], base: int) -> Path:
    """Write a stream and return its path; classnames: base names, then new names, `base` of the former."""
    require_kind(path)
    write = {".parquet": _parquet, ".csv": _csv, ".npz": _npz, ".safetensors": _safetensors}[path.suffix.lower()]
    about = {"classnames": list(classnames), "n_base": base}
    write_file(path, write(dict(columns), about))
    return path


def _parquet(columns: dict[str, np.ndarray], about: dict) -> bytes:
    import pyarrow
    import pyarrow.parquet

    arrays = {}
    for name, values in columns.items():
        if values.ndim == 2:
            flat = pyarrow.array(np.ascontiguousarray(values).reshape(-1))
            arrays[name] = pyarrow.FixedSizeListArray.from_arrays(flat, values.shape[1])
        else:
            arrays[name] = pyarrow.array(values.tolist() if values.dtype.kind in "OU" else values)
    sink = io.BytesIO()
    table = pyarrow.table(arrays).replace_schema_metadata({name: json.dumps(value) for name, value in about.items()})
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _csv(columns: dict[str, np.ndarray], about: dict) -> bytes:
    classnames, base = about["classnames"], about["n_base"]
    halves = {"base_logits": classnames[:base], "new_logits": classnames[base:]}
    names = {**halves, "logits": classnames, **dict.fromkeys(REFERENCES, classnames)}
    if "logits" in columns:  # in both halves, whose columns say which names are base ones
        columns = {"base_logits": columns["logits"][:, :base], "new_logits": columns["logits"][:, base:]} | columns
    flat: dict[str, list] = {}
    for name in sorted(columns, key=lambda name: name in MATRICES):  # what people read comes first
        if name in MATRICES:
            flat |= {f"{name}:{own}": columns[name][:, place].tolist() for place, own in enumerate(names[name])}
        else:
            flat[name] = columns[name].tolist()
    return csv_text(list(flat), zip(*flat.values(), strict=True)).encode()


def _npz(columns: dict[str, np.ndarray], about: dict) -> bytes:
    sink = io.BytesIO()
    arrays = {name: _plain(values) for name, values in columns.items()}
    np.savez_compressed(sink, **arrays, **{name: np.array(value) for name, value in about.items()})
    return sink.getvalue()


def _safetensors(columns: dict[str, np.ndarray], about: dict) -> bytes:
    from safetensors.numpy import save

    plain = {name: _plain(values) for name, values in columns.items()}
    texts = {name: values.tolist() for name, values in plain.items() if values.dtype.kind == "U"}
    written = {name: json.dumps(value) for name, value in (about | {TEXTS: texts}).items()}
    return save({name: np.ascontiguousarray(values) for name, values in plain.items() if name not in texts}, written)


def _plain(values: np.ndarray) -> np.ndarray:
    """Return text as NumPy's own, of one width."""
    return values.astype(str) if values.dtype.kind == "O" else values
