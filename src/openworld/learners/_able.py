"""Whether a backbone has what a learner needs, told before a picture is encoded.

Nobody declares it: the learner is started on a few names and gets them ready, which is cheap and asks the backbone for
all that it will need of the text tower; what it is shown of pictures tells the rest.
"""

import torch

from openworld._errors import OpenworldError
from openworld.backbones.dual_encoder import DualEncoder
from openworld.backbones.image_prompts import require_class_token
from openworld.backbones.two_tower import TwoTower

_NAMES = tuple(f"class {number}" for number in range(8))  # enough for learners that cut the classes into parts


def offers_everything(clip: DualEncoder) -> bool:
    """Whether no learner could miss anything: towers of ours, a causal text tower, a class token."""
    return isinstance(clip, TwoTower) and clip.config.text.causal and clip.config.image.class_token


def require_able(clip: DualEncoder, learner) -> None:
    """Refuse a learner that needs more than a backbone has.

    Args:
        clip: any backbone. learner: configured.

    Raises:
        OpenworldError: names the learner and what is missing.
    """
    missing = lacking(clip, learner)
    if missing:
        raise OpenworldError(f"{learner.name} cannot run here: {missing}")


@torch.no_grad()
def lacking(clip: DualEncoder, learner) -> str | None:
    """What a learner needs and a backbone does not have, in a sentence or two; None where nothing is missing.

    >>> from openworld.learners import CoOp
    >>> from openworld.testing import small_world
    >>> lacking(small_world().clip, CoOp()) is None
    True
    """
    try:
        if learner.consumes in ("patches", "pixels"):
            require_class_token(clip.image, f"{learner.consumes} need")
        if hasattr(learner, "start"):
            learner.start(clip, _NAMES, torch.Generator().manual_seed(0))
            learner.prepare(clip, _NAMES)
    except OpenworldError as error:
        return str(error)
    return None
