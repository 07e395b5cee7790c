"""What specs of OOD detection list beside the images: models and their detectors."""

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from openworld.backbones import known_name
from openworld.classifiers import Recipe, published
from openworld.classifiers.exported import LOADED_AS, is_exported
from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.names.word_lists import WordList, word_list
from openworld.detectors import PROFILES, DetectorCandidates, candidates, make_detector, published_grid
from openworld.detectors.catalogue import LOGITS_ALONE, TWO_TOWER
from openworld.detectors.engine.search import settings_of
from openworld.detectors.engine.texts import OF_NEGATIVE_NAMES, require_words
from openworld.detectors.engine.two_towers import OF_LEARNERS, require_served
from openworld.evaluations.entries import require_distinct, settle
from openworld.evaluations.own_data import held, title_of
from openworld.features import Encoding
from openworld.learners import ZeroShot, configure, encoding_for, find_learner
from openworld.learners.engine.fitted import backbone_of, is_saved
from openworld.runs import read_spec

_PATHS = ("maps", "gradient", "layers", "samples")


@dataclass(frozen=True)
class DetectorSpec:
    """One detector of a model.

    Args:
        detector: a name of `openworld list detectors`, or what OpenOOD or pytorch-ood calls it; of learners also
            "own score".
        label: what tables call it; needed where one detector runs with several settings.
        settings: its own, where they differ from its defaults.
        choose: settings to be decided on validation images, each with its candidates, such as {"k": [5, 20, 50]}; of an
            evaluation that has validation sets, which also decides settings that have published candidates and are
            neither here nor in `settings`.
        optional: whether it is left out, with a note, where it cannot learn from the training images.

    Raises:
        OpenworldError: an unknown detector, setting or candidate; a setting without candidates.
    """

    detector: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    choose: dict[str, tuple[Any, ...]] | None = None
    optional: bool = False

    def __post_init__(self):
        settle(self, label=self.label or self.detector)
        self.build()
        for key, values in (self.choose or {}).items():
            if not values:
                raise OpenworldError(f"choose.{key} lists no candidate; give some, or leave the key out.")
            for setting in settings_of({key: values}):
                make_detector(self.detector, self.settings | setting)

    @property
    def grid(self) -> dict[str, tuple]:
        """Candidates of each setting that is searched where there are validation sets."""
        settings = self.choose or {}
        return settings | published_grid(self.build(), fixed={*self.settings, *settings})

    def build(self) -> Any:
        """Return the detector itself."""
        return make_detector(self.detector, self.settings)


@dataclass(frozen=True)
class JudgedSpec:
    """A model whose detectors are compared: a classifier or a learner, trained here or loaded, or a two-tower model.

    Args:
        architecture: a name of `openworld.classifiers.ARCHITECTURES`, "timm:NAME", or "package.module:function".
        weights: folder of a saved classifier of the in-distribution classes, an exported file, a state dict (of
            torchvision's networks, or of an architecture beside it), or "timm:NAME"; {seed} in it where there is one
            per seed; nothing is trained then. An architecture beside it is what to build, where a function of yours
            does that.
        backbone: a two-tower model instead: a name of `openworld list backbones`, a folder, or a hub repository.
        label: what tables call it; by default what it is made from.
        recipe: settings of `openworld.classifiers.Recipe` that differ from those published for the first source.
        template: of a two-tower model, the sentence around class names; "" for the data set's own. Of a learner the
            sentence of its frozen text features, where it reads one.
        negatives: of a two-tower model, or of a learner whose prompts encode any name, words of which NegLabel, CSP and
            AdaNeg take those far away: a text file with a name per line; "wordnet"; or a folder, of WordNet or with
            nouns.txt and adjectives.txt (CSP needs both).
        detectors: what is judged; none for those of `profile`.
        profile: a key of `openworld.detectors.PROFILES`; "" for "is-ood", for `TWO_TOWER` on a backbone, and for
            `OF_LEARNERS` of a learner; to these two negatives add the detectors that they serve.
        learner: a name of `openworld list learners`, trained on the backbone with the in-distribution training images;
            or the folder of a saved one of these classes, {seed} in it where there is one per seed.
        settings: of the learner, where they differ from those published for OOD detection.
        shots: of each class of each source that the learner is trained on; None for all that the run learns from.
        views: augmented views encoded of every image that it is trained on, at least 1.
        own: what `openworld detect` calls a model of its process, instead of all above but label and detectors.

    Raises:
        OpenworldError: none of architecture, weights, backbone and learner; settings of the one beside the other; an
            unknown profile, learner or setting; a detector that the model cannot serve; labels that come twice.
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
    learner: str = ""
    settings: dict[str, Any] | None = None
    shots: int | None = None
    views: int = 8
    own: str = ""

    def __post_init__(self):
        if self.own:
            settle(self, label=self.label or title_of(self.own))
            require_distinct({f"labels of detectors of {self.label}": [each.label for each in self.detectors]})
            return
        self._require_one_kind()
        if self.learner:
            require_at_least(1, views=self.views, shots=1 if self.shots is None else self.shots)
            if is_saved(self.learner):
                settle(self, backbone=self.backbone or backbone_of(self.learner, 'backbone = "{}" beside it'))
            else:
                configure(find_learner(self.learner), self.settings or {})
        settle(self, backbone=known_name(self.backbone))
        architecture = "" if self.architecture in LOADED_AS else self.architecture
        made_from = self.learner.partition("/{")[0] or self.backbone or architecture or self.weights.partition("/{")[0]
        settle(self, label=self.label or made_from, detectors=self.detectors or self._of_profile())
        require_distinct({f"labels of detectors of {self.label}": [detector.label for detector in self.detectors]})
        for detector in self.detectors:
            self._require_served(detector)

    @property
    def is_two_tower(self) -> bool:
        """Whether it compares images with class names, as it is."""
        return bool(self.backbone) and not self.learner

    @property
    def kind(self) -> str:
        """What records call its kind: classifier, two-tower or learner."""
        if self.own:
            return held(self.own).kind
        return "learner" if self.learner else "two-tower" if self.backbone else "classifier"

    @property
    def has_seeds(self) -> bool:
        """Whether it is another one with every seed."""
        if self.own:
            return False
        saved = self.weights or (self.learner if is_saved(self.learner) else "")
        if saved:
            return "{seed}" in saved
        learns = bool(self.learner) and not issubclass(find_learner(self.learner), ZeroShot)
        return learns if self.learner else not self.backbone

    @property
    def is_exported(self) -> bool:
        """Whether it is a file that other tools wrote, which shows nothing but logits."""
        return bool(self.weights) and is_exported(self.weights)

    @property
    def encoding(self) -> Encoding:
        """What is encoded of test images, where it is a two-tower model or a learner that is trained here."""
        trained = self.learner and not is_saved(self.learner)
        learner: Any = find_learner(self.learner) if trained else None
        encoding = encoding_for(learner) if trained else Encoding()
        patches = any("patches" in detector.needs for detector in self.build().values())
        return replace(encoding, patches=encoding.patches or patches)

    @property
    def words(self) -> WordList | None:
        """Words of which names of what the classes are not are chosen, read from where they lie; None for none."""
        return word_list(self.negatives) if self.negatives else None

    def build(self) -> dict[str, Any]:
        """Return its detectors by label."""
        return {detector.label: detector.build() for detector in self.detectors}

    def candidates(self, *, search: bool) -> DetectorCandidates:
        """Return its detectors, with every setting that is tried where settings are searched."""
        grids = {detector.label: detector.grid for detector in self.detectors} if search else {}
        return candidates(self.build(), grids)

    def resolved(self, dataset: str) -> "JudgedSpec":
        """Return it with the settings of a learner written out whole, with what is published for a data set."""
        if not self.learner or is_saved(self.learner):
            return self
        made = configure(find_learner(self.learner), self.settings or {}, dataset, "ood")
        if self.template:
            names = {each.name for each in fields(made)}
            if not names & {"template", "templates"}:
                raise OpenworldError(
                    f"{self.learner} reads no template; leave it out, or see its settings for its words."
                )
            one = "template" in names
            made = replace(made, **({"template": self.template} if one else {"templates": (self.template,)}))
        return replace(self, settings=asdict(made), template="")

    def trained_by(self, dataset: str) -> Recipe:
        """Return how it is trained on a data set: to the last epoch, no checkpoint before."""
        return read_spec(asdict(published(dataset)) | self.recipe | {"checkpoints": ()}, Recipe)

    def _require_one_kind(self) -> None:
        """Refuse what is said beside a model that has no use for it, and a model that lacks something."""
        learner, saved = self.learner, bool(self.learner) and is_saved(self.learner)
        network, tuning = self.architecture or self.weights, self.settings is not None or self.shots is not None
        for is_wrong, sentence in (
            (tuning and not learner, "settings and shots of a model are those of a learner; give a learner, or none."),
            (learner and (network or self.recipe or self.profile),
             f"the learner {learner!r} stands on a backbone; give no architecture, weights, recipe or profile "
             "beside it."),
            (saved and (tuning or self.template),
             f"the saved learner {learner!r} has its settings; give no settings or the like."),
            (learner and not saved and not self.backbone,
             f"the learner {learner!r} needs a backbone; give one, such as 'embedded'."),
            (saved and not self.backbone and "{seed}" in learner,
             f"the learners {learner!r} need the name of their backbone; give it."),
            (not (network or self.backbone or learner),
             "a model has an architecture, weights or a backbone; give one."),
            (self.backbone and (network or self.recipe),
             f"the backbone {self.backbone!r} is used as it is; give no recipe or the like."),
            (not (self.backbone or learner) and (self.template or self.negatives),
             "template and negatives are of two-tower models; give a backbone, or leave them out."),
            (self.weights and self.recipe, f"weights {self.weights!r} are loaded, not trained; leave the recipe out."),
        ):  # fmt: skip
            if is_wrong:
                raise OpenworldError(sentence)

    def _of_profile(self) -> tuple[DetectorSpec, ...]:
        if self.learner or (not self.profile and self.is_two_tower):
            usual = OF_LEARNERS if self.learner else TWO_TOWER
            # A text file has no adjectives, which CSP needs.
            lacking = "CSP" if self.negatives.endswith(".txt") else ""
            of_negatives = [name for name in OF_NEGATIVE_NAMES if self.negatives and name != lacking]
            return tuple(map(DetectorSpec, (*usual, *of_negatives)))
        if not self.profile and self.is_exported:
            return tuple(map(DetectorSpec, LOGITS_ALONE))
        name = self.profile or "is-ood"
        if name not in PROFILES:
            raise unknown_name("profile", name, PROFILES)
        return tuple(DetectorSpec(detector.name) for detector in PROFILES[name])

    def _require_served(self, detector: DetectorSpec) -> None:
        needs = detector.build().needs
        if self.learner and not is_saved(self.learner):
            require_served(find_learner(self.learner), self.label, {detector.label: detector.build()})
        without = {"learner": _PATHS, "two-tower": (*_PATHS, "learner"), "classifier": ("texts", "patches", "learner")}
        lacking = [need for need in without[self.kind] if need in needs]
        if self.is_exported and set(needs) - {"logits"}:
            raise OpenworldError(
                f"{detector.label} needs {' and '.join(set(needs) - {'logits'})}, and the exported file {self.weights} "
                f"shows logits alone; take detectors of logits ({', '.join(LOGITS_ALONE)}), or bring the model as a "
                "saved classifier."
            )
        if lacking:
            kind = "two-tower model" if self.is_two_tower else self.kind
            raise OpenworldError(
                f"{detector.label} needs {' and '.join(lacking)}, which a {kind} ({self.label}) has not."
            )
        if detector.detector in OF_NEGATIVE_NAMES and not self.negatives:
            require_words(detector.build(), None, self.negatives)
        if detector.detector == "CSP" and self.negatives.endswith(".txt"):
            require_words(detector.build(), WordList(("word",)), self.negatives)
