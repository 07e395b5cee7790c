"""Your own images in a list: a CSV or Parquet file with a row per image.

Columns: `path` (relative to the list's folder, or to `root`; absolute if it lies below), `label` (the class's name),
and where they are wanted `split` (train, validation or val, test), `domain` (such as a camera or a hospital), `group`
(images that share its value are not independent) and `name`. Without `split` every row is a test image. Classes are
in the order of their names; where `name` is there, `label` is a number from 0 that says the order, and `name` is the
class's name.
"""

import os
from dataclasses import replace
from pathlib import Path, PurePath

import numpy as np

from openworld.core.csv_files import read_csv
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.formats.files import ImageRows, image_set, require_below
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.image_set import ImageSet
from openworld.datasets.splits import draw_shots
from openworld.tables.files import open_scores

COLUMNS = ("path", "label", "name", "group", "split", "domain")


def load(
    path: str | Path,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """Return the images of a list, or of one part of it, in its order; classes are those of all parts and domains.

    The list's paths are relative to `root` (None: its own folder), `domain` takes only the rows that say so, and the
    other options are those of `datasets.load`. Raises OpenworldError for a missing list or column, an unknown domain, a
    part without rows, a path that leaves the folder, missing images.
    """
    path = Path(path)
    if part not in PARTS:
        raise unknown_name("part", part, PARTS)
    columns = _read(path)
    names, labels = _classes(path, columns)
    part_rows = _rows_of(path, columns, part, domain)
    folder = Path(root or path.parent)
    paths = tuple(_below(columns["path"][row], folder, path) for row in part_rows)
    groups = None
    if "group" in columns:
        groups = np.unique(np.array(columns["group"], dtype=str), return_inverse=True)[1].astype(np.int64)[part_rows]
    rows = ImageRows(paths, labels[part_rows], groups)
    drawn = draw_shots(rows.labels, shots, seed)
    return replace(image_set(path.stem, folder, names, rows, drawn), domain=domain or "")


def parts(path: str | Path, domain: str | None = None) -> set[str]:
    """The parts that a list, or a domain of it, has rows of: some of "train", "validation" and "test"."""
    columns = _read(Path(path))
    splits = {columns["split"][row] if "split" in columns else "test" for row in _rows_in(Path(path), columns, domain)}
    return {part for part, names in PARTS.items() if splits & set(names)}


def _read(path: Path) -> dict[str, list[str]]:
    """The columns that we know, as text without outer spaces."""
    if path.suffix not in (".csv", ".parquet") or not path.is_file():
        listed = path.suffix in (".csv", ".parquet")
        why = "there is no such file" if listed else "expected a file ending in .csv or .parquet"
        raise OpenworldError(f"{path} is no list of images: {why}.")
    if path.suffix == ".csv":
        columns = read_csv(path)
    else:
        file = open_scores(path)
        wanted = [name for name in file.columns if name in COLUMNS]
        columns = {name: column.tolist() for name, column in file.table(filled=wanted, names=wanted).items()}
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


def _classes(path: Path, columns: dict[str, list[str]]) -> tuple[list[str], np.ndarray]:
    """Class names in label order, and int64[N] labels, over all parts."""
    if "name" not in columns:
        classes, labels = np.unique(np.array(columns["label"], dtype=str), return_inverse=True)
        if classes.size and all(name.isdecimal() for name in classes.tolist()):
            raise OpenworldError(f"{path} has numbers for labels ({classes[0]}, ...); give names, or a column `name`.")
        return classes.tolist(), labels.astype(np.int64)
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


def _below(path: str, folder: Path, source: Path) -> str:
    """A path of a list as it lies below the folder of the images."""
    if os.path.isabs(path):
        top = os.path.abspath(folder)
        if not PurePath(path).is_relative_to(top):
            raise OpenworldError(
                f"{source} names {path!r}, which does not lie below {top}; say as `root` which folder holds all of its "
                "images."
            )
        path = PurePath(path).relative_to(top).as_posix()
    require_below(path, str(source))
    return path


def _rows_in(path: Path, columns: dict[str, list[str]], domain: str | None) -> list[int]:
    if not domain:
        return list(range(len(columns["path"])))
    if "domain" not in columns:
        raise OpenworldError(f"{path} has no column `domain`, so no {domain!r}; leave the domain out, or add it.")
    if domain not in columns["domain"]:
        raise unknown_name(f"domain of {path}", domain, dict.fromkeys(columns["domain"]))
    return [row for row, value in enumerate(columns["domain"]) if value == domain]


def _rows_of(path: Path, columns: dict[str, list[str]], part: str, domain: str | None) -> np.ndarray:
    split = columns.get("split", ["test"] * len(columns["path"]))
    words = {name for names in PARTS.values() for name in names}
    odd = next((value for value in split if value not in words), None)
    if odd is not None:
        raise OpenworldError(f"{path} has the split {odd!r}; expected {', '.join(sorted(words))}.")
    rows = _rows_in(path, columns, domain)
    own = np.array([row for row in rows if split[row] in PARTS[part]], dtype=np.int64)
    if not own.size:
        hint = "" if "split" in columns else ": without a column `split` every row is a test image"
        raise OpenworldError(f"{path} has no row of part {part!r}{f' and domain {domain!r}' if domain else ''}{hint}.")
    return own
