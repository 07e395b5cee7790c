"""Types of the parameters of public functions, by name, and what text on the command line means for each.

A type says what a function takes in Python. `OnCommandLine` beside it says which type text becomes where a person types
it, since an object can only be given in Python. What cannot be checked by type is checked by what reads the value.

Images, scores and embeddings that people have in Python become what rooms read (`as_input`); none is copied to disk.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from openworld.core.errors import OpenworldError


@dataclass(frozen=True)
class OnCommandLine:
    """What a person types for a parameter: text of this type, and what makes the parameter's value of it."""

    kind: Any = str
    read: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class OutputFile:
    """A file that a function writes: never an input, a file of another command, a device, a pipe or a link."""

    kind: str = ""  # what a file of ours that it replaces may be
    option: str = "--out"

    def admit(self, value: Path | str, name: str, others: Mapping[str, Any]) -> Path:
        """Return the path, or refuse it before any work; `others` are the other arguments of the call."""
        from openworld.runs.outputs import require_file

        require_file(self.option, Path(value), kind=self.kind, inputs=_flat(others.values()))
        return Path(value)


@dataclass(frozen=True)
class OutputFolder:
    """A folder that a function writes into: never that of another command, nor one that holds an input."""

    own: tuple[str, ...] = ()  # what it may hold, of `openworld.runs.outputs.MARKS`
    pages: tuple[str, ...] = ()  # evaluations whose results may lie in it; (EVERY,) for those of runs
    beside: tuple[str, ...] = ()  # arguments that may be the same folder

    def admit(self, value: Path | str, name: str, others: Mapping[str, Any]) -> Path:
        """Return the path, or refuse it before any work; `others` are the other arguments of the call."""
        from openworld.runs.outputs import require_folder

        pages = self.pages
        if EVERY in pages:
            from openworld.evaluations import EVALUATIONS, PLUGINS

            pages = (*EVALUATIONS, *PLUGINS.offered())
        inputs = _flat(other for name, other in others.items() if name not in self.beside)
        require_folder("--out", Path(value), own=self.own, pages=pages, inputs=inputs)
        return Path(value)


EVERY = "every evaluation"


@dataclass(frozen=True)
class Input:
    """Images or scores: places stay text, and what somebody has in Python becomes an image set or a table of scores."""

    images: bool = True  # whether a table with a column `path` is one of images; else all tables are of scores
    several: bool = False  # whether a list has one in each entry
    by_name: bool = False  # whether a dict has one under each name
    least: int = 0  # entries that must come where it is several

    def admit(self, value: Any, name: str, others: Mapping[str, Any]) -> Any:
        """Return text, an `ImageSet` or a `ScoreFile`, or several of these."""
        if isinstance(value, str) and not self.several:
            return value
        if self.by_name and isinstance(value, Mapping):
            return {title: as_input(each, title, images=self.images) for title, each in value.items()}
        if not self.several:
            return as_input(value, name, images=self.images)
        entries = list(value) if isinstance(value, list | tuple) else [value]
        if len(entries) < self.least:
            raise OpenworldError(f"{name} is an empty list; give one or more.")
        titles = [name if len(entries) == 1 else f"{name} {place}" for place in range(1, len(entries) + 1)]
        return [as_input(each, title, images=self.images) for each, title in zip(entries, titles, strict=True)]


EXPECTED = (
    'columns such as {"logits": array, "labels": array}, {"embeddings": array}, or {"path": list, "label": list}; a '
    "table of pandas, polars or pyarrow, a datasets.Dataset, an ImageSet, or paths"
)


def as_input(value: Any, name: str, *, images: bool = True) -> Any:
    """Return a place as text, an `ImageSet`, or a `ScoreFile` of columns; a report stands for the scores it keeps."""
    if isinstance(value, str | Path) and str(value):
        return str(value)
    from openworld.datasets import ImageSet, hub
    from openworld.report.report import Report as FinishedReport
    from openworld.tables.entries import column_names, is_table
    from openworld.tables.files import scores_of

    if isinstance(value, FinishedReport):
        if len(value.scores) == 1:
            return value.scores[0]
        if value.scores:
            raise OpenworldError(f"{name} is a report of {len(value.scores)} files; give the columns of all images.")
        raise OpenworldError(
            f"the report that came as {name} keeps no scores; give what `openworld.estimate` returned (of images with "
            "`out`, which keeps their scores)."
        )
    if images:
        features = getattr(value, "features", None)
        if isinstance(value, ImageSet):
            return value
        if isinstance(features, Mapping) and any(type(kind).__name__ == "Image" for kind in features.values()):
            return hub.from_dataset(value, name)
        if is_table(value) and "path" in column_names(value):
            return _images_of_paths(value, name)
    if not is_table(value):
        raise OpenworldError(f"{name} came as {type(value).__name__}, expected {EXPECTED}.")
    return scores_of(value, name)


def _images_of_paths(table: Any, name: str) -> "ImageSet":
    """Return the images of a column `path`, with the classes of a column `label` where there is one."""
    import numpy as np

    from openworld.datasets.formats import files
    from openworld.datasets.formats.files import ImageRows
    from openworld.datasets.formats.folder import find_images, images_of_paths
    from openworld.tables.entries import as_column, column_names, require_filled

    def filled(column: str) -> Any:
        entries = as_column(table[column], f"column {column} of {name}")
        require_filled(entries, f"column {column} of {name}")
        return entries

    names = column_names(table)
    paths = [str(path) for path in filled("path").tolist()]
    labels = next((column for column in ("label", "labels") if column in names), None)
    if labels is None:
        return images_of_paths(find_images(list(map(Path, paths))), name)
    classes = filled(labels)
    if classes.dtype.kind in "iuf":
        raise OpenworldError(f"the {name} has numbers in its column {labels}; give the names of the classes.")
    classnames, places = np.unique(classes.astype(str), return_inverse=True)
    groups = np.unique(filled("group").astype(str), return_inverse=True)[1] if "group" in names else None
    return files.image_set(name, Path(), classnames.tolist(), ImageRows(tuple(paths), places.ravel(), groups))


def _flat(values: Iterable[Any]) -> list[Any]:
    """Return the values, and those in lists and mappings among them, which may be inputs; runs by their folders."""
    flat = []
    for value in values:
        if isinstance(value, list | tuple | Mapping):
            flat += _flat(value.values() if isinstance(value, Mapping) else value)
        else:
            folder = getattr(value, "run_folder", None)
            flat.append(value if folder is None else folder.folder)
    return flat


def _numbers(text: str) -> tuple[int, ...]:
    """Whole numbers in a text, with commas or without.

    >>> _numbers("1 2, 3")
    (1, 2, 3)
    """
    words = text.replace(",", " ").split()
    if not words or not all(word.isdigit() for word in words):
        raise OpenworldError(f'is {text!r}, expected whole numbers, such as "1 2 3".')
    return tuple(map(int, words))


def _places(texts: Sequence[str]) -> dict[str, str | int | float]:
    """Names and values, which are numbers where they read as such.

    >>> _places(["level=3", "setting=emoji=1"])
    {'level': 3, 'setting': 'emoji=1'}
    """
    places = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise OpenworldError(f"{text!r} is not understood; write it as level=3.")
        places[name] = value
        for kind in (float, int):
            with suppress(ValueError):
                places[name] = kind(value)
    return places


def _views(text: str) -> int | str:
    """A number of views, or "fresh"."""
    if text != "fresh" and not text.isdigit():
        raise OpenworldError(f"is {text!r}, expected a whole number, or fresh.")
    return text if text == "fresh" else int(text)


if TYPE_CHECKING:
    from openworld.backbones import TwoTower
    from openworld.classifiers import Classifier
    from openworld.datasets import ImageSet
    from openworld.learners import FittedLearner
    from openworld.report.report import Report

    Table = Mapping[str, Any]  # columns by name, or a table of pandas, polars or pyarrow
    Run = Report | Path | str
    Runs = Sequence[Run] | Mapping[str, Run]
    Spec = Path | str | Mapping[str, Any] | object
    Scores = Path | str | Table
    SeveralScores = Scores | Sequence[Scores]
    ScoresOfModels = Sequence[Scores]
    Stream = Scores | Report
    Images = Path | str | Table | ImageSet
    SeveralImages = Images | Sequence[Images]
    ScoresOrImages = Images | Scores | Sequence[Path | str]
    NamedImages = Sequence[str] | Mapping[str, Images]
    Model = str | Path | Classifier | TwoTower | FittedLearner | Callable
    Models = Sequence[Model]
    PredictingModel = Run | FittedLearner | Table
    Backbone = str | TwoTower | Table
    Names = Path | str | Sequence[str]
    Listed = Sequence[str]
    Numbers = Sequence[int]
    Views = int | str
    Places = Mapping[str, str | int | float]
else:
    Report = "Report"  # what functions return; its room is imported when one is made
    _one, _several = OnCommandLine(str), OnCommandLine(list[str])
    Run = Spec = Model = PredictingModel = Backbone = Annotated[object, _one]
    Runs, Models = Annotated[object, _several], Annotated[Sequence[object], _several]
    Names = Annotated[Path | str | Sequence[str], _one]
    Scores = Stream = Annotated[object, _one, Input(images=False)]
    SeveralScores = Annotated[object, _several, Input(images=False, several=True)]
    ScoresOfModels = Annotated[Sequence[object], _several, Input(images=False, several=True)]
    Images = Annotated[object, _one, Input()]
    SeveralImages = Annotated[object, _several, Input(several=True)]
    ScoresOrImages = Annotated[object, _several, Input(several=True, least=1)]
    NamedImages = Annotated[Sequence[str] | Mapping[str, object], _several, Input(several=True, by_name=True)]
    Listed = Annotated[
        Sequence[str], OnCommandLine(str, lambda text: tuple(filter(None, map(str.strip, text.split(",")))))
    ]
    Numbers = Annotated[Sequence[int], OnCommandLine(str, _numbers)]
    Views = Annotated[int | str, OnCommandLine(str, _views)]
    Places = Annotated[Mapping[str, str | int | float], OnCommandLine(list[str], _places)]
