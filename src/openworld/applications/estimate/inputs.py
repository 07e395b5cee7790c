"""What a person names: a source, a target, labelled shifts, and the models that look at images."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openworld.applications.estimate.labelled_shifts import NamedShift


@dataclass(frozen=True)
class ModelNames:
    """Who looks at images, by name.

    Args:
        model: whose accuracy is estimated; reference, partners: further ones.
        classnames: a text file, or None. template: a sentence for class names, or "".
        device: as `find_device` takes it. architectures: functions that build saved classifiers.
    """

    model: str = ""
    classnames: Path | None = None
    template: str = ""
    reference: str = ""
    partners: tuple[str, ...] = ()
    device: str = "auto"
    architectures: tuple[str, ...] = ()


@dataclass(frozen=True)
class EstimateInputs:
    """What is compared, as it was named.

    Args:
        source, target: files of scores that follow each other, folders of images, or data sets.
        models: who looks at images.
        source_partners, target_partners: files of other models' scores, in pairs.
        times: the target's column of time stamps, or "".
        labelled: shifts to learn from.
        out: where page, plots, numbers, and scores of images are kept; None to keep nothing.
    """

    source: Sequence[str]
    target: Sequence[str]
    models: ModelNames = field(default_factory=ModelNames)
    source_partners: tuple[Path, ...] = ()
    target_partners: tuple[Path, ...] = ()
    times: str = ""
    labelled: Sequence[NamedShift] = ()
    out: Path | None = None
