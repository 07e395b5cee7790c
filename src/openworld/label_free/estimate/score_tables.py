"""Scores of a model as `Outputs`, block by block; what the columns of a table mean stands in `tables.judged`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.estimators import Outputs
from openworld.tables import table as tables
from openworld.tables.files import ScoreFile
from openworld.tables.judged import APPEARANCE, FEATURES, IMAGE_COLUMNS, JUDGED, PARTNER, SEEN
from openworld.tables.probabilities import logarithms, rounded_rows


class ScoreBlock(NamedTuple):
    """Some images in order."""

    outputs: Outputs
    times: np.ndarray | None = None  # time stamps [n] as the file has them
    rounded: int = 0  # rows of probabilities that had to be divided by their sums
    seen: np.ndarray | None = None  # integer[n], which images the model was trained on, as the file says
    images: np.ndarray | None = None  # what the file calls them [n], where `ScoreTable.images` asks for it


@dataclass(frozen=True, eq=False)
class ScoreTable(tables.TypedTable):
    """Scores of one image set, in one file or several that follow each other."""

    partners: "tuple[ScoreTable, ...]" = ()  # further models on the same images, whose logits alone are read
    times: str = ""  # the column of time stamps, or ""
    images: bool = False  # whether to read what the images are called, from the first of `IMAGE_COLUMNS`
    features: bool = False  # whether embeddings are read, which all files must have
    appearance: bool = False  # whether it is read how images look

    def with_vectors(self, *, features: bool = True, appearance: bool = True) -> "ScoreTable":
        """Return it so that embeddings are read, and how images look, where that is wanted and all files have them."""
        features, appearance = features and FEATURES in self.present, appearance and APPEARANCE in self.present
        return replace(self, features=features, appearance=appearance)

    def ordered(self, classnames: Sequence[str] | None, other: str) -> Self:
        """Return it with the classes in the order of those names, where both sides have some; refuse other names."""
        partners = tuple(partner.ordered(classnames, other) for partner in self.partners)
        return replace(super().ordered(classnames, other), partners=partners)

    def entries(self, name: str, rows: np.ndarray | None = None) -> list[str]:
        """Return what a column that all files have says of every image, or of some rows in order, as text."""
        first, texts = 0, []
        for file in self.files:
            for block in file.blocks([name]):
                values, count = block[name], len(block[name])
                if rows is not None:
                    values = values[rows[(first <= rows) & (rows < first + count)] - first]
                texts += map(str, values)
                first += count
        return texts

    def scores(self) -> Iterator[ScoreBlock]:
        """Yield the images in order; refuse what is damaged, not finite or of no class by file and row."""
        partners = [_Partner(table) for table in self.partners]
        images = next((name for name in IMAGE_COLUMNS if self.images and name in self.present), "")
        vectors = [FEATURES] * self.features + [APPEARANCE] * self.appearance
        matrices = self.layouts[0].matrices
        beside = sorted(name for name in matrices if name.startswith(PARTNER))
        for columns, place, count in self.blocks([*matrices, *vectors, "labels", SEEN, self.times, images]):
            logits = tuple(partner.take(count, place) for partner in partners)
            try:
                rounded = rounded_rows(columns["probabilities"]) if "probabilities" in columns else 0
                outputs = Outputs(
                    columns["logits"] if "logits" in columns else logarithms(columns["probabilities"]),
                    columns.get("labels"),
                    columns.get("reference"),
                    (*(columns[name] for name in beside), *logits),
                    features=columns.get(FEATURES),
                    appearance=columns.get(APPEARANCE),
                )
            except OpenworldError as error:
                raise OpenworldError(f"{place} ({count:,} rows from there): {error}") from error
            yield ScoreBlock(outputs, columns.get(self.times), rounded, columns.get(SEEN), columns.get(images))
        for partner in partners:
            if len(partner.held) or next(partner.blocks, None) is not None:
                raise OpenworldError(f"partner {partner.name} has more images than the model; give the same images.")


def open_table(
    paths: Sequence[Path | str | ScoreFile],
    *,
    classnames: Sequence[str] | None = None,
    partners: Sequence[Path | ScoreFile] = (),
    times: str = "",
    title: str = "",
) -> ScoreTable:
    """Return scores in files that follow each other; classnames: in column order, or None."""
    schema = JUDGED.plus(tables.TableColumn(times, "entry"))
    table = tables.open_table(list(paths), schema, classnames=classnames, title=title)
    for file in table.files:
        if times and times not in file.columns:
            raise unknown_name(f"column of {file.path}:", times, file.columns)
    own, first = f"those of {table.files[0].path.name}", table.layouts[0].classes
    others = (open_table([path], classnames=first.in_file).ordered(first.names, own) for path in partners)
    return ScoreTable(table.layouts, schema, title, tuple(others), times)


class _Partner:
    """The logits of a partner, cut as the blocks of the model are."""

    def __init__(self, table: ScoreTable):
        self.name, self.blocks, self.held = table.name, table.scores(), np.empty((0, 0))

    def take(self, count: int, place: str) -> np.ndarray:
        pieces, missing = [self.held], count - len(self.held)
        while missing > 0:
            block = next(self.blocks, None)
            if block is None:
                raise OpenworldError(f"partner {self.name} ends before {place}: it has {missing:,} images too few.")
            pieces.append(block.outputs.logits)
            missing -= block.outputs.n
        whole = np.concatenate([piece for piece in pieces if len(piece)])
        self.held = whole[count:]
        return whole[:count]
