"""What a person names: a source, a target, labelled shifts, and the models that score images."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld._score_files import ScoreFile

CORRUPTIONS = "corruptions"
"""Says instead of a file: corrupted copies of the source's images."""


@dataclass(frozen=True)
class ModelNames:
    """The models that score images: names, or objects as `own_models` says."""

    model: Any = ""  # whose accuracy is estimated
    classnames: Path | Sequence[str] | None = None  # a text file, or names
    template: str = ""  # a sentence for class names
    reference: Any = ""
    partners: tuple[Any, ...] = ()
    device: str = "auto"
    architectures: tuple[str, ...] = ()  # functions that build saved classifiers

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
    """Return a labelled shift that was given as FAMILY=PLACE, or as PLACE, whose family is its name without ending."""
    family, equals, place = given.partition("=")
    if not equals or Path(given).exists():
        return NamedShift(Path(given).stem, given)
    if not family or not place:
        raise OpenworldError(f"--labelled-shift {given}: expected FILE or FAMILY=FILE, such as fog=fog-3.npz.")
    return NamedShift(family, place)


@dataclass(frozen=True)
class EstimateInputs:
    """What is compared: files of scores that follow each other, folders of images, data sets, `ScoreFile`s ..."""

    source: Sequence[Any]
    target: Sequence[Any]
    models: ModelNames = field(default_factory=ModelNames)
    source_partners: tuple[Path, ...] = ()  # files of other models' scores, in pairs with those of the target
    target_partners: tuple[Path, ...] = ()
    times: str = ""  # the target's column of time stamps
    labelled: Sequence[NamedShift] = ()  # to learn from
    out: Path | None = None  # where page, plots, numbers, and scores of images are kept
    levels: str = ""  # the target's column of levels of change
    zero_shot: str = ""  # the target's table of zero-shot's scores, for levels alone
    labels: Any = None  # of some images of the target
    propose: int = 0  # how many images to name whose labels would tell most; needs `out`

    def __post_init__(self) -> None:
        if self.levels and (self.labels is not None or self.propose):
            option = "--propose" if self.labels is None else "--labels"
            raise OpenworldError(f"{option} does not go with --levels; leave one of the two out.")
        if self.zero_shot and not self.levels:
            raise OpenworldError("--zero-shot is compared level by level: name the target's column with --levels.")


def title_of(given: Sequence[Any]) -> str:
    """Return what an image set is called: as it was named, without the folders above it."""
    first = given[0].path.name if isinstance(given[0], ScoreFile) else getattr(given[0], "name", given[0])
    first = Path(first).name if Path(first).exists() else str(first)
    return first if len(given) == 1 else f"{first} and {len(given) - 1} more"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, "" where there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(places: Iterable[Any]) -> dict[str, str]:
    """Return the SHA-256 of every file among what somebody named, by its name: facts of a page."""
    paths = [Path(place) for place in places if isinstance(place, str | Path)]
    return {path.name: f"SHA-256 {sha256_of(path)}" for path in paths if path.is_file()}
