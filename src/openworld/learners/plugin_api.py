"""What learners are made of: the functions that ours share, for writing yet another one (docs/plug-in-learner.md).

Text features: `encode_names` (in sentences), `start_context` and `encode_behind` (behind a learned context). Answers:
`cosine_logits`, `answer_by_cosine`, `answer_of`. Training: `fit_prompts`. Published settings: `unified`. Refusals:
`require_context`, `require_templates`.
"""

from openworld.learners.engine.fitting import fit_prompts
from openworld.learners.engine.settings import unified
from openworld.learners.engine.text_bank import answer_by_cosine, answer_of, cosine_logits
from openworld.learners.engine.text_features import (
    context_tokens,
    encode_behind,
    encode_names,
    require_context,
    require_templates,
    start_context,
)

__all__ = [
    "answer_by_cosine",
    "answer_of",
    "context_tokens",
    "cosine_logits",
    "encode_behind",
    "encode_names",
    "fit_prompts",
    "require_context",
    "require_templates",
    "start_context",
    "unified",
]
