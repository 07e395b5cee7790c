"""What a person names: a reference, images to measure, a backbone, and what tells meaning from appearance."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class DecompositionSource:
    """What tells meaning from appearance: a kept decomposition, or files to learn one from; None for the usual.

    Args:
        laid: a kept decomposition.
        classnames, templates: text files of names and of sentences.
        taught_by: "texts", or "pictures" of the reference in the place of names and sentences.
    """

    laid: Path | None = None
    classnames: Path | None = None
    templates: Path | None = None
    taught_by: str = "texts"


@dataclass(frozen=True)
class ShiftInputs:
    """What is compared, as it was named, and how it is looked at.

    Args:
        reference, tests: folders of images, or data sets as NAME/DOMAIN/PART.
        allow_corrupt: unreadable images that may be left out.
        out: where page, degrees, numbers and decomposition are kept; None to keep nothing.
    """

    reference: str
    tests: tuple[str, ...]
    backbone: str = "embedded"
    source: DecompositionSource = field(default_factory=DecompositionSource)
    device: str = "auto"
    allow_corrupt: int = 0
    out: Path | None = None
