"""A data set of Hugging Face's, through its own library, which comes with the extra: pip install 'openworld[hf]'.

The data set must have one column of images and one of class labels with names; their types say which.
"""

import io
import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.formats.decoding import decode
from openworld.datasets.formats.files import content_of
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.image_set import ImageSet, path_column
from openworld.datasets.splits import draw_shots

PREFIX = "hf:"


def load(
    name: str, *, domain: str | None = None, part: str = "test", shots: int | None = None, seed: int = 0
) -> ImageSet:
    """Return a part of a data set of the hub's, or of a folder that `DatasetDict.save_to_disk` wrote.

    The name is "hf:user/name", "hf:user/name:configuration" or "hf:path/to/folder"; there are no domains; the other
    options are those of `datasets.load`. Raises OpenworldError without the extra, such a data set or split, or the
    network.
    """
    if domain:
        raise OpenworldError(f"{name} has no domains, so no {domain!r}; a configuration is said as {name}:{domain}.")
    if part not in PARTS:
        raise unknown_name("part", part, PARTS)
    repository, _, configuration = name.removeprefix(PREFIX).partition(":")
    library, names = _library(), splits(name)
    split = next((own for own in PARTS[part] if own in names), None)
    if split is None:
        raise OpenworldError(f"{repository} has no split {' or '.join(PARTS[part])}; it has {', '.join(names)}.")
    with _with_reasons(repository):
        if _is_saved(repository):
            split_data = library.load_from_disk(repository)[split]
        else:
            split_data = library.load_dataset(repository, configuration or None, split=split)
    return from_dataset(split_data, name.removeprefix(PREFIX), shots=shots, seed=seed)


def splits(name: str) -> tuple[str, ...]:
    """The names of a data set's splits, as its authors call them; `name` as for `load`, with its errors."""
    repository, _, configuration = name.removeprefix(PREFIX).partition(":")
    library = _library()
    with _with_reasons(repository):
        if _is_saved(repository):
            return tuple(library.load_from_disk(repository))
        return tuple(library.get_dataset_split_names(repository, configuration or None))


def from_dataset(dataset, name: str, *, shots: int | None = None, seed: int = 0) -> ImageSet:
    """Return a `datasets.Dataset` with one column of type Image and one of type ClassLabel as an image set."""
    library = _library()
    image = _only_column(dataset, library.Image, "images", name)
    label = _only_column(dataset, library.ClassLabel, "class labels", name)
    labels = np.array(dataset[label], dtype=np.int64)
    if labels.size and labels.min() < 0:
        raise OpenworldError(f"{name} has {int((labels < 0).sum())} images without a label; choose a labelled part.")
    classnames = tuple(dataset.features[label].names)
    if shots is not None:
        drawn = draw_shots(labels, shots, seed)
        dataset, labels = dataset.select(drawn), labels[drawn]
    images = dataset.select_columns([image]).cast_column(image, library.Image(decode=False))
    sizes = list(_sizes(images, image))
    return ImageSet(
        name=name,
        domain="",
        classnames=classnames,
        labels=labels,
        groups=np.arange(len(labels)),
        content=content_of(sizes),
        read=partial(read_row, images, image, name),
        columns=path_column(called for called, _ in sizes),
    )


def read_row(dataset, column: str, name: str, index: int) -> Image.Image:
    # Decoded here, not by the library, so that a damaged image is named like any other.
    stored, called = dataset[index][column], f"{name}, row {index}"
    if stored["bytes"] is not None:
        return decode(io.BytesIO(stored["bytes"]), called)
    return decode(Path(stored["path"]), f"{called} ({stored['path']})")


def _library():
    try:
        import datasets
    except ImportError:
        raise OpenworldError("data sets of Hugging Face need a library; pip install 'openworld[hf]'.") from None
    return datasets


def _is_saved(repository: str) -> bool:
    """Whether it is a folder that `DatasetDict.save_to_disk` wrote."""
    return (Path(repository) / "dataset_dict.json").is_file()


@contextmanager
def _with_reasons(repository: str) -> Generator[None]:
    try:
        yield
    except OpenworldError:
        raise
    except (OSError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise OpenworldError(f"{repository} cannot be had: {reason} Look at its name and the network.") from error


def _only_column(dataset, kind: type, what: str, name: str) -> str:
    columns = [column for column, feature in dataset.features.items() if isinstance(feature, kind)]
    if len(columns) != 1:
        raise OpenworldError(
            f"{name} has {len(columns)} columns of {what} (its columns: {', '.join(dataset.features)}), expected one; "
            f"keep or cast one with `select_columns` or `cast_column` and give it to `hub.from_dataset`."
        )
    return columns[0]


def _sizes(images, column: str) -> Generator[tuple[str, int]]:
    """(name, bytes) of every image; lengths come from the table's offsets, so no image is touched."""
    from importlib import import_module

    compute: Any = import_module("pyarrow.compute")  # makes its functions when it is imported
    for table in images.with_format("arrow").iter(batch_size=1000):
        stored = table[column].combine_chunks()
        lengths = compute.binary_length(compute.struct_field(stored, "bytes")).to_pylist()
        paths = compute.struct_field(stored, "path").to_pylist()
        for path, length in zip(paths, lengths, strict=True):
            yield os.path.basename(path or ""), os.path.getsize(path) if length is None else length
