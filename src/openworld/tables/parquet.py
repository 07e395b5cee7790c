"""Tables as the bytes of a file: .parquet, .csv, .npz or .safetensors, which the readers of this room read back.

As Parquet they come back column by column; equal tables give equal bytes.
"""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError
from openworld.tables.coded import Coded, narrow

WRITTEN = (".parquet", ".csv", ".npz", ".safetensors")
_LARGE = 2**24  # bytes of a table after which Arrow gives back what it holds ready for the next
_ROWS_PER_GROUP = 1 << 20  # fixed, so that bytes do not depend on a library's default


def encode_table(name: str, columns: Mapping[str, np.ndarray | list], about: Mapping[str, Any] | None = None) -> bytes:
    """Parquet bytes of `columns`: arrays [N] or [N, C], or lists of text, numbers or None, all N long.

    `about` is what the file says of itself, as JSON.
    """
    import pyarrow
    import pyarrow.parquet

    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise OpenworldError(f"columns of table {name!r} differ in length: {lengths}; one row per sample.")
    count = next(iter(lengths.values()), 0)
    # A group of rows at a time: as text, ten million class names take a gigabyte that nobody needs at once. A group of
    # a list may show no type, if all that it holds is None.
    lists = [each for each in columns.values() if not isinstance(each, Coded)]
    show_types = all(isinstance(each, np.ndarray) and each.dtype.kind != "O" for each in lists)
    rows = _ROWS_PER_GROUP if show_types else max(count, 1)
    sink = io.BytesIO()
    writer: Any = None
    for start in range(0, max(count, 1), rows):
        groups = {column: values[start : start + rows] for column, values in columns.items()}
        table = pyarrow.table({column: _to_arrow(f"{name}.{column}", values) for column, values in groups.items()})
        if about:
            table = table.replace_schema_metadata({key: json.dumps(value) for key, value in about.items()})
        if writer is None:
            writer = pyarrow.parquet.ParquetWriter(sink, table.schema, compression="zstd", compression_level=3)
        writer.write_table(table, row_group_size=_ROWS_PER_GROUP)
    writer.close()
    if count > _ROWS_PER_GROUP:
        pyarrow.default_memory_pool().release_unused()
    return sink.getvalue()


def decode_table(data: bytes, *, coded: bool = False) -> dict[str, Any]:
    """The columns of Parquet bytes as NumPy arrays [N] or [N, C]; text comes as an object array, or as `Coded`."""
    import pyarrow
    import pyarrow.parquet

    # On this thread alone: one of Arrow's own may give `data` back when Python is already closing down, and Python ends
    # such a thread in a way that aborts the process. `read_table` uses its threads even with use_threads=False.
    file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
    columns = {}
    for name in file.schema_arrow.names:  # one after the other: Arrow's copy of each goes before the next
        column = file.read(columns=[name], use_threads=False).column(0)
        if coded and pyarrow.types.is_string(column.type) and not column.null_count:
            whole = column.dictionary_encode().combine_chunks()
            whole = whole if not hasattr(whole, "chunks") else whole.chunk(0)
            names = whole.dictionary.to_pylist()
            columns[name] = Coded(narrow(whole.indices.to_numpy(), len(names)), names)
        else:
            columns[name] = _to_numpy(column)
        del column
        if len(data) > _LARGE:
            pyarrow.default_memory_pool().release_unused()
    return columns


def _to_arrow(name: str, values):
    import pyarrow

    if isinstance(values, Coded):
        return pyarrow.array(values.names or [""]).take(pyarrow.array(values.codes))
    array = np.asarray(values) if isinstance(values, np.ndarray) else None
    try:
        if array is not None and array.ndim == 2 and array.shape[1]:
            flat = pyarrow.array(np.ascontiguousarray(array).reshape(-1))
            return pyarrow.FixedSizeListArray.from_arrays(flat, array.shape[1])
        if array is not None and array.ndim != 1:
            raise OpenworldError(f"column {name} has shape {array.shape}, expected [N] or [N, C] with C > 0.")
        # NumPy text would keep its padding; its list form does not.
        return pyarrow.array(array.tolist() if array is not None and array.dtype.kind in "US" else values)
    except (pyarrow.ArrowException, TypeError) as error:
        raise OpenworldError(f"column {name} cannot be stored: {error}.") from error


def _to_numpy(column) -> np.ndarray:
    """A column of a table as an array. Arrow's own `to_numpy` imports pandas where it is installed: half a second."""
    import pyarrow

    if column.null_count or pyarrow.types.is_string(column.type):  # None; NumPy would turn missing integers into NaN
        return np.array(column.to_pylist(), dtype=object)
    if pyarrow.types.is_fixed_size_list(column.type):
        return _numbers([chunk.flatten() for chunk in column.chunks], column).reshape(-1, column.type.list_size)
    return _numbers(column.chunks, column)


def _numbers(chunks, column) -> np.ndarray:
    """Numbers and truth values, of which Arrow packs eight into a byte."""
    import pyarrow

    if not chunks or any(not pyarrow.types.is_primitive(chunk.type) for chunk in chunks):
        return column.to_numpy()
    arrays = []
    for chunk in chunks:
        if pyarrow.types.is_boolean(chunk.type):
            packed = np.frombuffer(chunk.buffers()[1], np.uint8)
            bits = np.unpackbits(packed, count=chunk.offset + len(chunk), bitorder="little")
            arrays.append(bits[chunk.offset :].view(bool))
        else:
            arrays.append(np.from_dlpack(chunk))
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


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

    from openworld.tables.files import TEXTS

    texts = {name: values.tolist() for name, values in arrays.items() if values.dtype.kind == "U"}
    said = {name: json.dumps(value) for name, value in {**(about or {}), TEXTS: texts}.items()}
    return save({name: np.ascontiguousarray(values) for name, values in arrays.items() if name not in texts}, said)


def _csv(arrays: Mapping[str, np.ndarray], classes: Mapping[str, Sequence[str]]) -> bytes:
    flat: dict[str, list] = {}
    for name in sorted(arrays, key=lambda name: arrays[name].ndim):  # what people read comes first
        if arrays[name].ndim == 2:
            flat |= {
                f"{name}:{title}": column.tolist() for title, column in zip(classes[name], arrays[name].T, strict=True)
            }
        else:
            flat[name] = arrays[name].tolist()
    return csv_text(list(flat), zip(*flat.values(), strict=True)).encode()
