"""Two-tower vision-language models (CLIP, SigLIP): loading, encoding, and text passes behind learned contexts.

The cards are light; everything that needs torch is imported when first asked for.
"""

from typing import TYPE_CHECKING

from openworld.backbones.names import BACKBONES, SHORT_NAMES, BackboneCard
from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld.backbones.config import SHAPES, ImageConfig, TextConfig, TwoTowerConfig
    from openworld.backbones.dual_encoder import DualEncoder
    from openworld.backbones.foreign.encoder import ForeignEncoder
    from openworld.backbones.loading import load
    from openworld.backbones.names import known_name
    from openworld.backbones.partial_passes import EnteredText, PackedText, Recording
    from openworld.backbones.preprocess import Preprocess
    from openworld.backbones.prompts import PromptedNames
    from openworld.backbones.published_files import FileSet, Need, needed_files
    from openworld.backbones.two_tower import TwoTower

__getattr__, __dir__ = lazily(__name__, __file__)

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
