"""What the columns of score files mean: saved scores as `Outputs`, block by block.

A table of scores is one array or list column, or a column per class whose name ends in ":" and the class's name:

    logits          of the judged model; or probabilities, whose logarithms are taken
    labels          true classes, numbers from 0 or class names (also called label)
    reference       similarities of a reference model to the class names
    partner...      logits of a partner model, such as partner_1; in order of the names

Class names come with the columns, an array or list "classnames" (npz; safetensors and Parquet: in the metadata, as a
JSON list), or from the caller. A column of time stamps is read where it is asked for.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld.estimators import Outputs
from openworld.protocols._score_files import Columns, ScoreFile, open_scores

LABELS = ("labels", "label")
SCORES = ("logits", "probabilities", "reference")
PARTNER = "partner"
ROUNDING = 1e-3  # by which probabilities may miss a sum of 1


class Block(NamedTuple):
    """Some images in order: outputs, and time stamps [n] as the file has them, or None."""

    outputs: Outputs
    times: np.ndarray | None = None


@dataclass(frozen=True)
class Layout:
    """Which columns are what: tables of scores by name, the columns of each; and the rest."""

    tables: dict[str, tuple[str, ...]]
    labels: str | None
    classnames: tuple[str, ...] | None
    unused: tuple[str, ...]

    @property
    def judged(self) -> str:
        """The table of the judged model."""
        return "logits" if "logits" in self.tables else "probabilities"

    @property
    def partners(self) -> tuple[str, ...]:
        """The tables of partner models."""
        return tuple(sorted(name for name in self.tables if name.startswith(PARTNER)))


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one image set, in one file or several that follow each other.

    Args:
        files: at least one, of one layout. layout: of the first.
        partners: tables of further models on the same images, whose logits alone are read.
        times: name of the column of time stamps, or "".
        title: what sentences call it; "" for the name of the file.
    """

    files: tuple[ScoreFile, ...]
    layout: Layout
    partners: "tuple[ScoreTable, ...]" = ()
    times: str = ""
    title: str = ""

    @property
    def name(self) -> str:
        """What sentences call it."""
        if self.title:
            return self.title
        first = self.files[0].path.name
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    def blocks(self) -> Iterator[Block]:
        """The images in order.

        Raises:
            OpenworldError: a damaged file, scores that are not finite, labels that are no classes, partners of other
                images; the message names the file and the rows.
        """
        tapes = [_Tape(partner) for partner in self.partners]
        for place, columns in self._pieces():
            count = len(next(iter(columns.values())))
            partners = tuple(one.take(count, place) for one in tapes)
            try:
                yield self._block(columns, partners)
            except OpenworldError as error:
                raise OpenworldError(f"{place} ({count:,} rows from there): {error}") from error
        for one in tapes:
            one.require_end()

    def _pieces(self) -> Iterator[tuple[str, Columns]]:
        """Raw columns, and where they begin in words."""
        for file in self.files:
            row = 0
            for columns in file.blocks(self._wanted()):
                yield f"{file.path.name}, row {row:,}", columns
                row += len(next(iter(columns.values())))

    def _wanted(self) -> list[str]:
        columns = [name for table in self.layout.tables.values() for name in table]
        return [*columns, *filter(None, (self.layout.labels, self.times))]

    def _block(self, columns: Columns, partners: Sequence[np.ndarray]) -> Block:
        tables = {name: _table(columns, names) for name, names in self.layout.tables.items()}
        logits = tables[self.layout.judged]
        if self.layout.judged == "probabilities":
            logits = logarithms(logits)
        labels = columns.get(self.layout.labels)
        return Block(
            Outputs(
                logits,
                None if labels is None else _numbered(labels, self.layout.classnames),
                tables.get("reference"),
                (*(tables[name] for name in self.layout.partners), *partners),
            ),
            columns.get(self.times),
        )


def open_table(
    paths: Sequence[Path], *, classnames: Sequence[str] | None = None, partners: Sequence[Path] = (), times: str = ""
) -> ScoreTable:
    """Scores in files, as the top of this file says.

    Args:
        paths: files that follow each other. classnames: in column order; None for those that the files tell.
        partners: files of further models on the same images, one each. times: column of time stamps.
    Raises:
        OpenworldError: no scores, two columns for one thing, class names against the file's own, no such column.
    """
    files = tuple(open_scores(Path(path)) for path in paths)
    layouts = [layout(file, classnames, times) for file in files]
    for file, other in zip(files, layouts, strict=True):
        if (other.tables, other.labels) != (layouts[0].tables, layouts[0].labels):
            raise OpenworldError(
                f"{file.path} has other columns than {files[0].path}; files that go together are alike."
            )
        if other.classnames != layouts[0].classnames:
            raise OpenworldError(f"{file.path} has other class names than {files[0].path}, or another order of them.")
    others = tuple(open_table([path], classnames=layouts[0].classnames) for path in partners)
    return ScoreTable(files, layouts[0], others, times)


def layout(file: ScoreFile, classnames: Sequence[str] | None = None, times: str = "") -> Layout:
    """What the columns of a file mean; `classnames` where the caller knows them."""
    tables, told = _tables(file)
    judged = [name for name in ("logits", "probabilities") if name in tables]
    labels = [name for name in LABELS if name in file.columns]
    if len(judged) != 1:
        what = "both logits and probabilities; keep one" if judged else "no logits and no probabilities"
        raise OpenworldError(
            f"{file.path} has {what}. Its columns: {_listed(file.columns)} (openworld estimate --help)."
        )
    if len(labels) > 1:
        raise OpenworldError(f"{file.path} has both label and labels; keep one.")
    if times and times not in file.columns:
        raise unknown_name(f"column of {file.path}:", times, file.columns)
    own = told or _listed_names(file)
    given = tuple(classnames) if classnames is not None else None
    if given and own:
        require_same_names(own, given, file.path.name, "those expected")
    used = {name for table in tables.values() for name in table} | {*labels, times, "classnames"}
    unused = tuple(name for name in file.columns if name not in used)
    return Layout(tables, labels[0] if labels else None, given or own, unused)


def require_same_names(own: Sequence[str], expected: Sequence[str], where: str, other: str) -> None:
    """Refuse class names that are not the expected ones, in their order; `where` and `other` say whose they are."""
    own, expected = tuple(own), tuple(expected)
    if own == expected:
        return
    if sorted(own) == sorted(expected):
        place = next(place for place, pair in enumerate(zip(own, expected, strict=True)) if pair[0] != pair[1])
        raise OpenworldError(
            f"the classes of {where} are {other} in another order: class {place} is {own[place]!r}, expected "
            f"{expected[place]!r}; write both in one order."
        )
    odd = sorted(set(own) ^ set(expected))
    raise OpenworldError(
        f"the classes of {where} are not {other}: {len(own)} names, expected {len(expected)}; {len(odd)} are in one of "
        f"the two alone, first {odd[0]!r}."
    )


def logarithms(probabilities: np.ndarray) -> np.ndarray:
    """Logits of probabilities float[n, C]: their logarithms, 0 being the smallest number there is.

    Raises:
        OpenworldError: rows that are no probabilities.

    >>> logarithms(np.array([[1.0, 0.0]])).round(1).tolist()
    [[0.0, -708.4]]
    """
    table = np.asarray(probabilities, np.float64)
    wrong = np.flatnonzero(~(np.abs(table.sum(axis=1) - 1) <= ROUNDING) | (table < 0).any(axis=1))
    if wrong.size:
        raise OpenworldError(
            f"{wrong.size} row(s) of probabilities are negative or do not add up to 1, first {wrong[0]}: "
            f"{_listed(table[wrong[0]].round(4).tolist())}; call the columns logits if that is what they are."
        )
    return np.log(np.maximum(table, np.finfo(np.float64).tiny))


def _tables(file: ScoreFile) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...] | None]:
    """Tables of scores by name, and the class names behind their colons."""
    tables: dict[str, tuple[str, ...]] = {}
    named: dict[str, tuple[str, ...]] = {}
    for column in file.columns:
        table, colon, name = column.partition(":")
        if table not in SCORES and not table.startswith(PARTNER):
            continue
        tables[table] = (*tables.get(table, ()), column)
        if colon:
            named[table] = (*named.get(table, ()), name)
    for table, columns in tables.items():
        if len(columns) != len(named.get(table, columns)):
            raise OpenworldError(f"{file.path} has {table} as a table and as columns of single classes; keep one.")
    lists = list(named.items())
    for table, names in lists[1:]:
        if names != lists[0][1]:
            raise OpenworldError(
                f"the columns of {table} in {file.path} are of other classes than those of {lists[0][0]}."
            )
    return tables, lists[0][1] if lists else None


def _listed_names(file: ScoreFile) -> tuple[str, ...] | None:
    if "classnames" not in file.about:
        return None
    try:
        return tuple(str(name) for name in json.loads(file.about["classnames"]))
    except (ValueError, TypeError) as error:
        raise OpenworldError(f"classnames of {file.path} are no JSON list of names ({error}).") from error


def _table(columns: Columns, names: Sequence[str]) -> np.ndarray:
    """float[n, C] of one wide column or of a column per class."""
    if len(names) == 1 and ":" not in names[0]:
        return columns[names[0]]
    return np.stack([columns[name] for name in names], axis=1)


def _numbered(labels: np.ndarray, classnames: Sequence[str] | None) -> np.ndarray:
    """Class numbers of labels that are numbers or names."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "iu":
        return labels
    if labels.dtype.kind == "f":
        raise OpenworldError("labels are empty in some rows, or fractions; every image needs a class, or none has one.")
    if classnames is None:
        raise OpenworldError("labels are names, but the classes have none; give numbers from 0, or class names.")
    number = {name: place for place, name in enumerate(classnames)}
    for name in labels.tolist():
        if name not in number:
            raise unknown_name("label", str(name), classnames)
    return np.array([number[name] for name in labels.tolist()], np.int64)


def _listed(names: Sequence) -> str:
    shown = ", ".join(map(str, names[:6]))
    return f"{shown}, ... ({len(names)})" if len(names) > 6 else shown or "none"


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
