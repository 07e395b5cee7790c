"""Two-tower vision-language models (CLIP, SigLIP): loading, encoding, and text passes behind learned contexts.

The cards are light; everything that needs torch is imported when first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from openworld.backbones.cards import BACKBONES, SHORT_NAMES, BackboneCard

if TYPE_CHECKING:
    from openworld.backbones.config import SHAPES, ImageConfig, TextConfig, TwoTowerConfig
    from openworld.backbones.dual_encoder import DualEncoder
    from openworld.backbones.foreign.encoder import ForeignEncoder
    from openworld.backbones.loading import load
    from openworld.backbones.names import known_name
    from openworld.backbones.preprocess import Preprocess
    from openworld.backbones.prompts import PromptedNames
    from openworld.backbones.published_files import FileSet, Need, needed_files
    from openworld.backbones.recording import Recording
    from openworld.backbones.two_tower import TwoTower
    from openworld.backbones.upper_blocks import EnteredText, PackedText

_HOMES = {
    "DualEncoder": "dual_encoder",
    "EnteredText": "upper_blocks",
    "SHAPES": "config",
    "FileSet": "published_files",
    "ForeignEncoder": "foreign.encoder",
    "ImageConfig": "config",
    "Need": "published_files",
    "PackedText": "upper_blocks",
    "Preprocess": "preprocess",
    "PromptedNames": "prompts",
    "Recording": "recording",
    "TextConfig": "config",
    "TwoTower": "two_tower",
    "TwoTowerConfig": "config",
    "known_name": "names",
    "load": "loading",
    "needed_files": "published_files",
}

__all__ = [
    "BACKBONES",
    "SHAPES",
    "SHORT_NAMES",
    "BackboneCard",
    "DualEncoder",
    "EnteredText",
    "FileSet",
    "ForeignEncoder",
    "ImageConfig",
    "Need",
    "PackedText",
    "Preprocess",
    "PromptedNames",
    "Recording",
    "TextConfig",
    "TwoTower",
    "TwoTowerConfig",
    "known_name",
    "load",
    "needed_files",
]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
