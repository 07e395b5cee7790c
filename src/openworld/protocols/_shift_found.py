"""From degrees to what is told of them: axes, groups by concept and look, example pictures, the table of degrees."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from openworld.protocols._shift_pictures import Gathered, Reader
from openworld.protocols._thumbnails import thumbnail
from openworld.protocols.measuring_shift import Asked, Measured
from openworld.report.figures.figure import data_address
from openworld.report.shifts.found import HALVES as WORDS
from openworld.report.shifts.found import Axis, Example, Found, Group, Pictures
from openworld.shift import HALVES, farthest

SHOWN = 12  # example pictures of each kind beside those of the cells
FEW = 50  # reference pictures below which degrees depend on the draw
SURE = 0.75  # share of held-out triplets below which a half is not trusted


@dataclass(frozen=True, eq=False)
class Compared:
    """What was measured against what. right: by half, share of held-out triplets of texts in the right order."""

    reference: Gathered
    tests: Sequence[Gathered]
    measured: Measured
    right: Mapping[str, float] = field(default_factory=dict)

    def concepts(self) -> list[str]:
        """The class of every test picture; "" where it has none."""
        pairs = zip(self.measured.test, self.measured.row, strict=True)
        return [self.tests[test].concept(row) for test, row in pairs]


def found(compared: Compared, asked: Asked, reader: Reader, made: dict[str, str]) -> Found:
    """Everything that screen, page and JSON tell."""
    measured, concepts = compared.measured, compared.concepts()
    looks = [compared.tests[test].name for test in measured.test]
    return Found(
        reference=_pictures(compared.reference, measured.known, reader),
        tests=tuple(
            _pictures(one, int((measured.test == place).sum()), reader) for place, one in enumerate(compared.tests)
        ),
        backbone=reader.clip.name,
        k=asked.k,
        axes={half: _axis(measured, half) for half in HALVES},
        cells=tuple(map(tuple, measured.grid.counts.tolist())),
        least=asked.least,
        concepts=_groups(measured, concepts),
        looks=_groups(measured, looks) if len(compared.tests) > 1 else (),
        examples=tuple(_examples(compared, concepts, asked.seed)),
        warnings=tuple(_warnings(compared)),
        made=made,
    )


def table(compared: Compared) -> dict[str, list]:
    """A row per test picture: where it is from, its class, degrees, levels, and the nearest reference pictures."""
    measured, tests = compared.measured, compared.tests
    pairs = list(zip(measured.test.tolist(), measured.row.tolist(), strict=True))
    columns: dict[str, list] = {
        "set": [tests[test].name for test, _ in pairs],
        "picture": [tests[test].path(row) for test, row in pairs],
        "class": compared.concepts(),
    }
    for half in HALVES:
        columns[f"{half}_degree"] = measured.degrees[half].tolist()
    for half in HALVES:
        columns[f"{half}_level"] = getattr(measured.grid, half).tolist()
    for half in HALVES:
        columns[f"{half}_nearest"] = [compared.reference.path(row) for row in measured.nearest[half].tolist()]
    return columns


def _pictures(gathered: Gathered, count: int, reader: Reader) -> Pictures:
    return Pictures(gathered.name, count, len(gathered.classnames), reader.unreadable(gathered.name))


def _axis(measured: Measured, half: str) -> Axis:
    degrees, bound = measured.degrees[half], measured.bound(half)
    counts = np.bincount(getattr(measured.grid, half), minlength=len(measured.cuts[half]))
    median, beyond = float(np.median(degrees)), float((degrees > bound).mean())
    return Axis(measured.cuts[half].cuts, tuple(counts.tolist()), median, bound, beyond)


def _groups(measured: Measured, names: Sequence[str]) -> tuple[Group, ...]:
    """Pictures by name, the farthest in meaning first; those without a name are in none."""
    places = [place for place, name in enumerate(names) if name]
    if not places:
        return ()
    own = [names[place] for place in places]
    meaning, looks = (_by_name(measured, half, places, own) for half in HALVES)
    return tuple(
        Group(one.name, one.n, one.median, looks[one.name][0], meaning[one.name][1], looks[one.name][1])
        for one in farthest(measured.degrees["semantic"][places], own)
    )


def _by_name(measured: Measured, half: str, places: list[int], names: list[str]) -> dict[str, tuple[float, float]]:
    """{name: (median degree, share beyond what is usual)}."""
    degrees, bound = measured.degrees[half][places], measured.bound(half)
    beyond: dict[str, list[bool]] = {}
    for name, far in zip(names, (degrees > bound).tolist(), strict=True):
        beyond.setdefault(name, []).append(far)
    return {one.name: (one.median, float(np.mean(beyond[one.name]))) for one in farthest(degrees, names)}


def _examples(compared: Compared, concepts: list[str], seed: int) -> Iterator[Example]:
    """One picture of every cell, the middlemost; the farthest and the nearest; some of the reference."""
    measured = compared.measured
    ranks = {half: _shares(measured.degrees[half]) for half in HALVES}
    both = ranks["semantic"] + ranks["covariate"]
    kinds = [("cell", place) for place in _of_cells(measured)]
    for kind, order in (("semantic", -ranks["semantic"]), ("covariate", -ranks["covariate"]), ("near", both)):
        kinds += [(kind, place) for place in _varied(np.argsort(order, kind="stable"), concepts)]
    addresses: dict[int, str] = {}
    for kind, place in kinds:
        if place not in addresses:
            test, row = compared.tests[measured.test[place]], int(measured.row[place])
            addresses[place] = _address(test, row)
        cell = (int(measured.grid.covariate[place]), int(measured.grid.semantic[place]))
        degrees = (float(measured.degrees[half][place]) for half in HALVES)
        yield Example(kind, _called(compared, concepts, place), cell, *degrees, addresses[place])
    for row in sorted(set(_reference_rows(compared, seed))):
        name = compared.reference.concept(row)
        yield Example("reference", name, (0, 0), 0.0, 0.0, _address(compared.reference, row))


def _reference_rows(compared: Compared, seed: int) -> list[int]:
    """Some reference pictures that were read, at random: nearest neighbours are known to be readable."""
    known = np.unique(np.concatenate([compared.measured.nearest[half] for half in HALVES]))
    return np.random.default_rng(seed).choice(known, min(SHOWN, len(known)), replace=False).tolist()


def _of_cells(measured: Measured) -> Iterator[int]:
    """The picture nearest to the middle of each cell that holds any."""
    for row, column in np.argwhere(measured.grid.counts > 0).tolist():
        places = measured.grid.cell(row, column)
        own = [measured.degrees[half][places] for half in HALVES]
        away = sum(np.abs(degrees - np.median(degrees)) for degrees in own)
        yield int(places[np.argmin(away)])


def _varied(order: np.ndarray, concepts: list[str]) -> list[int]:
    """The first places in an order, of each concept only the first; without names simply the first."""
    taken: dict[object, int] = {}
    for place in order.tolist():
        taken.setdefault(concepts[place] or place, place)
        if len(taken) == SHOWN:
            break
    return list(taken.values())


def _shares(degrees: np.ndarray) -> np.ndarray:
    """Rank of each degree as a share in [0, 1)."""
    ranks = np.empty(len(degrees))
    ranks[np.argsort(degrees, kind="stable")] = np.arange(len(degrees)) / len(degrees)
    return ranks


def _called(compared: Compared, concepts: list[str], place: int) -> str:
    look = compared.tests[compared.measured.test[place]].name if len(compared.tests) > 1 else ""
    return ", ".join(filter(None, (concepts[place], look)))


def _address(gathered: Gathered, row: int) -> str:
    return data_address("image/png", thumbnail(gathered.images.image(row)))


def _warnings(compared: Compared) -> Iterator[str]:
    measured = compared.measured
    if measured.shared:
        yield (
            f"{measured.shared:,} of the {len(measured.row):,} pictures are in {compared.reference.name} too (or look "
            "just like one of it), so each is its own first neighbour and its degrees are too small"
        )
    yield from _unsure(compared.right)
    if measured.known < FEW:
        yield f"with {measured.known} reference pictures, degrees depend on which pictures these happen to be"
    yield from _small_classes(compared)
    if not measured.grid.present.any():
        yield (
            f"no cell holds {measured.grid.least} pictures, so all are N/A in statistics: give more pictures, fewer "
            "--levels, or a smaller --least"
        )


def _unsure(right: Mapping[str, float]) -> Iterator[str]:
    """Halves that do not do on new texts what they were fitted for."""
    for half, share in right.items():
        if share < SURE:
            yield (
                f"on names and sentences that it did not learn from, the half for {WORDS[half]} puts "
                f"{100 * share:.0f} % of texts in the right order, so {half} degrees mix meaning and looks: compare "
                "them within this run only, and look at the pictures before you trust them"
            )


def _small_classes(compared: Compared) -> Iterator[str]:
    """Reference classes too small for the neighbour to be of the same class."""
    reference, k = compared.reference, compared.measured.k
    if reference.named:
        sizes = np.bincount(reference.images.labels)
        typical = int(np.median(sizes[sizes > 0]))
        if typical <= k:
            yield (
                f"half of the reference's classes have {typical} pictures or fewer, so neighbour {k} lies in another "
                "class and a class that is known looks far: give more pictures of each, or a smaller --neighbour"
            )
