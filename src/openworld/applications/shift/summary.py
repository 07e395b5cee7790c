"""From degrees to their summary: axes, groups by concept and style, and the table of all degrees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from openworld.applications.shift.images import ImageCollection, Reader
from openworld.applications.shift.measurement import ImageDegrees
from openworld.applications.shift.shift_measurement import KINDS, ImageGroup, MeasuredSet, ShiftAxis, ShiftMeasurement
from openworld.shifts import HALVES, farthest


@dataclass(frozen=True, eq=False)
class ComparedSets:
    """What was measured against what. about: of the decomposition; seed: of what is drawn."""

    reference: ImageCollection
    tests: Sequence[ImageCollection]
    measured: ImageDegrees
    about: Mapping = field(default_factory=dict)
    seed: int = 0

    @property
    def right(self) -> Mapping[str, float]:
        """By half, share of held-out triplets of texts in the right order; {} where not known."""
        return self.about.get("validation") or {}

    def concepts(self) -> list[str]:
        """The class of every test image; "" where it has none."""
        pairs = zip(self.measured.test, self.measured.row, strict=True)
        return [self.tests[test].concept(row) for test, row in pairs]


def summarise(compared: ComparedSets, reader: Reader, **further) -> ShiftMeasurement:
    """Return the numbers; `further` are the parts of a `ShiftMeasurement` that are images or words."""
    measured, tests = compared.measured, compared.tests
    counts = [measured.known, *np.bincount(measured.test, minlength=len(tests)).tolist()]
    reference, *sets = (
        MeasuredSet(images.name, count, len(images.classnames), reader.unreadable(images.name))
        for images, count in zip((compared.reference, *tests), counts, strict=True)
    )
    far = measured.far("semantic") + 2 * measured.far("covariate")
    return ShiftMeasurement(
        reference=reference,
        tests=tuple(sets),
        backbone=reader.clip.name,
        k=measured.k,
        axes={half: _axis(measured, half, compared.right.get(half)) for half in HALVES},
        far=dict(zip(KINDS, np.bincount(far, minlength=len(KINDS)).tolist(), strict=True)),
        cells=tuple(map(tuple, measured.grid.counts.tolist())),
        least=measured.grid.least,
        concepts=_groups(measured, compared.concepts()),
        looks=_groups(measured, [tests[test].name for test in measured.test]) if len(tests) > 1 else (),
        **further,
    )


def degree_columns(compared: ComparedSets) -> dict[str, list]:
    """A row per test image: set, file, class; in both halves degree, level, whether far, nearest of the reference."""
    measured, tests = compared.measured, compared.tests
    pairs = list(zip(measured.test.tolist(), measured.row.tolist(), strict=True))
    own = {
        "set": [tests[test].name for test, _ in pairs],
        "picture": [tests[test].path(row) for test, row in pairs],
        "class": compared.concepts(),
    }
    by_half = {
        "degree": lambda half: measured.degrees[half].tolist(),
        "level": lambda half: getattr(measured.grid, half).tolist(),
        "far": lambda half: measured.far(half).tolist(),
        "nearest": lambda half: [compared.reference.path(row) for row in measured.nearest[half].tolist()],
    }
    return own | {f"{half}_{name}": column(half) for name, column in by_half.items() for half in HALVES}


def _axis(measured: ImageDegrees, half: str, right: float | None) -> ShiftAxis:
    counts = np.bincount(getattr(measured.grid, half), minlength=len(measured.cuts[half]))
    medians = (float(np.median(degrees[half])) for degrees in (measured.degrees, measured.usual))
    beyond = float(measured.far(half).mean())
    return ShiftAxis(measured.cuts[half].cuts, tuple(counts.tolist()), *medians, measured.bound(half), beyond, right)


def _groups(measured: ImageDegrees, names: Sequence[str]) -> tuple[ImageGroup, ...]:
    """Images by name, the farthest in meaning first; those without a name are in none."""
    places = [place for place, name in enumerate(names) if name]
    if not places:
        return ()
    own = np.array([names[place] for place in places], dtype=object)
    medians, far = {}, {half: measured.far(half)[places] for half in HALVES}
    for half in HALVES:
        medians[half] = {group.name: group for group in farthest(measured.degrees[half][places], own.tolist())}
    return tuple(
        ImageGroup(
            *(name, group.n, group.median, medians["covariate"][name].median),
            *(float(far[half][own == name].mean()) for half in HALVES),
        )
        for name, group in medians["semantic"].items()
    )
