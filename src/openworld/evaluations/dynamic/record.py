"""What a record of dynamic scenarios holds: written by `task`, read by `curves`."""

from dataclasses import dataclass, field
from typing import Any

SCENARIOS = {
    "emerging-classes": "emerging new classes",
    "varying-ratio": "varying ratio of new classes",
    "distribution-shift": "distribution shift",
    "co-evolution": "co-evolution of images and classes",
}
"""A scenario -> what tables call it, in the order of the paper."""


@dataclass(frozen=True)
class ViewAuroc:
    """The AUROC of baseness, base against new images; None with a `reason` where a view holds one kind only."""

    value: float | None
    standard_error: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class ViewRecord:
    """One view: every number is a fraction in [0, 1], None where it is undefined.

    Args:
        level: of change.
        accuracy, standard_error, interval: of all images, named among all classes of the view.
        base_accuracy, new_accuracy: of the images of either kind, among the same names.
        n_images, n_new_images, n_classes, n_new_classes, n_groups: what it holds.
        auroc: of base against new images.
        classes: int[C], of the scenario run's list of names.
        per_class: float[C], accuracy by class. These two may be long, and are not checked entry by entry when read.
    """

    level: float
    accuracy: float
    n_images: int
    n_classes: int
    auroc: ViewAuroc
    base_accuracy: float | None = None
    new_accuracy: float | None = None
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    n_new_images: int = 0
    n_new_classes: int = 0
    n_groups: int = 0
    classes: Any = ()
    per_class: Any = ()


@dataclass(frozen=True)
class ScenarioRecord:
    """One scenario run of a learner with one seed.

    Args:
        scenario: of `SCENARIOS`.
        against: the image set that takes over from the source; None where new classes are of the same data set.
        views: one per level.
        classnames: of both sets. n_base_classes, n_new_classes: how many of them took part.
    """

    scenario: str
    against: str | None
    views: tuple[ViewRecord, ...]
    classnames: Any = ()
    n_base_classes: int = 0
    n_new_classes: int = 0


@dataclass(frozen=True)
class DynamicRecord:
    """The metrics of one unit: a learner with one seed, tuned once, in every scenario run that begins there.

    Args:
        dataset, domain: what it was tuned on. tuned_on: the base half of the classes, or all.
        yardstick: whether it is zero-shot CLIP, the baseline of every curve.
        courses: its scenario runs.
        epochs, shots, tuned_parameters, training_images, training_classnames: of its training.
        detail: its settings and the history of its training.
    """

    protocol: str
    dataset: str
    domain: str | None
    learner: str
    yardstick: bool
    seed: int
    tuned_parameters: int
    courses: tuple[ScenarioRecord, ...]
    tuned_on: str = ""
    backbone: str = ""
    shots: int = 0
    epochs: int | None = None
    training_classnames: tuple[str, ...] = ()
    training_images: dict[str, int] = field(default_factory=dict)
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Data set and domain that it was tuned on."""
        return f"{self.dataset}, {self.domain}" if self.domain else self.dataset
