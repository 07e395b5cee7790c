"""Images that the page of a measured shift shows: of every cell, the farthest, the nearest, of the reference."""

import io
from collections.abc import Iterator

import numpy as np

from openworld.applications.shift.images import Gathered
from openworld.applications.shift.measurement import ImageDegrees
from openworld.applications.shift.shift_measurement import ExampleImage
from openworld.applications.shift.summary import ComparedSets
from openworld.report.data_files import data_address
from openworld.shift import HALVES

SHOWN = 12  # pictures of each kind beside those of the cells
IN_A_CELL = 4
SIDE, QUALITY = 64, 85  # of a thumbnail: pixels, and what JPEG calls quality


def examples(compared: ComparedSets) -> Iterator[ExampleImage]:
    """The pictures, kind by kind; a picture of several kinds is read once."""
    measured, concepts = compared.measured, compared.concepts()
    addresses: dict[int, str] = {}
    for kind, place in _chosen(measured, concepts):
        if place not in addresses:
            test, row = compared.tests[measured.test[place]], int(measured.row[place])
            addresses[place] = _address(test, row)
        cell = (int(measured.grid.covariate[place]), int(measured.grid.semantic[place]))
        degrees = (float(measured.degrees[half][place]) for half in HALVES)
        yield ExampleImage(kind, _called(compared, concepts, place), cell, *degrees, addresses[place])
    for row in _reference_rows(compared):
        name = compared.reference.concept(row)
        yield ExampleImage("reference", name, (0, 0), 0.0, 0.0, _address(compared.reference, row))


def _chosen(measured: ImageDegrees, concepts: list[str]) -> Iterator[tuple[str, int]]:
    """(kind, which picture)."""
    for place in _of_cells(measured, concepts):
        yield "cell", place
    ranks = {half: _shares(measured.degrees[half]) for half in HALVES}
    both = ranks["semantic"] + ranks["covariate"]
    for kind, order in (("semantic", -ranks["semantic"]), ("covariate", -ranks["covariate"]), ("near", both)):
        for place in _varied(np.argsort(order, kind="stable"), concepts, SHOWN):
            yield kind, place


def _of_cells(measured: ImageDegrees, concepts: list[str]) -> Iterator[int]:
    """Of each cell that holds any, the pictures nearest to its middle."""
    for row, column in np.argwhere(measured.grid.counts > 0).tolist():
        places = measured.grid.cell(row, column)
        own = [measured.degrees[half][places] for half in HALVES]
        away = sum(np.abs(degrees - np.median(degrees)) for degrees in own)
        yield from _varied(places[np.argsort(away, kind="stable")], concepts, IN_A_CELL)


def _varied(order: np.ndarray, concepts: list[str], count: int) -> list[int]:
    """The first places in an order, of each concept only the first; without names simply the first."""
    taken: dict[object, int] = {}
    for place in order.tolist():
        taken.setdefault(concepts[place] or place, place)
        if len(taken) == count:
            break
    return list(taken.values())


def _reference_rows(compared: ComparedSets) -> list[int]:
    """Some reference pictures that were read, at random: nearest neighbours are known to be readable."""
    known = np.unique(np.concatenate([compared.measured.nearest[half] for half in HALVES]))
    drawn = np.random.default_rng(compared.seed).choice(known, min(SHOWN, len(known)), replace=False)
    return sorted(drawn.tolist())


def _shares(degrees: np.ndarray) -> np.ndarray:
    """Rank of each degree as a share in [0, 1)."""
    ranks = np.empty(len(degrees))
    ranks[np.argsort(degrees, kind="stable")] = np.arange(len(degrees)) / len(degrees)
    return ranks


def _called(compared: ComparedSets, concepts: list[str], place: int) -> str:
    look = compared.tests[compared.measured.test[place]].name if len(compared.tests) > 1 else ""
    return ", ".join(filter(None, (concepts[place], look)))


def _address(gathered: Gathered, row: int) -> str:
    """A thumbnail; JPEG, because a page holds hundreds."""
    image, file = gathered.images.image(row).convert("RGB"), io.BytesIO()
    image.thumbnail((SIDE, SIDE))
    image.save(file, "JPEG", quality=QUALITY, optimize=True)
    return data_address("image/jpeg", file.getvalue())
