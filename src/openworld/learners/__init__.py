"""Prompt learners: one file each, siblings alike.

A learner is a frozen dataclass of its settings, whose defaults are published ones. It offers

    published(dataset, task)                               the learner as published for a data set and a task
    start(clip, classnames, generator)                     fresh learnable tensors float32, by name
    prepare(clip, classnames)                              what the loss needs of the class names, computed once
    loss(clip, parameters, images, labels, prepared)       0-d terms by name; "total" is minimised
    fit(clip, train, seed=...)                             a `FittedLearner` learner
    text_bank(clip, parameters, names)                     base and new names, made ready to compare with
    answer(clip, parameters, images, bank)                 logits over all names and detection scores

with `clip` a backbone of `openworld.backbones`, `classnames` C names, `images` a batch (`Images`: what of the images
the learner says it `consumes`), `labels` int64[B] in 0..C-1, `names` the base and the new names (`NameSets`). A learner
says in `paper`, `tunes`, `cost`, `consumes` and `depends_on_other_names` what it is; those that learn nothing have
neither `start`, `prepare` nor `loss`. `FittedLearner` binds a learner to its learned tensors and its training names.
Nothing here ever sees a test image during `fit`. Wrong settings raise `OpenworldError` when a learner is made, not
when it is fitted.

A learner whose training is more than descent on "total" says how in a property `loop` (`Loop`); one that trains in
stages says `in_stages` and brings its own `fit`. One whose lower blocks no training changes says in `lift(clip,
pixels)` what they make of images, and finds it in `Images.rows`, computed once for every view.

`consumes`: "embeddings" (of the images as they are), or of augmented views of them "views" (embeddings), "patches"
(and patch rows) or "pixels" (and the pixels themselves).
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily
from openworld.core.plugins import Plugins

if TYPE_CHECKING:
    from openworld.learners.catalogue import LEARNERS
    from openworld.learners.cocoop import CoCoOp
    from openworld.learners.coop import CoOp
    from openworld.learners.decoop import DeCoOp
    from openworld.learners.dept import DePT
    from openworld.learners.engine.fitted import FittedLearner, Learner, TrainedLearner, encoding_for, load
    from openworld.learners.engine.fitting import fit_together
    from openworld.learners.engine.images import Answer, Images
    from openworld.learners.engine.predictions import Guess, Prediction, predict
    from openworld.learners.engine.settings import TASKS, PublishedSetting, configure, override
    from openworld.learners.engine.text_bank import NameSets, TextBank
    from openworld.learners.engine.training import Loop, Schedule
    from openworld.learners.gallop import GalLoP
    from openworld.learners.gmop import GMoP
    from openworld.learners.ivlp import IVLP
    from openworld.learners.kgcoop import KgCoOp
    from openworld.learners.locoop import LoCoOp
    from openworld.learners.maple import MaPLe
    from openworld.learners.mmrl import MMRL
    from openworld.learners.proda import ProDA
    from openworld.learners.prograd import ProGrad
    from openworld.learners.promptsrc import PromptSRC
    from openworld.learners.rpo import RPO
    from openworld.learners.skip_tuning import SkipTuning
    from openworld.learners.tcp import TCP
    from openworld.learners.two_sfs import TwoSFS
    from openworld.learners.vpt import VPT
    from openworld.learners.zero_shot import ZeroShot, ZeroShotEnsemble

__getattr__, __dir__ = lazily(__name__, __file__)

PLUGINS = Plugins(
    "learner",
    ("name", "paper", "tunes", "cost", "consumes", "depends_on_other_names", "published", "fit", "text_bank"),
    lambda: __getattr__("LEARNERS"),
)
find_learner, all_learners = PLUGINS.find, PLUGINS.all
broken_plugins, origin = PLUGINS.broken, PLUGINS.origin

__all__ = [
    "IVLP",
    "LEARNERS",
    "MMRL",
    "RPO",
    "TASKS",
    "TCP",
    "VPT",
    "Answer",
    "CoCoOp",
    "CoOp",
    "DeCoOp",
    "DePT",
    "FittedLearner",
    "GMoP",
    "GalLoP",
    "Guess",
    "Images",
    "KgCoOp",
    "Learner",
    "LoCoOp",
    "Loop",
    "MaPLe",
    "NameSets",
    "Prediction",
    "ProDA",
    "ProGrad",
    "PromptSRC",
    "Schedule",
    "SkipTuning",
    "PublishedSetting",
    "TextBank",
    "TrainedLearner",
    "TwoSFS",
    "ZeroShot",
    "ZeroShotEnsemble",
    "all_learners",
    "broken_plugins",
    "configure",
    "encoding_for",
    "find_learner",
    "fit_together",
    "load",
    "origin",
    "override",
    "predict",
]
