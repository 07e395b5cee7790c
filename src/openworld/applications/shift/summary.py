"""What was measured against what, and the table of all degrees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from openworld.applications.shift.images import ImageCollection
from openworld.applications.shift.measurement import ImageDegrees
from openworld.shifts import HALVES


@dataclass(frozen=True, eq=False)
class ComparedSets:
    """What was measured against what, and by which backbone. about: of the decomposition; seed: of what is drawn."""

    reference: ImageCollection
    tests: Sequence[ImageCollection]
    measured: ImageDegrees
    backbone: str
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
