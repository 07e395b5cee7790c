"""The spec of a run of recognition: open-world recognition by learners that were tuned on half of the classes."""

from dataclasses import dataclass
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError
from openworld.backbones import known_name
from openworld.backbones.precision import Precision
from openworld.datasets import DATASETS
from openworld.evaluations.entries import LearnerSpec, usual_crop_scale
from openworld.evaluations.recognition.operating_point import OperatingSpec
from openworld.features import Encoding
from openworld.learners import PublishedSetting, find_learner

PUBLISHED_RATIOS = (10.0, 5.0, 3.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1)


@dataclass(frozen=True)
class RecognitionSpec:
    """Tune on base classes, then meet base and new ones (OpenworldAUC, Hua et al., 2025).

    Args:
        dataset: a name of `openworld list datasets`, or a path to a folder of class folders.
        train_domain, test_domain: domains of the data set (styles, in the embedded world); equal ones give the
            same-drawing split there, different ones the redrawn split. Left out, the data set's first or only domain
            to train in, and the same to test in.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        learners: what is compared; the order is the order of the tables.
        seeds: of few-shot draws, initial prompts and shuffles, not negative; every learner runs once per seed.
        shots: training images of each base class, at least 1; a list such as (1, 2, 4, 8, 16) runs every learner with
            each of them, and the report gains OpenworldAUC against shots.
        views: augmented views encoded of every training image; at least 1 where a learner trains on them.
        crop_scale: smallest and largest share of the image that a view keeps, in (0, 1]; left out, the published
            0.08 to 1, and 0.5 to 1 for the small images of the embedded world.
        published: whose settings the learners start from: "base-to-new" (OpenworldAUC's comparison), "openpl" (OpenPL's
            unified setting) or "ood".
        imbalance_factor: by how much one half is shrunk for Table 3, class by class, at least 1.
        ratios: the sweep of Tables 11 and 12: r > 1 keeps 1/r of the base images, r < 1 keeps r of the new ones.
        resamples: how often each of these other mixes is drawn, at least 1; 1 as in the paper, which draws once.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.
        keep_learners: keep what was learned in the run's folder, for `openworld predict`.
        operating: the rule that chooses each learner's threshold on validation images; left out, none is chosen.
        keep_validation: score validation images too, where the data set has any, for `openworld decide`; they touch
            nothing else.

    Raises:
        OpenworldError: no learner, no seed, labels or seeds that repeat, a number outside its range.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["recognition"] = "recognition"
    dataset: str = "emoji-concepts"
    train_domain: str | None = None
    test_domain: str | None = None
    backbone: str = "embedded"
    seeds: tuple[int, ...] = (1, 2, 3)
    shots: int | tuple[int, ...] = 16
    views: int = 8
    crop_scale: tuple[float, float] | None = None
    published: PublishedSetting = "base-to-new"
    imbalance_factor: float = 5.0
    ratios: tuple[float, ...] = PUBLISHED_RATIOS
    resamples: int = 20
    threads: int = 1
    precision: Precision = "float32"
    keep_learners: bool = True
    operating: OperatingSpec | None = None
    keep_validation: bool = True

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        self._require_sound()
        card = DATASETS.get(self.dataset)
        train_domain = self.train_domain or (card.domains[0] if card else "") or None
        object.__setattr__(self, "train_domain", train_domain)
        object.__setattr__(self, "test_domain", self.test_domain or train_domain)
        object.__setattr__(self, "crop_scale", self.crop_scale or usual_crop_scale(self.dataset))
        Encoding(self.views, self.crop_scale)  # refuses shares outside their range

    def _require_sound(self) -> None:
        on_views = any(find_learner(entry.learner).consumes != "embeddings" for entry in self.learners)
        require_at_least(int(on_views), views=self.views)
        require_at_least(1, threads=self.threads, imbalance_factor=self.imbalance_factor, resamples=self.resamples)
        require_at_least(1, **{f"shots{place}": shots for place, shots in _numbered(self.shots)})
        require_seeds(self.seeds)
        if not all(ratio > 0 for ratio in self.ratios):
            raise OpenworldError(f"ratios must be above 0; they are {list(self.ratios)}.")
        labels = [learner.label for learner in self.learners]
        if not labels or not self.seeds:
            raise OpenworldError("a run needs at least one learner and one seed.")
        if not self.every_shots or len(set(self.every_shots)) < len(self.every_shots):
            raise OpenworldError(f"shots must be distinct, and at least one; they are {list(self.every_shots)}.")
        if len(set(labels)) < len(labels) or len(set(self.seeds)) < len(self.seeds):
            raise OpenworldError(f"labels and seeds must be distinct; they are {labels} and {list(self.seeds)}.")

    @property
    def every_shots(self) -> tuple[int, ...]:
        """The numbers of shots, in the order of the run."""
        return self.shots if isinstance(self.shots, tuple) else (self.shots,)


def _numbered(shots: int | tuple[int, ...]) -> list[tuple[str, int]]:
    """(where it stands in the spec, number of shots)."""
    return [(f"[{place}]", count) for place, count in enumerate(shots)] if isinstance(shots, tuple) else [("", shots)]
