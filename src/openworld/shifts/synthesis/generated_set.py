"""A finished generated set: images with labels, and the levels their prompts were drawn at."""

import hashlib
import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_plain
from openworld.core.representation import short_repr
from openworld.datasets.formats.decoding import decode
from openworld.datasets.image_set import ImageSet, path_column
from openworld.runs import to_json
from openworld.runs.sealed import read_saved
from openworld.shifts.grid import ShiftGrid
from openworld.tables.parquet import decode_table

MANIFEST, TABLE = "manifest.json", "images.parquet"
VERSION = 1
"""Of the layout; a set of another version is refused."""


@dataclass(frozen=True)
class _Manifest:
    version: int
    order: dict[str, Any]
    labels: tuple[str, ...]
    styles: tuple[dict[str, Any], ...]
    shape: tuple[int, int]
    seed: int
    report: Any
    origin: Any
    refused: int
    table_sha256: str

    def __post_init__(self) -> None:
        if self.version != VERSION:
            raise OpenworldError(f"it has version {self.version}, expected {VERSION}")
        have_names = all(isinstance(style.get("name"), str) for style in self.styles)
        if not have_names or not isinstance(self.order.get("painter"), dict):
            raise OpenworldError("a style has no name, or the order no painter")


@dataclass(frozen=True, eq=False)
class GeneratedSet:
    """N images that were made, cell by cell."""

    images: ImageSet  # classes are labels; groups are prompts, or labels where the painter redraws one original
    style: np.ndarray  # int64[N], places in `styles`
    styles: tuple[str, ...]
    grid: ShiftGrid  # the cells that their prompts lie in
    refused: int  # how many more were ordered and kept by no screen
    about: dict  # the manifest

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.images)

    def cell(self, covariate: int, semantic: int) -> ImageSet:
        """Return the images of one cell."""
        return self.images.subset(self.grid.cell(covariate, semantic))


def is_generated(folder: str | Path) -> bool:
    """Return whether a folder holds a set that `generate` made, perhaps damaged."""
    return all((Path(folder) / name).is_file() for name in (MANIFEST, TABLE))


def read_generated(folder: str | Path) -> GeneratedSet:
    """Read a set that `generate` finished.

    Every image's file is checked against its hash when it is read.

    Raises:
        OpenworldError: no finished set there, one of another version, a table that was changed. An image that was
            changed raises when it is read.
    """
    folder = Path(folder)
    path = folder / MANIFEST
    if not path.is_file():
        raise OpenworldError(f"{folder} holds no finished set (no {MANIFEST}); run its generation to the end first.")
    about = to_json(read_saved(path, _Manifest, f"{path} is of no generated set", "generate the set again."))
    try:
        table = read_plain(folder / TABLE)
    except OSError as error:
        raise OpenworldError(f"{folder / TABLE} cannot be read ({error}); generate the set again.") from error
    if hashlib.sha256(table).hexdigest() != about["table_sha256"]:
        raise OpenworldError(f"{folder / TABLE} is not the one its manifest was written for; generate the set again.")
    rows = decode_table(table)
    mask = rows.pop("kept").astype(bool)
    rows = {name: column[mask] for name, column in rows.items()}
    return GeneratedSet(
        images=_images(folder, about, rows),
        style=rows["style"].astype(np.int64),
        styles=tuple(style["name"] for style in about["styles"]),
        grid=ShiftGrid(rows["semantic"], rows["covariate"], tuple(about["shape"]), least=1),
        refused=int((~mask).sum()),
        about=about,
    )


def _images(folder: Path, about: dict, rows: dict[str, np.ndarray]) -> ImageSet:
    redrawn = about["order"]["painter"].get("redraws", False)
    files, hashes = tuple(rows["file"].tolist()), tuple(rows["sha256"].tolist())
    return ImageSet(
        name=folder.resolve().name,
        domain=f"{len(about['styles'])} styles",
        classnames=tuple(about["labels"]),
        labels=rows["label"],
        groups=rows["label"] if redrawn else rows["label"] * len(about["styles"]) + rows["style"],
        content=hashlib.sha256("\n".join(hashes).encode()).hexdigest(),
        read=partial(read_image, folder, files, hashes),
        columns=path_column(files),
    )


def read_image(folder: Path, files: tuple[str, ...], hashes: tuple[str, ...], index: int) -> Image.Image:
    path = folder / files[index]
    try:
        data = read_plain(path)
    except OSError as error:
        raise OpenworldError(f"{path} cannot be read ({error}); generate the set again.") from error
    if hashlib.sha256(data).hexdigest() != hashes[index]:
        raise OpenworldError(f"{path} was changed after it was made; remove it and generate the set again.")
    return decode(io.BytesIO(data), str(path), ("PNG",))
