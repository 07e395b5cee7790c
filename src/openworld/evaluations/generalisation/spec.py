"""Open-world generalisation (OpenworldAUC, Hua et al., 2025, section 6): tuned here, met there.

A learner is tuned once on the base half of a source. Domain generalisation then scores it on variants, which show the
same classes in other images, base ones and new ones; cross-data-set generalisation puts the classes of other data
sets, as new ones, beside the source's own base images, save those that are base classes there already. Every
(learner, seed) is one unit, scored on the source itself and on every target.
"""

from dataclasses import dataclass
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError
from openworld.backbones import known_name
from openworld.backbones.precision import Precision
from openworld.evaluations.entries import LearnerSpec, usual_crop_scale
from openworld.evaluations.image_selection import DatasetSpec
from openworld.features import Encoding
from openworld.learners import PublishedSetting as PublishedTask
from openworld.learners import find_learner


@dataclass(frozen=True)
class GeneralisationSpec:
    """Tune on one data set, then meet its variants and other data sets (OpenworldAUC, Hua et al., 2025).

    Args:
        learners: what is compared; the order is the order of the tables.
        source: its first ceil(n / 2) classes, in label order, are tuned on.
        variants: each shows some or all of the source's classes, under the same names, in other images.
        others: the classes of each are new beside the source's base images; those that are base classes of the
            source are left out, and listed in the records.
        wordnet: a class is a base class of the source, too, if its name is one that WordNet gives that class; the names
            of ImageNet's classes in WordNet come along, and a source without WordNet ids is compared by its own names.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        seeds: of few-shot draws, initial prompts and shuffles, not negative; every learner runs once per seed.
        shots: training images of each base class, at least 1.
        views: augmented views encoded of every training image; at least 1 where a learner trains on them.
        crop_scale: smallest and largest share of the image that a view keeps, in (0, 1]; left out, the published
            0.08 to 1, and 0.5 to 1 for the small images of the embedded world.
        published: whose settings the learners start from; sentences are the source's, at every target.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.
        keep_learners: keep what was learned in the run's folder, for `openworld predict`.

    Raises:
        OpenworldError: no learner or seed, neither variants nor others, repeated ones, the source among its targets, a
            number outside its range, a setting under `choose`.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["generalisation"] = "generalisation"
    source: DatasetSpec = DatasetSpec("emoji-concepts")
    variants: tuple[DatasetSpec, ...] = ()
    others: tuple[DatasetSpec, ...] = ()
    wordnet: bool = True
    backbone: str = "embedded"
    seeds: tuple[int, ...] = (1, 2, 3)
    shots: int = 16
    views: int = 8
    crop_scale: tuple[float, float] | None = None
    published: PublishedTask = "base-to-new"
    threads: int = 1
    precision: Precision = "float32"
    keep_learners: bool = True

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        self._require_sound()
        self._require_targets()
        object.__setattr__(self, "crop_scale", self.crop_scale or usual_crop_scale(self.source.dataset))
        Encoding(self.views, self.crop_scale)  # refuses shares that are none

    def _require_sound(self) -> None:
        on_views = any(find_learner(one.learner).consumes != "embeddings" for one in self.learners)
        require_at_least(int(on_views), views=self.views)
        require_at_least(1, shots=self.shots, threads=self.threads)
        require_seeds(self.seeds)
        labels = [learner.label for learner in self.learners]
        for name, entries in {"labels": labels, "seeds": self.seeds}.items():
            if not entries or len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} must be distinct, and at least one; they are {list(entries)}.")
        for one in self.learners:
            if one.choose:
                raise OpenworldError(
                    f"{one.label} has settings under choose; decide them in a recognition run, and give them here."
                )

    def _require_targets(self) -> None:
        if not self.variants and not self.others:
            raise OpenworldError("there is no target; give variants, others, or both.")
        for name in ("variants", "others"):
            entries = getattr(self, name)
            if len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} must be distinct; they are {[str(one) for one in entries]}.")
        if self.source in self.variants or self.source.dataset in {one.dataset for one in self.others}:
            raise OpenworldError(
                f"{self.source} is the source; a variant has another domain or name, an other another name."
            )
