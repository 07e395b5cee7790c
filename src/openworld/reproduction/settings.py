"""What a reproduction stands on: data, backbone, seeds; what it does otherwise than its paper; and what follows.

Otherwise are learners of one's own, other settings, other shots and views, less of the training.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from openworld.backbones import known_name
from openworld.backbones.devices import Precision
from openworld.core.arrays import MOST
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import Positive, Range, checked
from openworld.datasets import PUBLISHED, Draw
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.learning import FRESH
from openworld.learners import PromptSRC, Schedule, configure, find_learner, override
from openworld.learners import PublishedSetting as PublishedTask
from openworld.papers import VARIANTS
from openworld.report.sentences import listed
from openworld.results.run_folder import flat_settings
from openworld.runs import digest, read_spec

EMBEDDED = "embedded"
PUBLISHED_VIEWS, PAPERS_SHOTS = 8, 16
ADDED = " (added)"  # what marks a method that is not of the paper, behind its label
NAMES = {card.title: name for name, card in PUBLISHED.items()}  # what papers call a data set -> its name here

IMAGENETS = ("ImageNet", *VARIANTS)
_LONGEST_SUFFIX = 40
_FEWEST_EPOCHS = 2  # the first of a warmed-up schedule hardly learns


@dataclass(frozen=True)
class AddedLearners:
    learners: tuple[LearnerSpec, ...]


@checked
@dataclass(frozen=True)
class ReproductionSetup:
    """What the runs of a plan share, and what they do otherwise than the paper's."""

    data: str = EMBEDDED  # "embedded" for the world that comes along, or the folder of all downloaded data sets
    backbone: str = ""  # "" for the embedded CLIP on embedded data, else the paper's; of FRAP the reference
    seeds: tuple[int, ...] = ()  # of few-shot draws, class orders, starts and shuffles; () for the paper's
    learners: tuple[str, ...] = ()  # methods to keep, by the paper's name or ours; () for all of them
    quick: Positive = 1  # what epochs are divided by, at least 1; nothing goes below two epochs for it
    added: tuple[LearnerSpec, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # method, or label -> over the published
    shots: Annotated[int, Range(1, MOST["shots"])] = PAPERS_SHOTS  # training images of each class
    views: Annotated[int, Range(0, MOST["views"])] | Literal["fresh"] | None = (
        None  # "fresh": one for every epoch; None for the usual 8
    )
    precision: Precision = "float32"
    draw: Draw = "coop"
    published_names: bool = False
    crossing_sentences: Literal["target", "source"] = "target"  # of OpenworldAUC's new classes of another data set
    classifier: str = ""  # of IS-OOD: place of the judged classifier; "" for the usual places below `data`
    names: str = ""  # of IS-OOD's Table 3: a text file (.txt) of names that teach, one per line; "" for ImageNet's
    datasets: tuple[str, ...] = ()  # to keep, or rows of FRAP, by the paper's name or ours; () for all
    checkpoints: tuple[str, ...] = ()  # of FRAP's classifiers: epochs, or "last"; () for the paper's
    missing: tuple[str, ...] = ()  # data sets not on disk: rows of FRAP that need them are left out unless named
    papers_seeds: tuple[int, ...] = (1, 2, 3)  # `plan` sets it

    def __post_init__(self):
        labels = [entry.label.casefold() for entry in self.added]
        if len(set(labels)) < len(labels):
            given = ", ".join(learner.label for learner in self.added)
            raise OpenworldError(f"learners to add need distinct labels; they are {given}.")
        object.__setattr__(self, "backbone", known_name(self.backbone))

    @property
    def changes(self) -> dict[str, tuple[str, str]]:
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
        usual = ReproductionSetup()
        return {name: both for name, both in every.items() if getattr(self, name) != getattr(usual, name)}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What sets the runs apart from the paper's because it was asked for."""
        few = f"Epochs are divided by {self.quick}: this shows how tables are made, and does not rank the methods."
        added = [_with_settings(entry.label, entry.settings) for entry in self.added]
        changed = [_with_settings(name, settings) for name, settings in self.settings.items()]
        sentences = [few] if self.quick > 1 else []
        sentences += [f"Added, and not of the paper: {words}." for words in added]
        sentences += [f"Settings changed: {words}." for words in changed]
        sentences += [sentence for _, sentence in self.changes.values() if sentence]
        if self.datasets:
            some = listed(self.datasets)
            sentences.append(f"As asked for, of {some} alone; an average is over those of them that a table has.")
        if self.checkpoints:
            some = listed(self.checkpoints)
            sentences.append(f"As asked for, classifiers are judged at these checkpoints alone: {some}.")
        return tuple(sentences)

    def settled(self, backbone: str, seeds: tuple[int, ...]) -> "ReproductionSetup":
        """Return the setup with a paper's backbone and seeds where none are asked for."""
        backbone = self.backbone or (EMBEDDED if self.embedded else backbone)
        return replace(self, backbone=backbone, seeds=self.seeds or seeds, papers_seeds=seeds)

    @property
    def embedded(self) -> bool:
        return self.data == EMBEDDED

    def keeps(self, method: str, label: str) -> bool:
        """Whether a method was asked for, by either of its names."""
        chosen = {name.casefold() for name in self.learners}
        return not chosen or bool(chosen & {method.casefold(), label.casefold()})

    def every_method(self, known: Mapping[str, LearnerSpec]) -> dict[str, LearnerSpec]:
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

    def methods(self, known: Mapping[str, LearnerSpec]) -> dict[str, LearnerSpec]:
        """The methods to run: those of the paper that were asked for, settings changed, and the added ones."""
        methods = self.every_method(known)
        return {name: spec for name, spec in methods.items() if name not in known or self.keeps(name, spec.label)}

    def keeps_data(self, *titles: str) -> bool:
        """Whether a data set was asked for, by any of what the paper calls it."""
        return not self.datasets or bool({*titles} & {*self.datasets})

    def place(self, title: str, stand_ins: Mapping[str, DatasetSpec]) -> DatasetSpec:
        """A data set of the paper, or what stands in for it."""
        if self.embedded:
            return stand_ins[title]
        shared = self.published_names and title in IMAGENETS
        return DatasetSpec(NAMES[title], published_names=shared)

    def titles(self, data: Iterable[DatasetSpec]) -> dict[str, str]:
        title_of = {} if self.embedded else {name: title for title, name in NAMES.items()}
        return {str(image_set): title_of[image_set.dataset] for image_set in data if image_set.dataset in title_of}

    def learner(self, learner: LearnerSpec, dataset: str, published: PublishedTask) -> LearnerSpec:
        """A learner with the settings that suit the backbone, its own over them, and epochs divided by `quick`."""
        suited = self._suited(published).get("learners", {}).get(learner.learner, {})
        settings = override(override({}, suited), learner.settings)
        if self.quick == 1:
            return learner if settings == learner.settings else replace(learner, settings=settings)

        whole, fewer = configure(find_learner(learner.learner), settings, dataset, published), {}
        schedules = {stage.name: getattr(whole, stage.name) for stage in fields(whole)}
        for name, schedule in schedules.items():
            if isinstance(schedule, Schedule):
                epochs = min(schedule.epochs, max(_FEWEST_EPOCHS, schedule.epochs // self.quick))
                fewer[f"{name}.epochs"] = epochs
                if isinstance(whole, PromptSRC):  # the Gaussian over the epochs shrinks with them
                    share = epochs / schedule.epochs
                    fewer |= {"mean": whole.mean * share, "deviation": whole.deviation * share}
        return replace(learner, settings=override(settings, fewer))

    def views_for(self, published: PublishedTask) -> int | Literal["fresh"]:
        return self._suited(published).get("views", PUBLISHED_VIEWS) if self.views is None else self.views

    def suffix(self, *parts: str) -> str:
        """What sets a run's folder apart: methods or data sets (parts), other seeds, whatever is changed."""
        if self.seeds not in ((), self.papers_seeds):
            parts = (*parts, "seed" if len(self.seeds) == 1 else "seeds", *map(str, self.seeds))
        added = (f"with-{entry.label}{_short(entry.settings, entry.choose)}" for entry in self.added)
        parts = (*parts, *added, *(suffix for suffix, _ in self.changes.values()))
        letters = "".join(sign if sign.isalnum() else " " for sign in " ".join(parts).lower())
        plain = "-".join(letters.split())
        return f"-{plain if len(plain) <= _LONGEST_SUFFIX else digest(plain)[:8]}" if parts else ""

    def _suited(self, published: PublishedTask) -> Mapping[str, Any]:
        return embedded_settings()[published] if self.backbone == EMBEDDED else {}


@cache
def embedded_settings() -> dict[str, Any]:
    """What suits the embedded CLIP: {published task: {"views": number, "learners": {learner: settings}}}."""
    return tomllib.loads(files("openworld.reproduction").joinpath("embedded-learners.toml").read_text(encoding="utf-8"))


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
