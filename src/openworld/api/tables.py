"""Tables that people have in Python (mappings of arrays, pandas, polars, pyarrow, `datasets`) as columns of arrays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError


def columns_of(table: Any) -> dict[str, np.ndarray]:
    """Return {name: array} of a mapping of arrays or lists, or of a table of pandas, polars, pyarrow or `datasets`.

    Torch tensors are taken as they are, from any device.

    Raises:
        OpenworldError: something else, or columns of different lengths.

    >>> columns_of({"score": [0.5, 1.0]})
    {'score': array([0.5, 1. ])}
    """
    if isinstance(table, Mapping):
        columns = table
    elif hasattr(table, "column_names"):  # pyarrow and datasets
        columns = {name: table[name] for name in table.column_names}
    elif hasattr(table, "columns"):  # pandas and polars
        columns = {str(name): table[name] for name in table.columns}
    else:
        raise OpenworldError(
            f"a table came as {type(table).__name__}, expected a mapping of arrays, or a table of pandas, polars, "
            "pyarrow or datasets."
        )
    arrays = {str(name): as_array(column) for name, column in columns.items()}
    lengths = {name: len(column) for name, column in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise OpenworldError(f"the columns have different lengths: {lengths}; give one entry per image.")
    return arrays


def as_array(column: Any) -> np.ndarray:
    """Return a column as an array; tensors are brought to the CPU."""
    if hasattr(column, "detach"):
        column = column.detach().cpu()
    if hasattr(column, "to_numpy") and not hasattr(column, "detach"):
        return column.to_numpy()
    return np.asarray(column)


def write_parquet(columns: Mapping[str, np.ndarray], path: Path) -> Path:
    """Write columns, of which a matrix becomes a column of lists, and return the path."""
    import pyarrow
    import pyarrow.parquet

    listed = {name: list(column) if column.ndim > 1 else column for name, column in columns.items()}
    pyarrow.parquet.write_table(pyarrow.table(listed), path)
    return path
