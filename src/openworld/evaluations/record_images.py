"""What a record holds of its images for people: paths and class names in its tables, and thumbnails for its report."""

import io
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from openworld.report import album
from openworld.tables.coded import Coded

Table = Mapping[str, np.ndarray]
NUMBERED = ("label", "prediction", "joint_prediction")  # columns that hold numbers of classes


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
    ids = {int(table["id"][image.place]) for picked in album.choose(table).values() for image in picked}
    return {f"{folder}/{number}.png": thumbnail(read_image(number)) for number in sorted(ids)}


def thumbnail(image) -> bytes:
    image.thumbnail((64, 64))
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
