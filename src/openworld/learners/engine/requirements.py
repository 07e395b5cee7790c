"""Whether a backbone has what a learner needs, told before an image is encoded.

Nobody declares it: the learner is started on a few names and gets them ready, which is cheap and asks the backbone for
all that it will need of the text tower; what it is shown of images tells the rest.
"""

from collections.abc import Callable
from typing import Any

import torch

from openworld.backbones.dual_encoder import DualEncoder
from openworld.backbones.foreign.encoder import Lacks
from openworld.backbones.towers import require_class_token
from openworld.backbones.two_tower import TwoTower
from openworld.core.errors import OpenworldError
from openworld.datasets.names.forms import numbered_names
from openworld.learners.engine.fitted import Learner

_INSTEAD = (
    "Learners of names alone run on every backbone (zero-shot, zero-shot-ensemble); for this one, take a backbone that "
    "`openworld doctor` says has what it needs, such as openai/clip-vit-base-patch16."
)
_NAMES = numbered_names(8)  # enough for learners that cut the classes into parts


def require_able(clip: DualEncoder, learner: Learner) -> None:
    """Refuse a learner that needs more than a backbone has: it is named, with what is missing and what runs."""
    # Of towers of ours, a causal text tower and a class token no learner could miss anything: no trial is needed.
    if isinstance(clip, TwoTower) and clip.config.text.causal and clip.config.image.class_token:
        return
    missing = lacking(clip, learner)
    if missing:
        raise OpenworldError(f"{learner.name} cannot run on {clip.name!r}: {missing} {_INSTEAD}")


@torch.no_grad()
def lacking(clip: DualEncoder, learner: Learner) -> str | None:
    """Return what a learner needs and a backbone does not have, in a sentence; None where nothing is missing."""
    return missing_part(lambda: _ask(clip, learner))


def missing_part(ask: Callable[[], object]) -> str | None:
    """Return what a backbone says that it lacks when it is asked for something; None where it has it."""
    try:
        ask()
    except Lacks as error:
        return f"it needs {error.what}; this model's towers are another library's."
    except OpenworldError as error:
        return str(error)
    return None


def _ask(clip: Any, learner: Any) -> None:
    if learner.consumes in ("patches", "pixels"):
        require_class_token(clip.image, f"{learner.consumes} need")
    if hasattr(learner, "start"):
        # Embeddings of class names are of these alone.
        names = tuple(getattr(clip, "classnames", _NAMES))[: len(_NAMES)]
        learner.start(clip, names, torch.Generator().manual_seed(0))
        learner.prepare(clip, names)
