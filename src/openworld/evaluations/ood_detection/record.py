"""What the record of a unit of OOD detection says of it; its numbers are rows, their errors over images a table."""

from dataclasses import dataclass
from typing import Any

from openworld.report.learner_facts import LearnerFacts

THUMBNAILS = "pictures/marginal"
"""The folder of attachments with marginal images, by their `id`; of known ones by "known-" and their place."""


@dataclass(frozen=True)
class MarginalImage:
    """An image of another class that a model takes for one that it knows."""

    id: int  # its place in the pool
    label: str
    prediction: str
    confidence: float  # the largest softmax probability
    score: float  # of the detector that chose it
    covariate_level: int  # of its cell
    known: int | None = None  # the place of a test image of the predicted class; None where there is none


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
    """What a unit was: a model and seed, with the pool as the run counts it."""

    protocol: str
    model: str
    kind: str  # "classifier", "two-tower" or "learner"; "scores" where these came without a model
    seed: int
    id_kept: bool  # whether the pool's images of in-distribution classes count
    detector_settings: tuple[dict[str, Any], ...]
    sources: tuple[dict[str, Any], ...] = ()  # data sets that are in distribution
    classes: int = 0  # of the sources
    training: int = 0  # images that detectors learned from
    decomposition: dict[str, Any] | None = None  # how shift was measured; None where cells are given, as `neighbour`
    neighbour: int | None = None
    warnings: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()  # of the pool, by the numbers in its table
    generated: tuple[str, ...] = ()  # styles of generated images, where others are real
    left_out: tuple[str, ...] = ()  # classes of the sources and the pool neither in distribution nor out of it
    learner: LearnerFacts | None = None  # how the learner came to be; None of other models
    marginal: MarginalImages | None = None  # None where the pool has no image of another class
