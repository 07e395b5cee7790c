"""What the record of a unit of OOD detection says of it; its numbers are rows, their errors over images a table."""

from dataclasses import dataclass
from typing import Any

from openworld.report.learner_facts import LearnerFacts

THUMBNAILS = "pictures/marginal"
"""The folder of attachments with marginal images, by their `id`; of known ones by "known-" and their place."""


@dataclass(frozen=True)
class MarginalImage:
    """An image of another class that a model takes for one that it knows."""

    # id: its place in the pool; known: that of a test image of the predicted class, None where there is none;
    # confidence: the largest softmax probability; score: of the detector that chose it; covariate_level: of its cell.

    id: int
    label: str
    prediction: str
    confidence: float
    score: float
    covariate_level: int
    known: int | None = None


@dataclass(frozen=True)
class MarginalImages:
    """The n images of other classes nearest in meaning to known ones, and those of them that pass most surely."""

    # accepted: the share that passes `detector` (MSP where the model has it, else its first) where 95 % of the
    # in-distribution test images do; images: the surest first, at most one of a group.

    detector: str
    semantic_level: int
    n: int
    accepted: float
    images: tuple[MarginalImage, ...]


@dataclass(frozen=True, kw_only=True)
class DetectionRecord:
    """What a unit was: a model and seed, with the pool as the run counts it.

    Args:
        kind: "classifier", "two-tower" or "learner"; "scores" where these came without a model.
        id_kept: whether the pool's images of in-distribution classes count.
        sources: data sets that are in distribution. classes: of them. training: images that detectors learned from.
        decomposition, neighbour: how shift was measured; None where cells are given.
        styles: of the pool, by the numbers in its table. generated: those of generated images, where others are real.
        left_out: classes of the sources and the pool that are neither in distribution nor out of it.
        learner: how the learner came to be; None of other models.
        marginal: None where the pool has no image of another class.
    """

    protocol: str
    model: str
    kind: str
    seed: int
    id_kept: bool
    detector_settings: tuple[dict[str, Any], ...]
    sources: tuple[dict[str, Any], ...] = ()
    classes: int = 0
    training: int = 0
    decomposition: dict[str, Any] | None = None
    neighbour: int | None = None
    warnings: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    learner: LearnerFacts | None = None
    marginal: MarginalImages | None = None
