"""CSV for people and programs: one writer, and no cell that a spreadsheet would take for a formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from types import SimpleNamespace

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(header: Sequence, rows: Iterable[Sequence]) -> str:
    """CSV with one header line; floats in full, `None` as an empty field, and text as `as_cell` gives it.

    >>> csv_text(["learner", "auroc"], [["GMoP", 0.5], ["=CoOp()", None]])
    "learner,auroc\\nGMoP,0.5\\n'=CoOp(),\\n"
    """
    text = io.StringIO()
    # Python quotes a lone carriage return only where it belongs to the end of a line.
    lines = SimpleNamespace(write=lambda line: text.write(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(lines, lineterminator="\r\n")
    for row in (header, *rows):
        writer.writerow([float(cell) if isinstance(cell, float) else as_cell(cell) for cell in row])
    return text.getvalue()


def as_cell(value):
    """A value as a spreadsheet may hold it: text that it would compute gets an apostrophe in front.

    Spreadsheets take a cell that begins with one of = + - @, a tab or a carriage return for a formula, and names of
    files and classes are other people's. Numbers, also as text, stay as they are.

    >>> as_cell("=1+2"), as_cell("-1.5"), as_cell("cat"), as_cell(3)
    ("'=1+2", '-1.5', 'cat', 3)
    """
    if isinstance(value, str) and value.startswith(_STARTS_A_FORMULA) and not _is_number(value):
        return "'" + value
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
