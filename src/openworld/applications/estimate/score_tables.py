"""Saved scores as `Outputs`, block by block; what the columns of a file mean is told in `columns`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openworld._arrays import as_array
from openworld._errors import OpenworldError, unknown_name
from openworld.applications.estimate.columns import Layout, layout_of
from openworld.applications.estimate.probabilities import logarithms, rounded_rows
from openworld.applications.score_files import Columns, ScoreFile, open_scores
from openworld.estimators import Outputs


class Block(NamedTuple):
    """Some images in order: outputs, and time stamps [n] as the file has them, or None.

    rounded: how many rows of probabilities had to be divided by their sums. seen: integer[n], which images the judged
    model was trained on, as the file says; or None.
    """

    outputs: Outputs
    times: np.ndarray | None = None
    rounded: int = 0
    seen: np.ndarray | None = None


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one image set, in one file or several that follow each other.

    Args:
        files: at least one. layouts: of each; the same tables of the same classes, perhaps in other orders.
        partners: tables of further models on the same images, whose logits alone are read.
        times: name of the column of time stamps, or "".
        title: what sentences call it; "" for the name of the file.
    """

    files: tuple[ScoreFile, ...]
    layouts: tuple[Layout, ...]
    partners: "tuple[ScoreTable, ...]" = ()
    times: str = ""
    title: str = ""

    @property
    def layout(self) -> Layout:
        """Of the first file."""
        return self.layouts[0]

    @property
    def name(self) -> str:
        """What sentences call it."""
        if self.title:
            return self.title
        first = self.files[0].path.name
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    def ordered(self, classnames: Sequence[str], other: str) -> "ScoreTable":
        """With the classes in the order of those names; `other` says in a message whose names they are.

        Raises:
            OpenworldError: other names.
        """
        partners = (one.ordered(classnames, other) if one.layout.classnames else one for one in self.partners)
        layouts = (one.ordered(classnames, self.name, other) for one in self.layouts)
        return replace(self, layouts=tuple(layouts), partners=tuple(partners))

    def blocks(self) -> Iterator[Block]:
        """The images in order.

        Raises:
            OpenworldError: a damaged file, scores that are not finite, labels that are no classes, partners of other
                images; the message names the file and the rows.
        """
        tapes = [_Tape(partner) for partner in self.partners]
        for place, layout, columns in self._pieces():
            count = len(next(iter(columns.values())))
            partners = tuple(one.take(count, place) for one in tapes)
            try:
                yield self._block(layout, columns, partners)
            except OpenworldError as error:
                raise OpenworldError(f"{place} ({count:,} rows from there): {error}") from error
        for one in tapes:
            one.require_end()

    def _pieces(self) -> Iterator[tuple[str, Layout, Columns]]:
        """Raw columns, where they begin in words, and what they mean."""
        for file, layout in zip(self.files, self.layouts, strict=True):
            row = 0
            for columns in file.blocks(self._wanted(layout)):
                yield f"{file.path.name}, row {row:,}", layout, columns
                row += len(next(iter(columns.values())))

    def _wanted(self, layout: Layout) -> list[str]:
        columns = [name for table in layout.tables.values() for name in table]
        return [*columns, *filter(None, (layout.labels, layout.seen, self.times))]

    def _block(self, layout: Layout, columns: Columns, partners: Sequence[np.ndarray]) -> Block:
        tables = {name: _table(columns, names, layout.order) for name, names in layout.tables.items()}
        logits, rounded = tables[layout.judged], 0
        if layout.judged == "probabilities":
            logits, rounded = logarithms(logits), rounded_rows(logits)
        labels = columns.get(layout.labels)
        return Block(
            Outputs(
                logits,
                None if labels is None else _numbered(labels, layout.classnames, layout.order),
                tables.get("reference"),
                (*(tables[name] for name in layout.partners), *partners),
            ),
            columns.get(self.times),
            rounded,
            columns.get(layout.seen),
        )


def open_table(
    paths: Sequence[Path], *, classnames: Sequence[str] | None = None, partners: Sequence[Path] = (), times: str = ""
) -> ScoreTable:
    """Scores in files, as `columns` says.

    Args:
        paths: files that follow each other. classnames: in column order; None for those that the files tell.
        partners: files of further models on the same images, one each. times: column of time stamps.
    Raises:
        OpenworldError: no scores, two columns for one thing, class names against the file's own, no such column.
    """
    files = tuple(open_scores(Path(path)) for path in paths)
    first = layout_of(files[0], classnames, times)
    layouts = [first, *(_like(first, layout_of(file, first.names_in_file, times), file) for file in files[1:])]
    for file, other in zip(files, layouts, strict=True):
        if (set(other.tables), other.labels) != (set(first.tables), first.labels):
            raise OpenworldError(
                f"{file.path} has other columns than {files[0].path}; files that go together are alike."
            )
    others = (open_table([path], classnames=first.names_in_file) for path in partners)
    if first.classnames:
        others = (one.ordered(first.classnames, f"those of {files[0].path.name}") for one in others)
    return ScoreTable(files, tuple(layouts), tuple(others), times)


def _like(first: Layout, other: Layout, file: ScoreFile) -> Layout:
    return other.ordered(first.classnames, file.path.name, "those of the first file") if first.classnames else other


def _table(columns: Columns, names: Sequence[str], order: Sequence[int] | None) -> np.ndarray:
    """float[n, C] of one wide column or of a column per class; of `order` the places of classes in the file."""
    wide = len(names) == 1 and ":" not in names[0]
    arrays = [as_array(columns[name], f"column {name}") for name in names]
    odd = next((name for name, array in zip(names, arrays, strict=True) if array.dtype == bool), None)
    if odd is not None:
        raise OpenworldError(f"column {odd} holds true and false, expected numbers; write the scores of every class.")
    table = arrays[0] if wide else np.stack(arrays, axis=1)
    return table if order is None or table.ndim != 2 else table[:, order]


def _numbered(labels: np.ndarray, classnames: Sequence[str] | None, order: Sequence[int] | None) -> np.ndarray:
    """Class numbers of labels that are names, or numbers of classes in the order of the file."""
    labels = np.asarray(labels)
    if labels.dtype.kind == "f" and (labels % 1 == 0).all():  # whole numbers that passed through a data frame
        labels = labels.astype(np.int64)
    if labels.dtype.kind in "iu":
        if order is None or not np.isin(labels, order).all():  # numbers of no class are refused with the scores
            return labels
        return np.argsort(order)[labels]
    if labels.dtype.kind == "f":
        raise OpenworldError("labels are empty in some rows, or fractions; every image needs a class, or none has one.")
    if classnames is None:
        raise OpenworldError("labels are names, but the classes have none; give numbers from 0, or class names.")
    number = {name: place for place, name in enumerate(classnames)}
    for name in labels.tolist():
        if name not in number:
            raise unknown_name("label", str(name), classnames)
    return np.array([number[name] for name in labels.tolist()], np.int64)


class _Tape:
    """The logits of a partner, cut as the judged model's blocks are."""

    def __init__(self, table: ScoreTable):
        self.name, self.blocks, self.held = table.name, table.blocks(), np.empty((0, 0))

    def take(self, count: int, place: str) -> np.ndarray:
        """The next logits float[count, C]."""
        pieces, missing = [self.held], count - len(self.held)
        while missing > 0:
            block = next(self.blocks, None)
            if block is None:
                raise OpenworldError(
                    f"partner {self.name} ends before {place} does: it has {missing:,} images too few."
                )
            pieces.append(block.outputs.logits)
            missing -= block.outputs.n
        whole = np.concatenate([one for one in pieces if len(one)])
        self.held = whole[count:]
        return whole[:count]

    def require_end(self) -> None:
        """Refuse a partner with more images than the judged model."""
        if len(self.held) or next(self.blocks, None) is not None:
            raise OpenworldError(f"partner {self.name} has more images than the judged model; give the same images.")
