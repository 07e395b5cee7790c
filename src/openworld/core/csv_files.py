"""CSV for people and programs: one writer, one reader, and no cell that a spreadsheet would take for a formula."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

from openworld.core.arrays import require_once
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import require_plain

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # to a spreadsheet; names of files and classes are other people's


def csv_text(header: Sequence, rows: Iterable[Sequence]) -> str:
    """CSV with one header line; floats in full, `None` as an empty field, and text as `as_cell` gives it."""
    text = io.StringIO()
    # Python quotes a lone carriage return only where it belongs to the end of a line.
    lines = SimpleNamespace(write=lambda line: text.write(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(lines, lineterminator="\r\n")  # ty: ignore[invalid-argument-type]: it has a `write`
    for row in (header, *rows):
        writer.writerow([float(cell) if isinstance(cell, float) else as_cell(cell) for cell in row])
    return text.getvalue()


def csv_names(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file, of which nothing else is read."""
    return next(_csv_rows(path))


def read_csv(path: Path) -> dict[str, list[str]]:
    """Return the columns of a CSV file as text without outer spaces, and without the apostrophe of `as_cell`."""
    rows = _csv_rows(path)
    names, cells = next(rows), []
    for number, row in enumerate(rows, start=2):
        if any(row) and len(row) != len(names):
            raise OpenworldError(f"{path}, row {number} has {len(row)} fields, expected {len(names)}.")
        if any(row):
            cells.append([from_cell(cell.strip()) for cell in row])
    return {name: [row[place] for row in cells] for place, name in enumerate(names)}


def _csv_rows(path: Path) -> Iterator[list[str]]:
    """Yield the names of the columns, checked, then rows."""
    require_plain(path)
    if not path.is_file():
        raise OpenworldError(f"there is no file {path}.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines, strict=True)
            names = [name.strip() for name in next(rows, [])]
            if any("\0" in name for name in names):
                raise OpenworldError(f"{path} is UTF-16 text, expected CSV in UTF-8; save it as CSV in UTF-8.")
            signs = {";": "';'", "\t": "tab", "|": "'|'"}
            marks = [said for sign, said in signs.items() if len(names) == 1 and sign in names[0]]
            if marks:
                raise OpenworldError(
                    f"{path} is separated by {marks[0]}, expected commas between columns and a point in numbers; write "
                    "it so."
                )
            if not any(names):
                raise OpenworldError(f"{path} is empty, expected CSV with the names of its columns in the first line.")
            require_once(names, path)
            yield names
            yield from rows
    except (csv.Error, UnicodeDecodeError) as error:
        raise OpenworldError(f"{path} cannot be read as UTF-8 CSV ({error}); save it as CSV in UTF-8.") from error


def as_cell(value):
    """A value as a spreadsheet may hold it: text that it would compute gets an apostrophe in front."""
    if isinstance(value, str) and value.startswith(_STARTS_A_FORMULA) and not is_number(value):
        return "'" + value
    return value


def from_cell(text: str) -> str:
    """What a cell says, without the apostrophe that keeps a spreadsheet from computing it."""
    return text[1:] if text[:1] == "'" and as_cell(text[1:]) == text else text


def is_number(text: str) -> bool:
    """Whether a cell is a number alone, without spaces around it."""
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
