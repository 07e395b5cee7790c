"""What a record of accuracy estimation says of its unit; the numbers are rows beside it (`metrics`)."""

from dataclasses import dataclass, field
from typing import Any

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
class Condition:
    """One set of target images; `row` is the line of the table that it counts in."""

    row: str
    name: str
    kind: str
    dataset: str = ""
    domain: str | None = None
    corruption: str | None = None
    severity: int | None = None

    @property
    def shift(self) -> str:
        """What moved: a corruption at any severity, or a data set's domain. Conditions of one shift are alike."""
        return self.corruption or (f"{self.dataset}, {self.domain}" if self.domain else self.name)

    @property
    def place(self) -> dict[str, str | int]:
        """What tells its results apart: its line and name, and what else is known of it."""
        facts = {"kind": self.kind, "dataset": self.dataset, "domain": self.domain, "corruption": self.corruption}
        known = {name: fact for name, fact in (facts | {"severity": self.severity}).items() if fact not in (None, "")}
        return {"images": self.row, "condition": self.name, **known}


@dataclass(frozen=True)
class EstimateNote:
    """What an estimator says beside its number."""

    warnings: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)


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
    """What one unit was: one checkpoint of one model, judged under every condition.

    Args:
        conditions: in the order of the numbers in tables and attachments.
        source_images, source_mistakes: how many the labelled source set has, and the model makes there.
        checkpoint: its place among those kept.
        notes: condition -> label of a method -> what it says beside its number.
        training: the recipe, and the history of its epochs.
        left_out: estimator -> why it could not be had.
        examples: of the first unit of a run alone; empty where no reference is a model.
    """

    protocol: str
    model: str
    seed: int
    epoch: int
    estimators: tuple[MethodRecord, ...]
    conditions: tuple[Condition, ...]
    source_images: int = 0
    source_mistakes: int = 0
    architecture: str = ""
    checkpoint: int = 0
    sources: tuple[SourceSet, ...] = ()
    classes: int = 0
    references: tuple[str, ...] = ()
    reference_models: tuple[ReferenceRecord, ...] = ()
    training: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    taxonomy: TaxonomyRecord = TaxonomyRecord()
    notes: dict[str, dict[str, EstimateNote]] = field(default_factory=dict)
    examples: tuple[ReferenceExample, ...] = ()
