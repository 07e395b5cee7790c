"""What `openworld estimate --levels` says: the dynamic robustness curve of a stream without labels, by every method.

Accuracies are fractions in [0, 1]; None is a number that is not given, with a reason. All can be written as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from openworld.applications.estimate.accuracy_estimate import Interval, ScoredSet

OWN_NUMBERS = ("initial_accuracy", "auc", "worst_accuracy", "variation", "slope_variance")
COMPARISONS = ("positive_area", "negative_area", "delta_auc", "delta_pn")


@dataclass(frozen=True)
class CurveNumber:
    """A number of a curve, perhaps with its interval over images; None with a reason."""

    value: float | None
    interval: Interval = None
    reason: str = ""


@dataclass(frozen=True)
class LevelPoint:
    """A level. name: as the stream has it; level: its place from 0 to 1; n, classes: its images and names.

    methods: the accuracy by each method; at level 0 the labelled source's, the same for all. accuracy: true, or None.
    differ: share of images that zero-shot names otherwise; None without zero-shot. unlabelled: at level 0, what each
    method says of the stream's own images there, if it has any.
    """

    name: str
    level: float
    n: int
    classes: int
    methods: Mapping[str, CurveNumber]
    accuracy: float | None = None
    differ: float | None = None
    unlabelled: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ZeroShotComparison:
    """Model and its zero-shot on the same images. table: the zero-shot's. why: why no difference is quoted.

    bound: what the difference of the areas is at most, either way, by the shares of images that are named differently;
    differ: the share of all images that are. images: how many, each counted once.
    """

    table: str
    bound: float
    differ: float
    images: int
    why: str


@dataclass(frozen=True)
class CurveEstimate:
    """All of it.

    methods: in the order given, the first is quoted. numbers: by method and number of the curve. truth: the same of the
    true curve, where the stream has labels; these are only compared with. grouped_by: the column that says which rows
    are not independent; "" where all are. warnings: of methods and data. made: facts by name.
    """

    source: ScoredSet
    target: ScoredSet
    methods: tuple[str, ...]
    levels: tuple[LevelPoint, ...]
    numbers: Mapping[str, Mapping[str, CurveNumber]]
    truth: Mapping[str, float] | None = None
    zero_shot: ZeroShotComparison | None = None
    grouped_by: str = ""
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def quoted(self) -> str:
        """The method whose curve is quoted."""
        return self.methods[0]

    @property
    def alerts(self) -> tuple[str, ...]:
        """Nothing: a curve is tested against no alert."""
        return ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """The stream's name where the quoted method gives no area."""
        return () if self.numbers[self.quoted]["auc"].value is not None else (self.target.name,)
