"""What the record of a unit of an OOD benchmark says of it; its numbers are rows."""

from dataclasses import dataclass
from typing import Any, Literal

from openworld.report.learner_facts import LearnerFacts


@dataclass(frozen=True)
class OODBenchmarkRecord:
    """What a unit was.

    Args:
        model, kind, seed: of the unit; kind "classifier", "two-tower" or "learner".
        classes: in distribution. training_images: that detectors learned from.
        detector_settings: as in the spec, by label.
        warnings: sentences on detectors that are known to fail on such models.
        learner: how the learner came to be; None of other models.
    """

    protocol: Literal["ood-benchmark"]
    model: str
    kind: str
    seed: int
    classes: int
    training_images: int
    detector_settings: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    learner: LearnerFacts | None = None
