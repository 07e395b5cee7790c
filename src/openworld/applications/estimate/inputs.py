"""What a person names: a source, a target, labelled shifts, and the models that score images."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError

CORRUPTIONS = "corruptions"
"""Says instead of a file: corrupted copies of the source's images."""


@dataclass(frozen=True)
class ModelNames:
    """The models that score images, by name.

    Args:
        model: whose accuracy is estimated; reference, partners: further ones. Names, or objects as `own_models` says.
        classnames: a text file, names, or None. template: a sentence for class names, or "".
        device: as `find_device` takes it. architectures: functions that build saved classifiers.
    """

    model: Any = ""
    classnames: Path | Sequence[str] | None = None
    template: str = ""
    reference: Any = ""
    partners: tuple[Any, ...] = ()
    device: str = "auto"
    architectures: tuple[str, ...] = ()

    def refuse(self) -> None:
        """Refuse models beside files of scores: these hold what models said, and no image that one could score."""
        given = {"--model": self.model, "--reference": self.reference, "--partner": self.partners}
        for option, value in (given | {"--architecture": self.architectures}).items():
            if not isinstance(value, str | tuple) or value:
                raise OpenworldError(
                    f"{option} needs images, and source and target are files of scores. A reference in files is a "
                    "table `reference`, a partner a table `partner_1`, or --source-partner and --target-partner."
                )


@dataclass(frozen=True)
class NamedShift:
    """Where a labelled shift lies: a file of scores, or images; family and artificial as in `LabelledShift`."""

    family: str
    place: str
    artificial: bool = False
    title: str = ""


def named_shift(given: str) -> NamedShift:
    """Return a labelled shift that was given as FAMILY=PLACE, or as PLACE, whose family is its name without an ending.

    >>> named_shift("night=runs/camera-3.npz").family, named_shift("runs/fog.npz").family
    ('night', 'fog')
    """
    family, equals, place = given.partition("=")
    if not equals or Path(given).exists():
        return NamedShift(Path(given).stem, given)
    if not family or not place:
        raise OpenworldError(f"--labelled-shift {given}: expected FILE or FAMILY=FILE, such as fog=fog-3.npz.")
    return NamedShift(family, place)


@dataclass(frozen=True)
class EstimateInputs:
    """What is compared, by name.

    Args:
        source, target: files of scores that follow each other, folders of images, or data sets; or what a caller has
            in their place: arrays as a `ScoreFile`, an `ImageSet`.
        models: those that score images.
        source_partners, target_partners: files of other models' scores, in pairs.
        times: the target's column of time stamps, or "".
        labelled: shifts to learn from.
        levels: the target's column of levels of change, or "". zero_shot: the target's table of zero-shot's scores, for
            levels alone, or "".
        labels: a file of labels of some images of the target, or None. propose: how many images to name whose labels
            would tell most; needs `out`.
        out: where page, plots, numbers, and scores of images are kept; None to keep nothing.
    """

    source: Sequence[Any]
    target: Sequence[Any]
    models: ModelNames = field(default_factory=ModelNames)
    source_partners: tuple[Path, ...] = ()
    target_partners: tuple[Path, ...] = ()
    times: str = ""
    labelled: Sequence[NamedShift] = ()
    out: Path | None = None
    levels: str = ""
    zero_shot: str = ""
    labels: Any = None
    propose: int = 0

    def __post_init__(self) -> None:
        if self.levels and (self.labels is not None or self.propose):
            option = "--propose" if self.labels is None else "--labels"
            raise OpenworldError(f"{option} does not go with --levels; leave one of the two out.")
        if self.zero_shot and not self.levels:
            raise OpenworldError("--zero-shot is compared level by level: name the target's column with --levels.")
