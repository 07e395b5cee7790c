"""What every detector in DETECTORS keeps, with the settings of settled.py; docs/detectors.md names each of them."""

import re
from itertools import pairwise

import pytest
import torch
from seen_pictures import whole
from settled import SETTINGS, fitted, made

from openworld import detectors
from openworld.detectors import DETECTORS, PROFILES, fit_together, score_together
from openworld.testing import DETECTOR_CHECKS


def test_settings_are_of_detectors():
    assert SETTINGS.keys() <= DETECTORS.keys()


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("promise", DETECTOR_CHECKS)
def test_it_keeps_what_a_detector_promises(promise, name):
    DETECTOR_CHECKS[promise](made(name), "cpu")


def test_fitted_together_they_are_the_same():
    everyone = {name: made(name) for name in DETECTORS}
    together = score_together(fit_together(everyone, whole().split(13)), whole(2))
    for name, scores in together.items():
        alone = fitted(name).score(whole(2))
        torch.testing.assert_close(scores, alone, rtol=0, atol=1e-5 * max(1e-3, float(alone.abs().max())))


def test_names_classes_and_profiles_agree():
    assert all(kind.name == name and ">>>" in kind.__doc__ for name, kind in DETECTORS.items())
    assert all(type(detector) is DETECTORS[detector.name] for listed in PROFILES.values() for detector in listed)
    assert len(PROFILES["is-ood"]) == 8


def test_the_page_names_every_detector_its_cost_and_functions_that_exist(repository):
    page = (repository / "docs" / "detectors.md").read_text(encoding="utf-8")
    places = [page.index(f"## {heading}") for heading in ("What each looks at", "What each costs", "Names of what")]
    looks, costs = (re.findall(r"^\| ([^|]+) \|", page[slice(*ends)], re.MULTILINE) for ends in pairwise(places))
    assert sorted(name for row in looks for name in row.split(", ")) == sorted([*DETECTORS, "detector"])
    assert sorted(costs) == sorted([*(DETECTORS.keys() - {"own score"}), "detector"])
    assert all(name in page[page.index("## Sources") :] for name in DETECTORS)
    assert set(re.findall(r'profile\("([^"]+)"\)', page)) <= set(PROFILES)
    assert all(f'"{name}"' in page for name in PROFILES)
    code = "\n".join(line for line in page.splitlines() if line.startswith("    "))
    called = set(re.findall(r"(?<![.\w])(\w+)\(", code))
    assert called - {"or", "word_list"} <= set(detectors.__all__)
