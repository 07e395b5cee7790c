"""The one door for tables of scores and predictions: npz, safetensors, Parquet, CSV, JSON lines, tables in Python.

A table is columns with one entry per image: numbers or text [n], or a row of numbers per image [n, C]. What columns
mean is the business of those who read them; they say which of them are scores, and which need an entry in every row.
Whatever is masked, missing, infinite, text in the place of a number, or a column that comes twice is refused here, with
the name of the column and its first rows, before anything is counted.
"""

import json
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from safetensors import SafetensorError, safe_open

from openworld.core.arrays import require_once
from openworld.core.csv_files import csv_names
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json, read_text
from openworld.tables.entries import (
    Columns,
    as_column,
    columns_of,
    finite_numbers,
    require_filled,
    require_one_length,
)

ENDINGS = (".npz", ".safetensors", ".parquet", ".csv", ".jsonl")
NUMBERS = 2_000_000  # of a block
WHOLE = 2**28  # of the largest block
CSV_BYTES = 4  # of a number, about
ABOUT = ("classnames", "n_base", "images_in")
"""What an npz or Parquet file may say of itself, as JSON; `images_in`: the folder of the images that it names."""
PER_FILE = (*ABOUT, "class_embeddings", "logit_scale")
"""Entries of an npz file, of safetensors or of a mapping that are no columns: they have no entry per image."""
TEXTS = "texts"
"""The metadata of safetensors, which hold numbers alone, where columns of text lie: JSON, a list by name."""
PACKED, SURE = 100, 2**26
"""An array that takes so many times the bytes of its file is no table of scores, where it is that large."""
_UNREADABLE = (
    *(ValueError, TypeError, KeyError, EOFError, NotImplementedError, RecursionError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, SafetensorError, OSError),
)


Opened = Callable[[Iterable[str]], AbstractContextManager[Mapping[str, Any]]]
"""Of names, columns that have a shape, and give slices in order; of a file while it is open."""


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores: its columns, what it says `about` itself, and `read(names, numbers, scores)` -> blocks.

    `entries` are names of what it holds beside columns (`PER_FILE`), which `table` gives one by one.
    """

    path: Path
    columns: tuple[str, ...]
    about: Mapping[str, str]
    read: Callable[[Sequence[str], int, Sequence[str]], Iterator[Columns]]
    entries: tuple[str, ...] = ()

    def blocks(
        self,
        names: Iterable[str],
        numbers: int | None = None,
        *,
        scores: Iterable[str] = (),
        filled: Iterable[str] = (),
        absent: bool = False,
    ) -> Iterator[Columns]:
        """Return blocks of some columns in the order of the file, each a dict of arrays of one length, not 0.

        Of `names`, `scores` must be finite (or, where `absent`, -inf: a name that does not count), `filled` not empty.
        """
        names, scores, filled, row = list(dict.fromkeys(names)), set(scores), set(filled), 0
        try:
            for block in self.read(names, numbers or NUMBERS, [name for name in names if name in scores]):
                count = len(next(iter(block.values()), ()))
                for name in block:
                    what = f"column {name} of {self.path}"
                    if name in scores:
                        block[name] = finite_numbers(block[name], what, row, absent=absent)
                    elif name in filled:
                        require_filled(block[name], what, row)
                row += count
                if count:
                    yield block
        except _UNREADABLE as error:
            raise _unreadable(self, error) from error

    def table(self, scores: Iterable[str] = (), filled: Iterable[str] = (), names: Iterable[str] | None = None):
        """Return all columns, or some, whole; CSV then has the type of a column from all rows. Raises as `blocks`."""
        names = self.columns if names is None else list(names)
        blocks = list(self.blocks(names, WHOLE, scores=scores, filled=filled))
        blocks = blocks or [dict.fromkeys(names, np.empty(0))]
        return {name: np.concatenate([block[name] for block in blocks]) for name in names}


def scores_of(table: Any, name: str) -> ScoreFile:
    """Return a table in Python as a file of scores; arrays are not copied."""
    there = [one for one in PER_FILE if isinstance(table, Mapping) and one in table]
    entries = {one: np.atleast_1d(as_column(table[one], f"column {one} of {name}")) for one in there}
    columns = columns_of({one: table[one] for one in table if one not in there} if there else table, name)
    said = {one: json.dumps(as_column(table[one], one).tolist(), default=str) for one in ABOUT if one in there}
    read = _in_blocks(name, lambda wanted: nullcontext({one: (columns | entries)[one] for one in wanted}))
    return ScoreFile(Path(name), tuple(columns), said, read, tuple(there))


def open_scores(path: "Path | str | ScoreFile", kinds: Sequence[str] = ENDINGS) -> ScoreFile:
    """Look at a file's columns (or `scores_of` arrays); its entries are read later."""
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
        readers = (_npz, _safetensors, _parquet, _csv, _json_lines)
        return dict(zip(ENDINGS, readers, strict=True))[suffix](path)
    except _UNREADABLE as error:
        raise _unreadable(ScoreFile(path, (), {}, lambda *_: iter(())), error) from error


def _unreadable(file: ScoreFile, error: Exception) -> OpenworldError:
    if isinstance(error, OpenworldError):
        return error
    path, kind = file.path, file.path.suffix.lower()
    odd = re.search(r"column #(\d+): (?:Row #(\d+): )?CSV conversion error to \S+: invalid value '(.*)'", str(error))
    if odd:
        row = f"row {int(odd[2]) - 2} (from 0)" if odd[2] else "some row"
        return OpenworldError(
            f"column {file.columns[int(odd[1])]} of {path} holds {odd[3][:60]!r} in {row}, expected numbers alone."
        )
    return OpenworldError(f"{path} is not what its name says, a {kind} file, or is damaged: {error}.")


def _npz(path: Path) -> ScoreFile:
    with path.open("rb") as file:
        if file.read(6) == np.lib.format.MAGIC_PREFIX:
            raise ValueError("it holds one array without a name, as numpy.save writes it; use numpy.savez")
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        require_once([name.removesuffix(".npy") for name in archive.namelist()], path)

    @contextmanager
    def opened(names: Iterable[str]) -> Generator[dict[str, _Member]]:
        with zipfile.ZipFile(path) as archive, ExitStack() as streams:
            yield {name: _Member(streams.enter_context(archive.open(infos[name])), infos[name]) for name in names}

    with opened(name for name in ABOUT if name in infos) as said:
        values = {name: (member[:WHOLE].tolist(), member.single) for name, member in said.items()}
    about = {name: json.dumps(value[0] if single else value) for name, (value, single) in values.items()}
    return _file(path, tuple(infos), about, opened)


class _Member:
    """An array of an npz file, of which slices are taken in order; a single value is a row of its own.

    The size that it claims is compared with the archive's before anything is unpacked.
    """

    def __init__(self, stream: IO[bytes], info: zipfile.ZipInfo):
        name, self.stream = info.filename.removesuffix(".npy"), stream
        version = np.lib.format.read_magic(self.stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, by_column, self.dtype = read(self.stream)
        self.single = not shape
        self.shape = shape or (1,)
        if self.dtype.hasobject or (self.single and name not in PER_FILE):
            raise OpenworldError(
                f"array {name!r} holds Python objects or a single value; save numbers or text, one entry per image."
            )
        claimed, there = math.prod(self.shape) * self.dtype.itemsize, info.file_size - self.stream.tell()
        if claimed != there or (there > SURE and there > PACKED * info.compress_size):
            raise OpenworldError(
                f"array {name!r} claims {claimed:,} bytes, and {there:,} lie packed in {info.compress_size:,}; this is "
                "no table of scores, or it is damaged: save it again."
            )
        self.place, self.width = 0, math.prod(self.shape[1:])
        self.order: Literal["C", "F"] = "F" if by_column and self.width > 1 else "C"
        self.whole = self._next(self.shape[0]) if self.order == "F" else None  # it lies column after column

    def __getitem__(self, rows: slice) -> np.ndarray:
        first, self.place = self.place, min(rows.stop, self.shape[0])
        return self._next(self.place - first) if self.whole is None else self.whole[first : self.place]

    def _next(self, rows: int) -> np.ndarray:
        data = self.stream.read(rows * self.width * self.dtype.itemsize)
        return np.frombuffer(data, self.dtype).reshape((rows, *self.shape[1:]), order=self.order)


def _file(path: Path, names: Sequence[str], about: Mapping[str, str], opened: Opened) -> ScoreFile:
    """A file whose entries have lengths of their own."""
    columns = tuple(name for name in names if name not in PER_FILE)
    entries = tuple(name for name in names if name in PER_FILE)
    return ScoreFile(path, columns, about, _in_blocks(path, opened), entries)


def _in_blocks(path: Path | str, opened: Opened) -> Callable[[Sequence[str], int, Sequence[str]], Iterator[Columns]]:
    """Return what reads columns so many numbers at a time."""

    def read(wanted: Sequence[str], numbers: int, scores: Sequence[str]) -> Generator[Columns]:
        with opened(wanted) as columns:
            # A slice of safetensors has its shape behind a function.
            shapes = {
                name: column.get_shape() if hasattr(column, "get_shape") else column.shape
                for name, column in columns.items()
            }
            require_one_length(path, {name: shape[0] for name, shape in shapes.items()})
            count = next((shape[0] for shape in shapes.values()), 0)
            rows = max(1, numbers // max(1, sum(math.prod(shape[1:]) for shape in shapes.values())))
            for start in range(0, count, rows):
                yield {name: column[start : min(start + rows, count)] for name, column in columns.items()}

    return read


def _safetensors(path: Path) -> ScoreFile:
    with safe_open(path, "numpy") as tensors:
        names, about = tuple(tensors.keys()), dict(tensors.metadata() or {})
    texts = {name: np.array(column) for name, column in parse_json(about.pop(TEXTS, "{}")).items()}

    @contextmanager
    def opened(wanted: Iterable[str]) -> Generator[dict[str, Any]]:
        with safe_open(path, "numpy") as tensors:
            yield {name: texts[name] if name in texts else tensors.get_slice(name) for name in wanted}

    return _file(path, (*names, *texts), about, opened)


def _parquet(path: Path) -> ScoreFile:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    require_once(schema.names, path)
    metadata = schema.metadata or {}
    about = {name: metadata[name.encode()].decode() for name in ABOUT if name.encode() in metadata}

    def read(wanted: Sequence[str], numbers: int, scores: Sequence[str]) -> Generator[Columns]:
        # Reading ahead would hold the columns of the whole file in memory.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            groups = [file.metadata.row_group(0)] if file.metadata.num_rows else []
            values = sum(group.column(place).num_values for group in groups for place in range(group.num_columns))
            # How many a row of the first group holds, lists counted by their entries.
            a_row = values // max(1, sum(group.num_rows for group in groups))
            rows = max(1, numbers // max(1, a_row))
            for batch in file.iter_batches(batch_size=rows, columns=list(wanted), use_threads=False):
                yield {name: _to_numpy(batch.column(name), name) for name in wanted}

    return ScoreFile(path, tuple(schema.names), about, read)


def _csv(path: Path) -> ScoreFile:
    import pyarrow
    from pyarrow import csv

    names = csv_names(path)

    def read(wanted: Sequence[str], numbers: int, scores: Sequence[str]) -> Iterator[Columns]:
        # Arrow takes the type of a column from its first block, where scores may all be whole numbers.
        choices = {"include_columns": list(wanted), "column_types": dict.fromkeys(scores, pyarrow.float64())}
        options = csv.ReadOptions(block_size=CSV_BYTES * numbers, use_threads=False, column_names=names, skip_rows=1)
        with csv.open_csv(path, read_options=options, convert_options=csv.ConvertOptions(**choices)) as reader:
            for batch in reader:
                yield {name: _to_numpy(batch.column(name), name) for name in wanted}

    return ScoreFile(path, tuple(names), {}, read)


def _json_lines(path: Path) -> ScoreFile:
    """An object a line, all of the same keys."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]

    def parse(row: int) -> dict[str, Any]:
        value = parse_json(lines[row], lambda pairs: _unique(pairs, f"row {row} of {path}"))
        if not isinstance(value, dict) or (row and value.keys() != first.keys()):
            expected = f"the columns {', '.join(first)}" if row else "an object of columns"
            raise OpenworldError(f"row {row} (from 0) of {path} is {lines[row][:60]}, expected {expected}.")
        return value

    first = parse(0) if lines else {}

    def opened(wanted: Iterable[str]) -> AbstractContextManager:
        columns: dict[str, list] = {name: [] for name in wanted}
        for row in range(len(lines)):
            row_values = parse(row)
            for name, entries in columns.items():
                entries.append(row_values[name])
        return nullcontext({name: as_column(cells, f"column {name} of {path}") for name, cells in columns.items()})

    return ScoreFile(path, tuple(first), {}, _in_blocks(path, opened))


def _unique(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    require_once([name for name, _ in pairs], where)
    return dict(pairs)


def _to_numpy(column, name: str) -> np.ndarray:
    """Return an Arrow column as [n], or as [n, C] where each entry is a list of C numbers, or deeper."""
    from pyarrow import types

    shape, kinds = [len(column)], (types.is_fixed_size_list, types.is_list, types.is_large_list)
    while any(is_kind(column.type) for is_kind in kinds):
        lengths = np.unique(column.value_lengths().to_numpy(zero_copy_only=False))
        if len(column) and (column.null_count or len(lengths) > 1 or not lengths[0]):
            raise OpenworldError(
                f"the lists of column {name!r} differ in length, or some are empty; expected one number a class."
            )
        shape.append(int(lengths[0]) if len(column) else 0)
        column = column.flatten()
    if types.is_binary(column.type):
        raise OpenworldError(f"column {name!r} holds bytes that are no text in UTF-8; write the file again in UTF-8.")
    return column.to_numpy(zero_copy_only=False).reshape(shape)
