"""What a record of decomposed zero-shot accuracy holds: written by `task`, read by `results`."""

from dataclasses import dataclass, field
from typing import Any

PARTS = {"whole": "whole feature", "semantic": "semantic half", "covariate": "covariate half"}
"""A part of the features -> what tables call it."""


@dataclass(frozen=True)
class Share:
    """An accuracy, its 95 % interval over images, and their number."""

    value: float
    interval: tuple[float, float] | None
    n: int


@dataclass(frozen=True)
class PartAccuracy:
    """The accuracy of one part of the features; None of too few classes."""

    top1: Share
    top5: Share | None


@dataclass(frozen=True)
class SetRecord:
    """One image set.

    Args:
        row: what tables call it; sets of one row are averaged.
        look: in which appearance its images are shown.
        parts: by key of `PARTS`.
    """

    row: str
    dataset: str
    domain: str | None
    look: str
    parts: dict[str, PartAccuracy]


@dataclass(frozen=True)
class DecomposedRecord:
    """The metrics of one unit: a method of splitting features, with one seed.

    Args:
        method: its label.
        classes: how many class names there are.
        taught_by: how many names and sentences taught it. widths: of the halves. decomposition: what it says of itself.
    """

    protocol: str
    method: str
    seed: int
    backbone: str
    classes: int
    taught_by: dict[str, int] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    decomposition: dict[str, Any] = field(default_factory=dict)
    sets: tuple[SetRecord, ...] = ()
