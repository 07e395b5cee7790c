"""The models known by name: where they live, how large they are, what to know before using them."""

from dataclasses import dataclass

from openworld._plain import facts


@dataclass(frozen=True)
class BackboneCard:
    """One known model. source: hub id, or "package" for the one that ships with openworld.

    parameters: number of weights in millions. image_size: side of the input picture in pixels.
    """

    source: str
    parameters: float
    image_size: int
    note: str


FACTS = facts("openworld.backbones", "names.toml")

BACKBONES: dict[str, BackboneCard] = {name: BackboneCard(**card) for name, card in FACTS["backbones"].items()}

SHORT_NAMES: dict[str, str] = FACTS["short_names"]
"""What papers and people call a model -> its key in BACKBONES."""
