"""Sets of detectors to start from: what a paper compares, and what tends to work for a family of models."""

from openworld.core.errors import unknown_name
from openworld.core.types import checked
from openworld.detectors.ash import ASH
from openworld.detectors.dice import DICE
from openworld.detectors.energy import Energy
from openworld.detectors.engine.fitted import OODDetector
from openworld.detectors.gen import GEN
from openworld.detectors.gl_mcm import GLMCM
from openworld.detectors.gradnorm import GradNorm
from openworld.detectors.knn import KNN
from openworld.detectors.max_logit import MaxLogit
from openworld.detectors.mcm import MCM
from openworld.detectors.mds import MDS
from openworld.detectors.msp import MSP
from openworld.detectors.neglabel import NegLabel
from openworld.detectors.odin import ODIN
from openworld.detectors.rankfeat import RankFeat
from openworld.detectors.react import ReAct
from openworld.detectors.rmds import RMDS
from openworld.detectors.scale import SCALE
from openworld.detectors.vim import ViM

PROFILES: dict[str, tuple[OODDetector, ...]] = {
    # qqwsad5/IS-OOD@e771abb runs OpenOOD's settings as they stand in its configuration, without a search.
    "is-ood": (MSP(), ODIN(), MDS(), GradNorm(), KNN(), DICE(), RankFeat(), ASH()),
    # What leads on ResNet-50 and on ViT-B/16 in OpenOOD v1.5's leaderboard (ImageNet-1K), beside the baselines.
    "convolutional": (MSP(), MaxLogit(), GEN(), ReAct(), ASH(), SCALE(), ViM()),
    "transformer": (MSP(), GEN(), MDS(), RMDS()),
    "other": (MSP(), MaxLogit(), Energy(), GEN(), KNN()),
    "two-tower": (MCM(), GLMCM(), NegLabel()),
}

TWO_TOWER = ("MCM", "MSP", "MaxLogit", "Energy", "GEN", "KNN", "MDS")
"""Names of detectors to start from on a two-tower model: those that need neither patches nor a list of words."""

LOGITS_ALONE = ("MSP", "MaxLogit", "Energy", "GEN")
"""Names of detectors of a model that shows nothing but logits."""


@checked
def profile(name: str) -> dict[str, OODDetector]:
    """The detectors of a profile, by name.

    Args:
        name: "is-ood", the eight of IS-OOD (Long et al., 2024); or a family as `watch` finds it: "convolutional",
            "transformer", "other"; or "two-tower".
    Raises:
        OpenworldError: an unknown name.

    >>> list(profile("transformer"))
    ['MSP', 'GEN', 'MDS', 'RMDS']
    """
    if name not in PROFILES:
        raise unknown_name("profile", name, PROFILES)
    return {detector.name: detector for detector in PROFILES[name]}
