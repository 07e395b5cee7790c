"""Settings and functions of `openworld.backbones`."""

from generated import generated

from openworld import backbones
from openworld.backbones import ImageConfig, Preprocess, TextConfig, TwoTowerConfig

TOWERS = {"text": TextConfig(), "image": ImageConfig()}

CALLS = {
    "ImageConfig": generated(ImageConfig),
    "TextConfig": generated(TextConfig),
    "TwoTowerConfig": generated(TwoTowerConfig),
    "Preprocess": generated(
        Preprocess, {"resize": 8, "crop": 8, "mode": "squash", "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    ),
    "known_name": generated(backbones.known_name, {"name": "ViT-B/16"}, free=("name",)),
    "load": generated(backbones.load, {"name": "embedded"}),
    "needed_files": generated(backbones.needed_files, {"name": "embedded"}, free=("name",)),
}
RESULTS = frozenset(
    {"BackboneCard", "EnteredText", "FileSet", "Need", "PackedText", "PromptedNames", "Recording", "ForeignEncoder"}
)
"""Classes that functions return; nobody makes them by hand."""
ELSEWHERE = {"TwoTower": "made by `load`, in tests/backbones/test_two_tower.py"}
