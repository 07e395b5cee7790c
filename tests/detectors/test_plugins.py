"""Detectors of other packages: found by their entry points, refused where they lack what is promised."""

from types import SimpleNamespace

import pytest

from openworld import OpenworldError
from openworld import detectors as plugins
from openworld.core import plugins as ground
from openworld.detectors import DETECTORS, MSP


@pytest.fixture
def offered(monkeypatch):
    def offer(**classes):
        entries = [
            SimpleNamespace(
                name=name, value="theirs:Theirs", dist=SimpleNamespace(name="theirs", version="1.2"), load=load
            )
            for name, load in classes.items()
        ]
        monkeypatch.setattr(ground, "entry_points", lambda group: entries if group == "openworld.detectors" else [])
        monkeypatch.setattr(ground, "_loaded", ground._loaded.__wrapped__)

    return offer


class Theirs(MSP):
    name = "Theirs"


def test_a_plug_in_is_a_detector_like_ours(offered):
    offered(Theirs=lambda: Theirs)
    assert plugins.find_detector("Theirs") is Theirs and plugins.find_detector("MSP") is MSP
    assert list(plugins.all_detectors()) == [*DETECTORS, "Theirs"]
    assert plugins.origin("Theirs") == "theirs 1.2" and plugins.origin("MSP") == ""


def test_an_unknown_name():
    with pytest.raises(OpenworldError, match="unknown detector 'GradNrm'; did you mean 'GradNorm'"):
        plugins.find_detector("GradNrm")


CALLED = {"mls": "MaxLogit", "EBO": "Energy", "temp_scaling": "TempScale", "MaxSoftmax": "MSP", "gl_mcm": "GL-MCM"}


@pytest.mark.parametrize(("name", "ours"), [*CALLED.items(), ("KNN", "KNN"), ("fdbd", "fDBD")])
def test_a_detector_answers_to_what_other_libraries_call_it(name, ours):
    assert plugins.find_detector(name).name == ours


def test_what_nobody_here_can_do_is_not_mistaken_for_another():
    for name in ("godin", "cider", "ms"):
        with pytest.raises(OpenworldError, match=f"unknown detector '{name}'"):
            plugins.find_detector(name)
    assert set(plugins.ALSO_CALLED.values()) <= DETECTORS.keys()
