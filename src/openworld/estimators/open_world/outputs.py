"""What a learner says of images: of labelled base images at home, and of a stream whose images may be base or new."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from openworld.core.arrays import array_of, as_correct, as_labels, as_scores, as_table, require_length, require_size
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked


@checked
@dataclass(frozen=True, eq=False)
class OpenWorldOutputs:
    """Outputs of a learner on n images; everything is checked and read as float64.

    Give `logits` with `n_base`, or `base_logits` and `new_logits`, or all of them where the learner answers within a
    half by other logits than over all names. Without any logits, `scores` alone serve the mixture.

    Args:
        scores: float[n], larger = more base-like; left out, the log of the largest base softmax over all names.
        base_logits, new_logits: float[n, Cb] among base names, float[n, Cn] among new names, scale included.
        logits: float[n, Cb + Cn] over base names, then new names.
        n_base: Cb, where `base_logits` does not tell it.
        labels: int[n], the true class as a place in base names, then new names; of validation images.
        base_right: bool[n], whether the base name is right, where there are no logits and labels to tell it.
        reference: float[n, Cb + Cn], logits or scaled similarities of another model over the same names.
        reference_kind: "independent", or "zero-shot": the model that the learner was tuned from, as it was before.
    Raises:
        OpenworldError: NaN or infinity, shapes that differ, neither scores nor logits, a label that is no class.

    >>> outputs = OpenWorldOutputs(logits=[[2.0, 0.0, 1.0], [0.0, 1.0, 3.0]], n_base=2, labels=[0, 1])
    >>> outputs.base_right.tolist(), outputs.new_logits.tolist(), outputs.scores.round(2).tolist()
    ([True, True], [[1.0], [3.0]], [-0.41, -2.17])
    """

    scores: np.ndarray | None = None
    base_logits: np.ndarray | None = None
    new_logits: np.ndarray | None = None
    logits: np.ndarray | None = None
    n_base: int | None = None
    labels: np.ndarray | None = None
    base_right: np.ndarray | None = None
    reference: np.ndarray | None = None
    reference_kind: Literal["independent", "zero-shot"] = "independent"

    __repr__ = short_repr

    def __post_init__(self):
        for name in ("base_logits", "new_logits", "logits", "reference"):
            if getattr(self, name) is not None:
                self._set(name, as_table(getattr(self, name), name, (2,)))
        self._set("n_base", self.n_base if self.base_logits is None else self.base_logits.shape[1])
        if self.logits is None and (self.base_logits is None) != (self.new_logits is None):
            raise OpenworldError("base_logits and new_logits belong together; give both, or logits with n_base.")
        if self.logits is None and self.base_logits is not None:
            require_length(self.array("new_logits"), "new_logits", len(self.base_logits))
            self._set("logits", np.concatenate([self.base_logits, self.new_logits], axis=1))
        if self.logits is not None:
            self._split_logits()
        if self.scores is None and self.logits is None:
            raise OpenworldError("neither scores nor logits are given; pass scores=..., or logits=... with n_base=....")
        scores = self.scores
        if scores is None:
            shifted = self.array("logits") - self.array("logits").max(axis=1, keepdims=True)
            scores = shifted[:, : self.n_base].max(axis=1) - np.log(np.exp(shifted).sum(axis=1))
        self._set("scores", require_size(as_scores(scores, "scores"), "scores"))
        for name in ("base_logits", "new_logits", "logits", "reference"):
            if getattr(self, name) is not None:
                require_length(getattr(self, name), name, self.n)
        if self.reference is not None and self.logits is not None and self.reference.shape != self.logits.shape:
            raise OpenworldError(f"reference has shape {self.reference.shape}, and logits {self.logits.shape}.")
        if self.labels is not None:
            self._set("labels", as_labels(self.labels, "labels", self.n))
            if self.logits is not None and self.labels.max() >= (names := self.logits.shape[1]):
                raise OpenworldError(f"labels holds {self.labels.max()}, and there are {names} names, counted from 0.")
        if self.base_right is not None:
            self._set("base_right", as_correct(self.base_right, "base_right", self.n))
        elif self.labels is not None and self.base_logits is not None:
            self._set("base_right", self.base_prediction == self.labels)

    def _split_logits(self) -> None:
        logits, n_base = self.array("logits"), self.n_base
        names = logits.shape[1]
        if n_base is None or not 0 < n_base < names:
            raise OpenworldError(
                f"n_base is {n_base} of {names} names; say how many of them are base names, at least one and not all."
            )
        for name, part in (("base_logits", logits[:, :n_base]), ("new_logits", logits[:, n_base:])):
            if getattr(self, name) is None:
                self._set(name, part)
        base, new = self.base_names, self.array("new_logits").shape[1]
        if base + new != names:
            raise OpenworldError(f"{base} base and {new} new names are not the {names} of logits.")

    def _set(self, name: str, value) -> None:
        object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of images."""
        return len(self.array("scores"))

    @property
    def base_prediction(self) -> np.ndarray:
        """int64[n], the name as a base image, a place in all names."""
        return self.array("base_logits").argmax(axis=1)

    @property
    def new_prediction(self) -> np.ndarray:
        """int64[n], the name as a new image, a place in all names."""
        return self.base_names + self.array("new_logits").argmax(axis=1)

    @property
    def joint_prediction(self) -> np.ndarray:
        """int64[n], the name among all."""
        return self.array("logits").argmax(axis=1)

    def require(self, needs: tuple[str, ...], what: str) -> None:
        """Raise unless all of `needs` ("labels", "logits", "reference") are there; `what` says what for."""
        for need in needs:
            if getattr(self, need) is None:
                raise OpenworldError(f"{what} needs {need}; pass {need}=... to OpenWorldOutputs.")

    array = array_of

    @property
    def base_names(self) -> int:
        """Number of base names, Cb, which must be known."""
        return self.array("base_logits").shape[1]

    def rows(self, chosen: np.ndarray) -> "OpenWorldOutputs":
        """Return the outputs of some images: a mask bool[n], or places int[m]."""
        arrays = {name: value[chosen] if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}
        return OpenWorldOutputs(**arrays)
