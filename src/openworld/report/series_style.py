"""One look per learner on the whole page: a colour that the colour-blind can tell apart, a dash and a marker.

Hues after Okabe & Ito (2008), moved as little as it takes for every mark to keep a contrast of 3:1 on white paper or a
dark screen, and for every pair to stay .08 apart in OKLab with normal, protanope and deuteranope eyes. What tunes
nothing is the yardstick and stays grey. From the seventh learner on the hues come again with another dash; the markers
run with another period, so no two of 42 learners look alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

YARDSTICK = ("#383838", "#828282")
HUES = (
    ("#0870b8", "#44a2e7"),  # blue
    ("#ca5a19", "#fd8838"),  # vermilion
    ("#079973", "#00c28a"),  # green
    ("#c879a8", "#f09fc1"),  # purple
    ("#e37810", "#ecc34d"),  # orange
    ("#5398de", "#8ed2ff"),  # sky
)
DASHES = ("", "7 3", "2 3", "9 3 2 3")
MARKERS = ("circle", "square", "triangle", "diamond", "down", "cross", "star")


@dataclass(frozen=True)
class Look:
    """How one learner is drawn: `light` and `dark` colours, an SVG dash pattern and a marker's name."""

    css_class: str
    light: str
    dark: str
    dash: str
    marker: str


def looks(learners: Sequence[str], yardsticks: Sequence[str] = ()) -> dict[str, Look]:
    """A look for every learner, in the order given; the `yardsticks` among them are grey.

    >>> looks(["zero-shot", "CoOp"], ["zero-shot"])["CoOp"].marker
    'circle'
    """
    grey = [name for name in learners if name in yardsticks]
    coloured = [name for name in learners if name not in yardsticks]
    chosen = {name: _look(place, "g", (YARDSTICK,), len(grey)) for place, name in enumerate(grey)}
    chosen |= {name: _look(place, "c", HUES, 0) for place, name in enumerate(coloured)}
    return {name: chosen[name] for name in learners}


def style_sheet(chosen: dict[str, Look]) -> str:
    """The CSS that sets `--ink` for each look's class: light, dark by the reader's setting, light in print."""
    light = "".join(f".{look.css_class}{{--ink:{look.light}}}" for look in chosen.values())
    dark = "".join(f".{look.css_class}{{--ink:{look.dark}}}" for look in chosen.values())
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def _look(place: int, prefix: str, hues, offset: int) -> Look:
    light, dark = hues[place % len(hues)]
    dash = "4 3" if prefix == "g" and place == 0 else DASHES[place // len(hues) % len(DASHES)]
    return Look(f"{prefix}{place}", light, dark, dash, MARKERS[(place + 6 * bool(offset)) % len(MARKERS)])
