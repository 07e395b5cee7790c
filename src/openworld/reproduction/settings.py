"""What a reproduction stands on: data, backbone, seeds, how much of the training; and the settings that follow."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from openworld.backbones import known_name
from openworld.core.arrays import require_at_least
from openworld.datasets import PUBLISHED
from openworld.evaluations import evaluation_of
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.learners import PromptSRC, Schedule, configure, find_learner, override
from openworld.learners import PublishedSetting as PublishedTask
from openworld.papers import VARIANTS, PaperTable
from openworld.papers.results import PaperRun
from openworld.report.figure import Figure
from openworld.report.sentences import listed
from openworld.reproduction.changes import PAPERS_SHOTS, Changes
from openworld.reproduction.rendered_twin import RenderedTwin
from openworld.runs import digest

EMBEDDED = "embedded"
PUBLISHED_VIEWS = 8
NAMES = {card.title: name for name, card in PUBLISHED.items()}  # what papers call a data set -> its name here

IMAGENETS = ("ImageNet", *VARIANTS)
_LONGEST_SUFFIX = 40
_FEWEST_EPOCHS = 2  # the first of a warmed-up schedule hardly learns


@dataclass(frozen=True)
class PaperDefaults:
    backbone: str = "ViT-B/16"
    seeds: tuple[int, ...] = (1, 2, 3)


@dataclass(frozen=True)
class ReproductionSetup:
    """What the runs of a plan share."""

    data: str = EMBEDDED  # "embedded" for the world that comes along, or the folder of all downloaded data sets
    backbone: str = ""  # "" for the embedded CLIP on embedded data, else the paper's; of FRAP the reference
    seeds: tuple[int, ...] = ()  # of few-shot draws, class orders, starts and shuffles; () for the paper's
    learners: tuple[str, ...] = ()  # methods to keep, by the paper's name or ours; () for all of them
    quick: int = 1  # what epochs are divided by, at least 1; nothing goes below two epochs for it
    changes: Changes = Changes()
    classifier: str = ""  # of IS-OOD: place of the judged classifier; "" for the usual places below `data`
    names: str = ""  # of IS-OOD's Table 3: a text file (.txt) of names that teach, one per line; "" for ImageNet's
    datasets: tuple[str, ...] = ()  # to keep, or rows of FRAP, by the paper's name or ours; () for all
    checkpoints: tuple[str, ...] = ()  # of FRAP's classifiers: epochs, or "last"; () for the paper's
    missing: tuple[str, ...] = ()  # data sets not on disk: rows of FRAP that need them are left out unless named
    defaults: PaperDefaults = PaperDefaults()  # of the paper; `plan` sets it

    def __post_init__(self):
        require_at_least(1, quick=self.quick)
        object.__setattr__(self, "backbone", known_name(self.backbone))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What sets the runs apart from the paper's because it was asked for."""
        few = f"Epochs are divided by {self.quick}: this shows how tables are made, and does not rank the methods."
        sentences = [few, *self.changes.sentences] if self.quick > 1 else [*self.changes.sentences]
        if self.datasets:
            some = listed(self.datasets)
            sentences.append(f"As asked for, of {some} alone; an average is over those of them that a table has.")
        if self.checkpoints:
            some = listed(self.checkpoints)
            sentences.append(f"As asked for, classifiers are judged at these checkpoints alone: {some}.")
        return tuple(sentences)

    def settled(self, defaults: PaperDefaults) -> "ReproductionSetup":
        backbone = self.backbone or (EMBEDDED if self.embedded else defaults.backbone)
        return replace(self, backbone=backbone, seeds=self.seeds or defaults.seeds, defaults=defaults)

    @property
    def embedded(self) -> bool:
        return self.data == EMBEDDED

    def keeps(self, method: str, label: str) -> bool:
        """Whether a method was asked for, by either of its names."""
        chosen = {name.casefold() for name in self.learners}
        return not chosen or bool(chosen & {method.casefold(), label.casefold()})

    def methods(self, known: Mapping[str, LearnerSpec]) -> dict[str, LearnerSpec]:
        """The methods to run: those of the paper that were asked for, settings changed, and the added ones."""
        methods = self.changes.methods(known)
        return {name: spec for name, spec in methods.items() if name not in known or self.keeps(name, spec.label)}

    def keeps_data(self, *titles: str) -> bool:
        """Whether a data set was asked for, by any of what the paper calls it."""
        return not self.datasets or bool({*titles} & {*self.datasets})

    def place(self, title: str, stand_ins: Mapping[str, DatasetSpec]) -> DatasetSpec:
        """A data set of the paper, or what stands in for it."""
        if self.embedded:
            return stand_ins[title]
        shared = self.changes.published_names and title in IMAGENETS
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

    def views(self, published: PublishedTask) -> int | Literal["fresh"]:
        suited = self._suited(published).get("views", PUBLISHED_VIEWS)
        return suited if self.changes.views is None else self.changes.views

    @property
    def shots(self) -> int:
        return self.changes.shots or PAPERS_SHOTS

    def suffix(self, *parts: str) -> str:
        """What sets a run's folder apart: methods or data sets (parts), other seeds, whatever is changed."""
        if self.seeds not in ((), self.defaults.seeds):
            parts = (*parts, "seed" if len(self.seeds) == 1 else "seeds", *map(str, self.seeds))
        parts = (*parts, *self.changes.suffix)
        letters = "".join(sign if sign.isalnum() else " " for sign in " ".join(parts).lower())
        plain = "-".join(letters.split())
        return f"-{plain if len(plain) <= _LONGEST_SUFFIX else digest(plain)[:8]}" if parts else ""

    def _suited(self, published: PublishedTask) -> Mapping[str, Any]:
        return embedded_settings()[published] if self.backbone == EMBEDDED else {}


@dataclass(frozen=True)
class PlannedRun:
    name: str
    spec: Any
    datasets: Mapping[str, str] = field(default_factory=dict)  # what records call it -> the paper; no stand-ins
    methods: Mapping[str, str] = field(default_factory=dict)  # label of a learner -> what the paper calls it
    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    twin: RenderedTwin | None = None  # made before the run, whose spec calls it by the name of its folder

    @property
    def units(self) -> int:
        return len(evaluation_of(self.spec).tasks(self.spec))

    @property
    def data(self) -> tuple[DatasetSpec, ...]:
        return tuple(evaluation_of(self.spec).data(self.spec))


Runs = Sequence[PaperRun]  # in the order of the plan; they may hold more data sets and methods than a figure shows


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper that can be made again."""

    number: str  # as printed, with the letter of a panel that stands for itself; "5" means "5a", "5b" and so on
    title: str
    # Name, title and colours are set afterwards; what cannot be drawn has no chart, and its caption says why.
    draw: Callable[[Runs], Figure]
    tables: tuple[PaperTable, ...] = ()  # read from the same runs; one with fewer data sets needs only these
    runs: Callable[[ReproductionSetup], Iterable[PlannedRun]] = lambda setup: ()  # of its own
    refused: Callable[[ReproductionSetup], str] = lambda setup: ""  # why it cannot be made of the data; "": it can

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"Figure {self.number}: {self.title}"


def by_number(figures: Iterable[PaperFigure]) -> Mapping[str, PaperFigure]:
    """Return figures by number, in the order of the numbers; those without one last."""
    return {figure.number: figure for figure in sorted(figures, key=lambda figure: _place(figure.number))}


def _place(number: str) -> tuple[float, str]:
    digits = number.rstrip("abcdefgh")
    return float(digits) if digits.isdigit() else float("inf"), number


@cache
def embedded_settings() -> dict[str, Any]:
    """What suits the embedded CLIP: {published task: {"views": number, "learners": {learner: settings}}}."""
    return tomllib.loads(files("openworld.reproduction").joinpath("embedded-learners.toml").read_text(encoding="utf-8"))


def fewer_targets(chosen: Mapping[str, tuple[Iterable[str], Iterable[str]]]) -> tuple[str, ...]:
    """What the name of a run adds where it has not all targets of the paper."""
    if all(set(some) == set(every) for some, every in chosen.values()):
        return ()
    parts = [(word,) if set(some) == set(every) else dict.fromkeys(some) for word, (some, every) in chosen.items()]
    return tuple(part for group in parts for part in group)
