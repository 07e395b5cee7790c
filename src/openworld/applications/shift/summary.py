"""From degrees to their summary: axes, groups by concept and look, and the table of all degrees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from openworld.applications.shift.images import Gathered, Reader
from openworld.applications.shift.measurement import ImageDegrees
from openworld.applications.shift.shift_measurement import KINDS, ImageGroup, MeasuredSet, ShiftAxis, ShiftMeasurement
from openworld.shift import HALVES, farthest


@dataclass(frozen=True, eq=False)
class ComparedSets:
    """What was measured against what. about: of the decomposition; seed: of what is drawn."""

    reference: Gathered
    tests: Sequence[Gathered]
    measured: ImageDegrees
    about: Mapping = field(default_factory=dict)
    seed: int = 0

    @property
    def right(self) -> Mapping[str, float]:
        """By half, share of held-out triplets of texts in the right order; {} where not known."""
        return self.about.get("validation") or {}

    def concepts(self) -> list[str]:
        """The class of every test picture; "" where it has none."""
        pairs = zip(self.measured.test, self.measured.row, strict=True)
        return [self.tests[test].concept(row) for test, row in pairs]


def summarise(compared: ComparedSets, reader: Reader, **further) -> ShiftMeasurement:
    """Return the numbers; `further` are the parts of a `ShiftMeasurement` that are images or words."""
    measured, concepts = compared.measured, compared.concepts()
    looks = [compared.tests[test].name for test in measured.test]
    return ShiftMeasurement(
        reference=_pictures(compared.reference, measured.known, reader),
        tests=tuple(
            _pictures(one, int((measured.test == place).sum()), reader) for place, one in enumerate(compared.tests)
        ),
        backbone=reader.clip.name,
        k=measured.k,
        axes={half: _axis(measured, half, compared.right.get(half)) for half in HALVES},
        far=_far(measured),
        cells=tuple(map(tuple, measured.grid.counts.tolist())),
        least=measured.grid.least,
        concepts=_groups(measured, concepts),
        looks=_groups(measured, looks) if len(compared.tests) > 1 else (),
        **further,
    )


def degree_columns(compared: ComparedSets) -> dict[str, list]:
    """A row per test picture: set, file, class; in both halves degree, level, whether far, nearest of the reference."""
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
        columns[f"{half}_far"] = measured.far(half).tolist()
    for half in HALVES:
        columns[f"{half}_nearest"] = [compared.reference.path(row) for row in measured.nearest[half].tolist()]
    return columns


def _pictures(gathered: Gathered, count: int, reader: Reader) -> MeasuredSet:
    return MeasuredSet(gathered.name, count, len(gathered.classnames), reader.unreadable(gathered.name))


def _axis(measured: ImageDegrees, half: str, right: float | None) -> ShiftAxis:
    counts = np.bincount(getattr(measured.grid, half), minlength=len(measured.cuts[half]))
    medians = (float(np.median(degrees[half])) for degrees in (measured.degrees, measured.usual))
    beyond = float(measured.far(half).mean())
    return ShiftAxis(measured.cuts[half].cuts, tuple(counts.tolist()), *medians, measured.bound(half), beyond, right)


def _far(measured: ImageDegrees) -> dict[str, int]:
    """Images by where they are far."""
    places = measured.far("semantic") + 2 * measured.far("covariate")
    return dict(zip(KINDS, np.bincount(places, minlength=len(KINDS)).tolist(), strict=True))


def _groups(measured: ImageDegrees, names: Sequence[str]) -> tuple[ImageGroup, ...]:
    """Images by name, the farthest in meaning first; those without a name are in none."""
    places = [place for place, name in enumerate(names) if name]
    if not places:
        return ()
    own = [names[place] for place in places]
    meaning, looks = (_by_name(measured, half, places, own) for half in HALVES)
    return tuple(
        ImageGroup(one.name, one.n, one.median, looks[one.name][0], meaning[one.name][1], looks[one.name][1])
        for one in farthest(measured.degrees["semantic"][places], own)
    )


def _by_name(measured: ImageDegrees, half: str, places: list[int], names: list[str]) -> dict[str, tuple[float, float]]:
    """{name: (median degree, share of far ones)}."""
    beyond: dict[str, list[bool]] = {}
    for name, far in zip(names, measured.far(half)[places].tolist(), strict=True):
        beyond.setdefault(name, []).append(far)
    groups = farthest(measured.degrees[half][places], names)
    return {one.name: (one.median, float(np.mean(beyond[one.name]))) for one in groups}
