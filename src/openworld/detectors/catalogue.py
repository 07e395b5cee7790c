"""Every detector of this package by name, and what other libraries call them."""

from collections.abc import Mapping
from typing import Any

from openworld.core.types import checked
from openworld.detectors import PLUGINS
from openworld.detectors.adaneg import AdaNeg
from openworld.detectors.adascale import AdaSCALE
from openworld.detectors.ash import ASH
from openworld.detectors.cop import CoP
from openworld.detectors.corp import CoRP
from openworld.detectors.csp import CSP
from openworld.detectors.deep_ensemble import DeepEnsemble
from openworld.detectors.dice import DICE
from openworld.detectors.energy import Energy
from openworld.detectors.engine.fitted import OODDetector
from openworld.detectors.entropy import Entropy
from openworld.detectors.fdbd import FDBD
from openworld.detectors.gen import GEN
from openworld.detectors.gl_mcm import GLMCM
from openworld.detectors.gmm import GMM
from openworld.detectors.gradnorm import GradNorm
from openworld.detectors.gram import Gram
from openworld.detectors.kl_matching import KLMatching
from openworld.detectors.knn import KNN
from openworld.detectors.l_mcm import LMCM
from openworld.detectors.max_logit import MaxLogit
from openworld.detectors.mc_dropout import MCDropout
from openworld.detectors.mcm import MCM
from openworld.detectors.mds import MDS
from openworld.detectors.mds_ensemble import MDSEnsemble
from openworld.detectors.msp import MSP
from openworld.detectors.nac import NAC
from openworld.detectors.nci import NCI
from openworld.detectors.neglabel import NegLabel
from openworld.detectors.nnguide import NNGuide
from openworld.detectors.odin import ODIN
from openworld.detectors.openmax import OpenMax
from openworld.detectors.own_score import OwnScore
from openworld.detectors.rankfeat import RankFeat
from openworld.detectors.ras import RAS
from openworld.detectors.react import ReAct
from openworld.detectors.relation import Relation
from openworld.detectors.residual import ResidualNorm
from openworld.detectors.rmds import RMDS
from openworld.detectors.scale import SCALE
from openworld.detectors.she import SHE
from openworld.detectors.temperature_scaling import TemperatureScaling
from openworld.detectors.vim import ViM
from openworld.detectors.vra import VRA
from openworld.detectors.weiper import WeiPer
from openworld.runs import read_spec

DETECTORS: dict[str, type[OODDetector]] = {
    detector.name: detector
    for detector in (
        *(MSP, ODIN, MDS, GradNorm, KNN, DICE, RankFeat, ASH, Energy, MaxLogit, ReAct, SCALE, GEN, ViM, RMDS, FDBD),
        *(NNGuide, SHE, NCI, VRA, CoP, CoRP, AdaSCALE, MCM, GLMCM, NegLabel, OpenMax, KLMatching, TemperatureScaling),
        *(Entropy, ResidualNorm, Relation, GMM, WeiPer, RAS, Gram, MDSEnsemble, NAC, CSP, AdaNeg, LMCM, MCDropout),
        *(DeepEnsemble, OwnScore),
    )
}
"""Name -> class of every detector of this package."""

ALSO_CALLED: dict[str, str] = {
    "ebo": "Energy",
    "energybased": "Energy",
    "mls": "MaxLogit",
    "maxsoftmax": "MSP",
    "klmatching": "KLM",
    "tempscaling": "TempScale",
    "temperaturescaling": "TempScale",
    "mahalanobis": "MDS",
    "rmd": "RMDS",
    "multimahalanobis": "MDSEnsemble",
    "adascalea": "AdaSCALE",
    "mcd": "MCDropout",
    "dropout": "MCDropout",
    "ensemble": "DeepEnsemble",
    "nacue": "NAC",
}
"""What OpenOOD v1.5 and pytorch-ood 0.4 call our detectors, in small letters without signs -> our name."""


@checked
def find_detector(name: str) -> type[OODDetector]:
    """Return the class of that name, ours or a plug-in's; other libraries' names for ours and any case will do.

    Raises:
        OpenworldError: an unknown name, a plug-in that is broken.

    >>> find_detector("mls").name, find_detector("gl_mcm").name
    ('MaxLogit', 'GL-MCM')
    """
    plain = {_plain(own): own for own in DETECTORS} | ALSO_CALLED
    is_exact = name in DETECTORS or name in PLUGINS.offered()
    return PLUGINS.find(name if is_exact else plain.get(_plain(name), name))


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@checked
def make_detector(name: str, settings: Mapping[str, Any] | None = None) -> OODDetector:
    """Return a detector of a name that `find_detector` knows.

    Args:
        settings: where they differ from its defaults.
    Raises:
        OpenworldError: an unknown name or setting.

    >>> make_detector("KNN", {"k": 10}).k
    10
    """
    return read_spec(settings or {}, find_detector(name))
