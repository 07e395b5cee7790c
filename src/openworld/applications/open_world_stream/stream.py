"""What a learner says of images of which nobody knows whether they are of base or of new classes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from openworld._short_repr import short_repr

PROXIES = ("base", "base_right", "new_right")
PER_IMAGE = ("image", "id", "group", "time", "level")


@dataclass(frozen=True)
class StreamLabels:
    """What is known of the images of a stream, of some of them or of all."""

    known: np.ndarray  # bool[n], images of which the side is known; all else is False or -1 elsewhere
    base: np.ndarray  # bool[n], images of base classes
    named: np.ndarray  # bool[n], images whose class is known too
    label: np.ndarray  # int64[n], the class as a place in base names, then new names; -1 for none of them
    base_right: np.ndarray  # bool[n], base images whose base name is right
    new_right: np.ndarray  # bool[n], new images whose new name is right

    __repr__ = short_repr


@dataclass(frozen=True)
class OpenWorldStream:
    """What a learner says of n images."""

    name: str
    scores: np.ndarray  # float64[n], larger = more base-like
    base_names: tuple[str, ...]  # of a file without logits those that occur
    new_names: tuple[str, ...]
    base_prediction: np.ndarray  # int64[n], the name as a base image, a place in `base_names`
    new_prediction: np.ndarray  # int64[n], the name as a new one, a place in `new_names`
    joint_prediction: np.ndarray | None = None  # int64[n], the name among all: base names, then new names
    base_logits: np.ndarray | None = None  # float[n, C] among base names
    new_logits: np.ndarray | None = None  # float[n, C] among new names
    logits: np.ndarray | None = None  # float[n, C] over base names, then new names
    reference: np.ndarray | None = None  # float[n, C], similarities of a third model to all names
    reference_kind: str = "independent"  # or "zero-shot": the model that the learner was tuned from
    proxies: Mapping[str, np.ndarray] = field(default_factory=dict)  # what the file expects, float64[n] in [0, 1]
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)  # what it says besides, [n], by `PER_IMAGE`
    labels: StreamLabels | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def names(self) -> tuple[str, ...]:
        """Base names, then new names."""
        return self.base_names + self.new_names

    def rows(self, chosen: np.ndarray) -> "OpenWorldStream":
        """Return the stream of some images: a mask bool[n], or places int[m]."""

        def own(value):
            if isinstance(value, StreamLabels):
                return StreamLabels(**{name: part[chosen] for name, part in vars(value).items()})
            if isinstance(value, Mapping):
                return {name: part[chosen] for name, part in value.items()}
            return value[chosen] if isinstance(value, np.ndarray) else value

        return OpenWorldStream(**{name: own(value) for name, value in vars(self).items()})
