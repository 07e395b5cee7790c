"""What a model says about a set of images, and what other models say about the same images.

Estimators see models through this alone: no images, no weights. Labels are known of the source, never of the target.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from openworld.core.arrays import array_of, as_labels, as_table, require_size
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked

Found = TypeVar("Found")
APPEARANCE_MOST = 1e15  # squares of larger numbers are too large for single precision


@checked
@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs of the judged model, and of others, on one image set; everything is checked and read as float64.

    Args:
        logits: float[n, C] of the judged model, n >= 1 and C >= 2.
        labels: int[n] in 0..C-1, or None where they are not known.
        reference: float[n, C], how similar a reference model finds each image and each class name (cosines); or None.
        partners: float[n, C] each, the logits of other models of the same classes, in the same order for source and
            target.
        slices: [n, D], which of D groups of your own each image belongs to (night, small, from camera 2, ...): true or
            false, or 1, 0 and -1, of which 0 counts as -1; kept as 1.0 and -1.0. For IM(slices="given").
        features: [n, D], what some model makes of the images before it names them (embeddings), of any lengths; kept as
            float32 of length 1. For signs of a shift, and its likely cause.
        appearance: [n, K], brightness, contrast, colour, sharpness, ... of the images, kept as float32. For signs of a
            shift.
    Raises:
        OpenworldError: NaN or infinity, shapes that differ, a label outside 0..C-1, no image, a single class.

    >>> outputs = Outputs([[2.0, 1.0], [0.0, 3.0]], labels=[0, 0])
    >>> outputs.predictions.tolist(), outputs.mistakes
    ([0, 1], 1)
    """

    logits: np.ndarray
    labels: np.ndarray | None = None
    reference: np.ndarray | None = None
    partners: tuple[np.ndarray, ...] = ()
    slices: np.ndarray | None = None
    features: np.ndarray | None = None
    appearance: np.ndarray | None = None

    __repr__ = short_repr

    def __post_init__(self):
        logits = require_size(as_table(self.logits, "logits", (2,)), "logits")
        if logits.shape[0] == 0 or logits.shape[1] < 2:
            raise OpenworldError(f"logits has shape {logits.shape}, expected at least one image and two classes.")
        n, classes = logits.shape
        arrays: dict[str, Any] = {"logits": logits}
        if self.labels is not None:
            arrays["labels"] = labels = as_labels(self.labels, "labels", n)
            if labels.max() >= classes:
                raise OpenworldError(
                    f"labels holds class {labels.max()}, but the logits have {classes} classes (from 0)."
                )
        if self.reference is not None:
            arrays["reference"] = _alike(self.reference, "reference", logits.shape)
        arrays["partners"] = tuple(
            _alike(partner, f"partners[{i}]", logits.shape) for i, partner in enumerate(self.partners)
        )
        if self.slices is not None:
            slices = _rows(self.slices, "slices", n, "a column for each of D >= 1 groups")
            if not np.isin(slices, (-1, 0, 1)).all():
                raise OpenworldError(
                    "slices holds other values than 1, 0 and -1: say whether an image is in a group, or not."
                )
            arrays["slices"] = np.where(slices > 0, 1.0, -1.0)
        if self.features is not None:
            arrays["features"] = _of_length_1(_rows(self.features, "features", n))
        if self.appearance is not None:
            appearance = _rows(self.appearance, "appearance", n)
            if (size := np.abs(appearance).max()) > APPEARANCE_MOST:
                raise OpenworldError(
                    f"appearance holds a number of size {size:g}, expected at most {APPEARANCE_MOST:g}."
                )
            arrays["appearance"] = appearance.astype(np.float32)
        for name, value in arrays.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of images."""
        return len(self._drawn[1]) if self._drawn else self.logits.shape[0]

    @property
    def classes(self) -> int:
        """Number of classes, C."""
        return self._drawn[0].classes if self._drawn else self.logits.shape[1]

    @cached_property
    def predictions(self) -> np.ndarray:
        """int64[n], the class of the largest logit; of several equal ones the first."""
        return self.per_image("predictions", lambda own: own.logits.argmax(axis=1))

    @property
    def wrong(self) -> np.ndarray:
        """bool[n], whether the judged model names the image wrong; needs labels."""
        self.require(("labels",), "whether a prediction is wrong")
        return self.predictions != self.labels

    @property
    def mistakes(self) -> int:
        """How many images the judged model names wrong, k; needs labels."""
        return int(self.wrong.sum())

    def require(self, needs: tuple[str, ...], what: str) -> None:
        """Raise unless all of `needs` ("labels", "reference", "partners", "slices") are there; `what` says what for."""
        for need in needs:
            value = getattr(self, need)
            if value is None or len(value) == 0:
                raise OpenworldError(f"{what} needs {need}, and these outputs have none: pass {need}=... to Outputs.")

    array = array_of

    def once(self, what: Hashable, find: Callable[[], Found]) -> Found:
        """`find()`, kept under the name `what` as long as these outputs live: several estimators need the same of them.

        >>> outputs = Outputs([[2.0, 1.0]])
        >>> outputs.once("answer", lambda: 1), outputs.once("answer", lambda: 2)
        (1, 1)
        """
        if what not in self._found:
            self._found[what] = find()
        return self._found[what]

    def per_image(self, what: Hashable, find: "Callable[[Outputs], np.ndarray]") -> np.ndarray:
        """`find(self)`, an entry per image that rests on this image alone, kept as by `once`.

        Sets that were drawn from others take it from them: what is found of an image is found once for all draws.
        """
        if self._drawn is None:
            return self.once(what, lambda: find(self))
        whole, rows = self._drawn
        return self.once(what, lambda: whole.per_image(what, find)[rows])

    def draw(self, rows: np.ndarray) -> "Outputs":
        """Return `take(rows)` for a short use: these outputs live as long, and logits are copied where they are read.

        Args:
            rows: int[m], which images, each as often as you like.
        """
        drawn = self.take(rows, copy_logits=False)
        object.__setattr__(drawn, "_drawn", (self, rows))
        return drawn

    @property
    def origin(self) -> "tuple[Outputs, np.ndarray] | None":
        """The outputs that these were drawn from, and which rows of theirs these are; None where they were not."""
        return self._drawn

    _drawn: ClassVar["tuple[Outputs, np.ndarray] | None"] = None

    def __getattr__(self, name: str):
        if name == "logits" and self._drawn is not None:
            whole, rows = self._drawn
            object.__setattr__(self, "logits", whole.logits[rows])
            return self.logits
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @cached_property
    def _found(self) -> dict[Hashable, Any]:
        return {}

    def take(self, rows: Any, *, copy_logits: bool = True) -> "Outputs":
        """Return the outputs of some images alone: indices int[m], or bool[n]."""
        taken = object.__new__(Outputs)  # all was checked before, and sets like the source are taken some hundred times
        parts = {name: getattr(self, name) for name in ("labels", "reference", "slices", "features", "appearance")}
        parts = {name: None if array is None else array[rows] for name, array in parts.items()}
        parts |= {"partners": tuple(array[rows] for array in self.partners)}
        if copy_logits:
            parts["logits"] = logits = self.logits[rows]
            if logits.ndim != 2 or not len(logits):
                raise OpenworldError(f"the images taken have logits of shape {logits.shape}, expected one or more.")
        for name, value in parts.items():
            object.__setattr__(taken, name, value)
        return taken


def _alike(values, name: str, shape: tuple[int, int]) -> np.ndarray:
    table = require_size(as_table(values, name, (2,)), name)
    if table.shape != shape:
        raise OpenworldError(f"{name} has shape {table.shape}, expected {shape}, the images and classes of logits.")
    return table


def _rows(values, name: str, n: int, what: str = "a row of D >= 1 numbers an image") -> np.ndarray:
    table = as_table(values, name, (2,))
    if len(table) != n or not table.shape[1]:
        raise OpenworldError(f"{name} has shape {table.shape}, expected ({n}, D): {what}.")
    return table


def _of_length_1(table: np.ndarray) -> np.ndarray:
    if not table.any(axis=1).all():
        raise OpenworldError("some rows of features are all zero; every image needs its own.")
    largest = np.abs(table).max(axis=1, keepdims=True)
    scaled = table / largest
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    # rows of other outputs stay as they are: dividing again would move their last digits
    there = np.abs(lengths * np.minimum(largest, 2) - 1) < 1e-6
    return np.where(there, table, scaled / lengths).astype(np.float32)
