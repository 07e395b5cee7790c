"""What the record of a unit of an OOD benchmark says of it; its numbers are rows."""

from dataclasses import dataclass
from typing import Any, Literal

from openworld.report.learner_facts import LearnerFacts


@dataclass(frozen=True)
class OODBenchmarkRecord:
    """What a unit was, and sentences on detectors that are known to fail on such models; None: no learner."""

    protocol: Literal["ood-benchmark"]
    model: str
    kind: str
    seed: int
    classes: int
    training_images: int
    detector_settings: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    learner: LearnerFacts | None = None
