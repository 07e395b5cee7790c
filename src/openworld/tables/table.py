"""A table as one use of it needs it: a schema states the columns, typed arrays come out, and all else is refused here.

A matrix is one array or list column, or a column per class whose name ends in ":" and the class's name. Files that
follow each other are one table; they have the same columns and classes, perhaps in other orders.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from openworld.core.arrays import LARGEST_LABEL, as_fractions
from openworld.core.csv_files import from_cell
from openworld.core.errors import OpenworldError, unknown_name
from openworld.tables.classes import FileClasses, class_columns, classes_of, labels_as_numbers, listed
from openworld.tables.coded import Coded
from openworld.tables.entries import Columns, empty_entries, require_one_length
from openworld.tables.files import WHOLE, ScoreFile, open_scores

FLOATS = ("matrix", "vectors", "number", "fraction")
"""Kinds of columns whose entries are finite numbers: [n, C] of classes, [n, D], [n], and [n] in [0, 1]."""
KINDS = (*FLOATS, "whole", "name", "key", "label", "entry", "other")
"""... and int64[n], text (`Coded`), either of them, int64[n] of classes (names or numbers), entries [n] as they are,
and whatever there is, missing entries and rows of numbers too."""


PARTS = {"test": "test", "validation": "validation", "val": "validation"}
"""What tables of scores call a part -> the part."""


@dataclass(frozen=True)
class TableColumn:
    """A column of a use: under which name it is read, what it holds (of `KINDS`), and other names that it may have."""

    name: str
    kind: str = "number"
    also: tuple[str, ...] = ()
    needed: bool = False
    empty: bool = False  # whether entries may be missing: "" of names, -1 of labels
    choices: Mapping[str, str] | None = None  # the names that there may be, and what each is read as

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown_name("kind of column", self.kind, KINDS)


@dataclass(frozen=True)
class Schema:
    """The columns of a use."""

    columns: tuple[TableColumn, ...]
    one_of: tuple[str, ...] = ()  # of these columns a table has exactly one
    series: str = ""  # other columns whose names begin so are matrices too
    others: str = ""  # kind of all other columns; "" where they are not read
    absent: bool = False  # whether a matrix may hold -inf: a name that does not count
    alike: bool = True  # whether all matrices are over the same classes
    where: str = ""  # the command whose help says what the columns mean

    def plus(self, *columns: TableColumn) -> "Schema":
        """Return it with further columns, or others of the same names; one without a name is none."""
        by_name = {column.name: column for column in (*self.columns, *columns) if column.name}
        return replace(self, columns=tuple(by_name.values()))

    def only(self, *names: str) -> "Schema":
        """Return it with some of its columns alone."""
        return replace(self, columns=tuple(column for column in self.columns if column.name in names), others="")


Rows = tuple[Columns, str, int]
"""Some rows in order: their columns by the schema's names, which rows they are, in words, and how many."""


@dataclass(frozen=True, eq=False)
class FileLayout:
    """Which columns of a file are what, and the classes of its matrices."""

    file: ScoreFile
    columns: dict[str, TableColumn]  # by the name in the schema
    own: dict[str, tuple[str, ...]]  # what they are called in the file; a matrix may consist of several
    classes: FileClasses
    unused: tuple[str, ...]

    @property
    def matrices(self) -> tuple[str, ...]:
        """Those that are there."""
        return tuple(name for name, column in self.columns.items() if column.kind == "matrix")


@dataclass(frozen=True, eq=False)
class TypedTable:
    """Files, or columns in Python, that follow each other, as a schema reads them."""

    layouts: tuple[FileLayout, ...]
    schema: Schema
    title: str = ""

    @property
    def files(self) -> tuple[ScoreFile, ...]:
        """In order."""
        return tuple(layout.file for layout in self.layouts)

    @property
    def name(self) -> str:
        """What sentences call it."""
        first, more = self.layouts[0].file.path.name, len(self.layouts) - 1
        return self.title or (f"{first} and {more} more" if more else first)

    @property
    def classnames(self) -> tuple[str, ...] | None:
        """In the order in which matrices are read; None where nobody names the classes."""
        return self.layouts[0].classes.names

    @property
    def present(self) -> tuple[str, ...]:
        """The schema's columns that are there."""
        return tuple(self.layouts[0].columns)

    def ordered(self, classnames: Sequence[str] | None, other: str) -> Self:
        """Return it with the classes in the order of those names, where both sides have some; refuse other names."""
        moved = (
            replace(layout, classes=layout.classes.ordered(classnames, self.name, other)) for layout in self.layouts
        )
        return replace(self, layouts=tuple(moved))

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[Rows]:
        """Yield the rows in order, some at a time; refuse what is damaged, not finite, or of no class."""
        for layout in self.layouts:
            wanted = [name for name in layout.columns if names is None or name in names]
            yield from _blocks(layout, wanted, self.schema)

    def whole(self, names: Sequence[str] | None = None) -> Columns:
        """Return all rows; refuse a table without any. Of text, only the distinct entries are held."""
        parts: dict[str, list] = {name: [] for name in self.present if names is None or name in names}
        for layout in self.layouts:
            # A CSV file has the type of a column from all of its rows; others are read column after column.
            by_row = layout.file.path.suffix.lower() in (".csv", ".jsonl")
            scored = [name for name in parts if layout.columns[name].kind in ("matrix", "label")]
            others = [[name] for name in parts if name not in scored]
            for group in [list(parts)] if by_row else [group for group in (scored, *others) if group]:
                for columns, _, _ in _blocks(layout, group, self.schema, WHOLE if by_row else None):
                    for name in group:
                        parts[name].append(columns[name])
        columns = {name: _joined(name, arrays) for name, arrays in parts.items() if arrays}
        if not columns:
            raise OpenworldError(f"{self.layouts[0].file.path} has columns and no row; it needs a row per image.")
        require_one_length(self.name, {name: len(columns.get(name, ())) for name in parts})
        return columns


def open_table(source: Any, schema: Schema, *, classnames: Sequence[str] | None = None, title: str = "") -> TypedTable:
    """Return a table, or several that follow each other; `classnames` in column order where the caller knows them."""
    several = list(source) if isinstance(source, list | tuple) else [source]
    if not several:
        raise OpenworldError("no table came; give a file, or columns.")
    files = [open_scores(one) for one in several]
    first = _layout(files[0], schema, classnames)
    layouts = [first]
    for file in files[1:]:
        layout = _layout(file, schema, first.classes.in_file)
        if set(layout.columns) != set(first.columns):
            raise OpenworldError(f"{file.path} has other columns than {files[0].path}; give files that are alike.")
        classes = layout.classes.ordered(first.classes.names, file.path.name, "those of the first file")
        layouts.append(replace(layout, classes=classes))
    return TypedTable(tuple(layouts), schema, title)


def _layout(file: ScoreFile, schema: Schema, classnames: Sequence[str] | None) -> FileLayout:
    """Find the columns of a schema in a file; refuse those that lack, come under two names, or exclude each other."""
    matrices = [column.name for column in schema.columns if column.kind == "matrix"]
    series = schema.series or ":"  # which begins no name of a matrix
    columns_found, in_columns = class_columns(file, lambda name: name in matrices or name.startswith(series))
    columns = {matrix: TableColumn(matrix, "matrix") for matrix in columns_found}
    for column in schema.columns:
        there = [name for name in (column.name, *column.also) if name in file.columns and column.kind != "matrix"]
        if len(there) > 1:
            raise OpenworldError(f"{file.path} has both {' and '.join(sorted(there))}; keep one.")
        if there:
            columns[column.name], columns_found[column.name] = column, (there[0],)
    for name in file.columns if schema.others else ():
        if name not in {one for names in columns_found.values() for one in names}:
            columns[name], columns_found[name] = TableColumn(name, schema.others), (name,)

    help_page = f" (see {schema.where} --help)" if schema.where else ""
    lacking = [column.name for column in schema.columns if column.needed and column.name not in columns]
    if lacking:
        has = listed(file.columns) if file.columns else "no column"
        raise OpenworldError(f"{file.path} lacks {', '.join(lacking)}; it has {has}{help_page}.")
    either = [name for name in schema.one_of if name in columns]
    if schema.one_of and len(either) != 1:
        what = f"both {' and '.join(either)}; keep one" if either else f"no {' and no '.join(schema.one_of)}"
        raise OpenworldError(f"{file.path} has {what}. Columns: {listed(file.columns)}{help_page}.")

    classes = FileClasses()
    if matrices and schema.alike:
        there = {name: columns_found[name] for name in columns_found if columns[name].kind == "matrix"}
        classes, ordered = classes_of(file, there, in_columns, classnames)
        columns_found |= ordered
    used = {name for names in columns_found.values() for name in names}
    unused = tuple(name for name in file.columns if name not in used and name != "classnames")
    return FileLayout(file, columns, columns_found, replace(classes, named=in_columns), unused)


def _blocks(layout: FileLayout, names: Sequence[str], schema: Schema, numbers: int | None = None) -> Iterator[Rows]:
    """Yield the rows of a file as typed columns."""
    file, columns, row = layout.file, [layout.columns[name] for name in names], 0
    called = {column.name: layout.own[column.name] for column in columns}
    scores = [in_file for column in columns if column.kind in FLOATS for in_file in called[column.name]]
    unchecked = (*FLOATS, "other")
    filled = [called[column.name][0] for column in columns if not (column.kind in unchecked or column.empty)]
    wanted = [in_file for names in called.values() for in_file in names]
    for block in file.blocks(wanted, numbers, scores=scores, filled=filled, absent=schema.absent):
        count = len(next(iter(block.values()), ()))
        place = f"{file.path.name}, row {row:,}"
        columns_found, classes = {}, LARGEST_LABEL
        for column in sorted(columns, key=lambda column: column.kind == "label"):
            in_file = called[column.name]
            what = f"column {in_file[0]} of {file.path}"
            if column.kind == "matrix":
                columns_found[column.name] = _matrix(block, layout, column.name, what)
                classes = columns_found[column.name].shape[1]
            elif column.kind == "label":
                try:
                    columns_found[column.name] = labels_as_numbers(block[in_file[0]], layout.classes, classes, what)
                except OpenworldError as error:
                    raise OpenworldError(f"{place} ({count:,} rows from there): {error}") from error
            else:
                columns_found[column.name] = _typed(
                    block[in_file[0]], column.kind, what, file.path.suffix.lower() == ".csv"
                )
            if column.choices:
                entries, choices = columns_found[column.name], {**({"": ""} if column.empty else {}), **column.choices}
                if odd := [name for name in entries.present if name not in choices]:
                    raise unknown_name(f"entry in {what}", odd[0], filter(None, choices))
                columns_found[column.name] = entries.renamed([choices.get(name, name) for name in entries.names])
        row += count
        yield columns_found, place, count


def _matrix(block: Columns, layout: FileLayout, name: str, what: str) -> np.ndarray:
    """Return float[n, C] of one wide column or of a column per class, its classes in the order that is wanted."""
    in_file, order = layout.own[name], layout.classes.order
    matrix = np.stack([block[column] for column in in_file], axis=1) if ":" in in_file[0] else block[in_file[0]]
    if matrix.ndim != 2:
        raise OpenworldError(f"{what} has shape {matrix.shape}, expected a row of numbers per image.")
    names = layout.classes.names if order is None else order
    if names is not None and matrix.shape[1] != len(names):
        raise OpenworldError(f"{what} is {matrix.shape}, expected a number for each of {len(names)} names.")
    return matrix if order is None else matrix[:, order]


def _typed(values: np.ndarray, kind: str, what: str, from_csv: bool) -> Any:
    if kind == "vectors":
        if values.ndim != 2:
            raise OpenworldError(f"{what} has shape {values.shape}, expected a row of numbers per image.")
        return values
    if kind == "other":
        return Coded.of(values) if values.ndim == 1 and values.dtype.kind in "OU" else values
    if values.ndim != 1:
        raise OpenworldError(
            f"{what} holds several numbers per image, of shape {values.shape}; expected one entry per image."
        )
    if kind == "fraction":
        return as_fractions(values, what)
    if kind == "entry" and values.dtype == object:
        entries = values.tolist()
        # Numbers among names are names, as they are in CSV.
        if len({isinstance(entry, str) for entry in entries if entry is not None}) > 1:
            return np.array([None if entry is None else _spelled(entry) for entry in entries], object)
    if kind == "whole" and values.dtype.kind not in "iu":
        entries = values.tolist()
        are_whole = [isinstance(entry, int | float) and float(entry).is_integer() for entry in entries]
        if values.dtype.kind != "f" or not all(are_whole):  # floats that are whole passed through a data frame
            odd = entries[are_whole.index(False)] if False in are_whole else values.dtype.name
            raise OpenworldError(f"{what} must hold whole numbers; it holds {odd!r}.")
    if kind == "whole" or (kind == "key" and values.dtype.kind in "iu"):
        return values.astype(np.int64, copy=False)
    if kind in ("name", "key"):
        return names_of(values, from_csv)
    return values.astype(np.float64, copy=False) if kind == "number" else values


def names_of(values: np.ndarray, from_csv: bool = False) -> Coded:
    """Return entries as text, so that 1, 1.0 and "1" are one name; "" for an empty entry."""
    empty = empty_entries(values)
    if empty.any():
        values = values.astype(object)
        values[empty] = None  # every NaN is another, and this is one
    coded = Coded.of(values)
    spelled = [_spelled(value) for value in coded.names]
    return coded.renamed(list(map(from_cell, spelled)) if from_csv else spelled)


def _spelled(value: Any) -> str:
    if value is None:
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def joined(parts: Sequence[Columns]) -> Columns:
    """Return rows that follow each other as one table."""
    if len(parts) == 1:
        return parts[0]
    return {name: _joined(name, [part[name] for part in parts]) for name in parts[0]}


def _joined(name: str, parts: list) -> Any:
    if isinstance(parts[0], Coded):
        return Coded.joined(parts)
    widths = sorted({np.shape(part)[1:] for part in parts})
    if len(widths) > 1:
        raise OpenworldError(f"{name} has rows of {widths[0]} and of {widths[1]} numbers; give files that are alike.")
    return np.concatenate(parts)
