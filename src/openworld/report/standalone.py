"""A drawing of a page as an SVG file of its own: with its markers, and with colours that no style sheet has to resolve.

Viewers and editors of SVG know classes but few know CSS variables, on which the colours of a page rest. So rules of the
page's own style sheet are taken, in light colours, as far as the drawing uses them.
"""

import re
from collections.abc import Iterator
from importlib.resources import files

from markupsafe import Markup

from openworld.report.charts.drawing.svg import element, hatches, shapes
from openworld.report.series_style import SeriesStyle

FONT = 'svg { font-family: system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }'


def standalone(drawn: Markup, styles: dict[str, SeriesStyle]) -> str:
    head, _, body = str(drawn).partition(">")
    sheet = re.sub(r"/\*.*?\*/", "", asset("page.css"), flags=re.DOTALL)
    sheet = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)  # what holds on every screen and in print
    colours = dict(re.findall(r"(--[\w-]+):\s*([^;]+);", sheet[: sheet.index("}")]))
    inks = {series.css_class: series.light for series in styles.values()}
    inks |= {name: _resolve(ink, colours) for name, ink in re.findall(r"\.([\w-]+) \{ --ink: ([^;]+); \}", sheet)}
    inks = {name: ink for name, ink in inks.items() if name in body}
    rules, definitions = [*_rules(sheet, body, colours, inks)], shapes()
    if any("url(#hatch" in rule for rule in rules):
        definitions += hatches()
        rules += _rules(sheet, hatches(), colours, {})
    paper = element("rect", width="100%", height="100%", fill=colours["--paper"])
    start = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    style = "\n".join([FONT, *rules])
    return f"{start}><style>\n{style}\n</style><defs>{definitions}</defs>{paper}{body}\n"


def _rules(sheet: str, body: str, known: dict[str, str], inks: dict[str, str]) -> Iterator[str]:
    """Rules of drawings that the drawing uses; those in a colour of their own once for every class that has one."""
    for selectors, declarations in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        names = (name for name in map(str.strip, selectors.split(",")) if not set(name) & set(":[]"))
        names = (name.removeprefix("svg ") for name in names if name.startswith("svg "))  # of what stands in a drawing
        used = [name for name in names if all(part in body for part in re.findall(r"[\w-]+", name))]
        plain = "; ".join(rule.strip() for rule in declarations.split(";") if rule.strip() and "color-mix" not in rule)
        if not used:
            continue
        if not re.search(r"var\(--ink[,)]", plain):
            yield f"{', '.join(used)} {{ {_resolve(plain, known)} }}"
            continue
        for css_class, ink in inks.items():  # the class of a group, or of the mark itself
            coloured = ", ".join(f".{css_class} {name}, {name}.{css_class}" for name in used)
            yield f"{coloured} {{ {_resolve(plain, known | {'--ink': ink})} }}"


def asset(name: str) -> str:
    """The text of a file that lies beside this one."""
    return files("openworld.report").joinpath(name).read_text(encoding="utf-8")


def _resolve(declarations: str, known: dict[str, str]) -> str:
    return re.sub(r"var\((--[\w-]+)(?:,[^()]*(?:\([^()]*\))?)?\)", lambda match: known[match[1]], declarations)
