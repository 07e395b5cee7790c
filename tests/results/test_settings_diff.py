"""What was asked differently of two runs: keys, settings by learner, packages; nothing that changes no number."""

from pathlib import Path

import pytest

from openworld.results import RunFolder
from openworld.results.run_folder import differing_settings

pytestmark = pytest.mark.base


def run(learners, torch="2.0", **resolved):
    provenance = ({"packages": {"torch": torch, "scipy": torch}},)
    return RunFolder(Path(), "recognition", (), {}, {"learners": learners, **resolved}, provenance)


def learner(name, label="", **settings):
    return {"learner": name, "label": label, "settings": settings, "choose": {}}


def test_settings_are_compared_by_label_whatever_the_order():
    first = run([learner("CoOp", schedule={"epochs": 10}), learner("GMoP", "G", alpha=0.5)], shots=16)
    second = run([learner("GMoP", "G", alpha=0.5), learner("CoOp", schedule={"epochs": 2})], shots=16)
    assert differing_settings(first, second) == (("CoOp schedule.epochs", "10", "2"),)


def test_keys_and_packages():
    first, second = run([], shots=16, seeds=[1, 2], threads=1), run([], torch="2.1", shots=4, seeds=[1], threads=2)
    assert differing_settings(first, second) == (("shots", "16", "4"), ("seeds", "1 2", "1"), ("torch", "2.0", "2.1"))


def test_learners_of_one_run_alone_and_runs_alike_say_nothing():
    assert differing_settings(run([learner("CoOp")]), run([learner("CoOp"), learner("KgCoOp")])) == ()
    scored = RunFolder(Path(), "", (), {}, {"file": "mine.csv"}, ())
    assert differing_settings(scored, scored) == ()


def test_a_label_that_stands_for_another_learner():
    assert differing_settings(run([learner("CoOp", "ours")]), run([learner("GMoP", "ours")])) == (
        ("ours is", "CoOp", "GMoP"),
    )
