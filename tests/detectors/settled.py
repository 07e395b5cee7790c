"""Every detector with settings that suit 90 training images of 24 features: its defaults, but for those named here."""

from seen_images import whole

from openworld.detectors import DETECTORS

SETTINGS = {
    "KNN": {"k": 3},
    "ViM": {"dimensions": 8},
    "NNGuide": {"k": 3, "share": 1.0},
    "CoRP": {"dimensions": 64},
    "NegLabel": {"groups": 5},
    "CSP": {"groups": 5},
    "AdaNeg": {"length": 4, "batch": 20},
    "Residual": {"dimensions": 8},
    "GMM": {"regularization": 1e-4},
    "WeiPer": {"repeats": 4, "bins": 20},
}


def made(name, **settings):
    """A detector by its name."""
    return DETECTORS[name](**{**SETTINGS.get(name, {}), **settings})


def fitted(name, seen=None):
    """It, fitted on `whole()` or on what is given."""
    return made(name).fit(whole() if seen is None else seen)
