"""Your own pictures in a list: a CSV or Parquet file with a row per picture.

Columns: `path` (relative to the list's folder), `label` (the class's name), and where they are wanted `split` (train,
validation or val, test), `group` (pictures that share its value are not independent) and `name`. Without `split` every
row is a test picture. Classes are in the order of their names; where `name` is there, `label` is a number from 0 that
says the order, and `name` is the class's name.
"""

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.formats.files import image_set
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.formats.split_files import ImageRows, require_below
from openworld.datasets.image_set import ImageSet
from openworld.datasets.splits import few_shot

_LONGEST_HEAD = 1 << 20  # bytes
COLUMNS = ("path", "label", "name", "group", "split")


def load(
    path: str | Path,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """The pictures of a list, or of one part of it.

    Args:
        path: a file ending in .csv or .parquet, see the top of this file.
        root: the folder that its paths are relative to; None for the list's own.
        domain: lists have none.
        part: "train", "validation" or "test".
        shots: draw so many pictures per class (`splits.few_shot`); None for all.
        seed: of that draw.

    Returns:
        An image set in the order of the list, whose classes are those of all parts.

    Raises:
        OpenworldError: a missing list or column, a part without rows, a path that leaves the folder, missing pictures.
    """
    path = Path(path)
    if domain:
        raise OpenworldError(f"{path} is a list, which has no domains, so no {domain!r}; leave the domain out.")
    if part not in PARTS:
        raise unknown_name("part", part, PARTS)
    columns = _read(path)
    names, labels = _classes(path, columns)
    own = _rows_of(path, columns, part)
    rows = ImageRows(tuple(columns["path"][row] for row in own), labels[own], _groups(columns, own))
    for one in rows.paths:
        require_below(one, str(path))
    chosen = None if shots is None else few_shot(rows.labels, shots, random.Random(seed))
    return image_set(path.stem, Path(root or path.parent), names, rows, chosen)


def parts(path: str | Path) -> set[str]:
    """The parts that a list has rows of: some of "train", "validation" and "test"."""
    columns = _read(Path(path))
    splits = set(columns.get("split", ["test"]))
    return {part for part, names in PARTS.items() if splits & set(names)}


def _read(path: Path) -> dict[str, list[str]]:
    """The columns that we know, as text without outer spaces."""
    reader = {".csv": _read_csv, ".parquet": _read_parquet}.get(path.suffix)
    if reader is None or not path.is_file():
        why = "there is no such file" if reader else "expected a file ending in .csv or .parquet"
        raise OpenworldError(f"{path} is no list of pictures: {why}.")
    columns = reader(path)
    missing = [name for name in ("path", "label") if name not in columns]
    if missing:
        raise OpenworldError(
            f"{path} has no column {' and no '.join(missing)}; its columns are {', '.join(columns) or 'none'}, "
            f"expected path and label, and if wanted {', '.join(COLUMNS[2:])}."
        )
    known = {name: [str(value).strip() for value in columns[name]] for name in COLUMNS if name in columns}
    for name, values in known.items():
        if "" in values:
            raise OpenworldError(f"{path} has no {name} in row {values.index('') + 1}; every row needs one.")
    return known


def require_commas(path: Path) -> None:
    """Refuse a CSV file whose first line has other signs between the columns, as spreadsheets of some languages write.

    Raises:
        OpenworldError: names the sign.
    """
    with path.open("rb") as file:
        head = file.readline(_LONGEST_HEAD)
    found = [name for sign, name in {b";": "';'", b"\t": "tab", b"|": "'|'"}.items() if sign in head]
    if found and b"," not in head:
        raise OpenworldError(
            f"{path} is separated by {found[0]}, expected commas between columns and a point in numbers; write it so."
        )


def _read_csv(path: Path) -> dict[str, Sequence[str]]:
    require_commas(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *rows = list(csv.reader(file, strict=True)) or [[]]
    except (csv.Error, UnicodeDecodeError) as error:
        raise OpenworldError(f"{path} cannot be read as UTF-8 CSV ({error}); mend or convert it.") from error
    rows = [row for row in rows if row]
    uneven = next((place for place, row in enumerate(rows, start=1) if len(row) != len(head)), None)
    if uneven:
        raise OpenworldError(f"{path}, row {uneven} has {len(rows[uneven - 1])} fields, expected {len(head)}.")
    return {name.strip(): [row[place] for row in rows] for place, name in enumerate(head)}


def _read_parquet(path: Path) -> dict[str, Sequence]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise OpenworldError(f"{path} cannot be read as Parquet ({error}); write it again.") from error
    wanted = [name for name in table.column_names if name in COLUMNS]
    return {name: ["" if value is None else value for value in table[name].to_pylist()] for name in wanted}


def _classes(path: Path, columns: dict[str, list[str]]) -> tuple[list[str], np.ndarray]:
    """Class names in label order, and int64[N] labels, over all parts."""
    if "name" in columns:
        return _numbered_classes(path, columns)
    names, labels = np.unique(np.array(columns["label"], dtype=str), return_inverse=True)
    if names.size and all(name.isdecimal() for name in names.tolist()):
        raise OpenworldError(
            f"{path} has numbers for labels ({names[0]}, ...), and a text tower needs names; put the class's name "
            "into `label`, or add it as a column `name`."
        )
    return names.tolist(), labels.astype(np.int64)


def _numbered_classes(path: Path, columns: dict[str, list[str]]) -> tuple[list[str], np.ndarray]:
    names: dict[int, str] = {}
    for row, (label, name) in enumerate(zip(columns["label"], columns["name"], strict=True), start=1):
        if not label.isdecimal() or names.setdefault(int(label), name) != name:
            raise OpenworldError(
                f"{path}, row {row} has label {label!r} with name {name!r}; beside a column `name`, labels must be "
                "whole numbers from 0 with one name each."
            )
    if sorted(names) != list(range(len(names))):
        raise OpenworldError(f"{path} has {len(names)} labels up to {max(names)}; they must be 0 to {len(names) - 1}.")
    return [names[label] for label in range(len(names))], np.array([int(one) for one in columns["label"]], np.int64)


def _rows_of(path: Path, columns: dict[str, list[str]], part: str) -> np.ndarray:
    split = columns.get("split", ["test"] * len(columns["path"]))
    known = {name for names in PARTS.values() for name in names}
    odd = next((value for value in split if value not in known), None)
    if odd is not None:
        raise OpenworldError(f"{path} has the split {odd!r}; expected {', '.join(sorted(known))}.")
    own = np.array([row for row, value in enumerate(split) if value in PARTS[part]], dtype=np.int64)
    if not own.size:
        hint = "" if "split" in columns else ": without a column `split` every row is a test picture"
        raise OpenworldError(f"{path} has no row of part {part!r}{hint}.")
    return own


def _groups(columns: dict[str, list[str]], own: np.ndarray) -> np.ndarray | None:
    if "group" not in columns:
        return None
    _, groups = np.unique(np.array(columns["group"], dtype=str), return_inverse=True)
    return groups.astype(np.int64)[own]
