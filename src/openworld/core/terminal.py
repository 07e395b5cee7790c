"""Tables for a terminal: everything in them is literal text, never markup, and no column of numbers is ever cut.

A table that is too wide gives up room in its columns of words first, then breaks its heads, and in the end is shown as
several blocks of columns, each beginning with the first column.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

GAP = 2  # spaces between columns
WORDS = 24  # a column of words is not made narrower than this to keep a table in one block
PROMPT = 100  # columns of what an object shows at a prompt
# Control characters by their pictures; what moves text about (C1, directions, separators of lines) or is no character
# at all (half a surrogate pair, which stands for a byte that is no UTF-8) by the sign for "unknown".
_VISIBLE = (
    {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
    | {0x7F: 0x2421}
    | dict.fromkeys(
        (*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)), 0xFFFD
    )
)


def visible(text: str) -> str:
    """Text that a terminal shows and never obeys: control characters but tab and newline by signs for them."""
    return text.translate(_VISIBLE)


def one_line(name: object) -> str:
    """A name of somebody else's as one line of visible text."""
    return visible(str(name)).replace("\n", "␊").replace("\t", "␉")


def as_text(show: Callable) -> str:
    """What a function prints on a rich console, as plain text that a terminal shows and never obeys."""
    from rich.console import Console

    text = io.StringIO()
    show(Console(file=text, highlight=False, width=PROMPT, force_jupyter=False))
    return visible(text.getvalue()).strip("\n")


@dataclass(frozen=True)
class Head:
    """The head of a column: "number" (right-aligned, never broken), "name" (seldom broken) or "words"."""

    title: str
    kind: str = "number"
    most: int = 0  # widest that a column of words becomes; 0 for any width


def name(title: str = "") -> Head:
    """The head of a column of names."""
    return Head(title, "name")


def words(title: str = "", most: int = 0) -> Head:
    """The head of a column of sentences."""
    return Head(title, "words", most)


def styled(cells: Iterable[str], style: str) -> tuple:
    """Cells as `rich.text.Text` of one style."""
    from rich.text import Text

    return tuple(Text(cell, style) for cell in cells)


@dataclass(frozen=True, eq=False)
class TerminalTable:
    """What rich prints: cells are `str`, taken as they are, or `rich.text.Text`."""

    heads: Sequence[Head]
    rows: Sequence[Sequence]
    caption: str = ""
    title: str = ""

    def __rich_console__(self, console, options):
        from rich.text import Text

        if self.title:
            yield Text(self.title, "bold")
        columns = [_Column(head, [row[place] for row in self.rows]) for place, head in enumerate(self.heads)]
        blocks = _blocks(columns, options.max_width)
        for number, block in enumerate(blocks):
            if number:
                yield Text("")
            yield _drawn(block, options.max_width, self.caption if len(blocks) == 1 else "")
        if self.caption and len(blocks) > 1:
            yield Text(self.caption, "table.caption")

    @property
    def width(self) -> int:
        """What it takes to show everything unbroken."""
        return _sum(_Column(head, [row[place] for row in self.rows]).natural for place, head in enumerate(self.heads))


@dataclass(frozen=True, eq=False)
class FirstThatFits:
    """Versions of a table, the fullest first: the first that a terminal has room for, else the last."""

    versions: Sequence[TerminalTable]

    def __rich_console__(self, console, options):
        fitting = (one for one in self.versions if one.width <= options.max_width)
        yield next(fitting, self.versions[-1])


class _Column:
    """A head and its cells, and how much room they take."""

    def __init__(self, head: Head, cells: Sequence) -> None:
        from rich.text import Text

        self.head = head
        self.cells = [cell if isinstance(cell, Text) else Text(cell) for cell in cells]
        if head.kind == "name":  # somebody else's line break would make two rows of one
            self.cells = [Text(cell.plain.replace("\n", "␊"), cell.style) for cell in self.cells]
        lines = [_widest(cell.plain.split("\n")) for cell in self.cells]
        natural = max([_widest([head.title]), *lines])
        self.natural = min(natural, head.most) if head.most else natural
        self.longest_word = _widest(head.title.split())
        self.widest_cell = max(lines, default=0)

    def least(self, room: int) -> int:
        """The narrowest that it should become in a terminal of `room` columns."""
        if self.head.kind == "number":
            return max(self.longest_word, self.widest_cell)
        if self.head.kind == "name":
            return min(max(self.longest_word, self.widest_cell), max(room // 2, 1))
        return min(self.natural, max(WORDS, self.longest_word))


def _blocks(columns: Sequence[_Column], room: int) -> list[list[_Column]]:
    """Columns in order, as many at a time as fit beside the first."""
    first, *rest = columns
    blocks = [[first]]
    for column in rest:
        block = blocks[-1]
        if len(block) > 1 and _sum(one.least(room) for one in (*block, column)) > room:
            blocks.append(block := [first])
        block.append(column)
    return blocks


def _drawn(columns: Sequence[_Column], room: int, caption: str):
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", caption_justify="left")
    drawn.caption = Text(caption) if caption else None
    for column, width in zip(columns, _widths(columns, room), strict=True):
        justify = "right" if column.head.kind == "number" else "left"
        most = column.head.most or None
        drawn.add_column(Text(column.head.title), justify=justify, width=width, max_width=most, overflow="fold")
    for cells in zip(*(column.cells for column in columns), strict=True):
        drawn.add_row(*cells)
    return drawn


def _widths(columns: Sequence[_Column], room: int) -> list[int | None]:
    """How wide every column is; None for a column of words, which takes what is left."""
    is_words = [column.head.kind == "words" for column in columns]
    tight = _sum(one.least(room) if words else one.natural for one, words in zip(columns, is_words, strict=True)) > room
    widths = [one.least(room) if tight else one.natural for one in columns]
    if tight:  # in a very narrow terminal the names are broken, not the numbers
        widths[0] = max(widths[0] - max(_sum(widths) - room, 0), 1)
    return [None if words else width for width, words in zip(widths, is_words, strict=True)]


def _sum(widths: Iterable[int]) -> int:
    widths = list(widths)
    return sum(widths) + GAP * (len(widths) - 1)


def _widest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)
