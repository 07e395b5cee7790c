"""Sets of detectors to start from: what a paper compares, and what tends to work for a family of models."""

from openworld import detectors as ours
from openworld.core.errors import unknown_name
from openworld.core.types import checked
from openworld.detectors.engine.fitted import OODDetector

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
