"""Images that the page of a measured shift shows: of every cell, the farthest, the nearest, of the reference."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from openworld.applications.shift.measurement import ImageDegrees
from openworld.applications.shift.summary import ComparedSets
from openworld.report.data_files import thumbnail_address
from openworld.shifts import HALVES

SHOWN = 12  # images of each kind beside those of the cells
IN_A_CELL = 4


@dataclass(frozen=True)
class ExampleImage:
    """An image that the page shows. cell: (covariate, semantic) level; kind: why; address: a `data:` image."""

    kind: str
    name: str
    cell: tuple[int, int]
    semantic: float
    covariate: float
    address: str = field(repr=False, default="")


def examples(compared: ComparedSets) -> Iterator[ExampleImage]:
    """The images, kind by kind; an image of several kinds is read once."""
    measured, concepts = compared.measured, compared.concepts()
    addresses: dict[int, str] = {}
    for kind, place in _chosen(measured, concepts):
        test = compared.tests[measured.test[place]]
        if place not in addresses:
            addresses[place] = thumbnail_address(test.images.image(int(measured.row[place])))
        cell = (int(measured.grid.covariate[place]), int(measured.grid.semantic[place]))
        degrees = (float(measured.degrees[half][place]) for half in HALVES)
        name = ", ".join(filter(None, (concepts[place], test.name if len(compared.tests) > 1 else "")))
        yield ExampleImage(kind, name, cell, *degrees, addresses[place])
    # Nearest neighbours are known to be readable.
    readable = np.unique(np.concatenate([measured.nearest[half] for half in HALVES]))
    drawn = np.random.default_rng(compared.seed).choice(readable, min(SHOWN, len(readable)), replace=False)
    for row in sorted(drawn.tolist()):
        name = compared.reference.concept(row)
        yield ExampleImage("reference", name, (0, 0), 0.0, 0.0, thumbnail_address(compared.reference.images.image(row)))


def _chosen(measured: ImageDegrees, concepts: list[str]) -> Iterator[tuple[str, int]]:
    """(kind, which image)."""
    for row, column in np.argwhere(measured.grid.counts > 0).tolist():
        places = measured.grid.cell(row, column)
        own = [measured.degrees[half][places] for half in HALVES]
        from_middle = sum(np.abs(degrees - np.median(degrees)) for degrees in own)
        for place in _varied(places[np.argsort(from_middle, kind="stable")], concepts, IN_A_CELL):
            yield "cell", place
    ranks = {half: _ranks(measured.degrees[half]) for half in HALVES}
    near = ranks["semantic"] + ranks["covariate"]
    for kind, order in (*((half, -ranks[half]) for half in HALVES), ("near", near)):
        for place in _varied(np.argsort(order, kind="stable"), concepts, SHOWN):
            yield kind, place


def _varied(order: np.ndarray, concepts: list[str], count: int) -> list[int]:
    """The first places in an order, of each concept only the first; without names simply the first."""
    taken: dict[object, int] = {}
    for place in order.tolist():
        taken.setdefault(concepts[place] or place, place)
        if len(taken) == count:
            break
    return list(taken.values())


def _ranks(degrees: np.ndarray) -> np.ndarray:
    """Rank of each degree as a share in [0, 1)."""
    ranks = np.empty(len(degrees))
    ranks[np.argsort(degrees, kind="stable")] = np.arange(len(degrees)) / len(degrees)
    return ranks
