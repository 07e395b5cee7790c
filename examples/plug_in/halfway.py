"""Halfway: text features behind a learned context (CoOp), averaged with zero-shot CLIP's of the same names."""

from dataclasses import dataclass, replace
from typing import ClassVar

from torch.nn.functional import cross_entropy, normalize

from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.learners import Schedule, TextBank, plugin_api


@dataclass(frozen=True)
class Halfway:
    """CoOp, held close to zero-shot CLIP by a weighted mean in training and after.

    Args:
        context_length: learned tokens.
        share: weight of the tuned features, from 0 (zero-shot CLIP) to 1 (CoOp).
        template: zero-shot CLIP's sentence.
        schedule: CoOp's.
    """

    context_length: int = 4
    share: float = 0.5
    template: str = "a photo of a {}."
    schedule: Schedule = Schedule()

    name: ClassVar[str] = "Halfway"
    paper: ClassVar[str] = "worked example"
    tunes: ClassVar[str] = "N context tokens, shared by all classes"
    cost: ClassVar[str] = "text tower"
    consumes: ClassVar[str] = "views"
    depends_on_other_names: ClassVar[bool] = False

    @classmethod
    def published(cls, dataset, task="base-to-new"):
        default = cls(template=TEMPLATES.get(dataset, PHOTO))
        return replace(default, schedule=plugin_api.unified(default.schedule, dataset)) if task == "openpl" else default

    def start(self, clip, classnames, generator):
        return {"context": plugin_api.start_context(clip, self.context_length, None, generator)}

    def prepare(self, clip, classnames):
        zero_shot = plugin_api.encode_names(clip, classnames, (self.template,))
        return clip.prompt_names(classnames, self.context_length), zero_shot

    def loss(self, clip, parameters, images, labels, prepared):
        text = self._text(clip, parameters, prepared)
        return {"total": cross_entropy(plugin_api.cosine_logits(images.embeddings, text, clip.logit_scale), labels)}

    def fit(self, clip, train, *, seed):
        return plugin_api.fit_prompts(self, clip, train, seed=seed)

    def text_bank(self, clip, parameters, names):
        text = self._text(clip, parameters, self.prepare(clip, names.all))
        return TextBank(text, len(names.base), clip.logit_scale)

    def answer(self, clip, parameters, images, bank):
        return plugin_api.answer_by_cosine(images.embeddings, bank)

    def _text(self, clip, parameters, prepared):
        prompts, zero_shot = prepared
        tuned = normalize(plugin_api.encode_behind(clip, parameters["context"], prompts), dim=-1)
        return normalize(self.share * tuned + (1 - self.share) * zero_shot, dim=-1)
