"""A table of columns as Parquet bytes and back; equal tables give equal bytes."""

import io
from collections.abc import Mapping

import numpy as np

from openworld._errors import OpenworldError

_ROWS_PER_GROUP = 1 << 20  # fixed, so that bytes do not depend on a library's default


def encode_table(name: str, columns: Mapping[str, np.ndarray | list]) -> bytes:
    """Parquet bytes of `columns`: arrays [N] or [N, C], or lists of text, numbers or None, all N long.

    Raises OpenworldError when lengths differ or a column cannot be stored; `name` is for the message.

    >>> decode_table(encode_table("scores", {"id": ["a", "b"], "score": [0.5, 1.0]}))["score"]
    array([0.5, 1. ])
    """
    import pyarrow
    import pyarrow.parquet

    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise OpenworldError(f"columns of table {name!r} differ in length: {lengths}; one row per sample.")
    arrays = {column: _to_arrow(f"{name}.{column}", values) for column, values in columns.items()}
    sink = io.BytesIO()
    pyarrow.parquet.write_table(
        pyarrow.table(arrays), sink, row_group_size=_ROWS_PER_GROUP, compression="zstd", compression_level=3
    )
    return sink.getvalue()


def decode_table(data: bytes) -> dict[str, np.ndarray]:
    """The columns of Parquet bytes as NumPy arrays [N] or [N, C]; text comes as an object array."""
    import pyarrow
    import pyarrow.parquet

    # On this thread alone: one of Arrow's own may give `data` back when Python is already closing down, and Python ends
    # such a thread in a way that aborts the process. `read_table` uses its threads even with use_threads=False.
    table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data)).read(use_threads=False)
    return {column: _to_numpy(table.column(column)) for column in table.column_names}


def _to_arrow(name: str, values):
    import pyarrow

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
    arrays = [_bits(chunk) if pyarrow.types.is_boolean(chunk.type) else np.from_dlpack(chunk) for chunk in chunks]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _bits(chunk) -> np.ndarray:
    packed = np.frombuffer(chunk.buffers()[1], np.uint8)
    return np.unpackbits(packed, count=chunk.offset + len(chunk), bitorder="little")[chunk.offset :].view(bool)
