"""A drawing of a page as an SVG file of its own: with its markers, and with colours that no style sheet has to resolve.

Viewers and editors of SVG know classes but few know CSS variables, on which the page's colours rest.
"""

from markupsafe import Markup

from openworld.report.palette import Look
from openworld.report.svg import element, shapes

_PAPER, _TEXT, _MUTED, _GRID = "#ffffff", "#1a1a1a", "#5c5c5c", "#e9e9e6"
_STYLE = f"""
text {{ fill: {_TEXT}; font: 12px system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }}
.tick, .title {{ fill: {_MUTED}; }} .tick {{ font-size: 11px; }}
.mid {{ text-anchor: middle; }} .end {{ text-anchor: end; }}
.label {{ font-weight: 600; }} .grid {{ stroke: {_GRID}; }} .asked {{ stroke: {_MUTED}; stroke-dasharray: 5 4; }}
.axis {{ stroke: {_MUTED}; }} .bar {{ stroke: {_TEXT}; stroke-width: 3.5; }}
.alert {{ stroke: #d5491b; stroke-width: 1.4; }}
.line {{ fill: none; stroke-width: 2; }} .band {{ opacity: .14; }} .ring {{ fill: none; stroke-width: 2.5; }}
.back {{ opacity: .4; }} use {{ stroke: {_PAPER}; }}
"""


def standalone(drawn: Markup, looks: dict[str, Look]) -> str:
    """The text of an SVG file, on white paper.

    Args:
        drawn: of `svg.drawing`. looks: of everything that is drawn in a colour of its own.
    """
    head, _, body = str(drawn).partition(">")
    colours = "".join(_colour(look) for look in looks.values())
    paper = element("rect", width="100%", height="100%", fill=_PAPER)
    start = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f"{start}><style>{_STYLE}{colours}</style><defs>{shapes()}</defs>{paper}{body}\n"


def _colour(look: Look) -> str:
    own = f".{look.css_class}"
    return (
        f"{own} use, {own} .band {{ fill: {look.light}; }} "
        f"{own} .line, {own} .ring {{ stroke: {look.light}; }} {own} text {{ fill: {look.light}; }}\n"
    )
