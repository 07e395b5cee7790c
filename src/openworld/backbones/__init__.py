"""Two-tower vision-language models (CLIP, SigLIP): loading, encoding, and text passes behind learned contexts.

The cards are light; everything that needs torch is imported when first asked for.
"""

from importlib import import_module

from openworld.backbones.cards import BACKBONES, SHORT_NAMES, BackboneCard

_HOMES = {
    "DualEncoder": "dual_encoder",
    "SHAPES": "config",
    "FileSet": "published_files",
    "ForeignEncoder": "foreign.encoder",
    "ImageConfig": "config",
    "Need": "published_files",
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

__all__ = ["BACKBONES", "SHORT_NAMES", "BackboneCard", *_HOMES]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
