"""What a spec of incremental shift lists: judged models, detectors, the pool, the decomposition; checked as read."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, unknown_name
from openworld.backbones import known_name
from openworld.classifiers import Recipe, published
from openworld.datasets import DATASETS
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.detectors import PROFILES, find_detector
from openworld.evaluations.image_selection import DatasetSpec
from openworld.runs import read_spec
from openworld.shift import DECOMPOSITIONS

TWO_TOWER = ("MCM", "MSP", "MaxLogit", "Energy", "GEN", "KNN", "MDS")
"""Detectors of a two-tower model that lists none: those that need neither patches nor a list of words."""

TEACHERS = ("texts", "pictures")

PICTURED = {"whitened": 192, "semantic_width": 180, "learning_rate": 3e-3, "steps": 2000}
"""Settings of LAID on pictures: a narrow covariate half of whitened features, as bench/laid_halves.py prints it."""

_PATHS = ("maps", "gradient")


@dataclass(frozen=True)
class DetectorSpec:
    """One detector of a model.

    Args:
        detector: a name of `openworld list detectors`.
        label: what tables call it; needed where one detector runs with several settings.
        settings: its own, where they differ from its defaults.

    Raises:
        OpenworldError: an unknown detector or setting.
    """

    detector: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "label", self.label or self.detector)
        self.build()

    def build(self) -> Any:
        """The detector itself."""
        return read_spec(self.settings, find_detector(self.detector))


@dataclass(frozen=True)
class JudgedSpec:
    """A model whose detectors are judged: a classifier, trained here or loaded, or a two-tower model.

    Args:
        architecture: a name of `openworld.classifiers.ARCHITECTURES`, "timm:NAME", or "package.module:function".
        weights: folder of a saved classifier of the in-distribution classes, {seed} in it where there is one per seed;
            nothing is trained then. An architecture beside it is what to build, where a function of yours does that.
        backbone: a two-tower model instead: a name of `openworld list backbones`, a folder, or a hub repository.
        label: what tables call it; by default what it is made from.
        recipe: settings of `openworld.classifiers.Recipe` that differ from those published for the first source.
        template: of a two-tower model, the sentence around class names; "" for the data set's own.
        negatives: of a two-tower model, a text file with a name per line, of which NegLabel takes those far away.
        detectors: what is judged; none for those of `profile`.
        profile: a key of `openworld.detectors.PROFILES`; "" for "is-ood", and for `TWO_TOWER` on a backbone.

    Raises:
        OpenworldError: none of architecture, weights and backbone; settings of the one beside the other; an unknown
            profile; a detector that the model cannot serve; labels that come twice.
    """

    architecture: str = ""
    weights: str = ""
    backbone: str = ""
    label: str = ""
    recipe: dict[str, Any] = field(default_factory=dict)
    template: str = ""
    negatives: str = ""
    detectors: tuple[DetectorSpec, ...] = ()
    profile: str = ""

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        self._require_one_kind()
        made_from = self.backbone or self.architecture or self.weights.partition("/{")[0]
        object.__setattr__(self, "label", self.label or made_from)
        object.__setattr__(self, "detectors", self.detectors or self._of_profile())
        labels = [one.label for one in self.detectors]
        if len(set(labels)) < len(labels):
            raise OpenworldError(f"two detectors of {self.label} have one label; give each a label of its own.")
        for one in self.detectors:
            self._require_served(one)

    @property
    def is_two_tower(self) -> bool:
        """Whether it compares pictures with class names."""
        return bool(self.backbone)

    @property
    def needs_patches(self) -> bool:
        """Whether a detector looks at parts of pictures."""
        return any("patches" in one.build().needs for one in self.detectors)

    def trained_by(self, dataset: str) -> Recipe:
        """How it is trained on a data set: to the last epoch, no checkpoint before."""
        return read_spec(asdict(published(dataset)) | self.recipe | {"checkpoints": ()}, Recipe)

    def _require_one_kind(self) -> None:
        if not (self.architecture or self.weights or self.backbone):
            raise OpenworldError("a model has an architecture, weights or a backbone; give one.")
        if self.backbone and (self.architecture or self.weights or self.recipe):
            raise OpenworldError(f"the backbone {self.backbone!r} is used as it is; give no recipe or the like.")
        if not self.backbone and (self.template or self.negatives):
            raise OpenworldError("template and negatives are of two-tower models; give a backbone, or leave them out.")
        if self.weights and self.recipe:
            raise OpenworldError(f"weights {self.weights!r} are loaded, not trained; leave the recipe out.")

    def _of_profile(self) -> tuple[DetectorSpec, ...]:
        if not self.profile and self.is_two_tower:
            return tuple(map(DetectorSpec, TWO_TOWER))
        name = self.profile or "is-ood"
        if name not in PROFILES:
            raise unknown_name("profile", name, PROFILES)
        return tuple(DetectorSpec(one.name) for one in PROFILES[name])

    def _require_served(self, one: DetectorSpec) -> None:
        needs = one.build().needs
        lacking = [need for need in (_PATHS if self.is_two_tower else ("texts", "patches")) if need in needs]
        if lacking:
            kind = "two-tower model" if self.is_two_tower else "classifier"
            raise OpenworldError(f"{one.label} needs {' and '.join(lacking)}, which a {kind} ({self.label}) has not.")
        if one.detector == "NegLabel" and not self.negatives:
            raise OpenworldError("NegLabel needs names of what the classes are not; give negatives, a text file.")


@dataclass(frozen=True)
class PoolSpec(DatasetSpec):
    """Pictures that are tested for being out-of-distribution.

    Args:
        dataset, domain, part: as for a data set anywhere; its classes may be any.
        style: what tables call its look; by default its domain, with its corruption.
        corruption, severity: show it under one of `openworld.datasets.corruptions`; severity 1 to 5.

    Raises:
        OpenworldError: an unknown corruption; a corruption without a severity, or the other way round.
    """

    part: str = "test"
    style: str = ""
    corruption: str | None = None
    severity: int | None = None

    def __post_init__(self):
        super().__post_init__()
        if self.corruption is not None and self.corruption not in CORRUPTIONS:
            raise unknown_name("corruption", self.corruption, CORRUPTIONS)
        if (self.corruption is None) != (self.severity is None) or self.severity not in (None, *SEVERITIES):
            raise OpenworldError(
                f"corruption {self.corruption} came with severity {self.severity}; give both, the severity one of "
                f"{list(SEVERITIES)}, or neither."
            )
        shown = self.domain or Path(self.dataset).name
        corrupted = f", {self.corruption.replace('_', ' ')} {self.severity}" if self.corruption else ""
        object.__setattr__(self, "style", self.style or shown + corrupted)


def place_of(dataset: str) -> str:
    """A data set's name, or the folder or list that it is, however its path is written."""
    return dataset if dataset in DATASETS else str(Path(dataset).resolve())


@dataclass(frozen=True)
class DecompositionSpec:
    """How pictures' features are split into meaning and look.

    Args:
        backbone: the two-tower model whose features are split.
        method: a key of `openworld.shift.DECOMPOSITIONS`.
        settings: of the method, where they differ from its defaults.
        seed: of its training.
        templates: sentences with {}, the looks that it learns from; none for those of the embedded world where all
            pictures are of it, else CLIP's 80.
        taught_by: "texts", or "pictures": training pictures in `openworld.shift.LOOKS`, by features that see looks.

    Raises:
        OpenworldError: an unknown method, setting or teacher; templates for pictures.
    """

    backbone: str = "embedded"
    method: str = "LAID"
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    templates: tuple[str, ...] = ()
    taught_by: str = "texts"

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        if self.method not in DECOMPOSITIONS:
            raise unknown_name("method", self.method, DECOMPOSITIONS)
        if self.taught_by not in TEACHERS:
            raise unknown_name("teacher", self.taught_by, TEACHERS)
        if self.taught_by == "pictures" and self.templates:
            raise OpenworldError("templates are sentences, and pictures teach; leave one of the two out.")
        self.build()

    @property
    def learning(self) -> tuple[str, str]:
        """What a run says of the teaching: what was done, and what was counted."""
        return ("drew over", "pictures") if self.taught_by == "pictures" else ("read", "sentences")

    def build(self) -> Any:
        """The method with its settings."""
        usual = PICTURED if (self.method, self.taught_by) == ("LAID", "pictures") else {}
        return read_spec(usual | self.settings, DECOMPOSITIONS[self.method])


@dataclass(frozen=True)
class CellsSpec:
    """A division that is given: a text file per cell, as IS-OOD publishes them, or a set of `openworld synthesize`.

    Args:
        lists: folders of files cov_I_sem_J.txt, levels from 0, a picture's path per line; cells of the same name add
            up, such as those of a training and a validation part.
        pictures: the folder that the paths are relative to.
        tested: a text file that lists, by the names of their files, the in-distribution pictures to test on, as IS-OOD
            publishes it too; see `datasets.formats.file_list`. "" for all of `id_part`.
        generated: the folder of a generated set, instead; its levels are those of its prompts.

    Raises:
        OpenworldError: lists without pictures or the other way round; both these and a generated set, or neither.
    """

    lists: tuple[str, ...] = ()
    pictures: str = ""
    tested: str = ""
    generated: str = ""

    def __post_init__(self):
        if bool(self.lists) != bool(self.pictures) or bool(self.lists) == bool(self.generated):
            raise OpenworldError(
                "cells are either lists and the folder of their pictures, or generated, a set of `openworld "
                "synthesize`; give the one or the other."
            )
