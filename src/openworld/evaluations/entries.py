"""What the specs of several evaluations list, and the checks of all lists: each entry is checked as it is read."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from openworld.backbones import known_name
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.estimators import ScoreRegression, find_estimator
from openworld.evaluations.image_selection import DatasetSpec
from openworld.learners import configure, find_learner, override
from openworld.runs import read_spec
from openworld.shifts import DECOMPOSITIONS

NOTHING = "none"
"""Stands for None in settings: TOML has no word for it."""

KNOW_NOTHING = ("uniform", "dirichlet")
"""References that need no model."""

TEACHERS = ("texts", "images")

LAID_ON_IMAGES = {"whitened": 192, "semantic_width": 180, "learning_rate": 3e-3, "steps": 2000}
"""Settings of LAID on images: a narrow covariate half of whitened features, as bench/laid_halves.py prints it."""


def settle(spec: object, **values: Any) -> None:
    """Set fields of a frozen dataclass that is being made to what they stand for."""
    for name, value in values.items():
        object.__setattr__(spec, name, value)


def part_of(spec: object, kind: type[Any], **own: Any) -> Any:
    """Return a dataclass of some kind with the fields that a spec has under the same names, and `own` fields."""
    names = {field.name for field in fields(kind)} - set(own)
    return kind(**{name: getattr(spec, name) for name in names}, **own)


def require_distinct(lists: Mapping[str, Collection], *, least: int = 1) -> None:
    """Refuse lists of a spec in which an entry comes twice, and with `least` 1 empty ones.

    >>> require_distinct({"seeds": (1, 2)})
    """
    for name, entries in lists.items():
        said = list(map(str, entries))
        if len(said) < least or len(set(entries)) < len(said):
            raise OpenworldError(f"{name} must be distinct{', and at least one' * least}; they are {said}.")


@dataclass(frozen=True)
class LearnerSpec:
    """One learner of a run.

    Args:
        learner: a name of `openworld list learners`.
        label: what tables call it; needed where one learner runs with several settings.
        settings: its own settings, where they differ from the published defaults.
        choose: settings to be decided on validation images, each with its candidates, such as
            {"alpha": [0.1, 0.5], "schedule.epochs": [10, 20]}.

    Raises:
        OpenworldError: an unknown learner, setting or candidate setting; a setting without candidates.
    """

    learner: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    choose: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self):
        learner = find_learner(self.learner)
        settle(self, label=self.label or self.learner)
        configure(learner, self.settings)
        for key, candidates in self.choose.items():
            if not candidates:
                raise OpenworldError(f"choose.{key} lists no candidate; give some, or leave the key out.")
            for candidate in candidates:
                configure(learner, override(self.settings, {key: candidate}))


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
        settle(self, label=self.label or self.estimator)
        self.build()

    def build(self):
        """Return the estimator itself; of a score, the regression that makes an error of it."""
        kind = find_estimator(self.estimator)
        made = read_spec(self._given, kind) if fields(kind) else kind(**self._given)
        return made if hasattr(made, "fit") else ScoreRegression(made)

    def resolved(self, reference: str) -> "EstimatorSpec":
        """Return it with the name of its reference, and its settings written out whole."""
        made = self.build()
        settings = asdict(made.of if self.is_score else made)
        written = {key: NOTHING if value is None else value for key, value in settings.items()}
        return replace(self, settings=written, reference=reference)

    def facts(self) -> dict[str, Any]:
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
        by_settings = ("reference",) if self.settings.get("frequencies") == "reference" else ()
        return tuple(dict.fromkeys((*find_estimator(self.estimator).needs, *by_settings)))


@dataclass(frozen=True)
class ReferenceSpec:
    """A model that finds each image more or less similar to each class name.

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
        settle(self, backbone=known_name(self.backbone))
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
        return self.name not in KNOW_NOTHING


@dataclass(frozen=True)
class PoolSpec(DatasetSpec):
    """Images that are tested for being out-of-distribution.

    Args:
        dataset, domain, part: as for a data set anywhere; its classes may be any.
        style: what tables call its look; by default its domain, with its corruption.
        corruption, severity: show it under one of `openworld.datasets.corruptions`; severity 1 to 5.
        generated: whether its images were generated, and are held against the others at equal degree; sets of
            `openworld synthesize` always are.

    Raises:
        OpenworldError: an unknown corruption; a corruption without a severity, or the other way round.
    """

    part: str = "test"
    style: str = ""
    corruption: str | None = None
    severity: int | None = None
    generated: bool = False

    def __post_init__(self):
        super().__post_init__()
        if self.corruption is not None and self.corruption not in CORRUPTIONS:
            raise unknown_name("corruption", self.corruption, CORRUPTIONS)
        if (self.corruption is None) != (self.severity is None) or self.severity not in (None, *SEVERITIES):
            raise OpenworldError(
                f"corruption {self.corruption} came with severity {self.severity}; give both, the severity one of "
                f"{list(SEVERITIES)}, or neither."
            )
        domain = self.domain or Path(self.dataset).name
        corrupted = f", {self.corruption.replace('_', ' ')} {self.severity}" if self.corruption else ""
        settle(self, style=self.style or domain + corrupted)


@dataclass(frozen=True)
class DecompositionSpec:
    """How images' features are split into meaning and look.

    Args:
        backbone: the two-tower model whose features are split.
        method: a key of `openworld.shifts.DECOMPOSITIONS`.
        settings: of the method, where they differ from its defaults.
        seed: of its training.
        templates: sentences with {}, the looks that it learns from; none for those of the embedded world where all
            images are of it, else CLIP's 80.
        taught_by: "texts", or "images": training images in `openworld.shifts.LOOKS`, by features that see looks.
        names: a text file (.txt) with a name per line that teaches, such as ImageNet-21K's 20,113; "" for the class
            names of the run's own images.

    Raises:
        OpenworldError: an unknown method, setting or teacher; templates or names for images.
    """

    backbone: str = "embedded"
    method: str = "LAID"
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    templates: tuple[str, ...] = ()
    taught_by: str = "texts"
    names: str = ""

    def __post_init__(self):
        settle(self, backbone=known_name(self.backbone))
        if self.method not in DECOMPOSITIONS:
            raise unknown_name("method", self.method, DECOMPOSITIONS)
        if self.taught_by not in TEACHERS:
            raise unknown_name("teacher", self.taught_by, TEACHERS)
        if self.taught_by == "images" and (self.templates or self.names):
            raise OpenworldError("templates and names are texts, and images teach; leave one of the two out.")
        self.build()

    @property
    def learning(self) -> tuple[str, str]:
        """What a run says of the teaching: what was done, and what was counted."""
        return ("drew over", "images") if self.taught_by == "images" else ("read", "sentences")

    def build(self) -> Any:
        usual = LAID_ON_IMAGES if (self.method, self.taught_by) == ("LAID", "images") else {}
        return read_spec(usual | self.settings, DECOMPOSITIONS[self.method])


@dataclass(frozen=True)
class CellsSpec:
    """A division that is given: a text file per cell, as IS-OOD publishes them, or a set of `openworld synthesize`.

    Args:
        lists: folders of files cov_I_sem_J.txt, levels from 0, an image's path per line; cells of the same name add
            up, such as those of a training and a validation part.
        images: the folder that the paths are relative to.
        tested: a text file that lists, by the names of their files, the in-distribution images to test on, as IS-OOD
            publishes it too; see `datasets.formats.numbered_list`. "" for all of `id_part`.
        generated: the folder of a generated set, instead; its levels are those of its prompts.

    Raises:
        OpenworldError: lists without images or the other way round; both these and a generated set, or neither.
    """

    lists: tuple[str, ...] = ()
    images: str = ""
    tested: str = ""
    generated: str = ""

    def __post_init__(self):
        if bool(self.lists) != bool(self.images) or bool(self.lists) == bool(self.generated):
            raise OpenworldError(
                "cells are either lists and the folder of their images, or generated, a set of `openworld "
                "synthesize`; give the one or the other."
            )
