"""The drawings of the embedded world: some 1,370 concepts, each drawn in up to eight styles, 64 x 64 with alpha.

Images, names and their licences lie in the folder emoji/ (see NOTICE.md there); tools/build_emoji_world.py made it.
"""

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).parent

SOURCE_STYLES = ("noto", "noto-v1", "fluent-emoji-flat", "fluent-emoji", "emojione")
"""Styles that the embedded CLIP was trained on."""

TARGET_STYLES = ("twemoji", "fluent-emoji-high-contrast", "emojione-monotone")
"""Styles it never saw: a near one, and two far ones in black and white."""

STYLES = SOURCE_STYLES + TARGET_STYLES


@dataclass(frozen=True)
class Concept:
    """A thing that is drawn."""

    id: str  # code points, such as "1f600"
    name: str  # in English (Unicode CLDR)
    keywords: tuple[str, ...]
    group: str
    subgroup: str  # one of 93, in 8 groups
    withheld: bool  # from the embedded CLIP in training, in every style
    twin_of: str | None  # id of the concept it cannot be told from by eye; None for nearly all


@lru_cache(maxsize=1)
def concepts() -> tuple[Concept, ...]:
    """Return all concepts in Unicode's order."""
    entries = json.loads((FOLDER / "concepts.json").read_text(encoding="utf-8"))["concepts"]
    return tuple(Concept(**(entry | {"keywords": tuple(entry["keywords"])})) for entry in entries)


@lru_cache(maxsize=1)
def numbers() -> dict[tuple[str, str], int]:
    """(style, concept id) -> number of that drawing; a missing pair was never drawn."""
    table = _table().select(["style", "concept"]).to_pydict()
    pairs = zip(table["style"], table["concept"], strict=True)
    return {pair: number for number, pair in enumerate(pairs)}


@lru_cache(maxsize=1)
def styles_of() -> dict[str, frozenset[str]]:
    """Concept id -> the styles it is drawn in."""
    names_of: dict[str, set[str]] = {}
    for style, concept in numbers():
        names_of.setdefault(concept, set()).add(style)
    return {concept: frozenset(styles) for concept, styles in names_of.items()}


@lru_cache(maxsize=1024)
def drawing(number: int) -> Image.Image:
    """Drawing `number` as a PIL image, 64 x 64, RGBA with straight alpha. Shared: do not write on it."""
    png = _table()["png"][number].as_py()
    return Image.open(io.BytesIO(png), formats=("PNG",)).convert("RGBA")


@lru_cache(maxsize=1)
def content() -> str:
    """Hex SHA-256 of all drawings, as the build recorded it."""
    return json.loads((FOLDER / "build.json").read_text(encoding="utf-8"))["pictures_sha256"]


@lru_cache(maxsize=1)
def _table():
    import pyarrow.parquet

    # `read_table` would import Arrow's data sets and, where it is installed, pandas: 0.4 s of every process.
    return pyarrow.parquet.ParquetFile(FOLDER / "pictures.parquet").read()
