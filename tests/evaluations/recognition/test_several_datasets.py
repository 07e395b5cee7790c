"""Several data sets in one spec: the units are those of each alone; means, ranks and tests are over the data sets."""

import pytest

import openworld as ow
from openworld.evaluations import evaluation_of, read_protocol
from openworld.runs import to_json

LEARNERS = [{"learner": "zero-shot"}, {"learner": "CoOp", "settings": {"schedule": {"epochs": 1}}}]
SHARED = {"learners": LEARNERS, "seeds": [1, 2], "views": 1, "shots": 1}
ENTRY = {"dataset": "emoji-concepts", "train_domain": "twemoji", "test_domain": "noto"}


def spec(**own):
    return read_protocol({"protocol": "recognition", **SHARED, **own})


def test_the_units_are_those_of_each_data_set_alone():
    both = spec(datasets=["emoji-groups", ENTRY])
    alone = [task for own in ({"dataset": "emoji-groups"}, ENTRY) for task in spec(**own).tasks()]
    assert list(map(to_json, both.tasks())) == list(map(to_json, alone))
    assert len(both.tasks()) == len(alone) == 8
    assert [entry.dataset for entry in evaluation_of(both).data(both)] == ["emoji-groups", *["emoji-concepts"] * 2]
    assert read_protocol(to_json(both)) == both


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(out, **own):
        given = {"seeds": [1], "shots": 1, "views": 0, "learners": [{"learner": "zero-shot"}], "ratios": []}
        return ow.run({**given, **own}, out, cache=tmp_path / "cache", workers=1, device="cpu", quiet=True)

    return run


@pytest.mark.slow
def test_records_of_one_data_set_are_taken_over_and_a_run_takes_further_data_sets(run, tmp_path):
    run("runs/groups", dataset="emoji-groups")
    two = ["emoji-groups", {"dataset": "emoji-groups", "train_domain": "noto"}]
    both = run("runs/all", datasets=two)
    (alone,) = (tmp_path / "runs/groups/units").iterdir()
    kept = tmp_path / "runs/all/units" / alone.name / "timing.json"
    assert kept.read_bytes() == (alone / "timing.json").read_bytes(), "it was computed again"
    assert len(both.results.where(metric="openworld_auc")) >= 2
    more = run("runs/all", datasets=[*two, "emoji-withheld"])
    assert kept.read_bytes() == (alone / "timing.json").read_bytes()
    assert {row.where.get("task") for row in more.results} >= {"emoji-groups", "emoji-withheld"}
