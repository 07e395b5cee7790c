"""LoCoOp (Miyai et al., 2023): CoOp that is held unsure of every patch which does not show the image's class."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.errors import OpenworldError
from openworld.core.types import NotNegative, Positive, checked
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.text_bank import TextBank, cosine_logits, whole_and_surest_patch
from openworld.learners.engine.text_features import Length, Words, encode_behind
from openworld.learners.engine.training import Schedule

EPSILON = 1e-5  # inside the logarithm of the entropy, as AtsuMiyai/LoCoOp @ a311b39 has it
TOP_SHARE = 0.2


@checked
@dataclass(frozen=True)
class LoCoOp(PromptLearner):
    """Cross-entropy of the image minus weight * mean entropy of its background patches.

    Args:
        context_length: N learned tokens where `words` is None.
        words: phrase that initialises the context; its tokens decide N. None for Normal(0, 0.02).
        weight: lambda of the entropy; 0 is CoOp.
        top: K, a patch is background where the image's class is not among its K closest; less than the number of
            classes. None for a fifth of them, at least 1: the published 200 of ImageNet's 1,000 and 20 of 100.
        schedule: 50 epochs of 32 images at 0.002 (AtsuMiyai/LoCoOp @ a311b39).
    """

    context_length: Length = 16
    words: Words = None
    weight: NotNegative = 0.25
    top: Positive | None = None
    schedule: Schedule = Schedule()

    name = "LoCoOp"
    paper = "Miyai et al., 2023"
    tunes = "N context tokens, shared by all classes"
    cost = "text tower, patch logits"
    consumes = "patches"
    openpl = {"context_length": 4}  # OpenPL did not run it

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> tuple[PromptedNames, int]:
        """The tokenised names, and K; a `top` that leaves no class outside is refused."""
        return self.prompted_names(clip, classnames), self._top_of(len(classnames))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: tuple[PromptedNames, int]
    ) -> Tensors:
        """Cross-entropy, entropy of the background, and their weighted difference; labels int64[B]."""
        prompts, top = prepared
        text = encode_behind(clip, parameters["context"], prompts)
        entropy = cross_entropy(cosine_logits(images.embeddings, text, clip.logit_scale), labels)
        patches = clip.project_patches(images.patches.to(clip.dtype)).to(text.dtype)
        background = background_entropy(cosine_logits(patches, text, clip.logit_scale), labels, top)
        return {"cross_entropy": entropy, "background_entropy": background, "total": entropy - self.weight * background}

    def own_score(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Tensor:
        """GL-MCM with the learned context, float[N]: as AtsuMiyai/LoCoOp @ a311b39 detects images of no known class."""
        patches = clip.project_patches(images.patches.to(clip.dtype)).to(bank.text.dtype)
        whole, parts = (normalize(seen, dim=-1) @ bank.text.mT for seen in (images.embeddings, patches))
        return whole_and_surest_patch(whole, parts)

    def _top_of(self, count: int) -> int:
        if self.top is None:
            return max(1, round(TOP_SHARE * count))
        if self.top >= count:
            raise OpenworldError(
                f"top is {self.top}, but there are {count} classes, so that no patch could be background; "
                "give fewer, or None for a fifth of the classes."
            )
        return self.top


def background_entropy(logits: Tensor, labels: Tensor, top: int) -> Tensor:
    """Return the mean entropy of patches whose image's class is not among their `top` largest logits."""
    of_label = logits.gather(-1, labels[:, None, None].expand(-1, logits.shape[1], 1))
    is_background = (logits > of_label).sum(dim=-1) >= top
    probabilities = logits.softmax(dim=-1)
    entropies = -(probabilities * (probabilities + EPSILON).log()).sum(dim=-1)
    return (entropies * is_background).sum() / is_background.sum().clamp(min=1)
