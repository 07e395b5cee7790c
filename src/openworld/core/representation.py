"""What a result looks like at a prompt, a few lines however much it holds, and at the end of a notebook's cell.

A notebook shows escaped HTML without scripts or styles of its own.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

_ENTRIES, _LETTERS = 6, 80


def short_repr(value: Any) -> str:
    """Return name and fields of a dataclass: of arrays the type and shape, of long lists and texts the beginning."""
    parts = ", ".join(f"{one.name}={_short(getattr(value, one.name))}" for one in fields(value) if one.repr)
    return f"{type(value).__qualname__}({parts})"


def _short(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, Mapping):
        return _listed([f"{key!r}: {_short(one)}" for key, one in _first(value.items())], len(value), "{}")
    if type(value) in (tuple, list):
        return _listed([_short(one) for one in _first(value)], len(value), "()" if isinstance(value, tuple) else "[]")
    if is_dataclass(value) and not isinstance(value, type):
        return short_repr(value)
    text = " ".join(repr(value).split())
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}..."


def _first(entries) -> list:
    entries = list(entries)
    return entries if len(entries) <= _ENTRIES else entries[: _ENTRIES // 2]


def _listed(texts: list[str], count: int, brackets: str) -> str:
    more = f", ... {count} in all" if len(texts) < count else "," if count == 1 and brackets == "()" else ""
    return f"{brackets[0]}{', '.join(texts)}{more}{brackets[1]}"


def block(sentences: Iterable[str], *tables: str) -> str:
    """The first sentence in bold, the tables, then the other sentences."""
    from markupsafe import escape

    first, *others = [str(escape(sentence)) for sentence in sentences] or [""]
    parts = [f"<p><b>{first}</b></p>"] * bool(first) + [*tables] + [f"<p>{sentence}</p>" for sentence in others]
    return f"<div>{''.join(parts)}</div>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table whose first column names the rows."""
    from markupsafe import escape

    def line(tag: str, cells: Iterable[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    body = "".join(line("td", row) for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead>{line('th', heads)}</thead><tbody>{body}</tbody></table>"


def percent(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A share and its interval in percent."""
    ends = "" if interval is None else f" [{100 * interval[0]:.1f} {100 * interval[1]:.1f}]"
    return "–" if value is None else f"{100 * value:.1f} %{ends}"


def facts(title: str, values: Iterable[tuple[str, str]]) -> str:
    """A title and a table of names and values."""
    return block([title], table(("", ""), values))


def image(drawing: str) -> str:
    """An SVG file as an image, which a page shows and whose styles it does not take over."""
    return f'<img src="data:image/svg+xml;base64,{b64encode(drawing.encode()).decode()}">'
