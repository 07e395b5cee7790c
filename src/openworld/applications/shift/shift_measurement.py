"""What `openworld shift` measured: how far images are from a reference, image by image and cell by cell.

Degrees are cosine distances in [0, 2]. Everything but the examples' images can be written as JSON.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SURE = 0.75  # share of held-out triplets below which a half is not trusted
KINDS = ("neither", "semantic", "covariate", "both")
"""In which halves an image is far."""


@dataclass(frozen=True)
class MeasuredSet:
    """One set of images. n: how many were read; unreadable: how many were left out; classes: 0 without names."""

    name: str
    n: int
    classes: int
    unreadable: int = 0


@dataclass(frozen=True)
class ShiftAxis:
    """One axis of the grid.

    Args:
        cuts: starts of levels 1, 2, ...
        counts: images per level.
        median: of the test images' degrees.
        own_median: of the reference's own, each measured against the others.
        usual: degree that 95 % of the reference's own images stay below.
        beyond: share of test images above `usual`, in [0, 1].
        right: share of held-out triplets of texts that this half puts in the right order; None where not known.
    """

    cuts: tuple[float, ...]
    counts: tuple[int, ...]
    median: float
    own_median: float
    usual: float
    beyond: float
    right: float | None = None

    @property
    def sure(self) -> bool:
        """Whether this half does on new texts what it was fitted for, as far as that is known."""
        return self.right is None or self.right >= SURE


@dataclass(frozen=True)
class ImageGroup:
    """Images of one concept or style: medians of both degrees, and shares beyond the usual."""

    name: str
    n: int
    semantic: float
    covariate: float
    semantic_beyond: float
    covariate_beyond: float


@dataclass(frozen=True)
class ExampleImage:
    """An image that the page shows. cell: (covariate, semantic) level; kind: why; address: a `data:` PNG."""

    kind: str
    name: str
    cell: tuple[int, int]
    semantic: float
    covariate: float
    address: str = field(repr=False, default="")


@dataclass(frozen=True)
class ShiftMeasurement:
    """The whole result.

    Args:
        reference, tests: what was compared.
        backbone: whose features.
        k: which neighbour.
        axes: by half.
        far: images by where they are far, a count for each of `KINDS`.
        cells: images per cell, rows covariate levels, columns semantic ones.
        least: cells with fewer images are N/A.
        concepts, looks: groups by class and by test set, the farthest in meaning first; empty without such names.
        examples: for the page.
        warnings: of this run, sentences without a full stop.
        limits: what the measure cannot see, sentences.
        made: how, as (name, value).
    """

    reference: MeasuredSet
    tests: tuple[MeasuredSet, ...]
    backbone: str
    k: int
    axes: Mapping[str, ShiftAxis]
    far: Mapping[str, int]
    cells: tuple[tuple[int, ...], ...]
    least: int
    concepts: tuple[ImageGroup, ...] = ()
    looks: tuple[ImageGroup, ...] = ()
    examples: tuple[ExampleImage, ...] = ()
    warnings: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many test images were measured."""
        return sum(images.n for images in self.tests)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the images themselves; `present` says which cells are not N/A."""
        content = asdict(self)
        for example in content["examples"]:
            del example["address"]
        return content | {"present": [[count >= self.least for count in row] for row in self.cells]}
