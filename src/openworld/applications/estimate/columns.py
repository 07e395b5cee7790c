"""What the columns of a file of scores mean.

A table of scores is one array or list column, or a column per class whose name ends in ":" and the class's name:

    logits          of the model whose accuracy is estimated; or probabilities, whose logarithms are taken
    labels          true classes, numbers from 0 or class names (also called label)
    reference       similarities of a reference model to the class names
    partner...      logits of a partner model, such as partner_1; in order of the names
    seen_in_training    whether the model was trained on the image: 0, 1 (on one much like it) or 2
    embeddings      of the images, beside their scores; for signs of a shift and its likely cause
    appearance      [n, K] of the images: brightness, contrast, ...; for signs of a shift (`estimate` writes it of
    images)

Class names come with the columns, an array or list "classnames" (npz; safetensors and Parquet: in the metadata, as a
JSON list), or from the caller. A column of time stamps is read where it is asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld._plain import parse_json
from openworld._score_files import Columns, ScoreFile
from openworld.estimators.engine.probability_rows import (
    DIGITS,
    EXACT,
    WIDEST,
    adds_up,
    digits_of,
    half_unit,
    precision_of,
)

LABELS = ("labels", "label")
MODEL = ("logits", "probabilities")
PARTNER = "partner"
SEEN = "seen_in_training"
FEATURES = "embeddings"
APPEARANCE = "appearance"
IMAGE_COLUMNS = ("id", "ids", "image", "path")
"""Say which image a row is of."""

_LEAST_HALF = 2.0**-25  # half of the smallest float16: what a 0 in half precision stands for at most


@dataclass(frozen=True)
class ScoreLayout:
    """Which columns are what."""

    tables: dict[str, tuple[str, ...]]  # tables of scores by name, the columns of each
    labels: str | None
    seen: str | None
    features: str | None
    appearance: str | None
    classnames: tuple[str, ...] | None
    unused: tuple[str, ...]
    order: tuple[int, ...] | None = None  # place in the file of each class, where another order is wanted

    @property
    def names_in_file(self) -> tuple[str, ...] | None:
        """Class names in the order of the file, in which a partner without names has them too."""
        if self.order is None:
            return self.classnames
        return tuple(self.classnames[self.order.index(place)] for place in range(len(self.order)))

    def ordered(self, classnames: Sequence[str] | None, where: str, other: str) -> "ScoreLayout":
        """Return it with the classes in that order, where both have names; `where` and `other` say whose."""
        places = order_of(self.classnames, classnames, where, other) if self.classnames and classnames else None
        if places is None:
            return self
        own = self.order or range(len(places))
        return replace(self, classnames=tuple(classnames), order=tuple(own[place] for place in places))

    @property
    def partners(self) -> tuple[str, ...]:
        """The tables of partner models."""
        return tuple(sorted(name for name in self.tables if name.startswith(PARTNER)))


def layout_of(file: ScoreFile, classnames: Sequence[str] | None = None, times: str = "") -> ScoreLayout:
    """Return what the columns of a file mean; `classnames` where the caller knows them."""
    given = tuple(classnames) if classnames is not None else None
    in_list = listed_names(file)
    tables, in_columns = _tables(file, in_list, given)
    scores = [name for name in MODEL if name in tables]
    labels = [name for name in LABELS if name in file.columns]
    if len(scores) != 1:
        what = "both logits and probabilities; keep one" if scores else "no logits and no probabilities"
        raise OpenworldError(f"{file.path} has {what}. Columns: {listed(file.columns)} (openworld estimate --help).")
    if len(labels) > 1:
        raise OpenworldError(f"{file.path} has both label and labels; keep one.")
    if times and times not in file.columns:
        raise unknown_name(f"column of {file.path}:", times, file.columns)
    used = {name for columns in tables.values() for name in columns} | {
        *labels,
        times,
        "classnames",
        SEEN,
        FEATURES,
        APPEARANCE,
    }
    layout = ScoreLayout(
        tables=tables,
        labels=labels[0] if labels else None,
        seen=SEEN if SEEN in file.columns else None,
        features=FEATURES if FEATURES in file.columns else None,
        appearance=APPEARANCE if APPEARANCE in file.columns else None,
        classnames=in_list or in_columns or given,
        unused=tuple(name for name in file.columns if name not in used),
    )
    return layout.ordered(given, file.path.name, "those expected")


def order_of(own: Sequence[str], expected: Sequence[str], where: str, other: str) -> tuple[int, ...] | None:
    """Return the place of every expected class name among a set's own; None where both are in one order."""
    own, expected = tuple(own), tuple(expected)
    if own == expected:
        return None
    place = {name: number for number, name in enumerate(own)}
    if sorted(own) == sorted(expected) and len(place) == len(own):
        return tuple(place[name] for name in expected)
    odd = sorted(set(own) ^ set(expected))
    reason = f"{len(odd)} are in one of the two alone, first {odd[0]!r}" if odd else "a name comes twice"
    raise OpenworldError(
        f"the classes of {where} are not {other}: {len(own)} names, expected {len(expected)}; {reason}."
    )


def class_columns(
    file: ScoreFile, is_table: Callable[[str], bool]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the columns of every table, and the class names behind their colons where they have some."""
    tables: dict[str, tuple[str, ...]] = {}
    for column in file.columns:
        table = column.partition(":")[0]
        if is_table(table):
            tables[table] = (*tables.get(table, ()), column)
    named = {table: tuple(own.partition(":")[2] for own in found if ":" in own) for table, found in tables.items()}
    for table, names in named.items():
        if names and len(names) != len(tables[table]):
            raise OpenworldError(f"{file.path} has {table} as a table and as columns of single classes; keep one.")
    return tables, {table: names for table, names in named.items() if names}


def _tables(
    file: ScoreFile, in_list: tuple[str, ...] | None, given: tuple[str, ...] | None
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return tables of scores by name, and the class names behind their colons, or ()."""
    tables, named = class_columns(file, lambda table: table in (*MODEL, "reference") or table.startswith(PARTNER))
    first = next(iter(named), "")
    expected = in_list or (given if len(named) < len(tables) else None) or named.get(first, ())
    whose = f"those of {first}" if expected == named.get(first) else "those expected"
    for table, names in named.items():
        order = order_of(names, expected, f"the columns of {table} in {file.path}", whose)
        tables[table] = tuple(f"{table}:{names[place]}" for place in order or range(len(names)))
    return tables, expected if named else ()


def listed_names(file: ScoreFile) -> tuple[str, ...] | None:
    """Return the class names that a file lists beside its columns; None where it lists none."""
    if "classnames" not in file.about:
        return None
    try:
        return tuple(str(name) for name in parse_json(file.about["classnames"]))
    except (ValueError, TypeError) as error:
        raise OpenworldError(f"classnames of {file.path} are no JSON list of names ({error}).") from error


def listed(names: Sequence) -> str:
    """Return some names in a sentence."""
    first = ", ".join(map(str, names[:6]))
    return f"{first}, ... ({len(names)})" if len(names) > 6 else first or "none"


def score_table(columns: Columns, names: Sequence[str], order: Sequence[int] | None) -> np.ndarray:
    """Return float[n, C] of one wide column or of a column per class; `order` holds the places of classes there."""
    table = np.stack([columns[name] for name in names], axis=1) if ":" in names[0] else columns[names[0]]
    if table.ndim != 2:
        raise OpenworldError(f"column {names[0]} has shape {table.shape}, expected a row of numbers per image.")
    return table if order is None else table[:, order]


def class_numbers(labels: np.ndarray, classnames: Sequence[str] | None, order: Sequence[int] | None) -> np.ndarray:
    """Return class numbers of labels that are names, or numbers of classes in the order of the file."""
    labels = np.asarray(labels)
    if labels.dtype.kind == "f" and np.array_equal(labels, np.trunc(labels)) and np.isfinite(labels).all():
        labels = labels.astype(np.int64)  # whole numbers that passed through a data frame
    if labels.dtype.kind in "iu":
        if order is None or not np.isin(labels, order).all():  # numbers of no class are refused with the scores
            return labels
        return np.argsort(order)[labels]
    if labels.dtype.kind == "f":
        raise OpenworldError("labels are fractions or infinite in some rows; every image needs a class, or none.")
    if classnames is None:
        raise OpenworldError("labels are names, but the classes have none; give numbers from 0, or class names.")
    number = {name: place for place, name in enumerate(classnames)}
    for name in labels.tolist():
        if name not in number:
            raise unknown_name("label", str(name), classnames)
    return np.array([number[name] for name in labels.tolist()], np.int64)


def logarithms(probabilities: np.ndarray) -> np.ndarray:
    """Return logits of probabilities float[n, C]: logarithms of rows that add up to 1; refuse rows that are none."""
    table = np.asarray(probabilities, np.float64)
    wrong = np.flatnonzero(~adds_up(table) | (table < 0).any(axis=1))
    if wrong.size:
        raise OpenworldError(_complaint(table, wrong))
    sums, digits = table.sum(axis=1, keepdims=True), digits_of(table)
    if digits in DIGITS:
        least = half_unit(digits) / table.shape[1]
    else:
        least = _LEAST_HALF / table.shape[1] if precision_of(table) == "float16" else np.finfo(np.float64).tiny
    table = np.where(np.abs(sums - 1) > EXACT, table / sums, table)
    return np.log(np.maximum(table, least))


def rounded_rows(probabilities: np.ndarray) -> int:
    """Return how many rows do not add up to 1 as they stand."""
    sums = np.asarray(probabilities, np.float64).sum(axis=1)
    return int((np.abs(sums - 1) > EXACT).sum())


def _complaint(table: np.ndarray, wrong: np.ndarray) -> str:
    row = table[wrong[0]]
    what = (
        f"{wrong.size} row(s) of probabilities are negative or do not add up to 1, first {wrong[0]}: "
        f"{listed(row.round(4).tolist())}"
    )
    if (table < 0).any() or np.isnan(table).any():
        return f"{what}; what a model says before the softmax belongs into columns called logits."
    if (np.abs(table.sum(axis=1) - 100) <= 100 * WIDEST).all():
        return f"{what}; these are percent: divide them by 100."
    return f"{what}, their sum is {row.sum():.4g}; save all classes, with enough digits for a sum of 1."
