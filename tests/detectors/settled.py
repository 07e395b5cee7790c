"""Every detector with settings that suit 90 training images of 24 features; {} where the defaults do."""

from seen_pictures import whole

from openworld.detectors import DETECTORS

CONTRACT = {
    **dict.fromkeys(("MSP", "ODIN", "MDS", "GradNorm", "DICE", "RankFeat", "ASH", "Energy", "MaxLogit", "ReAct"), {}),
    **dict.fromkeys(("SCALE", "GEN", "RMDS", "fDBD", "SHE", "NCI", "VRA", "CoP", "AdaSCALE", "MCM", "GL-MCM"), {}),
    "KNN": {"k": 3},
    "ViM": {"dimensions": 8},
    "NNGuide": {"k": 3, "share": 1.0},
    "CoRP": {"dimensions": 64},
    "NegLabel": {"groups": 5},
}


def made(name, **settings):
    """A detector by its name."""
    return DETECTORS[name](**{**CONTRACT[name], **settings})


def fitted(name, seen=None):
    """It, fitted on `whole()` or on what is given."""
    return made(name).fit(whole() if seen is None else seen)
