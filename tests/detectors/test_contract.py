"""What every detector in DETECTORS keeps, with the settings of settled.py; docs/detectors.md says the same of them."""

import re

import pytest
import torch
from seen_images import whole
from settled import SETTINGS, fitted, made

from openworld import detectors
from openworld.detectors import DETECTORS, PROFILES, find_detector, fit_together, score_together
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


def test_the_page_says_of_every_detector_its_paper_needs_and_other_names(repository):
    page = (repository / "docs" / "detectors.md").read_text(encoding="utf-8")
    table = page[page.index("| detector | paper |") : page.index("\n\n| need |")]
    rows = {cells[0]: cells[1:] for cells in (re.split(r" ?\| ?", row)[1:-1] for row in table.splitlines()[2:])}
    assert list(rows) == [*DETECTORS]
    for name, (paper, needs, *elsewhere) in rows.items():
        kind = DETECTORS[name]
        stream = ("stream",) if detectors.is_sequential(kind()) else ()
        assert (paper, needs) == (kind.paper, ", ".join((*kind.needs, *stream)))
        assert {find_detector(other.strip("`")).name for other in elsewhere if other} <= {name}


def test_the_page_names_profiles_functions_that_exist_and_what_learns_nothing(repository):
    page = (repository / "docs" / "detectors.md").read_text(encoding="utf-8")
    assert all(f'"{name}"' in page for name in PROFILES)
    assert set(re.findall(r'profile\("([^"]+)"\)', page)) <= set(PROFILES)
    listed = re.search(r"learn nothing from training images: ([^:]+?)\. All others", page)[1]
    assert {*re.split(r",\s", listed)} == {name for name, kind in DETECTORS.items() if not kind().gathers}
    used = re.findall(r"`(\w+)(?=[`(])", page[page.index("| for | use |") : page.index("## Differences")])
    assert len(used) > 9 and set(used) - {"merge", "fit", "score"} <= set(detectors.__all__)


def test_a_page_has_the_cost_of_every_detector(repository):
    page = (repository / "docs" / "evidence" / "detector-costs.md").read_text(encoding="utf-8")
    costs = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    assert sorted(costs) == sorted([*(DETECTORS.keys() - {"own score"}), "detector"])
