"""Columns by which a person joins a record's table to pictures: the path of each, and names of classes by number."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

Table = Mapping[str, np.ndarray]
NUMBERED = ("label", "prediction", "joint_prediction")
"""Columns that hold numbers of classes."""


def with_names(table: Table, classnames: Sequence[str], path_of: Callable[[int], str] | None = None) -> dict:
    """The table with `path` behind `id`, and behind each of `NUMBERED` the class names, as `label_name` and so on.

    Args:
        table: with the columns `id` and some of `NUMBERED`.
        classnames: by number; a number that stands for none, -1, becomes "".
        path_of: id -> path of the picture below the folder of its data; None where ids are the user's own.

    >>> table = with_names({"id": np.array([7]), "label": np.array([1])}, ("cat", "dog"), "{}.png".format)
    >>> {name: column.tolist() for name, column in table.items()}
    {'id': [7], 'path': ['7.png'], 'label': [1], 'label_name': ['dog']}
    """
    names = np.array([*classnames, ""], dtype=object)
    found: dict[str, np.ndarray] = {}
    for column, values in table.items():
        found[column] = values
        if column == "id" and path_of is not None:
            found["path"] = np.array([path_of(number) for number in values.tolist()], dtype=object)
        if column in NUMBERED:
            found[f"{column}_name"] = names[values]
    return found
