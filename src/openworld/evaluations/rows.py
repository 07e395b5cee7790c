"""What a record holds: rows of results, written by the unit and read when the run is told; and images for people.

A unit writes what it measured as results, with its seed where that decides them; a record's JSON keeps what the unit
was: learner, seed, training, counts. The rows of a run are those of its units, joined over seeds
(`openworld.results.join_seeds`), and what tables of images say beyond that. Tables have paths and class names, and a
report shows thumbnails.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.report import album
from openworld.results import Result, Results, RunFolder
from openworld.runs import Record
from openworld.tables.coded import Coded

Table = Mapping[str, np.ndarray]
ROWS = "rows.parquet"  # the attachment of a record with its rows
NUMBERED = ("label", "prediction", "joint_prediction")  # columns that hold numbers of classes


def results_of_unit(
    evaluation: str, rows: Iterable[Result], *, seed: int | None = None, shared: Iterable[Result] = ()
) -> Results:
    """Return the rows of a unit; `shared` is what every unit of the run says alike, without a seed."""
    of_seed = rows
    if seed is not None:
        of_seed = (replace(row, seeds=(seed,), per_seed=(row.value.value,)) for row in rows)
    return Results(evaluation, (*shared, *of_seed))


def rows_of_unit(
    evaluation: str, rows: Iterable[Result], *, seed: int | None = None, shared: Iterable[Result] = ()
) -> dict[str, bytes]:
    """Return the attachment with the rows of a unit; arguments as for `results_of_unit`."""
    return {ROWS: results_of_unit(evaluation, rows, seed=seed, shared=shared).to_parquet()}


def read_rows(record: Record) -> Results:
    if ROWS not in record.attachments:
        raise OpenworldError(
            f"record {record.name!r} has no rows of results: another version of openworld wrote it, or another "
            "evaluation; run its spec again in an empty folder."
        )
    return Results.from_parquet(record.attachment(ROWS))


def rows_of_run(run: RunFolder) -> tuple[Results, ...]:
    return tuple(map(read_rows, run.records))


def with_names(table: Table, classnames: Sequence[str], path_of: Callable[[int], str] | None = None) -> dict:
    """Return the table with `path` behind `id` and class names behind `NUMBERED`; the number -1 becomes "".

    >>> table = with_names({"id": np.array([7]), "label": np.array([1])}, ("cat", "dog"), "{}.png".format)
    >>> {name: column.tolist() for name, column in table.items()}
    {'id': [7], 'path': ['7.png'], 'label': [1], 'label_name': ['dog']}
    """
    names = np.array([*classnames, ""], dtype=object)
    columns: dict[str, np.ndarray | Coded] = {}
    for column, values in table.items():
        columns[column] = values
        if column == "id" and path_of is not None:
            columns["path"] = np.array([path_of(number) for number in values.tolist()], dtype=object)
        if column in NUMBERED:
            columns[f"{column}_name"] = (
                values.renamed(names[values.names].tolist()) if isinstance(values, Coded) else names[values]
            )
    return columns


def thumbnails(table: Mapping[str, np.ndarray], read_image: Callable, folder: str = "images") -> dict[str, bytes]:
    """Return 64-pixel PNGs of the images that a report shows, as attachments by their id."""
    ids = {int(table["id"][place]) for picked in album.choose(table).values() for place, *_ in picked}
    return {f"{folder}/{number}.png": thumbnail(read_image(number)) for number in sorted(ids)}


def thumbnail(image) -> bytes:
    image.thumbnail((64, 64))
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
