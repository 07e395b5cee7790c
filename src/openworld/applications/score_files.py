"""Files of saved scores, with one entry per image: npz, safetensors, Parquet, CSV; read block by block, or whole.

A file is columns: numbers or text [n], or a row of numbers per image [n, C]. What columns mean is the business of those
who read them: `predictions` for `openworld score`, `estimate.columns` for `openworld estimate`.
"""

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from openworld._errors import OpenworldError
from openworld._plain import parse_json
from openworld.datasets.formats.listing import require_commas

Columns = dict[str, np.ndarray]
NUMBERS = 2_000_000  # of a block
WHOLE = 2**28  # of the largest block
CSV_BYTES = 4  # of a number, about
ABOUT = ("classnames", "n_base")
"""What an npz or Parquet file may say of itself, as JSON."""
TEXTS = "texts"
"""The metadata of safetensors, which hold numbers alone, where columns of text lie: JSON, a list by name."""
_UNREADABLE = (
    *(ValueError, TypeError, KeyError, EOFError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, SafetensorError, OSError),
)


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores.

    Args:
        path: where it lies.
        columns: their names.
        about: what the file says of itself, such as "classnames" as a JSON list.
        read: (names, numbers) -> blocks of those columns, each of about so many numbers.
    """

    path: Path
    columns: tuple[str, ...]
    about: Mapping[str, str]
    read: Callable[[Sequence[str], int], Iterator[Columns]]

    def blocks(self, names: Sequence[str], numbers: int | None = None) -> Iterator[Columns]:
        """Return blocks of some columns in the order of the file, each a dict of arrays of one length, not 0.

        Raises:
            OpenworldError: a file that is cut short or damaged, columns of different lengths, or a column that is no
                table of numbers or text.
        """
        try:
            for block in self.read(names, numbers or NUMBERS):
                if len(next(iter(block.values()), ())):
                    yield block
        except _UNREADABLE as error:
            raise _unreadable(self.path, error) from error

    def table(self) -> Columns:
        """Return all columns whole; CSV then has the type of a column from all of its rows. Raises as `blocks` does."""
        blocks = list(self.blocks(self.columns, WHOLE)) or [dict.fromkeys(self.columns, np.empty(0))]
        return {name: np.concatenate([block[name] for block in blocks]) for name in self.columns}


def scores_of(columns: Columns, name: str, about: Mapping[str, str] | None = None) -> ScoreFile:
    """Return arrays as a file of scores; nothing is copied.

    Args:
        columns: as a file would have them. name: what messages call them. about: as of a file.
    """

    def read(wanted: Sequence[str], numbers: int) -> Iterator[Columns]:
        whole = {one: columns[one] for one in wanted}
        require_one_length(Path(name), {one: len(column) for one, column in whole.items()})
        rows = _rows_of_a_block(numbers, [int(np.prod(column.shape[1:])) for column in whole.values()])
        for start in range(0, max(map(len, whole.values()), default=0), rows):
            yield {one: column[start : start + rows] for one, column in whole.items()}

    return ScoreFile(Path(name), tuple(columns), about or {}, read)


def open_scores(
    path: "Path | str | ScoreFile", kinds: Sequence[str] = (".npz", ".safetensors", ".parquet", ".csv")
) -> ScoreFile:
    """Look at a file's columns; its entries are read later.

    Args:
        path: the file, or what `scores_of` made of arrays. kinds: the endings that will do.

    Raises:
        OpenworldError: no such file, another ending, or a file that is not what its name says.
    """
    if isinstance(path, ScoreFile):
        return path
    path = Path(path)
    suffix, expected = path.suffix.lower(), ", ".join(kinds)
    if path.is_dir():
        raise OpenworldError(f"{path.resolve()} is a folder, expected {expected}; give a file of scores.")
    if suffix not in kinds:
        ending = f"ends in {path.suffix!r}" if suffix else "has no ending"
        raise OpenworldError(f"{path.name} {ending}; expected {expected}.")
    if not path.is_file():
        raise OpenworldError(f"there is no file {path}.")
    try:
        return {".npz": _npz, ".safetensors": _safetensors, ".parquet": _parquet, ".csv": _csv}[suffix](path)
    except _UNREADABLE as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> OpenworldError:
    if isinstance(error, OpenworldError):
        return error
    return OpenworldError(f"{path} is not what its name says, a {path.suffix.lower()} file, or is damaged: {error}.")


def _npz(path: Path) -> ScoreFile:
    with path.open("rb") as file:
        if file.read(6) == np.lib.format.MAGIC_PREFIX:
            raise ValueError("it holds one array without a name, as numpy.save writes it; use numpy.savez")
    with zipfile.ZipFile(path) as archive:
        names = {name.removesuffix(".npy"): name for name in archive.namelist()}
    with np.load(path, allow_pickle=False) as arrays:  # arrays among the others
        about = {name: json.dumps(arrays[name].tolist()) for name in ABOUT if name in names}

    def read(wanted: Sequence[str], numbers: int) -> Iterator[Columns]:
        with zipfile.ZipFile(path) as archive, ExitStack() as opened:
            members = {name: _Member(opened.enter_context(archive.open(names[name])), name) for name in wanted}
            require_one_length(path, {name: member.left for name, member in members.items()})
            rows = _rows_of_a_block(numbers, [member.width for member in members.values()])
            while any(member.left for member in members.values()):
                yield {name: member.read(rows) for name, member in members.items()}

    return ScoreFile(path, tuple(names), about, read)


class _Member:
    """An array of an npz file, read row by row from the archive."""

    def __init__(self, stream, name: str):
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, by_column, self.dtype = read(stream)
        if self.dtype.hasobject or not shape:
            raise OpenworldError(
                f"array {name!r} holds Python objects or a single value; save numbers or text, one entry per image."
            )
        if by_column and len(shape) > 1:
            raise OpenworldError(f"array {name!r} lies in Fortran order; save numpy.ascontiguousarray of it.")
        self.stream, self.left, self.shape = stream, shape[0], shape[1:]
        self.width = int(np.prod(self.shape))

    def read(self, rows: int) -> np.ndarray:
        """Return the next rows, or those that are left."""
        rows = min(rows, self.left)
        self.left -= rows
        data = self.stream.read(rows * self.width * self.dtype.itemsize)
        return np.frombuffer(data, self.dtype).reshape(rows, *self.shape)


def require_one_length(path: Path, lengths: Mapping[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        raise OpenworldError(f"the arrays of {path} differ in length: {lengths}; expected one entry per image.")


def _rows_of_a_block(numbers: int, widths: Sequence[int]) -> int:
    return max(1, numbers // max(1, sum(widths)))


def _safetensors(path: Path) -> ScoreFile:
    with safe_open(path, "numpy") as tensors:
        names, about = tuple(tensors.keys()), dict(tensors.metadata() or {})
    texts = {name: np.array(column) for name, column in parse_json(about.pop(TEXTS, "{}")).items()}

    def read(wanted: Sequence[str], numbers: int) -> Iterator[Columns]:
        with safe_open(path, "numpy") as tensors:
            slices = {name: texts[name] if name in texts else tensors.get_slice(name) for name in wanted}
            shapes = {name: texts[name].shape if name in texts else slices[name].get_shape() for name in wanted}
            require_one_length(path, {name: shape[0] for name, shape in shapes.items()})
            rows = _rows_of_a_block(numbers, [int(np.prod(shape[1:])) for shape in shapes.values()])
            count = max(shape[0] for shape in shapes.values())
            for start in range(0, count, rows):
                yield {name: tensor[start : min(start + rows, count)] for name, tensor in slices.items()}

    return ScoreFile(path, (*names, *texts), about, read)


def _parquet(path: Path) -> ScoreFile:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    own = schema.metadata or {}
    about = {name: own[name.encode()].decode() for name in ABOUT if name.encode() in own}

    def read(wanted: Sequence[str], numbers: int) -> Iterator[Columns]:
        # Reading ahead would hold the columns of the whole file in memory.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            rows = _rows_of_a_block(numbers, [_numbers_a_row(file.metadata)])
            for batch in file.iter_batches(batch_size=rows, columns=list(wanted), use_threads=False):
                yield {name: _to_numpy(batch.column(name), name) for name in wanted}

    return ScoreFile(path, tuple(schema.names), about, read)


def _numbers_a_row(metadata) -> int:
    """Return how many values a row of a Parquet file holds, lists counted by their entries."""
    if not metadata.num_rows:
        return 1
    group = metadata.row_group(0)
    return sum(group.column(place).num_values for place in range(group.num_columns)) // max(1, group.num_rows)


def _csv(path: Path) -> ScoreFile:
    import pyarrow
    from pyarrow import csv

    require_commas(path)

    def opened(numbers: int, **choices):
        options = csv.ReadOptions(block_size=CSV_BYTES * numbers, use_threads=False)
        return csv.open_csv(path, read_options=options, convert_options=csv.ConvertOptions(**choices))

    with opened(NUMBERS) as reader:
        names = tuple(reader.schema.names)

    def read(wanted: Sequence[str], numbers: int) -> Iterator[Columns]:
        # Arrow takes the type of a column from its first block, where scores may all be whole numbers.
        types = {name: pyarrow.float64() for name in wanted if ":" in name}
        with opened(numbers, include_columns=list(wanted), column_types=types) as reader:
            for batch in reader:
                yield {name: _to_numpy(batch.column(name), name) for name in wanted}

    return ScoreFile(path, names, {}, read)


def _to_numpy(column, name: str) -> np.ndarray:
    """Return an Arrow column as [n], or as [n, C] where each entry is a list of C numbers."""
    import pyarrow

    kinds = pyarrow.types.is_fixed_size_list, pyarrow.types.is_list, pyarrow.types.is_large_list
    if not any(is_kind(column.type) for is_kind in kinds):
        return column.to_numpy(zero_copy_only=False)
    flat = column.flatten().to_numpy(zero_copy_only=False)
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    if not len(flat) or not (lengths == lengths[0]).all():  # of a missing list the length is NaN
        raise OpenworldError(
            f"the lists of column {name!r} differ in length or are empty; expected one number a class."
        )
    return flat.reshape(len(column), -1)
