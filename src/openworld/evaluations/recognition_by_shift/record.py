"""What a record of recognition by shift holds: written by `task`, read by `results`.

Cells are rows of covariate and columns of semantic levels from 0, the nearest; a cell or level that is N/A is None.
"""

from dataclasses import dataclass, field
from typing import Any

from openworld.metrics import Trend

Ends = tuple[float, float] | None
"""A 95 % interval over images; None where there is none."""

PARTS = {
    "openworld_auc": "OpenworldAUC",
    "base_accuracy": "base accuracy",
    "new_accuracy": "new accuracy",
    "auroc": "AUROC",
}
"""A quantity -> what tables call it."""


@dataclass(frozen=True)
class PartsRecord:
    """OpenworldAUC and its parts of base images against the new images of a cell, of a level, or of the pool.

    Args:
        intervals: of each of `PARTS`.
        n_base, n_new: images of either side.
    """

    openworld_auc: float | None
    base_accuracy: float | None
    new_accuracy: float | None
    auroc: float | None
    intervals: dict[str, Ends]
    n_base: int
    n_new: int


@dataclass(frozen=True)
class ShiftViewRecord:
    """The new images of the pool against base images of one kind.

    Args:
        cells, semantic, covariate: by cell, and by the levels of either axis; no semantic ones where they would mix
            appearances.
        trend: of the cells, by part and axis.
        base_counts: base images of every covariate level, where they are of the pool.
    """

    cells: tuple[tuple[PartsRecord | None, ...], ...]
    semantic: tuple[PartsRecord | None, ...]
    covariate: tuple[PartsRecord | None, ...]
    trend: dict[str, dict[str, Trend]]
    base_counts: tuple[int, ...] = ()


@dataclass(frozen=True)
class LevelsRecord:
    """Where the levels of an axis begin and end, in degrees, and how many new images each has."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class ErrorRecord:
    """Mean absolute error and bias of an estimator over cells; None without a cell."""

    error: float | None
    bias: float | None


@dataclass(frozen=True)
class EstimatorRecord:
    """What an estimator says of every cell, its errors by level and over all cells, and in how many cells it warned."""

    cells: tuple[tuple[float | None, ...], ...]
    all: ErrorRecord
    semantic: tuple[ErrorRecord, ...]
    covariate: tuple[ErrorRecord, ...]
    warned: int = 0
    warning: str | None = None


@dataclass(frozen=True)
class ValidationRecord:
    """How many labelled images estimators were fitted on, and the learner's accuracy on them."""

    n: int
    accuracy: float


OPEN_WORLD = (*PARTS, "new_share")
"""What is estimated of a level of appearance without labels."""


@dataclass(frozen=True)
class OpenWorldLevelRecord:
    """What an open-world estimator says of one level: `OPEN_WORLD` by name, None where it says nothing, and why."""

    numbers: dict[str, float | None]
    reason: str = ""


@dataclass(frozen=True)
class OpenWorldRecord:
    """By estimator what it says of every level of appearance; and whether the alarm stands there, None if not known."""

    estimates: dict[str, tuple[OpenWorldLevelRecord, ...]]
    alarms: tuple[bool | None, ...]


@dataclass(frozen=True)
class EstimationRecord:
    """Accuracy among all names of all images of every cell, and what every estimator says of it.

    open_world: OpenworldAUC and its parts by level of appearance; None where nothing was to be said.
    """

    counts: tuple[tuple[int, ...], ...]
    accuracy: tuple[tuple[float | None, ...], ...]
    estimates: dict[str, EstimatorRecord]
    home: ValidationRecord
    open_world: OpenWorldRecord | None = None


@dataclass(frozen=True)
class PoolSize:
    """Images of the pool, those of base classes among them, and their styles."""

    n: int
    known: int
    styles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ShiftRecord:
    """The metrics of one unit: a learner with one seed.

    Args:
        tuned_parameters: 0 of the learner that tunes nothing, the baseline.
        levels: by axis.
        counts: new images of every cell.
        overall: all base test images against all new images.
        near: base test images in the training appearance. same_looks: those of the pool at the same covariate level.
        estimation: None where there are no estimators.
        left_out: classes of the sources and the pool that are neither base nor new.
    """

    protocol: str
    learner: str
    method: str = ""
    seed: int
    backbone: str
    shots: int | None
    epochs: int | None
    tuned_parameters: int
    sources: tuple[dict[str, Any], ...]
    training: int = 0
    training_images: dict[str, int] = field(default_factory=dict)
    n_base_images: int
    n_base_classes: int
    n_new_classes: int
    classnames: Any = ()
    decomposition: Any = None
    neighbour: int = 0
    least: int
    pool: PoolSize
    references: tuple[dict[str, Any], ...] = ()
    estimators: tuple[dict[str, Any], ...] = ()
    detail: dict[str, Any] = field(default_factory=dict)
    levels: dict[str, LevelsRecord]
    counts: tuple[tuple[int, ...], ...]
    overall: PartsRecord
    near: ShiftViewRecord
    same_looks: ShiftViewRecord
    estimation: EstimationRecord | None = None
    left_out: tuple[str, ...] = ()
