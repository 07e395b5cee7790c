"""What a unit of an OOD benchmark records: numbers of every detector, and what they rest on."""

from dataclasses import dataclass
from typing import Any, Literal

from openworld.report.learner_facts import LearnerFacts
from openworld.results.settings_search import SettingsSearch


@dataclass(frozen=True)
class DetectorNumber:
    """One number.

    Args:
        detector: its label. metric: its key.
        group: of the sets. set: its name; "" for the mean over the sets of the group.
        in_distribution: "full-spectrum" where shifted images count as in-distribution, else "".
        value: None with a `reason`. low, high: of the 95 % interval over images; None where there is none.
    """

    detector: str
    metric: str
    group: str
    set: str
    in_distribution: str
    value: float | None
    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True)
class OODBenchmarkRecord:
    """The metrics of a unit.

    Args:
        model, kind, seed: of the unit; kind "classifier", "two-tower" or "learner".
        classes: in distribution. training_images: that detectors learned from.
        accuracy: of the model on the in-distribution test images.
        groups: {set: group}, in order.
        numbers: of every detector.
        detector_settings: as in the spec, by label.
        warnings: sentences on detectors that are known to fail on such models.
        learner: how the learner came to be; None of other models.
        searches: every setting that was tried on validation images, and which was chosen.
    """

    protocol: Literal["ood-benchmark"]
    model: str
    kind: str
    seed: int
    classes: int
    training_images: int
    accuracy: float
    groups: dict[str, str]
    numbers: tuple[DetectorNumber, ...]
    detector_settings: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    learner: LearnerFacts | None = None
    searches: tuple[SettingsSearch, ...] = ()
