"""What a spec of accuracy estimation lists: models, targets, references and estimators, each checked as it is read."""

from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld.backbones import known_name
from openworld.classifiers import Recipe, published
from openworld.estimators import ScoreRegression, find_estimator
from openworld.evaluations.image_selection import DatasetSpec
from openworld.runs import read_spec

NOTHING = "none"
"""Stands for None in settings: TOML has no word for it."""

KNOW_NOTHING = ("uniform", "dirichlet")
"""References that need no model."""


@dataclass(frozen=True)
class ModelSpec:
    """A judged model: trained here over seeds and checkpoints, or loaded.

    Args:
        architecture: a name of `openworld.classifiers.ARCHITECTURES`, "timm:NAME", or "package.module:function".
        label: what tables call it; the architecture by default.
        checkpoints: epochs after which the model is judged, rising; by default those of the recipe. Of weights: the
            numbers that stand for {epoch}; none where the folder has no such place.
        recipe: settings of `openworld.classifiers.Recipe` that differ from those published for the first source, such
            as { epochs = 20, side = 32 }.
        weights: folder of saved classifiers, such as "mine/{seed}/{epoch}", or of a single one without such places;
            nothing is trained then. An architecture beside it is what to build, where a function of yours does that.

    Raises:
        OpenworldError: neither architecture nor weights; weights with a recipe, or with {epoch} and no checkpoints, or
            the other way round.
    """

    architecture: str = ""
    label: str = ""
    checkpoints: tuple[int, ...] = ()
    recipe: dict[str, Any] = field(default_factory=dict)
    weights: str = ""

    def __post_init__(self):
        if not (self.architecture or self.weights):
            raise OpenworldError("a model has an architecture, to be trained, or weights, to be loaded; give one.")
        if self.weights:
            self._require_loadable()
        if "checkpoints" in self.recipe:
            raise OpenworldError(f"checkpoints of {self.architecture} stand beside its recipe, not in it.")
        object.__setattr__(self, "label", self.label or self.architecture or self.weights.partition("/{")[0])

    def _require_loadable(self) -> None:
        if self.recipe:
            raise OpenworldError(f"weights {self.weights!r} are loaded, not trained; leave the recipe out.")
        if "{epoch}" in self.weights and not self.checkpoints:
            raise OpenworldError(
                f"weights {self.weights!r} need the numbers that stand for {{epoch}}, such as checkpoints = [4, 8]; a "
                "folder without {epoch} needs none."
            )
        if "{epoch}" not in self.weights and len(self.checkpoints) > 1:
            raise OpenworldError(
                f"weights {self.weights!r} are one classifier for {len(self.checkpoints)} checkpoints; write {{epoch}} "
                "where their folders differ, or leave the checkpoints out."
            )
        object.__setattr__(self, "checkpoints", self.checkpoints or (1,))

    def resolved(self, dataset: str) -> "ModelSpec":
        """With checkpoints and recipe written out whole, from what is published for the data set."""
        if self.weights:
            return self
        known = asdict(published(dataset)) | self.recipe
        known["checkpoints"] = self.checkpoints or (() if "epochs" in self.recipe else known["checkpoints"])
        recipe = read_spec(known, Recipe)
        settings = {name: value for name, value in asdict(recipe).items() if name != "checkpoints"}
        return replace(self, checkpoints=recipe.kept, recipe=settings)


@dataclass(frozen=True)
class TargetSpec(DatasetSpec):
    """Pictures of the model's classes under other circumstances.

    Args:
        dataset, domain: as for a data set anywhere; its class names are those of the sources, or some of them.
        part: of the data set.
        row: the line of the table of errors that it counts in.
        name: what tables call it; its domain by default, or the data set.
        corrupted_row: its pictures are judged under every corruption too, in this line.
    """

    part: str = "test"
    row: str = "natural"
    name: str = ""
    corrupted_row: str = ""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "name", self.name or self.domain or Path(self.dataset).name)


@dataclass(frozen=True)
class ReferenceSpec:
    """A model that finds each picture more or less similar to each class name.

    Args:
        name: what tables call it; "uniform" and "dirichlet" without anything else know nothing.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        templates: of a backbone: "usual", the data set's own sentence; "ensemble", its several; or sentences with {}.
        classifier: folder of a saved classifier of the same classes.
        architecture: beside a classifier, what to build where a function of yours does that.

    Raises:
        OpenworldError: a backbone and a classifier, or neither under a name that is not known; an architecture without
            a classifier.
    """

    name: str
    backbone: str = ""
    templates: str | tuple[str, ...] = "usual"
    classifier: str = ""
    architecture: str = ""

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        if self.architecture and not self.classifier:
            raise OpenworldError(
                f"reference {self.name!r} has an architecture and no classifier; give its folder as classifier."
            )
        if (self.name in KNOW_NOTHING) + bool(self.backbone) + bool(self.classifier) != 1:
            raise OpenworldError(
                f"reference {self.name!r} has backbone {self.backbone!r} and classifier {self.classifier!r}; give one "
                f"of them, or one of the names {' and '.join(KNOW_NOTHING)} and neither."
            )
        if isinstance(self.templates, str) and self.templates not in ("usual", "ensemble"):
            raise OpenworldError(f"templates is {self.templates!r}; expected 'usual', 'ensemble', or a list of them.")

    @property
    def is_model(self) -> bool:
        """Whether it looks at pictures."""
        return self.name not in KNOW_NOTHING


@dataclass(frozen=True)
class EstimatorSpec:
    """One estimator of a run.

    Args:
        estimator: a name of `openworld list estimators`.
        label: what tables call it; needed where one estimator runs with several settings or references.
        settings: its own settings, where they differ from its defaults; "none" stands for None.
        reference: the name of the reference, where it needs one; the first of the spec by default.

    Raises:
        OpenworldError: an unknown estimator or setting.
    """

    estimator: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    reference: str = ""

    def __post_init__(self):
        object.__setattr__(self, "label", self.label or self.estimator)
        self.build()

    def build(self):
        """The estimator itself; of a score, the regression that makes an error of it."""
        kind = find_estimator(self.estimator)
        made = read_spec(self._given, kind) if fields(kind) else kind(**self._given)
        return made if hasattr(made, "fit") else ScoreRegression(made)

    def resolved(self, reference: str) -> "EstimatorSpec":
        """With the name of its reference, and its settings written out whole."""
        made = self.build()
        settings = asdict(made.of if self.is_score else made)
        said = {key: NOTHING if value is None else value for key, value in settings.items()}
        return replace(self, settings=said, reference=reference)

    def told(self) -> dict[str, Any]:
        """What a record says of it."""
        return asdict(self) | {"settings": self._given, "reference": self.reference or None}

    @property
    def _given(self) -> dict[str, Any]:
        return {key: None if value == NOTHING else value for key, value in self.settings.items()}

    @property
    def is_score(self) -> bool:
        """Whether it needs labelled, corrupted copies of the source set."""
        return not hasattr(find_estimator(self.estimator), "fit")

    @property
    def needs(self) -> tuple[str, ...]:
        """What `Outputs` must hold."""
        by_settings = ("reference",) if self.settings.get("frequencies") == "reference" else ()
        return tuple(dict.fromkeys((*find_estimator(self.estimator).needs, *by_settings)))
