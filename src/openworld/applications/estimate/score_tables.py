"""Saved scores as `Outputs`, block by block; what the columns of a file mean stands in `columns`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openworld._errors import OpenworldError
from openworld._score_files import Columns, ScoreFile, open_scores
from openworld.applications.estimate.columns import (
    IMAGE_COLUMNS,
    ScoreLayout,
    class_numbers,
    layout_of,
    logarithms,
    rounded_rows,
    score_table,
)
from openworld.estimators import Outputs


class ScoreBlock(NamedTuple):
    """Some images in order."""

    outputs: Outputs
    times: np.ndarray | None = None  # time stamps [n] as the file has them
    rounded: int = 0  # rows of probabilities that had to be divided by their sums
    seen: np.ndarray | None = None  # integer[n], which images the model was trained on, as the file says
    images: np.ndarray | None = None  # what the file calls them [n], where `ScoreTable.images` asks for it


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one image set, in one file or several that follow each other."""

    files: tuple[ScoreFile, ...]
    layouts: tuple[ScoreLayout, ...]  # of each file; the same tables of the same classes, perhaps in other orders
    partners: "tuple[ScoreTable, ...]" = ()  # further models on the same images, whose logits alone are read
    times: str = ""  # the column of time stamps, or ""
    title: str = ""  # what sentences call it; "" for the name of the file
    images: bool = False  # whether to read what the images are called, from the first of `IMAGE_COLUMNS`
    features: bool = False  # whether embeddings are read, which all files must have
    appearance: bool = False  # whether it is read how images look

    def with_vectors(self, *, features: bool = True, appearance: bool = True) -> "ScoreTable":
        """Return it so that embeddings are read, and how images look, where that is wanted and all files have them."""
        features = features and all(layout.features for layout in self.layouts)
        return replace(self, features=features, appearance=appearance and all(own.appearance for own in self.layouts))

    @property
    def classnames(self) -> tuple[str, ...] | None:
        """In the order in which they are read; None where nobody names them."""
        return self.layouts[0].classnames

    @property
    def name(self) -> str:
        """What sentences call it."""
        first, more = self.files[0].path.name, len(self.files) - 1
        return self.title or (f"{first} and {more} more" if more else first)

    def ordered(self, classnames: Sequence[str] | None, other: str) -> "ScoreTable":
        """Return it with the classes in the order of those names, where both sides have some; refuse other names."""
        partners = tuple(partner.ordered(classnames, other) for partner in self.partners)
        layouts = tuple(layout.ordered(classnames, self.name, other) for layout in self.layouts)
        return replace(self, layouts=layouts, partners=partners)

    def blocks(self) -> Iterator[ScoreBlock]:
        """Yield the images in order; refuse what is damaged, not finite or of no class by file and row."""
        partners = [_Partner(table) for table in self.partners]
        for file, layout in zip(self.files, self.layouts, strict=True):
            row = 0
            wanted = [name for columns in layout.tables.values() for name in columns]
            images = next((name for name in IMAGE_COLUMNS if self.images and name in file.columns), None)
            vectors = [layout.features] * self.features + [layout.appearance] * self.appearance
            filled = [name for name in (layout.labels, layout.seen, self.times, images) if name]
            scores = [*wanted, *vectors]
            for columns in file.blocks([*scores, *filled], scores=scores, filled=filled):
                place, count = f"{file.path.name}, row {row:,}", len(columns[wanted[0]])
                logits = tuple(partner.take(count, place) for partner in partners)
                try:
                    yield self._block(layout, columns, logits)._replace(images=columns.get(images))
                except OpenworldError as error:
                    raise OpenworldError(f"{place} ({count:,} rows from there): {error}") from error
                row += count
        for partner in partners:
            partner.require_end()

    def _block(self, layout: ScoreLayout, columns: Columns, partners: Sequence[np.ndarray]) -> ScoreBlock:
        tables = {name: score_table(columns, names, layout.order) for name, names in layout.tables.items()}
        logits, rounded = tables.get("logits"), 0
        if logits is None:
            logits, rounded = logarithms(tables["probabilities"]), rounded_rows(tables["probabilities"])
        labels = columns.get(layout.labels)
        labels = None if labels is None else class_numbers(labels, layout.classnames, layout.order)
        partners = (*(tables[name] for name in layout.partners), *partners)
        features = columns.get(layout.features) if self.features else None
        looks = columns.get(layout.appearance) if self.appearance else None
        outputs = Outputs(logits, labels, tables.get("reference"), partners, features=features, appearance=looks)
        return ScoreBlock(outputs, columns.get(self.times), rounded, columns.get(layout.seen))


def open_table(
    paths: Sequence[Path | str | ScoreFile],
    *,
    classnames: Sequence[str] | None = None,
    partners: Sequence[Path | ScoreFile] = (),
    times: str = "",
    title: str = "",
) -> ScoreTable:
    """Return scores in files that follow each other, as `columns` says; classnames: in column order, or None."""
    files = tuple(map(open_scores, paths))
    layouts = [layout_of(files[0], classnames, times)]
    first = layouts[0]
    for file in files[1:]:
        layout = layout_of(file, first.names_in_file, times)
        layouts.append(layout.ordered(first.classnames, file.path.name, "those of the first file"))
        if (set(layout.tables), layout.labels) != (set(first.tables), first.labels):
            raise OpenworldError(f"{file.path} has other columns than {files[0].path}; give files that are alike.")
    own = f"those of {files[0].path.name}"
    others = (open_table([path], classnames=first.names_in_file).ordered(first.classnames, own) for path in partners)
    return ScoreTable(files, tuple(layouts), tuple(others), times, title)


class _Partner:
    """The logits of a partner, cut as the blocks of the model are."""

    def __init__(self, table: ScoreTable):
        self.name, self.blocks, self.held = table.name, table.blocks(), np.empty((0, 0))

    def take(self, count: int, place: str) -> np.ndarray:
        """Return the next logits float[count, C]."""
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

    def require_end(self) -> None:
        """Refuse a partner with more images than the model."""
        if len(self.held) or next(self.blocks, None) is not None:
            raise OpenworldError(f"partner {self.name} has more images than the model; give the same images.")
