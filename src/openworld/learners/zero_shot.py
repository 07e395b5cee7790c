"""Zero-shot CLIP (Radford et al., 2021): names in hand-written templates, nothing learned."""

from dataclasses import dataclass

from openworld.backbones import DualEncoder
from openworld.core.types import checked
from openworld.datasets import templates as sentences
from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner, Learner
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.settings import PublishedSetting
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine, require_distinct
from openworld.learners.engine.text_features import Sentences, encode_names


@checked
@dataclass(frozen=True)
class ZeroShot(Learner):
    """CLIP as it comes, with one template or several.

    Args:
        templates: sentences with one `{}` for the name. With several, each sentence's feature is normalised, they are
            averaged over the templates, and the mean is normalised again.
    """

    templates: Sentences = ("a photo of a {}.",)

    name = "zero-shot"
    paper = "Radford et al., 2021"
    tunes = "nothing"
    cost = "nothing"
    consumes = "embeddings"
    depends_on_other_names = False

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "ZeroShot":
        """Return the learner with the data set's own sentence."""
        return cls(templates=(sentences.TEMPLATES.get(dataset, sentences.PHOTO),))

    def fit(self, clip: DualEncoder, train: Features, *, seed: int) -> FittedLearner:
        """Nothing is learned; `train` gives the base names, `seed` has no effect."""
        require_distinct(train.classnames)
        return FittedLearner(self, clip, tuple(train.classnames), {})

    def text_bank(self, clip: DualEncoder, parameters: Tensors, names: NameSets) -> TextBank:
        """Text features of all names."""
        return TextBank(encode_names(clip, names.all, self.templates), len(names.base), clip.logit_scale)

    def answer(self, clip: DualEncoder, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Cosine logits over all names, and the log of the largest base softmax."""
        return answer_by_cosine(images.embeddings, bank)


@checked
@dataclass(frozen=True)
class ZeroShotEnsemble(ZeroShot):
    """CLIP as it comes, with the features of several sentences averaged.

    Args:
        templates: CLIP's seven best ImageNet sentences and, for other data sets, their own sentence.
    """

    templates: Sentences = sentences.ensemble("")

    name = "zero-shot-ensemble"

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "ZeroShotEnsemble":
        """Return the learner with the data set's own ensemble."""
        return cls(templates=sentences.ensemble(dataset))
