"""Tables for LaTeX: booktabs, in plain ASCII that pdflatex takes as it is.

Accents, Greek, arrows and signs become commands, and a sign without a command is written as its number, such as
[U+6F22]. The one place that knows what is markup to LaTeX.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from openworld.report.render.forms import on_one_line
from openworld.report.render.texts import texts
from openworld.report.table import Table

_SIGNS = r"""
& \&   % \%   $ \$   # \#   _ \_   { \{   } \}   \ \textbackslash{}   ~ \textasciitilde{}   ^ \textasciicircum{}
< \textless{}   > \textgreater{}   | \textbar{}   … \ldots{}   • \textbullet{}   § \S{}   ¶ \P{}   † \dag{}   ‡ \ddag{}
→ $\rightarrow$   ← $\leftarrow$   ↑ $\uparrow$   ↓ $\downarrow$   ↔ $\leftrightarrow$   ▲ $\bigtriangleup$
± $\pm$   × $\times$   ÷ $\div$   · $\cdot$   ≤ $\leq$   ≥ $\geq$   ≠ $\neq$   ≈ $\approx$   ▼ $\bigtriangledown$
∞ $\infty$   ∪ $\cup$   ∩ $\cap$   ∈ $\in$   ∅ $\emptyset$   √ $\surd$   ∑ $\sum$   ° $^\circ$   « $\ll$   » $\gg$
− $-$   – --   — ---   ‐ -   ‑ -   ‘ `   ’ '   “ ``   ” ''   ¡ !`   ¿ ?`   © \copyright{}   € \texteuro{}   £ \pounds{}
ß \ss{}   æ \ae{}   Æ \AE{}   œ \oe{}   Œ \OE{}   ø \o{}   Ø \O{}   ł \l{}   Ł \L{}   ı \i{}   å \aa{}   Å \AA{}
"""
COMMANDS: dict[str, str] = dict(zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True))
COMMANDS |= {"\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,"}
"""A sign -> what pdflatex reads."""

ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": "."}
ACCENTS |= {"\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0331": "b"}
GREEK = {"\N{GREEK SMALL LETTER FINAL SIGMA}": "varsigma", "\N{GREEK SMALL LETTER LAMDA}": "lambda"}
GREEK |= {"\N{GREEK CAPITAL LETTER LAMDA}": "Lambda", "µ": "mu", "\N{GREEK SMALL LETTER OMICRON}": "o"}
LATIN_CAPITALS = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))  # LaTeX has no command of its own for them


def latex_table(table: Table) -> str:
    """A table under its title and caption as comments; blocks of columns one after the other, the best in bold.

    Percentages have a decimal more than on screen, as papers print them.
    """
    step = table.block or max(len(table.columns), 1)
    blocks = [range(start, min(start + step, len(table.columns))) for start in range(0, len(table.columns), step)]
    parts = [_block(table.only(block)) for block in blocks or [range(0)]]
    comments = "".join(f"% {as_tex(text)}\n" for text in (table.title, table.caption) if text)
    return comments + "\n".join(parts)


def _block(table: Table) -> str:
    lines, rules = [], []
    for place, (row, cells) in enumerate(texts(table, 1)):
        lines.append([as_tex(f"{row.label} {row.remark}".strip())])
        for cell in cells:
            bold = f"\\textbf{{{as_tex(cell.text)}}}{as_tex(f' {cell.rest}'.rstrip())}"
            lines[-1].append(bold if cell.bold else as_tex(cell.line))
        if row.rule:
            rules.append(place)
    titles = [as_tex(text) for text in (table.label, *(column.heading for column in table.columns))]
    columns = "l" + "".join("l" if column.words else "r" for column in table.columns)
    return booktabs(columns, titles, lines, rules)


def booktabs(columns: str, titles: Sequence[str], rows: Iterable[Sequence[str]], rules: Sequence[int] = ()) -> str:
    """A tabular of LaTeX text, with a rule above the rows in `rules`; columns such as "lrr"."""
    body = []
    for place, row in enumerate(rows):
        if place in rules:
            body.append(r"\midrule")
        body.append(" & ".join(row) + r" \\")
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(titles) + r" \\", r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def as_tex(text: str) -> str:
    """Text in which nothing is a command to LaTeX, in ASCII.

    >>> print(as_tex("ΔAUC → τ, 5 % of café"))
    $\\Delta$AUC $\\rightarrow$ $\\tau$, 5 \\% of caf\\'{e}
    """
    text = "".join(map(_sign, on_one_line(text)))
    return "{}" + text if text[:1] in ("[", "*") else text  # else \\ at the end of the row above would read it


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
    if simple and all(letter.isascii() or letter in COMMANDS for letter in simple):
        text = as_tex(simple)
        raised = {"<super": "^", "<sub": "_"}.get(kind)
        return rf"${raised}{{\mbox{{{text}}}}}$" if raised else text
    return f"[U+{ord(sign):04X}]"
