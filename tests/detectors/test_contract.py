"""What every detector in DETECTORS keeps, with the settings of settled.py."""

import pytest
import torch
from seen_pictures import whole
from settled import SETTINGS, fitted, made

from openworld import OpenworldError
from openworld.detectors import DETECTORS, PROFILES, fit_together, score_together
from openworld.testing import DETECTOR_CHECKS
from openworld.testing._classifier import WIDTH

detectors = pytest.mark.parametrize("name", DETECTORS)


def test_settings_are_of_detectors():
    assert SETTINGS.keys() <= DETECTORS.keys()


@detectors
@pytest.mark.parametrize("promise", DETECTOR_CHECKS)
def test_it_keeps_what_a_detector_promises(promise, name):
    DETECTOR_CHECKS[promise](made(name), "cpu")


@detectors
def test_its_class_says_what_it_is(name):
    assert DETECTORS[name].name == name and ">>>" in DETECTORS[name].__doc__


@detectors
def test_it_learns_nothing_from_nothing(name):
    if not made(name).gathers:
        made(name).fit()
    else:
        with pytest.raises(OpenworldError, match=f"no training image, but {name} learns"):
            made(name).fit()


@detectors
def test_another_number_of_features_is_refused(name):
    if "features" in DETECTORS[name].needs and "head" in DETECTORS[name].needs:
        with pytest.raises(OpenworldError, match=f"features have 5 columns, but the head reads {WIDTH}"):
            fitted(name).score(torch.zeros(2, 5))


def test_fitted_together_they_are_the_same():
    everyone = {name: made(name) for name in DETECTORS}
    together = score_together(fit_together(everyone, whole().split(13)), whole(2))
    for name, scores in together.items():
        alone = fitted(name).score(whole(2))
        torch.testing.assert_close(scores, alone, rtol=0, atol=1e-5 * max(1e-3, float(alone.abs().max())))


def test_profiles_name_known_detectors():
    assert all(type(detector) is DETECTORS[detector.name] for listed in PROFILES.values() for detector in listed)
    assert len(PROFILES["is-ood"]) == 8
