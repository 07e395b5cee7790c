"""The spec of a run of recognition: open-world recognition by learners that were tuned on half of the classes."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.backbones.precision import Precision
from openworld.datasets import DATASETS
from openworld.evaluations.entries import LearnerSpec, require_distinct, settle
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.learning import Learning, require_learners
from openworld.evaluations.own_data import OwnData, own_data, settle_classes
from openworld.evaluations.recognition.operating_point import OperatingSpec
from openworld.features.encoding import usual_crop_scale
from openworld.learners import PublishedSetting

PUBLISHED_RATIOS = (10.0, 5.0, 3.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1)


@dataclass(frozen=True, kw_only=True)
class RecognitionSettings(OwnData):
    """Fields of a spec of recognition and of its tasks."""

    # A name of `openworld list datasets`, or a folder of class folders. Instead `base` and `new` may be two folders of
    # images; else they say which classes are known (see `OwnData`), by default the first half.
    dataset: str = "emoji-concepts"
    # Domains of the data set (styles, in the embedded world); equal ones give the same-drawing split there, different
    # ones the redrawn split. Left out: its first or only domain to train in, and the same to test in.
    train_domain: str | None = None
    test_domain: str | None = None
    imbalance_factor: float = 5.0  # by how much one half is shrunk for Table 3, class by class, at least 1
    ratios: tuple[float, ...] = PUBLISHED_RATIOS  # Tables 11 and 12: r > 1 keeps 1/r of base images, r < 1 r of new
    resamples: int = 20  # how often each of these mixes is drawn, at least 1; the paper draws once
    keep_learners: bool = True  # in the run's folder, for `openworld predict`
    operating: OperatingSpec | None = None  # the rule that chooses thresholds on validation images; None for none

    @property
    def trained(self) -> DatasetSpec:
        """What is tuned on."""
        return DatasetSpec(self.dataset, self.train_domain, **own_data(self))

    @property
    def tested(self) -> DatasetSpec:
        """What is tested on."""
        return DatasetSpec(self.dataset, self.test_domain, **own_data(self))


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


@dataclass(frozen=True)
class RecognitionSpec(RecognitionSettings, Learning):
    """Tune on base classes, then meet base and new ones (OpenworldAUC, Hua et al., 2025).

    Args:
        learners: what is compared; the order is the order of the tables.
        datasets: several data sets in the place of `dataset`: names, or tables that say more. Every learner is tuned
            and tested on each by itself; means, ranks and tests over the data sets are reported beside every one.
        seeds: of few-shot draws, initial prompts and shuffles, not negative; every learner runs once per seed.
        shots: training images of each base class, at least 1; a list such as (1, 2, 4, 8, 16) runs every learner with
            each of them, and the report gains OpenworldAUC against shots.
        published: whose settings the learners start from: "base-to-new" (OpenworldAUC's comparison), "openpl" (OpenPL's
            unified setting) or "ood".
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.
        keep_validation: score validation images too, where the data set has any, for `openworld decide`; they touch
            nothing else.

    Raises:
        OpenworldError: no learner, no seed, labels or seeds that repeat, a number outside its range; base and new
            classes that are not understood; data sets that repeat, or `dataset` or what belongs to it beside them.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["recognition"] = "recognition"
    seeds: tuple[int, ...] = (1, 2, 3)
    shots: int | tuple[int, ...] = 16
    published: PublishedSetting = "base-to-new"
    precision: Precision = "float32"
    keep_validation: bool = True
    datasets: tuple[str | RecognisedSet, ...] = ()

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
            self._take_folders()
        settle_classes(self)
        card = DATASETS.get(self.dataset)
        train_domain = self.train_domain or (card.domains[0] if card else "") or None
        settle(self, train_domain=train_domain, test_domain=self.test_domain or train_domain)
        settle(self, crop_scale=self.crop_scale or usual_crop_scale(self.dataset))

    def _settle_datasets(self) -> None:
        """Check every data set as a run of it alone would be; nothing is said of one beside the list."""
        entries = tuple(RecognisedSet(dataset=entry) if isinstance(entry, str) else entry for entry in self.datasets)
        own = {each.name: each.default for each in fields(RecognisedSet) if each.name != "dataset"}
        beside = [name for name, usual in own.items() if getattr(self, name) != usual]
        if self.dataset not in (RecognitionSettings.dataset, ""):
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
    def each(self) -> tuple["RecognitionSpec", ...]:
        """The specs of its data sets, each as a run of it alone has it, so that their units are the same."""
        if not self.datasets:
            return (self,)
        said = ({each.name: getattr(entry, each.name) for each in fields(entry)} for entry in self.datasets)
        return tuple(replace(self, datasets=(), **entry) for entry in said)

    def _take_folders(self) -> None:
        """Name the data set after the folder of base images."""
        if not (isinstance(self.new, str) and Path(self.new).is_dir()):
            raise OpenworldError(f"base is the folder {self.base}, and new is {self.new!r}; give a folder for each.")
        if self.dataset not in (RecognitionSettings.dataset, self.base):
            raise OpenworldError(f"base and new are folders, and dataset is {self.dataset!r}; leave dataset out.")
        settle(self, dataset=self.base, base=())

    @property
    def every_shots(self) -> tuple[int, ...]:
        """The numbers of shots, in the order of the run."""
        return self.shots if isinstance(self.shots, tuple) else (self.shots,)
