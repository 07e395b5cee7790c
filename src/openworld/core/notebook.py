"""What an object shows at the end of a notebook's cell: escaped HTML without scripts or styles of its own."""

from base64 import b64encode
from collections.abc import Iterable, Sequence


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
