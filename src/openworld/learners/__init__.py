"""Prompt learners: one file each, siblings alike.

A learner is a frozen dataclass of its settings, whose defaults are published ones. It offers

    published(dataset)                                     the learner as published for a data set
    start(clip, classnames, generator)                     fresh learnable tensors float32, by name
    prepare(clip, classnames)                              what the loss needs of the class names, computed once
    loss(clip, parameters, embeddings, labels, prepared)   0-d terms by name; "total" is minimised
    fit(clip, train, seed=...)                             a `Fitted` learner
    text_bank(clip, parameters, names)                     unit text features of base and new names
    logits(embeddings, bank, subset)                       float[N, C], scale included
    baseness(embeddings, bank)                             float[N], larger = more like a base class

with `clip` a backbone of `openworld.backbones`, `classnames` C names, `embeddings` float32[N, D] not normalised (one
batch, in `loss`), `labels` int64[N] in 0..C-1, `subset` "base", "new" or "all". A learner says in `paper`, `tunes`,
`consumes` and `depends_on_other_names` what it is; those that learn nothing have neither `start`, `prepare` nor `loss`.
`Fitted` binds a learner to its learned tensors and its training names. Nothing here ever sees a test image during
`fit`. Wrong settings raise `OpenworldError` when a learner is made, not when it is fitted.
"""

from openworld.learners._bank import Names, TextBank
from openworld.learners._fitted import Fitted, load
from openworld.learners._settings import configure, override
from openworld.learners._training import Schedule
from openworld.learners.coop import CoOp
from openworld.learners.gmop import GMoP
from openworld.learners.kgcoop import KgCoOp
from openworld.learners.zero_shot import ZeroShot, ZeroShotEnsemble

LEARNERS = {learner.name: learner for learner in (ZeroShot, ZeroShotEnsemble, CoOp, KgCoOp, GMoP)}

__all__ = [
    "LEARNERS",
    "CoOp",
    "Fitted",
    "GMoP",
    "KgCoOp",
    "Names",
    "Schedule",
    "TextBank",
    "ZeroShot",
    "ZeroShotEnsemble",
    "configure",
    "load",
    "override",
]
