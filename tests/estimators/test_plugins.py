"""Estimators of other packages: found by their entry points, refused where they lack what is promised."""

from types import SimpleNamespace

import pytest

from openworld import OpenworldError, _plugins
from openworld import estimators as plugins
from openworld.estimators import AC, ESTIMATORS


@pytest.fixture
def offered(monkeypatch):
    def offer(**classes):
        entries = [
            SimpleNamespace(
                name=name, value="theirs:Theirs", dist=SimpleNamespace(name="theirs", version="1.2"), load=load
            )
            for name, load in classes.items()
        ]
        monkeypatch.setattr(_plugins, "entry_points", lambda group: entries if group == "openworld.estimators" else [])
        monkeypatch.setattr(_plugins, "_loaded", _plugins._loaded.__wrapped__)

    return offer


class Theirs(AC):
    name = "Theirs"


def test_a_plug_in_is_an_estimator_like_ours(offered):
    offered(Theirs=lambda: Theirs)
    assert plugins.find_estimator("Theirs") is Theirs and plugins.find_estimator("AC") is AC
    assert list(plugins.all_estimators()) == [*ESTIMATORS, "Theirs"]
    assert plugins.origin("Theirs") == "theirs 1.2" and plugins.origin("AC") == ""


def test_broken_ones_are_named(offered):
    offered(AC=lambda: Theirs, Empty=lambda: type("Empty", (), {}), Theirs=lambda: Theirs)
    told = plugins.broken_plugins()
    assert "openworld has an estimator 'AC' of its own" in told["AC"]
    assert "is no estimator: it has no name, paper, summary, needs" in told["Empty"]
    assert "Theirs" in plugins.all_estimators()


def test_an_unknown_name():
    with pytest.raises(OpenworldError, match="unknown estimator 'ATC'.*ATC-MC"):
        plugins.find_estimator("ATC")
