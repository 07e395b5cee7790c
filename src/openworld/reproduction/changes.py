"""What a reproduction does otherwise than its paper: learners of one's own, other settings, other shots and views."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from openworld.backbones.devices import Precision
from openworld.core.arrays import MOST
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import Range, checked
from openworld.datasets import Draw
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.learning import FRESH
from openworld.learners import override
from openworld.results.run_folder import flat_settings
from openworld.runs import digest, read_spec

ADDED = " (added)"  # what marks a method that is not of the paper, behind its label

PAPERS_SHOTS = 16


@dataclass(frozen=True)
class AddedLearners:
    learners: tuple[LearnerSpec, ...]


@checked
@dataclass(frozen=True)
class Changes:
    """What is not as in the paper."""

    added: tuple[LearnerSpec, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # method, or label -> over the published
    shots: Annotated[int, Range(1, MOST["shots"])] | None = (
        None  # training images of each class, at least 1; None for the paper's 16
    )
    views: Annotated[int, Range(0, MOST["views"])] | Literal["fresh"] | None = (
        None  # "fresh": one for every epoch; None for the usual 8
    )
    precision: Precision = "float32"
    draw: Draw = "coop"
    published_names: bool = False
    crossing_sentences: Literal["target", "source"] = "target"  # of OpenworldAUC's new classes of another data set

    def __post_init__(self):
        labels = [entry.label.casefold() for entry in self.added]
        if len(set(labels)) < len(labels):
            given = ", ".join(learner.label for learner in self.added)
            raise OpenworldError(f"learners to add need distinct labels; they are {given}.")

    def __bool__(self) -> bool:
        return self != Changes()

    def methods(self, known: Mapping[str, LearnerSpec]) -> dict[str, LearnerSpec]:
        """The paper's methods with their settings changed, then the added ones by their marked labels."""
        methods = dict(known)
        names = names_of(known)
        for spelling, settings in self.settings.items():
            if spelling.casefold() not in names:
                raise unknown_name("method", spelling, known)
            name = names[spelling.casefold()]
            methods[name] = replace(known[name], settings=override(methods[name].settings, settings))
        for entry in self.added:
            if entry.label.casefold() in names:
                raise OpenworldError(
                    f"a learner to add is called {entry.label!r}, and so is one of the paper's; give it another label."
                )
        return methods | {entry.label + ADDED: entry for entry in self.added}

    @property
    def _changed(self) -> dict[str, tuple[str, str]]:
        """{field that is not as in the paper: (what it adds to the name of a folder, a sentence for readers)}."""
        views = "a fresh augmented view in every epoch" if self.views == FRESH else f"{self.views} augmented views"
        names = "ImageNet's classes have the names of published runs: two pairs share one."
        away = "New classes of another data set stand in the sentences of the source, not in their own."
        draw = "Training images are drawn as OpenworldAUC's released code does, not as CoOp's."
        shots = f"Learners see {self.shots} images of each class, where the paper's see {PAPERS_SHOTS}."
        every = {
            "settings": (f"settings{_short(self.settings)}", ""),
            "shots": (f"shots-{self.shots}", shots),
            "precision": (self.precision, f"The frozen towers compute in {self.precision}, not in float32."),
            "draw": (f"draw-{self.draw}", draw),
            "published_names": ("published-names", names),
            "crossing_sentences": ("sentences-source", away),
            "views": (f"views-{self.views}", f"Learners see {views} of each image."),
        }
        usual = Changes()
        return {name: both for name, both in every.items() if getattr(self, name) != getattr(usual, name)}

    @property
    def suffix(self) -> tuple[str, ...]:
        """What sets a run's folder apart from the paper's."""
        added = (f"with-{entry.label}{_short(entry.settings, entry.choose)}" for entry in self.added)
        return (*added, *(suffix for suffix, _ in self._changed.values()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The same for a reader of the tables."""
        added = [_with_settings(entry.label, entry.settings) for entry in self.added]
        changed = [_with_settings(name, settings) for name, settings in self.settings.items()]
        return (
            *(f"Added, and not of the paper: {words}." for words in added),
            *(f"Settings changed: {words}." for words in changed),
            *(sentence for _, sentence in self._changed.values() if sentence),
        )


def read_added(path: Path) -> tuple[LearnerSpec, ...]:
    """The learners of a TOML file, which holds `[[learners]]` as the spec of a run does, and nothing else."""
    return read_spec(path, AddedLearners).learners


def read_settings(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Changes such as 'GMoP.alpha = 0.5', by method; those of one method are put together."""
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


def names_of(known: Mapping[str, Any]) -> dict[str, str]:
    """Return the paper's name of a method by either of its names, in small letters."""
    labels = {entry.label.casefold(): name for name, entry in known.items()}
    return labels | {name.casefold(): name for name in known}


def _short(*settings: Mapping) -> str:
    return f"-{digest(settings)[:8]}" if any(settings) else ""


def _with_settings(name: str, settings: Mapping[str, Any]) -> str:
    pairs = [f"{key} = {value}" for key, value in flat_settings(settings).items()]
    return f"{name} with {', '.join(pairs)}" if pairs else name
