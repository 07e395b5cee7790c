"""Read the emoji images and concepts as arrays that a training loop can index.

Everything fits in memory: about 9,800 images of 64 x 64 RGBA bytes are 160 MB. Images of the target styles and of
the withheld concepts are read too, because the evaluation needs them; `training_rows` is what keeps them out.
"""

import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from PIL import Image

from openworld.datasets.emoji.drawings import SOURCE_STYLES, Concept


@dataclass(frozen=True)
class World:
    """All drawings: images uint8[N, 64, 64, 4] (straight alpha), the concept index int64[N] and style str[N]."""

    concepts: tuple[Concept, ...]
    images: np.ndarray
    concept: np.ndarray
    style: np.ndarray

    def training_rows(self) -> np.ndarray:
        """Rows int64[M] that pre-training may see: source styles of concepts that are not withheld."""
        withheld = np.array([concept.withheld for concept in self.concepts])
        return np.flatnonzero(np.isin(self.style, SOURCE_STYLES) & ~withheld[self.concept])

    def rows(self, style: str, concepts: np.ndarray) -> np.ndarray:
        """Rows int64[M] that show one of `concepts` (indices) in `style`."""
        return np.flatnonzero((self.style == style) & np.isin(self.concept, concepts))


def read_world(folder: Path) -> World:
    """The world stored as concepts.json and pictures.parquet in `folder`."""
    listed = json.loads((folder / "concepts.json").read_text(encoding="utf-8"))["concepts"]
    concepts = tuple(_concept(entry) for entry in listed)
    index = {concept.id: position for position, concept in enumerate(concepts)}
    table = parquet.read_table(folder / "pictures.parquet", columns=["concept", "style", "png"])
    images = np.stack([_decode(png) for png in table["png"].to_pylist()])
    concept = np.array([index[id] for id in table["concept"].to_pylist()], dtype=np.int64)
    return World(concepts, images, concept, np.array(table["style"].to_pylist()))


def _concept(entry: dict) -> Concept:
    fields = {name: entry[name] for name in ("id", "name", "group", "subgroup", "withheld", "twin_of")}
    return Concept(**fields, keywords=tuple(entry["keywords"]))


def _decode(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png), formats=("PNG",)).convert("RGBA"))
