"""Open-world recognition (OpenworldAUC, Hua et al., 2025, section 6): tune on base classes, meet base and new ones.

Classes in label order are cut into a base half, first ceil(n / 2), and a new half, or as the spec says. Every (learner,
shots, seed) is one unit.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Literal, Self

from openworld.backbones.devices import Precision
from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets import DATASETS
from openworld.evaluations.entries import require_distinct, settle
from openworld.evaluations.evaluation import ClassList, Tuning
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.learning import Learning, require_learners
from openworld.evaluations.own_data import OwnData, own_data, settle_classes
from openworld.evaluations.recognition.operating_point import (
    OperatingSpec,
    ScoredValidation,
    require_sides,
    scored_validation,
)
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shots import shots_asked
from openworld.features.encoding import usual_crop_scale
from openworld.report.sentences import counted
from openworld.runs import read_spec

PUBLISHED_RATIOS = (10.0, 5.0, 3.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1)


@dataclass(frozen=True, kw_only=True)
class RecognisedSet(OwnData):
    """One of several data sets of a run: what a spec of one data set says of it, by the same names."""

    dataset: str
    train_domain: str | None = None
    test_domain: str | None = None

    def __post_init__(self):
        settle_classes(self)

    def __str__(self) -> str:
        return ", ".join(dict.fromkeys(filter(None, (self.dataset, self.train_domain, self.test_domain))))


@dataclass(frozen=True, kw_only=True)
class RecognitionSpec(OwnData, Learning):
    """Tune on base classes, then meet base and new ones (OpenworldAUC, Hua et al., 2025).

    Args:
        dataset: a name of `openworld list datasets`, or a folder of class folders. Instead `base` and `new` may be two
            folders of images; else they say which classes are known (see `OwnData`), by default the first half.
        train_domain, test_domain: of the data set (styles, in the embedded world); equal ones give the same-drawing
            split there, different ones the redrawn split. Left out: its first or only domain to train in, and the same
            to test in.
        datasets: several data sets in the place of `dataset`: names, or tables that say more. Every learner is tuned
            and tested on each by itself; means, ranks and tests over the data sets are reported beside every one.
        shots: training images of each base class, at least 1; a list such as (1, 2, 4, 8, 16) runs every learner with
            each of them, and the report gains OpenworldAUC against shots.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.
        imbalance_factor: by how much one half is shrunk for Table 3, class by class, at least 1.
        ratios: of Tables 11 and 12: r > 1 keeps 1/r of base images, r < 1 r of new ones.
        resamples: how often each of these mixes is drawn, at least 1; the paper draws once.
        keep_learners: in the run's folder, for `openworld predict`.
        keep_validation: score validation images too, where the data set has any, for `openworld decide`; they touch
            nothing else.
        operating: the rule that chooses thresholds on validation images; left out for none.

    Raises:
        OpenworldError: no learner, no seed, labels or seeds that repeat, a number outside its range; base and new
            classes that are not understood; data sets that repeat, or `dataset` or what belongs to it beside them.
    """

    protocol: Literal["recognition"] = "recognition"
    dataset: str = "emoji-concepts"
    train_domain: str | None = None
    test_domain: str | None = None
    datasets: tuple[str | RecognisedSet, ...] = ()
    shots: int | tuple[int, ...] = 16
    precision: Precision = "float32"
    imbalance_factor: float = 5.0
    ratios: tuple[float, ...] = PUBLISHED_RATIOS
    resamples: int = 20
    keep_learners: bool = True
    keep_validation: bool = True
    operating: OperatingSpec | None = None

    def __post_init__(self):
        require_learners(self, may_choose=True)
        require_at_least(1, imbalance_factor=self.imbalance_factor, resamples=self.resamples)
        several = isinstance(self.shots, tuple)
        where = [f"shots[{place}]" if several else "shots" for place in range(len(self.every_shots))]
        require_at_least(1, **dict(zip(where, self.every_shots, strict=True)))
        require_distinct({"shots": self.every_shots})
        if not all(ratio > 0 for ratio in self.ratios):
            raise OpenworldError(f"ratios must be above 0; they are {list(self.ratios)}.")
        if self.datasets:
            self._settle_datasets()
            return
        if isinstance(self.base, str) and Path(self.base).is_dir():
            if not (isinstance(self.new, str) and Path(self.new).is_dir()):
                raise OpenworldError(
                    f"base is the folder {self.base}, and new is {self.new!r}; give a folder for each."
                )
            if self.dataset not in (RecognitionSpec.dataset, self.base):
                raise OpenworldError(f"base and new are folders, and dataset is {self.dataset!r}; leave dataset out.")
            settle(self, dataset=self.base, base=())
        settle_classes(self)
        card = DATASETS.get(self.dataset)
        train_domain = self.train_domain or (card.domains[0] if card else "") or None
        settle(self, train_domain=train_domain, test_domain=self.test_domain or train_domain)
        settle(self, crop_scale=self.crop_scale or usual_crop_scale(self.dataset))

    def _settle_datasets(self) -> None:
        """Check every data set as a run of it alone would be; nothing is said of one beside the list."""
        entries = tuple(RecognisedSet(dataset=entry) if isinstance(entry, str) else entry for entry in self.datasets)
        defaults = {each.name: each.default for each in fields(RecognisedSet) if each.name != "dataset"}
        beside = [name for name, usual in defaults.items() if getattr(self, name) != usual]
        if self.dataset not in (RecognitionSpec.dataset, ""):
            beside = ["dataset", *beside]
        if beside:
            raise OpenworldError(
                f"datasets lists several data sets, and {', '.join(beside)} says something of one; write it into that "
                'one\'s entry, such as { dataset = "dtd", train_domain = "..." }.'
            )
        settle(self, datasets=entries, dataset="")
        settled = [(each.trained, each.tested) for each in self.each]
        require_distinct({"datasets": [" to ".join(map(str, pair)) for pair in settled]})

    @property
    def each(self) -> tuple[Self, ...]:
        """The specs of its data sets, each as a run of it alone has it, so that their units are the same."""
        if not self.datasets:
            return (self,)
        said = ({each.name: getattr(entry, each.name) for each in fields(RecognisedSet)} for entry in self.datasets)
        return tuple(replace(self, datasets=(), **entry) for entry in said)

    @property
    def every_shots(self) -> tuple[int, ...]:
        return self.shots if isinstance(self.shots, tuple) else (self.shots,)

    @property
    def trained(self) -> DatasetSpec:
        return DatasetSpec(self.dataset, self.train_domain, **own_data(self))

    @property
    def tested(self) -> DatasetSpec:
        return DatasetSpec(self.dataset, self.test_domain, **own_data(self))

    @property
    def scored_validation(self) -> ScoredValidation:
        return scored_validation(self.dataset, self.train_domain, self.operating, self.keep_validation)

    @property
    def image_sets(self) -> dict[str, ImageSelection]:
        """The image sets that a unit reads: shots, test images, and validation images where they are needed."""
        sources = {
            "train": self.trained.images("train", seed=self.seed, shots=self.shots, draw=self.draw, base_only=True),
            "test": self.tested.images("test"),
        }
        scored = self.scored_validation
        if self.learner.choose or scored != "nothing":
            sources["validation"] = self.trained.images("validation", base_only=scored != "all")
        return sources

    @property
    def whole_sets(self) -> tuple[ImageSelection, ...]:
        """Those in which no class that is asked for may lack an image; a threshold needs but some of a side."""
        whole = [source for part, source in self.image_sets.items() if part != "validation"]
        chosen_on = [replace(self.image_sets["validation"], base_only=True)] if self.learner.choose else []
        return (*whole, *chosen_on)

    def tasks(self) -> list[Self]:
        return [
            each.only(learner=learner, shots=shots, seed=seed)
            for each in self.each
            for learner, shots, seed in product(each.resolved(each.dataset), each.every_shots, each.seeds)
        ]

    def title(self, task: "RecognitionSpec") -> str:
        """Return what people call a unit, with its shots where the run has several numbers of them."""
        shots = "" if len(self.every_shots) == 1 else f"{task.shots} shots, "
        domains = dict.fromkeys(filter(None, (task.train_domain, task.test_domain)))
        place = f"{' '.join((task.dataset, *domains))}, " if self.datasets else ""
        return f"{place}{task.learner.label}, {shots}seed {task.seed}"

    def summary(self) -> list[str]:
        shots = shots_asked(" ".join(map(str, self.every_shots)), *(each.dataset for each in self.each))
        if self.datasets:
            sizes = [f"{each.dataset} ({each.tested.sides_in_words})" for each in self.each]
            return [counted(len(sizes), "data set"), *sizes, shots]
        first, last = self.train_domain, self.test_domain
        domain = last if first == last else f"{first} → {last}"
        return [self.dataset + (f" in {domain} style" if domain else ""), self.tested.sides_in_words, shots]

    @classmethod
    def require(cls, tasks: Sequence[Self], machine: Machine) -> None:
        """Refuse what no learner could learn, and validation images on which the rule could choose no threshold."""
        super().require(tasks, machine)
        of_each_set = {(task.trained, task.tested): task for task in tasks}  # the same in all of one data set
        for task in of_each_set.values():
            if task.scored_validation != "nothing":
                names = task.image_sets["test"].load().classnames
                require_sides(task.image_sets["validation"].load(), names, task.operating)

    def class_lists(self) -> list[ClassList]:
        return [ClassList.of(each.tested) for each in self.each]

    def tunings(self) -> list[Tuning]:
        return [(each.trained, (each.tested,), True) for each in self.each]


def preset(name: str) -> RecognitionSpec:
    """Return a named run of `presets.toml` beside this file: what `openworld demo` does."""
    file = files("openworld.evaluations.recognition").joinpath("presets.toml")
    specs = tomllib.loads(file.read_text(encoding="utf-8"))
    if name not in specs:
        raise unknown_name("preset", name, specs)
    return read_spec(specs[name], RecognitionSpec)
