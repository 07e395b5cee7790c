"""What a plan needs of one model's stream, or of two models' on the same images: scores, names, proxies, ids."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.core.representation import short_repr
from openworld.datasets.names.forms import normalise_class_name
from openworld.labels import ScoredStream, closed_set_stream, scored_stream
from openworld.labels.streams import NAMES
from openworld.metrics import SOFT_QUANTITIES, Outcomes, outcomes
from openworld.own_data.label.question import Names
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.judged import JUDGED, MODEL
from openworld.tables.stream import OpenWorldStream, read_stream
from openworld.tables.table import TableColumn, open_table

OPEN_WORLD = ("score", "base_name", "base_logits", "new_logits")
"""Columns that a closed-set classifier does not have."""
UNKNOWN = 0.5
"""What is expected of an image of which the file expects nothing: base or new, its name right or wrong, alike."""


@dataclass(frozen=True)
class LabelFrame:
    """The images of which something is to be known."""

    name: str
    models: tuple[str, ...]  # one, or two that are compared
    streams: tuple[ScoredStream, ...]  # what they say; the names that they give are places in those of the frame
    expects: frozenset[str]  # quantities of which they expect something; of the rest they expect one half throughout
    base_names: tuple[str, ...]  # of a closed-set classifier all names
    new_names: tuple[str, ...]
    ids: np.ndarray  # text[N], distinct
    images: np.ndarray | None  # paths, text[N]; None where the stream names none
    groups: np.ndarray | None  # int64[N]; None where every image is a group of its own
    closed: bool = False  # whether the models know no new names, so that only whether a name is right is asked
    left_out: int = 0  # images with labels already, of which nothing is asked and told
    folders: tuple[Path, ...] = ()  # to which paths of images may be relative

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def all_names(self) -> tuple[str, ...]:
        return self.base_names + self.new_names

    def names(self, row: int) -> Names:
        known, streams = self.all_names, self.streams
        if self.closed:
            return Names(tuple(known[own.joint_name[row]] for own in streams if own.joint_name is not None))
        return Names(*(tuple(known[getattr(own, half)[row]] for own in streams) for half in ("base_name", "new_name")))


def read_frame(
    stream: Path | str | ScoreFile, other: Path | str | ScoreFile | None = None, base_names: Sequence[str] | None = None
) -> LabelFrame:
    """Read an open-world stream, or scores of a closed-set classifier, and another model's on the same images."""
    first = _read(stream, base_names)
    if other is None:
        return first
    second = _read(other, base_names)
    if first.closed != second.closed:
        raise OpenworldError(f"only one of {first.name} and {second.name} knows new names; compare two of a kind.")
    order = _order(first, second)
    base, new = _all_names(first, second)
    place = {normalise_class_name(name): number for number, name in enumerate([*base, *new])}
    streams = []
    for frame, rows in ((first, np.arange(len(first))), (second, order)):
        codes = np.array([place[normalise_class_name(name)] for name in frame.all_names])
        streams.append(some_rows(frame.streams[0], rows, codes))
    (model,), (other_model,) = first.models, second.models
    models = (model, f"{other_model} (2)" if other_model == model else other_model)
    expects = first.expects & second.expects
    return replace(first, models=models, streams=tuple(streams), expects=expects, base_names=base, new_names=new)


def some_rows(stream: ScoredStream, rows: np.ndarray, codes: np.ndarray | None = None) -> ScoredStream:
    """Return what is said of some images, in their order; `codes` are other numbers of the names."""
    parts: dict[str, Any] = {name: None if part is None else part[rows] for name, part in vars(stream.expected).items()}
    names = {name: part[rows] for name in NAMES if (part := getattr(stream, name)) is not None}
    if codes is not None:
        names = {name: codes[part] for name, part in names.items()}
    return ScoredStream(stream.scores[rows], Outcomes(**parts), **names)


def _read(given: Path | str | ScoreFile, base_names: Sequence[str] | None) -> LabelFrame:
    file = open_scores(given)
    open_world = base_names is not None or "n_base" in file.about or set(file.columns) & set(OPEN_WORLD)
    return _of_stream(file, base_names) if open_world else _of_classifier(file)


def _of_stream(file: ScoreFile, base_names: Sequence[str] | None) -> LabelFrame:
    stream = read_stream(file, base_names=base_names)
    rows = np.arange(len(stream))
    if stream.labels is not None:
        rows = np.flatnonzero(~stream.labels.known)
        if not rows.size:
            raise OpenworldError(f"every image of {stream.name} has a label; openworld score has the numbers.")
    left_out = len(stream) - rows.size
    ids = _ids(stream.columns.get("id"), len(stream), stream.name)[rows]
    stream = stream.rows(rows) if left_out else stream
    says = scored_stream(
        stream.scores,
        **vars(expected_outcomes(stream)),
        base_name=stream.base_prediction,
        new_name=stream.new_prediction + len(stream.base_names),
        joint_name=stream.joint_prediction,
    )
    model = stream.name.rpartition(".")[0] or stream.name
    sides = (stream.base_names, stream.new_names)
    beside = _images_and_groups(stream.columns)
    frame = LabelFrame(stream.name, (model,), (says,), _expects(stream), *sides, ids, *beside)
    return replace(frame, left_out=left_out, folders=_folders(file))


def expected_outcomes(stream: OpenWorldStream) -> Outcomes:
    """Return the file's own proxies, or softmaxes of its logits, or one half; any keeps the answer valid."""
    from scipy.special import softmax

    proxies = stream.proxies
    if stream.logits is not None:
        joint = softmax(stream.logits, axis=1)
        base = proxies.get("base", joint[:, : len(stream.base_names)].sum(axis=1))
        within = [softmax(half, axis=1).max(axis=1) for half in (stream.base_logits, stream.new_logits)]
        right = joint.max(axis=1)
    else:
        base = proxies.get("base", np.full(len(stream), UNKNOWN))
        within, right = [np.full(len(stream), UNKNOWN)] * 2, None
        if stream.joint_prediction is not None:
            right = np.full(len(stream), UNKNOWN)
    base = np.clip(base, 0.0, 1.0)
    base_right, new_right = (
        proxies.get("base_right", base * within[0]),
        proxies.get("new_right", (1 - base) * within[1]),
    )
    return outcomes(np.clip(base_right, 0, base), np.clip(new_right, 0, 1 - base), base, right=right)


def _expects(stream: OpenWorldStream) -> frozenset[str]:
    """The quantities of which a stream expects something: all from its logits, else those of its own columns."""
    if stream.logits is not None:
        return frozenset(SOFT_QUANTITIES)
    parts = {
        "auroc": {"base"},
        "base_share": {"base"},
        "base_accuracy": {"base", "base_right"},
        "new_accuracy": {"base", "new_right"},
        "openworld_auc": {"base", "base_right", "new_right"},
    }
    return frozenset(name for name, needed in parts.items() if needed <= set(stream.proxies))


def _of_classifier(file: ScoreFile) -> LabelFrame:
    """Read a classifier's scores block by block; kept are names and confidences."""
    from scipy.special import softmax

    table = open_table(file, JUDGED.plus(TableColumn("group", "entry")))
    (layout,) = table.layouts
    (kind,) = (name for name in MODEL if name in table.present)
    if "labels" in table.present:
        raise OpenworldError(
            f"{file.path} has labels; leave the column {layout.own['labels'][0]} out to plan all the same."
        )
    image = "path" if "image" not in table.present and "images_in" in file.about else "image"
    beside = [name for name in ("id", image, "group") if name in table.present]
    places, confidences, kept = [], [], defaultdict(list)
    for columns, _, _ in table.blocks([kind, *beside]):
        matrix = columns[kind].astype(np.float64)
        places.append(matrix.argmax(axis=1))
        confidences.append((matrix if kind == "probabilities" else softmax(matrix, axis=1)).max(axis=1))
        for name in beside:
            kept["image" if name == image else name].append(columns[name])
        width = matrix.shape[1]
    if not places:
        raise OpenworldError(f"{file.path} has columns and no row; it needs a row per image.")
    columns = {name: np.concatenate(parts) for name, parts in kept.items()}
    confidence = np.clip(np.concatenate(confidences), 0.0, 1.0)
    says = (closed_set_stream(confidence, np.concatenate(places)),)
    ids = _ids(columns.get("id"), len(confidence), file.path.name)
    names = tuple(table.classnames or map(str, range(width)))
    beside = _images_and_groups(columns)
    frame = LabelFrame(file.path.name, (file.path.stem,), says, frozenset(SOFT_QUANTITIES), names, (), ids, *beside)
    return replace(frame, closed=True, folders=_folders(file))


def _folders(file: ScoreFile) -> tuple[Path, ...]:
    """Return where images of a file may lie: the folder that it names, the current one, its own."""
    text = file.about.get("images_in")
    try:
        folders = () if text is None else (Path(parse_json(text)),)
    except (ValueError, TypeError) as error:
        raise OpenworldError(f"images_in of {file.path} is {text}, expected a folder in quotes.") from error
    return (*folders, Path(), file.path.parent)


def _images_and_groups(columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return paths as text, and groups as numbers; None of what is not there."""
    images, groups = (columns[name].astype(str) if name in columns else None for name in ("image", "group"))
    return images, None if groups is None else np.unique(groups, return_inverse=True)[1]


def _ids(given: np.ndarray | None, count: int, name: str) -> np.ndarray:
    """Return ids as text, rows from 0 where there are none."""
    ids = np.arange(count).astype(str) if given is None else given.astype(str)
    distinct, counts = np.unique(ids, return_counts=True)
    if len(distinct) < count:
        raise OpenworldError(f"id {distinct[counts > 1][0]!r} of {name} comes more than once; an id is one image.")
    return ids.astype(object)


def _order(first: LabelFrame, second: LabelFrame) -> np.ndarray:
    """Return the row of the second stream of each image of the first."""
    place = {own: row for row, own in enumerate(second.ids.tolist())}
    lacking = [own for own in first.ids.tolist() if own not in place]
    if lacking or len(second) != len(first):
        raise OpenworldError(
            f"{first.name} has {len(first):,} images and {second.name} {len(second):,}, of which {len(lacking):,} ids "
            "of the first are not in the second; two models are compared on the same images, paired by id, or row by "
            "row where there are no ids."
        )
    order = np.array([place[own] for own in first.ids.tolist()])
    if first.images is not None and second.images is not None:
        other = np.flatnonzero(first.images != second.images[order])
        if other.size:
            row = int(other[0])
            raise OpenworldError(
                f"id {first.ids[row]!r} is image {first.images[row]} in {first.name} and "
                f"{second.images[order][row]} in {second.name}; give two streams of the same images."
            )
    return order


def _all_names(first: LabelFrame, second: LabelFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return base and new names of two models together."""
    base, new = ({normalise_class_name(name): name for name in own} for own in (first.base_names, first.new_names))
    for known, own in ((base, second.base_names), (new, second.new_names)):
        for name in own:
            known.setdefault(normalise_class_name(name), name)
    both = sorted(base.keys() & new.keys())
    if both:
        raise OpenworldError(
            f"{base[both[0]]!r} is a base class of one of {first.name} and {second.name} and a new class of the other; "
            "two models are compared on the same base classes."
        )
    return tuple(base.values()), tuple(new.values())
