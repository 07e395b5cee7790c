"""Every learner of this package by name."""

from openworld.learners.cocoop import CoCoOp
from openworld.learners.coop import CoOp
from openworld.learners.decoop import DeCoOp
from openworld.learners.dept import DePT
from openworld.learners.engine.fitted import Learner
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

LEARNERS: dict[str, type[Learner]] = {
    learner.name: learner
    for learner in (
        *(ZeroShot, ZeroShotEnsemble, CoOp, KgCoOp, GMoP, CoCoOp, VPT, MaPLe, IVLP, PromptSRC, ProGrad, RPO, ProDA),
        *(TCP, DePT, LoCoOp, GalLoP, DeCoOp, MMRL, SkipTuning, TwoSFS),
    )
}
"""Name -> class of every learner of this package."""
