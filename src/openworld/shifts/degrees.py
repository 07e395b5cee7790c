"""Shift degrees: how far images are from a reference in meaning and in looks (Long et al., 2024, IS-OOD, section 2.2).

The semantic degree of an image is the cosine distance, in the semantic half of the features, to its k-th nearest
reference image; the covariate degree the same in the covariate half. The paper's formula takes the nearest, its
experiments the 10th, "to avoid the noise": so does this, with k = 10 counted from 1. The neighbours of the two halves
are different images. Which concepts, and which looks, are far: degrees summed up by a name that images share.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld.core.arrays import ArrayLike, as_scores, require_size
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.shifts.decomposition import HALVES, Decomposition
from openworld.shifts.grid import LEAST, Levels, ShiftGrid
from openworld.shifts.neighbours import Nearest, merge_nearest, nearest

K = 10


@dataclass(frozen=True, eq=False)
class ShiftDegrees:
    """Of N images, their nearest reference images in both halves.

    k: which neighbour the degree is the distance to, from 1. semantic, covariate: the k nearest.
    """

    k: int
    semantic: Nearest
    covariate: Nearest

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.semantic)

    @property
    def semantic_degree(self) -> np.ndarray:
        """float64[N] in [0, 2]; raises `OpenworldError` where fewer than k reference images are known."""
        return self.semantic.kth(self.k)

    @property
    def covariate_degree(self) -> np.ndarray:
        """float64[N] in [0, 2]; raises `OpenworldError` where fewer than k reference images are known."""
        return self.covariate.kth(self.k)


@checked
def shift_degrees(
    decomposition: Decomposition,
    images: ArrayLike,
    reference: ArrayLike,
    *,
    k: int = K,
    first: int = 0,
    half: bool = False,
) -> ShiftDegrees:
    """How far images (or texts, for prompts of images to be made) are from reference images.

    Memory: 4 bytes per number of images and reference for their halves, 4 more per number of one half of the reference
    (2 with `half`), and what `nearest` takes besides. A reference too large for that is given in shards (`first`,
    `merge_degrees`), and images in parts, which are independent. Images that are themselves in the reference find
    themselves at distance 0; ask for k + 1 there.

    Args:
        decomposition: of the model that made the features.
        images: float[N, D], any lengths. reference: float[M, D], in-distribution images.
        k: which neighbour, from 1.
        first: place of the reference's first image in the whole, where this is a shard of it.
        half: as for `nearest`.
    Returns:
        ShiftDegrees.
    Raises:
        OpenworldError: widths that differ, NaN, a row of zeros, an empty reference.

    >>> import torch
    >>> halves = Decomposition.of_matrix(torch.eye(4))
    >>> found = shift_degrees(halves, [[1.0, 0.0, 0.0, 1.0]], [[1.0, 0.0, 1.0, 0.0]], k=1)
    >>> found.semantic_degree.tolist(), found.covariate_degree.tolist()  # the same meaning, another look
    ([0.0], [1.0])
    """
    pairs = zip(decomposition.halves(images), decomposition.halves(reference), strict=True)
    return ShiftDegrees(k, *(nearest(queries, known, k, first=first, half=half) for queries, known in pairs))


@checked
def merge_degrees(shards: Sequence[ShiftDegrees]) -> ShiftDegrees:
    """Degrees against a whole reference from those against its shards, in any order.

    Args:
        shards: at least one, of the same images and k, each with its own `first`.
    Returns:
        ShiftDegrees, the same to 1e-6 however the reference was cut (each shard is split into halves on its own).
    """
    if not len(shards):
        raise OpenworldError("there is no shard to merge; give one at least.")
    k = shards[0].k
    merged = (merge_nearest([getattr(shard, half) for shard in shards], k) for half in HALVES)
    return ShiftDegrees(k, *merged)


@checked
def shift_grid(degrees: ShiftDegrees, semantic: Levels, covariate: Levels, *, least: int = LEAST) -> ShiftGrid:
    """The grid of images with these degrees.

    Args:
        degrees: of N images. semantic, covariate: where the levels are cut, such as `equal_width_levels` gives.
        least: as for `ShiftGrid`.
    """
    columns, rows = semantic.of(degrees.semantic_degree), covariate.of(degrees.covariate_degree)
    return ShiftGrid(columns, rows, (len(covariate), len(semantic)), least)


def join_degrees(parts: Sequence[ShiftDegrees]) -> ShiftDegrees:
    """Return the degrees of all images from those of parts of them, one behind the other."""
    halves = [[getattr(part, half) for part in parts] for half in HALVES]
    columns = [[(near.distances, near.places) for near in half] for half in halves]
    return ShiftDegrees(parts[0].k, *(Nearest(*map(np.concatenate, zip(*half, strict=True))) for half in columns))


@dataclass(frozen=True)
class Far:
    """The images of one name: how many, the median of their degrees and the quartiles around it."""

    name: str
    n: int
    median: float
    quartiles: tuple[float, float]


@checked
def farthest(degrees: ArrayLike, names: Sequence[str]) -> tuple[Far, ...]:
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
    classes = []
    for name in sorted(set(names)):
        own = values[held == name]
        low, middle, high = np.quantile(own, (0.25, 0.5, 0.75)).tolist()
        classes.append(Far(name, len(own), middle, (low, high)))
    return tuple(sorted(classes, key=lambda far: -far.median))
