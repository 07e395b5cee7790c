"""Every detector of this package by name, what other libraries call them, and sets of detectors to start from."""

from collections.abc import Mapping
from typing import Any

from openworld import detectors as ours
from openworld.core.errors import unknown_name
from openworld.core.types import checked
from openworld.detectors import PLUGINS
from openworld.detectors.engine.fitted import OODDetector
from openworld.runs import read_spec

DETECTORS: dict[str, type[OODDetector]] = {
    detector.name: detector
    for detector in (
        *(ours.MSP, ours.ODIN, ours.MDS, ours.GradNorm, ours.KNN, ours.DICE, ours.RankFeat, ours.ASH, ours.Energy),
        *(ours.MaxLogit, ours.ReAct, ours.SCALE, ours.GEN, ours.ViM, ours.RMDS, ours.FDBD, ours.NNGuide, ours.SHE),
        *(ours.NCI, ours.VRA, ours.CoP, ours.CoRP, ours.AdaSCALE, ours.MCM, ours.GLMCM, ours.NegLabel, ours.OpenMax),
        *(ours.KLMatching, ours.TemperatureScaling, ours.Entropy, ours.ResidualNorm, ours.Relation, ours.GMM),
        *(ours.WeiPer, ours.RAS, ours.Gram, ours.MDSEnsemble, ours.NAC, ours.CSP, ours.AdaNeg, ours.LMCM),
        *(ours.MCDropout, ours.DeepEnsemble, ours.OwnScore),
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


PROFILES: dict[str, tuple[OODDetector, ...]] = {
    # qqwsad5/IS-OOD@e771abb runs OpenOOD's settings as they stand in its configuration, without a search.
    "is-ood": (
        ours.MSP(),
        ours.ODIN(),
        ours.MDS(),
        ours.GradNorm(),
        ours.KNN(),
        ours.DICE(),
        ours.RankFeat(),
        ours.ASH(),
    ),
    # What leads on ResNet-50 and on ViT-B/16 in OpenOOD v1.5's leaderboard (ImageNet-1K), beside the baselines.
    "convolutional": (ours.MSP(), ours.MaxLogit(), ours.GEN(), ours.ReAct(), ours.ASH(), ours.SCALE(), ours.ViM()),
    "transformer": (ours.MSP(), ours.GEN(), ours.MDS(), ours.RMDS()),
    "other": (ours.MSP(), ours.MaxLogit(), ours.Energy(), ours.GEN(), ours.KNN()),
    "two-tower": (ours.MCM(), ours.GLMCM(), ours.NegLabel()),
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
