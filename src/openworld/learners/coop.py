"""CoOp (Zhou et al., 2022): one learned context in front of every class name, trained by cross-entropy."""

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor
from torch.nn.functional import cross_entropy

from openworld._types import checked
from openworld.backbones import PromptedNames, TwoTower
from openworld.learners.engine.images import Images
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.engine.text_features import encode_behind, require_context
from openworld.learners.engine.training import Schedule


@checked
@dataclass(frozen=True)
class CoOp(PromptLearner):
    """Unified context, class name at the end.

    Args:
        context_length: N learned tokens; 16 in the paper's few-shot experiments, 4 in OpenPL.
        words: initialise the context with the embeddings of this phrase, whose tokens then decide N; None for
            Normal(0, 0.02).
        schedule: 50 epochs of 32 images at 0.002, as OpenworldAUC (Hua et al., 2025) compares it.
    """

    context_length: int = 16
    words: str | None = None
    schedule: Schedule = Schedule()

    name: ClassVar[str] = "CoOp"
    paper: ClassVar[str] = "Zhou et al., 2022"
    tunes: ClassVar[str] = "N context tokens, shared by all classes"
    cost: ClassVar[str] = "text tower"
    consumes: ClassVar[str] = "views"
    depends_on_other_names: ClassVar[bool] = False
    openpl: ClassVar[dict[str, Any]] = {"context_length": 4}

    def __post_init__(self):
        require_context(self.context_length, self.words)

    def loss(
        self, clip: TwoTower, parameters: dict[str, Tensor], images: Images, labels: Tensor, prepared: PromptedNames
    ) -> dict[str, Tensor]:
        """Cross-entropy of cosine logits; labels int64[B]."""
        text = encode_behind(clip, parameters["context"], prepared)
        return {"total": cross_entropy(cosine_logits(images.embeddings, text, clip.logit_scale), labels)}
