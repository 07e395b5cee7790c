"""Estimators of other packages: found by their entry points, refused where they lack what is promised."""

from types import SimpleNamespace

from simulated import refused

from openworld import estimators
from openworld.core import plugins
from openworld.estimators import AC, ESTIMATORS


class Theirs(AC):
    name = "Theirs"


def test_plug_ins_are_estimators_like_ours_and_broken_ones_are_named(monkeypatch):
    package = SimpleNamespace(name="theirs", version="1.2")
    kinds = {"AC": Theirs, "Empty": type("Empty", (), {}), "Theirs": Theirs}
    entries = [
        SimpleNamespace(name=name, value="theirs:Theirs", dist=package, load=lambda kind=kind: kind)
        for name, kind in kinds.items()
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group == "openworld.estimators" else [])
    monkeypatch.setattr(plugins, "_loaded", plugins._loaded.__wrapped__)
    assert estimators.find_estimator("Theirs") is Theirs and estimators.find_estimator("AC") is AC
    assert list(estimators.all_estimators()) == [*ESTIMATORS, "Theirs"]
    assert estimators.origin("Theirs") == "theirs 1.2" and estimators.origin("AC") == ""
    broken = estimators.broken_plugins()
    assert "openworld has an estimator 'AC' of its own" in broken["AC"]
    assert "is no estimator: it has no name, paper, summary, needs" in broken["Empty"]
    refused("unknown estimator 'ATC'.*ATC-MC", estimators.find_estimator, "ATC")
