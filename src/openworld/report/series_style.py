"""One style per series on the whole page: a colour that the colour-blind can tell apart, a dash and a marker.

The first six hues are those of Okabe & Ito (2008), moved as little as it takes for every mark to keep a contrast of 3:1
on white paper or a dark screen, and for every pair to stay .08 apart in OKLab with normal, protanope and deuteranope
eyes; six more were searched for under the same two conditions. Baselines, which tune nothing, stay grey. Every six
series have another dash, which tells their hues apart in print without colour; markers have a period of seven. So
twelve series differ in colour alone, and no two of 168 are drawn alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

GREY = ("#383838", "#828282")
HUES = (
    ("#0870b8", "#44a2e7"),  # blue
    ("#ca5a19", "#fd8838"),  # vermilion
    ("#079973", "#00c28a"),  # green
    ("#c879a8", "#f09fc1"),  # purple
    ("#e37810", "#ecc34d"),  # orange
    ("#5398de", "#8ed2ff"),  # sky
    ("#d200a5", "#ff5ad2"),  # magenta
    ("#0f5a69", "#a5f0ff"),  # teal
    ("#964b2d", "#e11e0f"),  # rust
    ("#7878ff", "#0069ff"),  # periwinkle
    ("#693c0f", "#d2f087"),  # brown, on a dark screen olive
    ("#4b0096", "#786996"),  # violet
)
DASHED = 6  # neighbouring series that share a dash
DASHES = ("", "7 3", "2 3", "9 3 2 3")
MARKERS = ("circle", "square", "triangle", "diamond", "down", "cross", "star")


@dataclass(frozen=True)
class SeriesStyle:
    """How one series is drawn: `light` and `dark` colours, an SVG dash pattern and a marker's name."""

    css_class: str
    light: str
    dark: str
    dash: str
    marker: str


def series_styles(names: Sequence[str], baselines: Sequence[str] = ()) -> dict[str, SeriesStyle]:
    """Return a style for every series, in the order given; the `baselines` among them are grey.

    >>> series_styles(["zero-shot", "CoOp"], ["zero-shot"])["CoOp"].marker
    'circle'
    """
    grey = [name for name in names if name in baselines]
    coloured = [name for name in names if name not in baselines]
    styles = {name: _style(place, "g", (GREY,), len(grey)) for place, name in enumerate(grey)}
    styles |= {name: _style(place, "c", HUES, 0) for place, name in enumerate(coloured)}
    return {name: styles[name] for name in names}


def style_sheet(styles: Iterable[SeriesStyle]) -> str:
    """Return the CSS that sets `--ink` for each style's class: light, dark by the reader's setting, light in print."""
    pairs = [(f".{style.css_class}{{--ink:", style) for style in styles]
    light = "".join(f"{start}{style.light}}}" for start, style in pairs)
    dark = "".join(f"{start}{style.dark}}}" for start, style in pairs)
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def _style(place: int, prefix: str, hues, offset: int) -> SeriesStyle:
    light, dark = hues[place % len(hues)]
    dash = "4 3" if prefix == "g" and place == 0 else DASHES[place // DASHED % len(DASHES)]
    return SeriesStyle(f"{prefix}{place}", light, dark, dash, MARKERS[(place + 6 * bool(offset)) % len(MARKERS)])
