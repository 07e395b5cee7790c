"""Which concepts, and which looks, are far: degrees summed up by a name that images share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld._arrays import as_scores, require_size
from openworld._errors import OpenworldError
from openworld._types import checked


@dataclass(frozen=True)
class Far:
    """The images of one name: how many, the median of their degrees and the quartiles around it."""

    name: str
    n: int
    median: float
    quartiles: tuple[float, float]


@checked
def farthest(degrees, names: Sequence[str]) -> tuple[Far, ...]:
    """Names by the median degree of their images, the farthest first; equal ones in alphabetical order.

    Args:
        degrees: float[N], semantic degrees to rank concepts, covariate ones to rank looks.
        names: N names: of the class, of the folder, of the style.
    Raises:
        OpenworldError: NaN, lengths that differ.

    >>> [(far.name, far.n, far.median) for far in farthest([0.1, 0.5, 0.3], ["cat", "owl", "cat"])]
    [('owl', 1, 0.5), ('cat', 2, 0.2)]
    """
    values = require_size(as_scores(degrees, "degrees"), "degrees")
    if len(names) != len(values):
        raise OpenworldError(f"got {len(names)} names for {len(values)} degrees, expected one for each.")
    held = np.asarray(names, dtype=object)
    classes = [_summed(name, values[held == name]) for name in sorted(set(names))]
    return tuple(sorted(classes, key=lambda far: -far.median))


def _summed(name: str, values: np.ndarray) -> Far:
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return Far(name, len(values), middle, (low, high))
