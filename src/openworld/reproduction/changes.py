"""What a reproduction does otherwise than its paper: learners of one's own, other settings, other shots and views."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.backbones.precision import Precision
from openworld.datasets import Draw
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.learning import FRESH
from openworld.learners import override
from openworld.runs import digest, read_spec

ADDED = " (added)"
"""What marks a method that is not of the paper, behind its label."""

PAPERS_SHOTS = 16


@dataclass(frozen=True)
class AddedLearners:
    """A file of learners to add: `[[learners]]`, as in the spec of a run."""

    learners: tuple[LearnerSpec, ...]


@checked
@dataclass(frozen=True)
class Changes:
    """What is not as in the paper."""

    added: tuple[LearnerSpec, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # method, or label -> over the published
    shots: int | None = None  # training images of each class, at least 1; None for the paper's 16
    views: int | Literal["fresh"] | None = None  # "fresh": one for every epoch; None for the usual 8
    precision: Precision = "float32"
    draw: Draw = "coop"
    published_names: bool = False
    crossing_sentences: Literal["target", "source"] = "target"  # of OpenworldAUC's new classes of another data set

    def __post_init__(self):
        require_at_least(1, **({} if self.shots is None else {"shots": self.shots}))
        require_at_least(0, **({} if self.views in (None, FRESH) else {"views": self.views}))
        if self.crossing_sentences not in ("target", "source"):
            raise unknown_name("whose sentences", self.crossing_sentences, ("target", "source"))
        labels = [entry.label.casefold() for entry in self.added]
        if len(set(labels)) < len(labels):
            given = ", ".join(learner.label for learner in self.added)
            raise OpenworldError(f"learners to add need distinct labels; they are {given}.")

    def __bool__(self) -> bool:
        """Whether anything is otherwise."""
        return self != Changes()

    def methods(self, known: Mapping[str, LearnerSpec]) -> dict[str, LearnerSpec]:
        """The paper's methods with their settings changed, then the added ones by their marked labels."""
        methods = dict(known)
        for given, settings in self.settings.items():
            name = _find(given, known)
            methods[name] = replace(known[name], settings=override(methods[name].settings, settings))
        taken = _names(known)
        for entry in self.added:
            if entry.label.casefold() in taken:
                raise OpenworldError(
                    f"a learner to add is called {entry.label!r}, and so is one of the paper's; give it another label."
                )
        return methods | {entry.label + ADDED: entry for entry in self.added}

    @property
    def suffix(self) -> tuple[str, ...]:
        """What sets a run's folder apart from the paper's."""
        parts = [f"with-{entry.label}{_short(entry.settings, entry.choose)}" for entry in self.added]
        parts += [f"settings{_short(self.settings)}"] if self.settings else []
        parts += [] if self.shots is None else [f"shots-{self.shots}"]
        parts += [] if self.precision == "float32" else [self.precision]
        parts += [] if self.draw == "coop" else [f"draw-{self.draw}"]
        parts += ["published-names"] if self.published_names else []
        parts += [] if self.crossing_sentences == "target" else ["sentences-source"]
        return (*parts, *([] if self.views is None else [f"views-{self.views}"]))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The same for a reader of the tables."""
        sentences = [
            f"Added, and not of the paper: {_with_settings(entry.label, entry.settings)}." for entry in self.added
        ]
        sentences += [
            f"Settings changed: {_with_settings(name, settings)}." for name, settings in self.settings.items()
        ]
        if self.shots is not None:
            sentences.append(f"Learners see {self.shots} images of each class, where the paper's see {PAPERS_SHOTS}.")
        if self.precision != "float32":
            sentences.append(f"The frozen towers compute in {self.precision}, not in float32.")
        if self.draw != "coop":
            sentences.append("Training images are drawn as OpenworldAUC's released code does, not as CoOp's.")
        if self.published_names:
            sentences.append("ImageNet's classes have the names of published runs: two pairs share one.")
        if self.crossing_sentences == "source":
            sentences.append("New classes of another data set stand in the sentences of the source, not in their own.")
        return (
            *sentences,
            *([] if self.views is None else [f"Learners see {_views_in_words(self.views)} of each image."]),
        )


def _views_in_words(views: int | str) -> str:
    return "a fresh augmented view in every epoch" if views == FRESH else f"{views} augmented views"


def read_added(path: Path) -> tuple[LearnerSpec, ...]:
    """The learners of a TOML file, which holds `[[learners]]` as the spec of a run does, and nothing else."""
    return read_spec(path, AddedLearners).learners


def read_settings(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Changes such as 'GMoP.alpha = 0.5', by method; those of one method are put together.

    >>> read_settings(["GMoP.alpha = 0.5", "GMoP.schedule.epochs = 20"])
    {'GMoP': {'alpha': 0.5, 'schedule': {'epochs': 20}}}
    """
    settings_of: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, _, rest = text.partition(".")
        try:
            settings = tomllib.loads(rest)
        except tomllib.TOMLDecodeError:
            settings = {}
        if not name.strip() or not settings:
            raise OpenworldError(
                f"--settings is {text!r}, expected METHOD.SETTING = VALUE as TOML has it, such as "
                "'CoOp.schedule.epochs = 100' or 'GMoP.gate = \"none\"'."
            )
        settings_of[name.strip()] = override(settings_of.get(name.strip(), {}), settings)
    return settings_of


def _names(known: Mapping[str, LearnerSpec]) -> dict[str, str]:
    """Either name of a method -> the paper's."""
    labels = {entry.label.casefold(): name for name, entry in known.items()}
    return labels | {name.casefold(): name for name in known}


def _find(given: str, known: Mapping[str, LearnerSpec]) -> str:
    names = _names(known)
    if given.casefold() not in names:
        raise unknown_name("method", given, known)
    return names[given.casefold()]


def _short(*settings: Mapping) -> str:
    return f"-{digest(settings)[:8]}" if any(settings) else ""


def _with_settings(name: str, settings: Mapping[str, Any]) -> str:
    """A learner and its settings as dotted keys.

    >>> _with_settings("GMoP", {"alpha": 0.5, "schedule": {"epochs": 20}})
    'GMoP with alpha = 0.5, schedule.epochs = 20'
    """
    pairs = [f"{key} = {value}" for key, value in _flat(settings)]
    return f"{name} with {', '.join(pairs)}" if pairs else name


def _flat(settings: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    items = []
    for key, value in settings.items():
        items += _flat(value, f"{path}{key}.") if isinstance(value, Mapping) else [(f"{path}{key}", value)]
    return items
