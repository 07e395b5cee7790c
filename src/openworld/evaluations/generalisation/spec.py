"""Open-world generalisation (OpenworldAUC, Hua et al., 2025, section 6): tuned here, met there.

A learner is tuned once on the base classes of a source. Domain generalisation then scores it on variants, which show
the same classes in other images, base ones and new ones; cross-data-set generalisation puts the classes of other data
sets, as new ones, beside the source's own base images, save those that are base classes there already. Every (learner,
seed) is one unit, scored on the source itself and on every target.
"""

from dataclasses import dataclass
from typing import Literal

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.backbones.precision import Precision
from openworld.evaluations.entries import LearnerSpec, require_distinct, settle
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.learning import Learning, require_learners
from openworld.features.encoding import usual_crop_scale
from openworld.learners import PublishedSetting


@dataclass(frozen=True, kw_only=True)
class GeneralisationSettings:
    """Fields of a spec of generalisation and of its tasks."""

    source: DatasetSpec = DatasetSpec("emoji-concepts")  # its first ceil(n / 2) classes, or those it names, are base
    variants: tuple[DatasetSpec, ...] = ()  # some or all of the source's classes, under the same names, in other images
    # A class is a base class of the source, too, if its name is one that WordNet gives that class; the names of
    # ImageNet's classes in WordNet come along, and a source without WordNet ids is compared by its own names.
    wordnet: bool = True
    shots: int = 16  # training images of each base class, at least 1
    # In whose sentence the new names of another data set stand: its own (the paper, appendix C.4), or the source's.
    sentences: Literal["target", "source"] = "target"
    keep_learners: bool = True  # in the run's folder, for `openworld predict`


@dataclass(frozen=True)
class GeneralisationSpec(GeneralisationSettings, Learning):
    """Tune on one data set, then meet its variants and other data sets (OpenworldAUC, Hua et al., 2025).

    Args:
        learners: what is compared; the order is the order of the tables.
        others: the classes of each are new beside the source's base images; those that are base classes of the
            source are left out, and listed in the records.
        seeds: of few-shot draws, initial prompts and shuffles, not negative; every learner runs once per seed.
        published: whose settings the learners start from.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.

    Raises:
        OpenworldError: no learner or seed, neither variants nor others, repeated ones, the source among its targets, a
            number outside its range, a setting under `choose`.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["generalisation"] = "generalisation"
    others: tuple[DatasetSpec, ...] = ()
    seeds: tuple[int, ...] = (1, 2, 3)
    published: PublishedSetting = "base-to-new"
    precision: Precision = "float32"

    def __post_init__(self):
        require_learners(self)
        require_at_least(1, shots=self.shots)
        if not self.variants and not self.others:
            raise OpenworldError("there is no target; give variants, others, or both.")
        require_distinct({"variants": self.variants, "others": self.others}, least=0)
        if self.source in self.variants or self.source.dataset in {other.dataset for other in self.others}:
            raise OpenworldError(f"{self.source} is the source; a variant has another domain, an other another name.")
        for target in (*self.variants, *self.others):
            if target.says_classes:
                raise OpenworldError(f"{target} says what is base or new; the source alone says that, so put it there.")
        settle(self, crop_scale=self.crop_scale or usual_crop_scale(self.source.dataset))
