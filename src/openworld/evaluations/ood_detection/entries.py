"""What a spec of OOD detection lists beside the pool: judged models and their detectors."""

from dataclasses import asdict, dataclass, field
from typing import Any

from openworld._errors import OpenworldError, unknown_name
from openworld.backbones import known_name
from openworld.classifiers import Recipe, published
from openworld.classifiers.exported import LOADED_AS, is_exported
from openworld.detectors import PROFILES, find_detector
from openworld.evaluations.entries import require_distinct, settle
from openworld.runs import read_spec

TWO_TOWER = ("MCM", "MSP", "MaxLogit", "Energy", "GEN", "KNN", "MDS")
"""Detectors of a two-tower model that lists none: those that need neither patches nor a list of words."""

LOGITS_ALONE = ("MSP", "MaxLogit", "Energy", "GEN")
"""Detectors of a classifier in an exported file that lists none: those of logits."""

_PATHS = ("maps", "gradient", "layers")


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
        settle(self, label=self.label or self.detector)
        self.build()

    def build(self) -> Any:
        """Return the detector itself."""
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
        settle(self, backbone=known_name(self.backbone))
        self._require_one_kind()
        architecture = "" if self.architecture in LOADED_AS else self.architecture
        made_from = self.backbone or architecture or self.weights.partition("/{")[0]
        settle(self, label=self.label or made_from, detectors=self.detectors or self._of_profile())
        require_distinct({f"labels of detectors of {self.label}": [detector.label for detector in self.detectors]})
        for detector in self.detectors:
            self._require_served(detector)

    @property
    def is_two_tower(self) -> bool:
        """Whether it compares pictures with class names."""
        return bool(self.backbone)

    @property
    def is_exported(self) -> bool:
        """Whether it is a file that other tools wrote, which shows nothing but logits."""
        return bool(self.weights) and is_exported(self.weights)

    @property
    def needs_patches(self) -> bool:
        """Whether a detector looks at parts of pictures."""
        return any("patches" in detector.build().needs for detector in self.detectors)

    def trained_by(self, dataset: str) -> Recipe:
        """Return how it is trained on a data set: to the last epoch, no checkpoint before."""
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
        if not self.profile and self.is_exported:
            return tuple(map(DetectorSpec, LOGITS_ALONE))
        name = self.profile or "is-ood"
        if name not in PROFILES:
            raise unknown_name("profile", name, PROFILES)
        return tuple(DetectorSpec(detector.name) for detector in PROFILES[name])

    def _require_served(self, detector: DetectorSpec) -> None:
        needs = detector.build().needs
        lacking = [need for need in (_PATHS if self.is_two_tower else ("texts", "patches")) if need in needs]
        if self.is_exported and set(needs) - {"logits"}:
            raise OpenworldError(
                f"{detector.label} needs {' and '.join(set(needs) - {'logits'})}, and the exported file {self.weights} "
                f"shows logits alone; take detectors of logits ({', '.join(LOGITS_ALONE)}), or bring the model as a "
                "saved classifier."
            )
        if lacking:
            kind = "two-tower model" if self.is_two_tower else "classifier"
            raise OpenworldError(
                f"{detector.label} needs {' and '.join(lacking)}, which a {kind} ({self.label}) has not."
            )
        if detector.detector in ("NegLabel", "AdaNeg") and not self.negatives:
            raise OpenworldError(
                f"{detector.detector} needs names of what the classes are not; give negatives, a text file."
            )
