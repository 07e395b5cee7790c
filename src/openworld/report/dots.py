"""Many dots in a plane: a colour for the kind of shift, a shape for the model, and no more text than a page can bear.

A dot is a few letters of a path, one path per colour and shape, on whole user units, so that dots that would cover
each other are drawn once; a marker of its own for each of 50,000 would weigh ten times as much.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.svg import Frame, element

GLYPHS = (
    ("", "h0"),
    ("solid", "m0-2l2 3.4h-4z"),
    ("solid", "m-1.5-1.5h3v3h-3z"),
    ("solid", "m0-2.3l2.3 2.3-2.3 2.3-2.3-2.3z"),
)
LARGE = (
    ("", "h0"),
    ("solid", "m0-3.2l3 5.2h-6z"),
    ("solid", "m-2.2-2.2h4.4v4.4h-4.4z"),
    ("solid", "m0-3.2l3.2 3.2-3.2 3.2-3.2-3.2z"),
)
FEW = 400  # dots of a plot that may be large
KINDS = {"synthetic": "synthetic shift", "natural": "natural shift"}  # what is drawn last lies on top


@dataclass(frozen=True)
class Dots:
    """Dots of one colour and shape: a key of KINDS, the place of a glyph (they come round again), points (x, y)."""

    kind: str
    glyph: int
    points: Sequence[tuple[float, float]]


def drawn_dots(plot: Frame, clouds: Sequence[Dots]) -> list[Markup]:
    """The paths of all clouds; values beyond the axes are drawn on the edge."""
    left, top, right, bottom = plot.box
    few, parts = sum(len(cloud.points) for cloud in clouds) <= FEW, []
    for cloud in sorted(clouds, key=lambda cloud: _layer(cloud.kind)):
        css, stroke = _glyph(cloud.glyph, large=few)
        places = {
            (round(min(max(plot.across(x), left), right)), round(min(max(plot.up(y), top), bottom)))
            for x, y in cloud.points
        }
        path = "".join(f"M{x} {y}{stroke}" for x, y in sorted(places))
        parts.append(element("path", d=path, class_=f"{css} {cloud.kind}"))
    return parts


def dots_key(kinds: Sequence[str], shapes: Sequence[str]) -> tuple[tuple[Markup, str], ...]:
    """What colours and shapes mean: for the key over a figure; shapes only where there are several."""
    known = sorted(dict.fromkeys(kinds), key=_layer)
    entries = [(_mark(kind, 0), KINDS.get(kind, kind)) for kind in known]
    named = [(_mark("grey", place), shape) for place, shape in enumerate(shapes)] if len(shapes) > 1 else []
    return tuple(entries + named)


def _glyph(place: int, *, large: bool) -> tuple[str, str]:
    css, stroke = (LARGE if large else GLYPHS)[place % len(GLYPHS)]
    return " ".join(["dots", *[css] * bool(css), *["large"] * large]), stroke


def _layer(kind: str) -> int:
    return [*KINDS].index(kind) if kind in KINDS else -1


def _mark(kind: str, glyph: int) -> Markup:
    css, stroke = _glyph(glyph, large=True)
    dots = element("path", d=f"M13 7{stroke}", class_=f"{css} {kind}", transform="translate(-6.5 -3.5) scale(1.5)")
    return element("svg", dots, viewBox="0 0 26 14", width=26, height=14, aria_hidden="true")
