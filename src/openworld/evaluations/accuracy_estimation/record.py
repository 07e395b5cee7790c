"""What a record of accuracy estimation holds: written by `task`, read by `measurements` and `results`."""

from dataclasses import dataclass, field
from typing import Any

from openworld.evaluations.estimate_records import EstimateRecord

BASE = "base"
"""The judged model among those whose calibration and alignment are measured; references have their own names."""

FUSED = "fused with "
"""Before the name of a reference: its prediction fused with the judged model's."""

RAW, SCALED, UNSCALED, TTC, TAU = "raw", "scaled", "unscaled", "ttc", "tau"
"""Calibration errors: as the model says it, with the temperature of the source, of bare similarities, calibrated at
test time; and the temperature that this last one finds."""

FIXED_TAUS = {"tau 0.1": 0.1, "tau 0.05": 0.05, "tau 0.01": 0.01}
"""Calibration errors at fixed temperatures of a reference's similarities (FRAP, Figure 3)."""

EXAMPLES = "examples"
"""The folder of attachments with the images of `ReferenceExample`, by their ids."""

THUMBNAILS = "pictures"
"""The folder of attachments with thumbnails, in a folder each by the number of their condition."""


@dataclass(frozen=True)
class MethodRecord:
    """An estimator with its settings; `label` names it in tables, `reference` the model that it consults."""

    label: str
    estimator: str
    reference: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TargetRecord:
    """One condition, with n images.

    Args:
        row: the line of the table that it counts in.
        accuracy: the true one.
        ece: model -> kind of calibration -> expected calibration error, or the temperature under `TAU`.
        alignment: prediction -> semantic alignment; None where no taxonomy holds the classes.
        estimates: by the label of their method.
    """

    row: str
    name: str
    kind: str
    n: int
    accuracy: float
    dataset: str = ""
    domain: str | None = None
    corruption: str | None = None
    severity: int | None = None
    ece: dict[str, dict[str, float]] = field(default_factory=dict)
    alignment: dict[str, float] | None = None
    estimates: dict[str, EstimateRecord] = field(default_factory=dict)


@dataclass(frozen=True)
class ReferenceExample:
    """What a reference says of one image of the first condition (FRAP, Figure 2).

    Args:
        id: of the image. label: its class.
        reference: the model.
        classes: the likeliest, the likeliest first.
        raw, own, calibrated: their probabilities as softmax of bare similarities, at the reference's own temperature,
            and calibrated at test time.
    """

    id: int
    label: str
    reference: str
    classes: tuple[str, ...]
    raw: tuple[float, ...]
    own: tuple[float, ...]
    calibrated: tuple[float, ...]


@dataclass(frozen=True)
class SourceRecord:
    """The labelled source set as the judged model sees it."""

    accuracy: float
    n: int = 0
    mistakes: int = 0
    temperature: float | None = None
    ece: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceSet:
    """A data set in one domain."""

    dataset: str
    domain: str | None = None


@dataclass(frozen=True)
class ReferenceRecord:
    """A reference model: a backbone with its sentences, a saved classifier, or neither."""

    name: str
    backbone: str = ""
    templates: str | tuple[str, ...] = "usual"
    classifier: str = ""
    architecture: str = ""


@dataclass(frozen=True)
class TaxonomyRecord:
    """Whose tree of classes measures semantic alignment, or why there is none."""

    name: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class AccuracyRecord:
    """The metrics of one unit: one checkpoint of one model, judged under every condition.

    Args:
        checkpoint: its place among those kept.
        training: the recipe, and the history of its epochs.
        left_out: estimator -> why it could not be had.
        examples: of the first unit of a run alone; empty where no reference is a model.
    """

    protocol: str
    model: str
    seed: int
    epoch: int
    source: SourceRecord
    estimators: tuple[MethodRecord, ...]
    targets: tuple[TargetRecord, ...]
    architecture: str = ""
    checkpoint: int = 0
    sources: tuple[SourceSet, ...] = ()
    classes: int = 0
    references: tuple[str, ...] = ()
    reference_models: tuple[ReferenceRecord, ...] = ()
    training: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    taxonomy: TaxonomyRecord = TaxonomyRecord()
    examples: tuple[ReferenceExample, ...] = ()
