"""An open-world stream: what a learner says of images of which nobody knows whether they are of base or of new classes.

A file, several that follow each other, or columns in Python, with an entry per image:

    logits                      over base names, then new names, scale included (in any order, where base names are
                                given by name); see `stream_names` for the names
    base_logits, new_logits     within a half, for learners that name base images by other logits (GMoP, DePT, DeCoOp)
    score                       detection score, larger = more base-like; default: log of the largest base softmax
    base_name, new_name         without logits: the name as a base image, the name as a new one
    joint_name                  perhaps: the name among all names
    base, base_right, new_right perhaps: P(base), P(base and base_name right), P(new and new_name right), in [0, 1]
    reference, or zero_shot     perhaps: similarities of another model to all names; zero_shot of the one that was tuned
    image, id, group, time, level   perhaps: path; number or text that no other image has; images that belong together;
                                time stamp; level of a shift
    side, label                 where they are known: "base" or "new", and the true class, empty for images without
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.tables.coded import Coded
from openworld.tables.files import ScoreFile
from openworld.tables.parquet import table_bytes
from openworld.tables.stream_names import BASE, NEW, StreamLabels, StreamNames, ordered_classes, stream_labels
from openworld.tables.table import Schema, TableColumn, TypedTable, joined, open_table

ReferenceKind = Literal["independent", "zero-shot"]
REFERENCES: dict[str, ReferenceKind] = {"reference": "independent", "zero_shot": "zero-shot"}
"""Column of another model's similarities -> which kind of model it is."""

ANSWERS = {"base_name": "base_logits", "new_name": "new_logits", "joint_name": "logits"}
"""Column of names -> the logits of which it names the largest."""

PROXIES = ("base", "base_right", "new_right")
PER_IMAGE = ("image", "id", "group", "time", "level")
STREAM = Schema(
    (
        *(TableColumn(name, "matrix") for name in (*ANSWERS.values(), *REFERENCES)),
        *(TableColumn(name, "name") for name in ANSWERS),
        *(TableColumn(name, "fraction") for name in PROXIES),
        *(TableColumn(name, "entry", empty=name not in ("id", "group")) for name in PER_IMAGE),
        TableColumn("score"),
        TableColumn("side", "name", empty=True, choices={BASE: BASE, NEW: NEW}),
        TableColumn("label", "entry", empty=True),
    ),
    alike=False,
    where="openworld label plan",
)
_SAME = 1e-4  # of the largest logit: how far the logit of a name that the file gives may lie below it
_ROUNDED = 1e-4  # how far a part of a probability may exceed the whole


@dataclass(frozen=True)
class OpenWorldStream:
    """What a learner says of n images."""

    name: str
    scores: np.ndarray  # float64[n], larger = more base-like
    base_names: tuple[str, ...]  # of a file without logits those that occur
    new_names: tuple[str, ...]
    base_prediction: np.ndarray  # int64[n], the name as a base image, a place in `base_names`
    new_prediction: np.ndarray  # int64[n], the name as a new one, a place in `new_names`
    joint_prediction: np.ndarray | None = None  # int64[n], the name among all: base names, then new names
    base_logits: np.ndarray | None = None  # float[n, C] among base names
    new_logits: np.ndarray | None = None  # float[n, C] among new names
    logits: np.ndarray | None = None  # float[n, C] over base names, then new names
    reference: np.ndarray | None = None  # float[n, C], similarities of a third model to all names
    reference_kind: ReferenceKind = "independent"  # that is the model the learner was tuned from
    proxies: Mapping[str, np.ndarray] = field(default_factory=dict)  # what the file expects, float64[n] in [0, 1]
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)  # what it says besides, [n], by `PER_IMAGE`
    labels: StreamLabels | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def names(self) -> tuple[str, ...]:
        """Base names, then new names."""
        return self.base_names + self.new_names

    def rows(self, chosen: np.ndarray) -> "OpenWorldStream":
        """Return the stream of some images: a mask bool[n], or places int[m]."""

        def own(value):
            if isinstance(value, StreamLabels):
                return StreamLabels(**{name: part[chosen] for name, part in vars(value).items()})
            if isinstance(value, Mapping):
                return {name: part[chosen] for name, part in value.items()}
            return value[chosen] if isinstance(value, np.ndarray) else value

        return OpenWorldStream(**{name: own(value) for name, value in vars(self).items()})


def read_stream(
    source: Path | str | ScoreFile | Sequence[Path | str | ScoreFile],
    *,
    base_names: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> OpenWorldStream:
    """Read a stream: a file, columns as `scores_of` gives them, or several that follow each other."""
    table = open_table(source, STREAM)
    path = table.files[0].path
    _require_columns(table)
    columns, (base, new), every_orders = _read_files(table, base_names)
    orders = every_orders[0]

    joint, count = columns.get("logits"), len(base)
    if joint is not None:  # a half of the logits is a view of them
        columns.setdefault("base_logits", joint[:, :count])
        columns.setdefault("new_logits", joint[:, count:])
    scores = columns["score"] if "score" in columns else largest_base_log_probability(columns["logits"], count)
    if progress:
        progress(len(scores))

    fixed = (BASE, NEW) if orders else (BASE,) * (base_names is not None)
    names = StreamNames(base, new, fixed)
    answers = {name: _answers(name, columns, names, path) for name in ANSWERS if name != "joint_name"}
    numbered = columns["label"].dtype.kind in "iuf" if "label" in columns else False
    if numbered and len({str(each.get("logits")) for each in every_orders}) > 1:
        raise OpenworldError(f"{table.name} have their classes in several orders; give labels by the names of classes.")
    labels = stream_labels(
        columns.get("side"),
        columns.get("label"),
        names,
        (answers["base_name"], answers["new_name"]),
        path,
        orders.get("logits"),
    )
    names.require_sides(path)
    proxies = {name: columns[name] for name in PROXIES if name in columns}
    _require_parts(proxies, table.name)
    kind = next((name for name in REFERENCES if name in columns), "reference")
    return OpenWorldStream(
        table.name,
        scores,
        tuple(names.sides[BASE].values()),
        tuple(names.sides[NEW].values()),
        *answers.values(),
        _answers("joint_name", columns, names, path) if "joint_name" in columns or joint is not None else None,
        columns.get("base_logits"),
        columns.get("new_logits"),
        joint,
        columns.get(kind),
        REFERENCES[kind],
        proxies,
        _per_image(columns, table.name),
        labels,
    )


def _read_files(
    table: TypedTable, base_names: Sequence[str] | None
) -> tuple[dict[str, Any], list, list[dict[str, np.ndarray]]]:
    """Return the columns of all files, scores in the order of base and new names; these names; and orders by file."""
    parts, sides, orders = [], [], []
    for layout in table.layouts:
        columns = TypedTable((layout,), STREAM).whole()
        *names, of_file = ordered_classes(layout, columns, base_names)
        sides, orders = sides or names, [*orders, of_file]
        if names != sides:
            raise OpenworldError(
                f"{layout.file.path} has other class names than {table.files[0].path}; files that follow each other "
                "are alike."
            )
        for matrix, order in of_file.items():
            scores = columns[matrix].astype(np.result_type(columns[matrix], np.float32), copy=False)
            columns[matrix] = scores if np.array_equal(order, np.arange(len(order))) else scores[:, order]
        parts.append(columns)
    return joined(parts), sides, orders


def stream_bytes(ending: str, columns: Mapping[str, Any], classnames: Sequence[str], base: int) -> bytes:
    """Return a stream as the bytes of a file; classnames: base names, then new names, `base` of the former."""
    classes = {"base_logits": classnames[:base], "new_logits": classnames[base:]}
    classes |= dict.fromkeys(("logits", *REFERENCES), classnames)
    if ending == ".csv" and "logits" in columns:  # in both halves, whose columns say which names are base ones
        columns = {"base_logits": columns["logits"][:, :base], "new_logits": columns["logits"][:, base:], **columns}
    return table_bytes(ending, columns, {"classnames": list(classnames), "n_base": base}, classes)


def largest_base_log_probability(logits: np.ndarray, base: int) -> np.ndarray:
    """Return the default detection score float64[n]: the log of the largest base softmax over all names."""
    wide = np.asarray(logits, np.float64)
    largest = wide.max(axis=1)
    total = np.log(np.exp(wide - largest[:, None]).sum(axis=1))
    return wide[:, :base].max(axis=1) - largest - total


def _require_columns(table: TypedTable) -> None:
    if {"reference", "zero_shot"} <= set(table.present):
        raise OpenworldError(f"{table.files[0].path} has both reference and zero_shot; keep one of them.")
    halves = "base_logits" in table.present
    needed = () if "logits" in table.present else ("score",) if halves else ("score", "base_name", "new_name")
    lacking = [name for name in needed if name not in table.present]
    if lacking:
        file = table.files[0]
        raise OpenworldError(
            f"{file.path} lacks {', '.join(lacking)}; a stream has logits over base names, then new names; or score, "
            f"and base_logits and new_logits, or base_name and new_name. Its columns: {', '.join(file.columns)}."
        )


def _answers(name: str, columns: Mapping[str, Any], names: StreamNames, path: Path) -> np.ndarray:
    """Return the names that images are given, as places."""
    if name not in columns:
        return columns[ANSWERS[name]].argmax(axis=1)
    logits = columns.get(ANSWERS[name])
    spelled: Coded = columns[name]
    if name != "joint_name":
        places = names.numbers(name.partition("_")[0], spelled)
    else:
        places = names.joint_numbers(spelled)
        lacking = np.flatnonzero(places < 0)
        if lacking.size and logits is None:
            raise OpenworldError(
                f"column joint_name of {path} holds {spelled[lacking[0]]!r}, which is in no row of base_name or "
                "new_name, so that its side is not known; give all base names (--base-names FILE)."
            )
    if logits is None:
        return places
    largest = logits.max(axis=1)
    own_logits = np.take_along_axis(logits, np.maximum(places, 0)[:, None], axis=1)[:, 0]
    against = np.flatnonzero((places < 0) | (own_logits < largest - _SAME * np.maximum(1, np.abs(largest))))
    if against.size:
        raise OpenworldError(
            f"column {name} of {path} is not the name of the largest logit in {against.size} row(s), first in row "
            f"{against[0]} (from 0); leave the column out, or give the logits that it was taken from."
        )
    return places


def _per_image(columns: Mapping[str, Any], name: str) -> dict[str, np.ndarray]:
    columns_found = {part: columns[part] for part in PER_IMAGE if part in columns}
    ids = columns_found.get("id")
    if ids is not None and len(set(ids.tolist())) < len(ids):
        again = int(np.setdiff1d(np.arange(len(ids)), np.unique(ids, return_index=True)[1])[0])
        raise OpenworldError(f"id {ids[again]!r} of {name} comes again in row {again}; an id is one image.")
    return columns_found


def _require_parts(proxies: Mapping[str, np.ndarray], name: str) -> None:
    """Refuse P(base and right) above P(base), and P(new and right) above 1 - P(base)."""
    if "base" not in proxies:
        return
    most = {"base_right": proxies["base"], "new_right": 1 - proxies["base"]}
    for part in most.keys() & proxies.keys():
        above = np.flatnonzero(proxies[part] > most[part] + _ROUNDED)
        if above.size:
            whole = "base" if part == "base_right" else "1 - base"
            raise OpenworldError(
                f"column {part} of {name} exceeds {whole} in {above.size} row(s), first in row {above[0]} (from 0); it "
                f"is the probability that the image is {part.partition('_')[0]} and its name right."
            )
