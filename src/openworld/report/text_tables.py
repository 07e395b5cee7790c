"""Tables as Markdown and LaTeX, whatever they hold; the one place that knows what is markup to either.

LaTeX is plain ASCII that pdflatex takes as it is, with booktabs: accents, Greek, arrows and signs become commands, and
a sign without a command is written as its number, such as [U+6F22].
"""

import unicodedata
from collections.abc import Iterable, Sequence

from openworld.report.grids import Grid, Line

_SIGNS = r"""
& \&   % \%   $ \$   # \#   _ \_   { \{   } \}   \ \textbackslash{}   ~ \textasciitilde{}   ^ \textasciicircum{}
< \textless{}   > \textgreater{}   | \textbar{}   … \ldots{}   • \textbullet{}   § \S{}   ¶ \P{}   † \dag{}   ‡ \ddag{}
→ $\rightarrow$   ← $\leftarrow$   ↑ $\uparrow$   ↓ $\downarrow$   ↔ $\leftrightarrow$   ▲ $\bigtriangleup$
± $\pm$   × $\times$   ÷ $\div$   · $\cdot$   ≤ $\leq$   ≥ $\geq$   ≠ $\neq$   ≈ $\approx$   ▼ $\bigtriangledown$
∞ $\infty$   ∪ $\cup$   ∩ $\cap$   ∈ $\in$   ∅ $\emptyset$   √ $\surd$   ∑ $\sum$   ° $^\circ$   « $\ll$   » $\gg$
− $-$   – --   — ---   ‐ -   ‑ -   ‘ `   ’ '   “ ``   ” ''   ¡ !`   ¿ ?`   © \copyright{}   € \texteuro{}   £ \pounds{}
ß \ss{}   æ \ae{}   Æ \AE{}   œ \oe{}   Œ \OE{}   ø \o{}   Ø \O{}   ł \l{}   Ł \L{}   ı \i{}   å \aa{}   Å \AA{}
"""
COMMANDS = dict(zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True))
COMMANDS |= {"\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,"}
"""A sign -> what pdflatex reads."""

ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": "."}
ACCENTS |= {"\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0331": "b"}
GREEK = {"\N{GREEK SMALL LETTER FINAL SIGMA}": "varsigma", "\N{GREEK SMALL LETTER LAMDA}": "lambda"}
GREEK |= {"\N{GREEK CAPITAL LETTER LAMDA}": "Lambda", "µ": "mu", "\N{GREEK SMALL LETTER OMICRON}": "o"}
LATIN_CAPITALS = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))  # LaTeX has no command of its own for them


def two_decimals(value: float | None) -> str:
    """A fraction as percent with two decimals, as papers print it.

    >>> two_decimals(0.46964)
    '46.96'
    """
    return "" if value is None else f"{100 * value:.2f}"


def markdown_table(
    title: str, titles: Sequence[str], rows: Iterable[Iterable[str]], caption: str = "", *, left: int = 1
) -> str:
    """A table under its title, `left` columns to the left; nothing is escaped here but title and caption."""
    lines = [f"**{plain(title)}**", "", piped(titles), piped(["---"] * left + ["---:"] * (len(titles) - left))]
    return "\n".join([*lines, *map(piped, rows), *(["", plain(caption)] if caption else [])]) + "\n"


def grid_markdown(grid: Grid) -> str:
    """A table of the page."""
    rows = ([f"**{plain(text)}**" if bold else plain(text) for text, bold in _texts(row)] for row in grid.rows)
    titles = [plain(column.title) for column in grid.columns]
    return markdown_table(grid.label, titles, rows, grid.caption, left=_leading(grid))


def grid_latex(grid: Grid) -> str:
    """A table of the page."""
    bold = r"\textbf{{{}}}".format
    rows = [[bold(as_tex(text)) if leads else as_tex(text) for text, leads in _texts(row)] for row in grid.rows]
    titles = [as_tex(column.title) for column in grid.columns]
    return tabular([grid.label, grid.caption], titles, rows, left=_leading(grid))


def tabular(
    comments: Iterable[str], titles: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1, rule: bool = False
) -> str:
    """A LaTeX table under comments, `left` columns to the left; with a `rule` the last row stands apart.

    Titles and cells are LaTeX already; comments are escaped here.
    """
    body = [" & ".join(row) + r" \\" for row in rows]
    if rule:
        body.insert(len(body) - 1, r"\midrule")
    columns = "l" * left + "r" * (len(titles) - left)
    lines = [*(f"% {as_tex(text)}" for text in comments), rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    return "\n".join([*lines, " & ".join(titles) + r" \\", r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]) + "\n"


def piped(cells: Iterable[str]) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Text in which nothing is markup to Markdown, on one line.

    >>> print(plain("crane [/bird] | a_b"))
    crane \\[/bird\\] \\| a\\_b
    """
    return "".join("\\" + sign if sign in r"\|*_<>`[]" else sign for sign in _on_one_line(text))


def as_tex(text: str) -> str:
    """Text in which nothing is a command to LaTeX, in ASCII.

    >>> print(as_tex("ΔAUC → τ, 5 % of café"))
    $\\Delta$AUC $\\rightarrow$ $\\tau$, 5 \\% of caf\\'{e}
    """
    told = "".join(map(_sign, _on_one_line(text)))
    return "{}" + told if told[:1] in ("[", "*") else told  # else \\ at the end of the row above would read it


def _sign(sign: str) -> str:
    if sign in COMMANDS:
        return COMMANDS[sign]
    if sign.isascii():
        return sign if sign.isprintable() else f"[U+{ord(sign):04X}]"
    letter, accents = unicodedata.normalize("NFD", sign)[0], unicodedata.normalize("NFD", sign)[1:]
    if accents and letter.isascii() and all(accent in ACCENTS for accent in accents):
        for accent in accents:
            letter = rf"\{ACCENTS[accent]}{{{letter}}}"
        return letter
    return _greek(sign) or _number(sign)


def _greek(sign: str) -> str:
    """The command of a Greek letter; "" of any other sign."""
    if sign in GREEK or sign in LATIN_CAPITALS:
        return LATIN_CAPITALS.get(sign) or rf"$\{GREEK[sign]}$".replace(r"$\o$", "o")
    words = unicodedata.name(sign, "").split()
    if len(words) != 4 or words[0] != "GREEK" or words[2] != "LETTER":
        return ""
    return rf"$\{words[3].lower() if words[1] == 'SMALL' else words[3].capitalize()}$"


def _number(sign: str) -> str:
    """Digits above and below the line, and signs that have a plain form; else the number of the sign in Unicode."""
    kind, _, code = unicodedata.decomposition(sign).rpartition("> ")
    simple = "".join(chr(int(point, 16)) for point in code.split()) if kind else ""
    if simple and all(one.isascii() or one in COMMANDS for one in simple):
        told = as_tex(simple)
        raised = {"<super": "^", "<sub": "_"}.get(kind)
        return rf"${raised}{{\mbox{{{told}}}}}$" if raised else told
    return f"[U+{ord(sign):04X}]"


def _on_one_line(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.replace("\t", " ").splitlines()))


def _texts(row: Line) -> list[tuple[str, bool]]:
    """What stands in every cell, and whether it is in bold."""
    return [(f"{cell.text} {cell.faint}".strip(), "leads" in cell.css) for cell in row.cells]


def _leading(grid: Grid) -> int:
    """How many columns at the left hold words."""
    words = [column.words for column in grid.columns]
    return words.index(False) if False in words else len(words)
