"""Files of saved scores, read block by block, whatever their size: npz, safetensors, Parquet, CSV.

A file is columns of one entry per image: numbers or text [n], or a row of numbers per image [n, C]. What the columns
mean is `columns`'s business.
"""

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from openworld._errors import OpenworldError
from openworld.datasets.formats.listing import require_commas

Columns = dict[str, np.ndarray]
NUMBERS = 2_000_000  # of a block
CSV_BYTES = 1 << 23  # of a block
_UNREADABLE = (
    *(ValueError, TypeError, KeyError, EOFError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, SafetensorError, OSError),
)


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores.

    columns: names. about: what the file says of itself, such as "classnames" as a JSON list. read: names -> blocks of
    those columns, each a dict of arrays of one length.
    """

    path: Path
    columns: tuple[str, ...]
    about: dict[str, str]
    read: Callable[[Sequence[str]], Iterator[Columns]]

    def blocks(self, names: Sequence[str]) -> Iterator[Columns]:
        """Blocks of some columns, in the order of the file.

        Raises:
            OpenworldError: a file that is cut short or damaged, or a column that is no table of numbers or text.
        """
        try:
            for block in self.read(names):
                lengths = {name: len(values) for name, values in block.items()}
                if len(set(lengths.values())) > 1:
                    raise OpenworldError(f"the arrays of {self.path} differ in length: {lengths}; one entry per image.")
                if next(iter(lengths.values()), 0):
                    yield block
        except _UNREADABLE as error:
            raise _unreadable(self.path, error) from error


def open_scores(path: Path) -> ScoreFile:
    """Look at a file's columns; its entries are read later.

    Raises:
        OpenworldError: no such file, another ending, or a file that is not what its name says.
    """
    openers = {".npz": _npz, ".safetensors": _safetensors, ".parquet": _parquet, ".csv": _csv}
    if path.suffix.lower() not in openers:
        raise OpenworldError(f"{path.name} ends in {path.suffix!r}; expected {', '.join(openers)}.")
    if not path.is_file():
        raise OpenworldError(f"there is no file {path}.")
    try:
        return openers[path.suffix.lower()](path)
    except _UNREADABLE as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> OpenworldError:
    if isinstance(error, OpenworldError):
        return error
    return OpenworldError(f"{path} is not what its name says, a {path.suffix.lower()} file, or is damaged: {error}.")


def _npz(path: Path) -> ScoreFile:
    with zipfile.ZipFile(path) as archive:
        names = {name.removesuffix(".npy"): name for name in archive.namelist()}

    def read(wanted: Sequence[str]) -> Iterator[Columns]:
        with zipfile.ZipFile(path) as archive, ExitStack() as opened:
            members = {one: _Member(opened.enter_context(archive.open(names[one])), one) for one in wanted}
            rows = _rows_of_a_block([member.width for member in members.values()])
            while any(member.left for member in members.values()):
                yield {one: member.read(rows) for one, member in members.items()}

    return ScoreFile(path, tuple(names), _npz_about(path, names), read)


def _npz_about(path: Path, names: dict[str, str]) -> dict[str, str]:
    """The class names of an npz file are an array among the others."""
    if "classnames" not in names:
        return {}
    with np.load(path, allow_pickle=False) as arrays:
        return {"classnames": json.dumps(arrays["classnames"].tolist())}


class _Member:
    """An array of an npz file, read row by row from the archive."""

    def __init__(self, stream, name: str):
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, by_column, self.dtype = read(stream)
        if self.dtype.hasobject or not shape:
            raise OpenworldError(f"array {name!r} holds Python objects or a single value; save numbers or text [n].")
        if by_column and len(shape) > 1:
            raise OpenworldError(f"array {name!r} lies in Fortran order; save numpy.ascontiguousarray of it.")
        self.stream, self.left, self.shape = stream, shape[0], shape[1:]
        self.width = int(np.prod(self.shape))

    def read(self, rows: int) -> np.ndarray:
        rows = min(rows, self.left)
        self.left -= rows
        data = self.stream.read(rows * self.width * self.dtype.itemsize)
        return np.frombuffer(data, self.dtype).reshape(rows, *self.shape)


def _rows_of_a_block(widths: Sequence[int]) -> int:
    return max(1, NUMBERS // max(1, sum(widths)))


def _safetensors(path: Path) -> ScoreFile:
    with safe_open(path, "numpy") as tensors:
        names, about = tuple(tensors.keys()), tensors.metadata() or {}

    def read(wanted: Sequence[str]) -> Iterator[Columns]:
        with safe_open(path, "numpy") as tensors:
            slices = {name: tensors.get_slice(name) for name in wanted}
            shapes = {name: one.get_shape() for name, one in slices.items()}
            rows = _rows_of_a_block([int(np.prod(shape[1:])) for shape in shapes.values()])
            ends = {name: shape[0] for name, shape in shapes.items()}
            for start in range(0, max(ends.values()), rows):
                yield {
                    name: one[min(start, ends[name]) : min(start + rows, ends[name])] for name, one in slices.items()
                }

    return ScoreFile(path, names, about, read)


def _parquet(path: Path) -> ScoreFile:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    about = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items() if key == b"classnames"}

    def read(wanted: Sequence[str]) -> Iterator[Columns]:
        # Reading ahead would hold the columns of the whole file in memory.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            rows = _rows_of_a_block([_numbers_a_row(file.metadata)])
            for batch in file.iter_batches(batch_size=rows, columns=list(wanted), use_threads=False):
                yield {name: _to_numpy(batch.column(name), name) for name in wanted}

    return ScoreFile(path, tuple(schema.names), about, read)


def _numbers_a_row(metadata) -> int:
    """How many values a row of a Parquet file holds, lists counted by their entries."""
    if not metadata.num_rows:
        return 1
    group = metadata.row_group(0)
    return sum(group.column(place).num_values for place in range(group.num_columns)) // max(1, group.num_rows)


def _csv(path: Path) -> ScoreFile:
    import pyarrow
    from pyarrow import csv

    require_commas(path)

    def opened(**choices):
        options = csv.ReadOptions(block_size=CSV_BYTES, use_threads=False)
        return csv.open_csv(path, read_options=options, convert_options=csv.ConvertOptions(**choices))

    with opened() as reader:
        names = tuple(reader.schema.names)

    def read(wanted: Sequence[str]) -> Iterator[Columns]:
        # Arrow takes the type of a column from its first block, where scores may all be whole numbers.
        numbers = {name: pyarrow.float64() for name in wanted if ":" in name}
        with opened(include_columns=list(wanted), column_types=numbers) as reader:
            for batch in reader:
                yield {name: _to_numpy(batch.column(name), name) for name in wanted}

    return ScoreFile(path, names, {}, read)


def _to_numpy(column, name: str) -> np.ndarray:
    """An Arrow column as [n], or as [n, C] where each entry is a list of C numbers."""
    import pyarrow

    kinds = pyarrow.types.is_fixed_size_list, pyarrow.types.is_list, pyarrow.types.is_large_list
    if not any(is_one(column.type) for is_one in kinds):
        return column.to_numpy(zero_copy_only=False)
    flat = column.flatten().to_numpy(zero_copy_only=False)
    if not len(column) or len(flat) % len(column) or _ragged(column, len(flat)):
        raise OpenworldError(
            f"the lists of column {name!r} differ in length or are empty; expected one number a class."
        )
    return flat.reshape(len(column), -1)


def _ragged(column, total: int) -> bool:
    lengths = column.value_lengths()
    return lengths.null_count > 0 or not (lengths.to_numpy(zero_copy_only=False) * len(column) == total).all()
