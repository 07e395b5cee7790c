"""What the columns of a stream mean: which are logits over which names, and which names are of base classes.

Logits are one array or list column, or a column per class whose name ends in ":" and the class's name:

    logits                      over base names, then new names (or in any order, where base names are given by name)
    base_logits, new_logits     among base names and among new names alone
    reference, or zero_shot     similarities of another model to all names, in the order of the logits; zero_shot where
                                that is the model that the learner was tuned from

Names come with the columns, as `classnames` (base names, then new ones) with the number `n_base` of base names, both an
array of an npz file or JSON in the metadata of safetensors and Parquet; or behind the
colons; or nobody names them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld._plain import parse_json
from openworld._score_files import Columns, ScoreFile
from openworld.applications.estimate.columns import class_columns
from openworld.datasets.names.forms import normalise_class_name

LOGITS = ("base_logits", "new_logits", "logits")
REFERENCES = {"reference": "independent", "zero_shot": "zero-shot"}
"""Column of another model's similarities -> which kind of model it is."""

MATRICES = (*LOGITS, *REFERENCES)


@dataclass(frozen=True)
class StreamColumns:
    """Where the matrices of a stream lie, and the names that their columns belong to."""

    columns: dict[str, tuple[str, ...]]  # of the file, of which each matrix consists: one wide column, or one per class
    order: dict[str, np.ndarray]  # place in the file of each column of a matrix that is read in another order
    base_names: tuple[str, ...]  # in the order in which matrices are read; empty without logits
    new_names: tuple[str, ...]

    @property
    def used(self) -> tuple[str, ...]:
        """All columns that matrices consist of."""
        return tuple(name for columns in self.columns.values() for name in columns)

    def matrix(self, block: Columns, name: str) -> np.ndarray:
        """Return a matrix float[n, C] of a block, its columns in the order of the names."""
        parts = [block[column] for column in self.columns[name]]
        matrix = parts[0] if ":" not in self.columns[name][0] else np.stack(parts, axis=1)
        matrix = matrix.astype(np.float64 if matrix.dtype == np.float64 else np.float32, copy=False)
        expected = self.width(name)
        if matrix.ndim != 2 or matrix.shape[1] != expected:
            raise OpenworldError(f"column {name} is {matrix.shape}, expected a number for each of {expected} names.")
        return matrix[:, self.order[name]] if name in self.order else matrix

    def width(self, name: str) -> int:
        """Return of how many names a matrix has logits."""
        base, new = len(self.base_names), len(self.new_names)
        return {"base_logits": base, "new_logits": new}.get(name, base + new)


def stream_columns(file: ScoreFile, base_names: Sequence[str] | None = None) -> StreamColumns:
    """Return what the columns of a file mean; refuse logits of which nobody says which are of base classes."""
    columns, named = class_columns(file, MATRICES.__contains__)
    if len(columns.keys() & REFERENCES.keys()) > 1:
        raise OpenworldError(f"{file.path} has both {' and '.join(REFERENCES)}; keep one of them.")
    named = {matrix: list(names) for matrix, names in named.items()}
    if not set(columns) & set(LOGITS):
        if columns:
            raise OpenworldError(f"{file.path} has {next(iter(columns))} and no logits; give logits over its names.")
        return StreamColumns({}, {}, tuple(base_names or ()), ())
    if "logits" not in columns and not {"base_logits", "new_logits"} <= columns.keys():
        lacking = "new_logits" if "base_logits" in columns else "base_logits"
        raise OpenworldError(f"{file.path} has no logits and no {lacking}; give logits, or both halves.")
    names = _all_names(file, columns, named, base_names)
    base = _which_are_base(file, names, columns, named, base_names)
    ordered = {"base_logits": names[base], "new_logits": names[~base]}
    ordered |= dict.fromkeys(("logits", *REFERENCES), np.concatenate([names[base], names[~base]]))
    listed = {"base_logits": names[base], "new_logits": names[~base]} | dict.fromkeys(("logits", *REFERENCES), names)
    order = {}
    for matrix in columns:
        own = named.get(matrix, listed[matrix].tolist())
        places = _places(own, ordered[matrix].tolist(), f"{matrix} of {file.path}")
        if places.tolist() != list(range(len(own))):
            order[matrix] = places
    return StreamColumns(columns, order, tuple(names[base].tolist()), tuple(names[~base].tolist()))


def _all_names(file: ScoreFile, columns, named, base_names) -> np.ndarray:
    """Return the names of all classes, in the order of `logits`; numbers as text where there are none."""
    if "logits" in named:
        names = named["logits"]
    elif {"base_logits", "new_logits"} <= named.keys():
        names = [*named["base_logits"], *named["new_logits"]]
    elif "classnames" in file.about:
        names = _json(file, "classnames", list)
    else:
        if base_names is not None:
            raise OpenworldError(f"base names came, but {file.path} has no `classnames` to find them among; add them.")
        width = (
            _width(file, columns, "logits")
            if "logits" in columns
            else sum(_width(file, columns, half) for half in ("base_logits", "new_logits"))
        )
        names = range(width)
    names = [str(name) for name in names]
    for name, times in Counter(map(normalise_class_name, names)).most_common():
        if times > 1 or not name:
            problem = f"the class name {name!r} comes {times} times" if name else "a class name is empty"
            raise OpenworldError(f"{problem} in {file.path}; every class needs a name of its own.")
    return np.array(names, dtype=object)


def _which_are_base(file: ScoreFile, names: np.ndarray, columns, named, base_names) -> np.ndarray:
    """bool[C], which of the names are of base classes; at least one is, and at least one is not."""
    said: dict[str, np.ndarray] = {}
    if base_names is not None:
        said["the base names given"] = _are_among(names, base_names, file)
    if "base_logits" in named:
        said["the columns base_logits"] = _are_among(names, named["base_logits"], file)
    if "n_base" in file.about:
        said["n_base"] = np.arange(len(names)) < _json(file, "n_base", int)
    if not said and "base_logits" in columns:
        said["base_logits"] = np.arange(len(names)) < _width(file, columns, "base_logits")
    if not said:
        raise OpenworldError(
            f"{file.path} does not say which of its {len(names)} classes are base ones; add the number `n_base` of "
            "base names, which come first (npz: an array; safetensors, Parquet: in the metadata), or give the base "
            "names (--base-names FILE)."
        )
    (first, base), *others = said.items()
    for other, mask in others:
        if not np.array_equal(mask, base):
            raise OpenworldError(
                f"{first} say {int(base.sum())} base names and {other} {int(mask.sum())} in {file.path}, not the same "
                "ones; keep what is right."
            )
    if base.all() or not base.any():
        kind = "new" if base.all() else "base"
        raise OpenworldError(f"{file.path} has no {kind} name among its {len(names)} classes; give both kinds.")
    return base


def _are_among(names: np.ndarray, chosen: Sequence[str], file: ScoreFile) -> np.ndarray:
    forms = {normalise_class_name(str(name)): str(name) for name in chosen}
    known = [normalise_class_name(name) for name in names.tolist()]
    lacking = sorted(forms.keys() - set(known))
    if lacking:
        raise unknown_name(f"base name (classes of {file.path.name})", forms[lacking[0]], names.tolist())
    return np.array([form in forms for form in known])


def _places(own: Sequence[str], expected: Sequence[str], what: str) -> np.ndarray:
    place = {normalise_class_name(name): number for number, name in enumerate(own)}
    wanted = [normalise_class_name(name) for name in expected]
    odd = sorted(set(place) ^ set(wanted))
    if odd or len(place) != len(own):
        raise OpenworldError(
            f"{what} has {len(own)} names, expected {len(wanted)}: {', '.join(map(repr, odd[:3]))} in one of the two "
            "alone; every matrix needs the names of its half."
        )
    return np.array([place[form] for form in wanted])


def _width(file: ScoreFile, columns, matrix: str) -> int:
    """Return how many columns a matrix has, from the first rows of the file."""
    (column,) = columns[matrix]
    block = next(iter(file.blocks([column], 1)), {column: np.empty((0, 0))})
    return block[column].shape[1] if block[column].ndim == 2 else 1


def _json(file: ScoreFile, key: str, kind: type):
    try:
        value = parse_json(file.about[key])
        if isinstance(value, kind) and not isinstance(value, bool):
            return value
        raise ValueError(f"it is {value!r}")
    except (ValueError, TypeError) as error:
        wanted = "a list of names" if kind is list else "a whole number"
        raise OpenworldError(f"{key} of {file.path} is not {wanted} as JSON ({error}).") from error
