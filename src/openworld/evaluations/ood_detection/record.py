"""What a record of OOD detection holds: written by `task`, read by `results`.

Cells are rows of covariate and columns of semantic levels from 0, the nearest; a cell that is N/A is None.
"""

from dataclasses import dataclass, field
from typing import Any

from openworld.report.learner_facts import LearnerFacts

Ends = tuple[float, float] | None
"""A 95 % interval over images; None where there is none."""

THUMBNAILS = "pictures/marginal"
"""The folder of attachments with marginal images, by their `id`; of known ones by "known-" and their place."""

SUBSETS = {
    "all": "all images",
    "unknown": "other classes",
    "far": "far in meaning",
    "far and unknown": "far, other classes",
}
"""A subset of the pool -> what tables call it."""


@dataclass(frozen=True)
class Area:
    """An AUROC with its interval."""

    value: float | None
    interval: Ends = None


@dataclass(frozen=True)
class CellRecord:
    """A detector in one cell.

    Args:
        n: images of the pool there.
        fpr, aupr_in: with in-distribution images as the positive side; fpr_openood, aupr_out: the other way round.
        aupr_at_prevalence: aupr_in as if half of the images were in distribution.
    """

    n: int
    auroc: Area
    fpr: float | None = None
    fpr_openood: float | None = None
    aupr_in: float | None = None
    aupr_out: float | None = None
    aupr_at_prevalence: float | None = None


@dataclass(frozen=True)
class CurveErrors:
    """Intervals of a curve, level by level, and of its slope."""

    curve: tuple[Ends, ...]
    slope: Ends = None


@dataclass(frozen=True)
class JointErrors:
    """How the numbers of all detectors of a model err together over images; degrees None: without an error."""

    detectors: tuple[str, ...]
    covariance: tuple[tuple[float, ...], ...]
    degrees_of_freedom: tuple[float | None, ...]


@dataclass(frozen=True)
class DetectorRecord:
    """A detector over all cells.

    Args:
        over_pictures: errors of its curves by axis, and by "all" and "common"; empty where they are not known.
    """

    cells: tuple[tuple[CellRecord | None, ...], ...]
    over_pictures: dict[str, dict[str, CurveErrors]] = field(default_factory=dict)


@dataclass(frozen=True)
class AxisLevels:
    """Where the levels of an axis begin, as degrees (None where cells are given), and how many images they hold."""

    edges: tuple[float, ...] | None
    counts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class PoolRecord:
    """All detectors of a model over the cells, the images of in-distribution classes kept or removed.

    Args:
        levels: by axis.
        counts: images of every cell.
        detectors: by label.
        joint: errors of all slopes by axis, and by "all" and "common"; None of those without a slope.
    """

    id_kept: bool
    levels: dict[str, AxisLevels]
    counts: tuple[tuple[int, ...], ...]
    detectors: dict[str, DetectorRecord]
    joint: dict[str, dict[str, JointErrors | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class InDistributionRecord:
    """What is in distribution: its data sets, training and test images, and how well the model names the latter.

    Of scores that came without a model nothing is known but how many test images there are.
    """

    sources: tuple[dict[str, Any], ...]
    classes: int
    training: int
    n: int
    accuracy: float | None


@dataclass(frozen=True)
class PoolFacts:
    """How many images the pool has, how many are of in-distribution classes, and the names that its table counts.

    `generated` are the styles of generated images, of a pool that has others too.
    """

    n: int
    known: int
    classes: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabellingRecord:
    """Images of every one of `SUBSETS`, AUROCs against them by detector and subset, and their errors by subset."""

    subsets: dict[str, int]
    detectors: dict[str, dict[str, Area]]
    joint: dict[str, JointErrors | None] = field(default_factory=dict)


@dataclass(frozen=True)
class MarginalImage:
    """An image of another class that a model takes for one that it knows.

    Args:
        id: its place in the pool.
        label: its class. prediction: what the model names it. confidence: of that, the largest softmax probability.
        score: of the detector that chose it.
        covariate_level: of its cell.
        known: the place among the test images of one of the predicted class; None where there is none.
    """

    id: int
    label: str
    prediction: str
    confidence: float
    score: float
    covariate_level: int
    known: int | None = None


@dataclass(frozen=True)
class MarginalImages:
    """The images of other classes nearest in meaning to known ones, and those of them that are accepted most surely.

    Args:
        detector: label of the one that ranks them: MSP where the model has it, else its first.
        semantic_level: of all of them, the nearest at which other classes have any image.
        n: how many they are.
        accepted: the share of them that passes where 95 % of the in-distribution test images do.
        images: the surest, at most one of a group, the surest first.
    """

    detector: str
    semantic_level: int
    n: int
    accepted: float
    images: tuple[MarginalImage, ...]


@dataclass(frozen=True, kw_only=True)
class DetectionRecord(PoolRecord):
    """The metrics of one unit: a model and seed, with the pool as the run counts it.

    Args:
        kind: "classifier", "two-tower" or "learner"; "scores" where these came without a model.
        decomposition, neighbour: how shift was measured; None where cells are given.
        otherwise: with the other choice about images of in-distribution classes.
        left_out: classes of the sources and the pool that are neither in distribution nor out of it.
        learner: how the learner came to be; None of other models.
        marginal: None where the pool has no image of another class.
    """

    protocol: str
    model: str
    kind: str
    seed: int
    source: InDistributionRecord
    decomposition: dict[str, Any] | None
    neighbour: int | None
    detector_settings: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    otherwise: PoolRecord
    pool: PoolFacts
    labelling: LabellingRecord
    left_out: tuple[str, ...] = ()
    learner: LearnerFacts | None = None
    marginal: MarginalImages | None = None
