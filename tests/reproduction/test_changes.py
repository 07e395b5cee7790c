"""Learners of one's own in a paper's tables, other settings, shots and views: what is planned for them."""

import pytest
from paper_runs import plan_of

from openworld import OpenworldError
from openworld.evaluations.entries import LearnerSpec
from openworld.reproduction.plan import plan
from openworld.reproduction.settings import ReproductionSetup, read_added, read_settings

OWN = LearnerSpec("zero-shot-ensemble", "ours")
PAPERS = {"openworldauc": ("2", "13"), "openpl": ("2", "8")}
"""Paper -> tables that are read from its two kinds of runs."""


def planned(paper, tables=(), learners=("CLIP",), **changes):
    setup = ReproductionSetup("data", learners=learners, **changes)
    return plan(paper, tables or PAPERS[paper], setup)


@pytest.mark.parametrize("paper", PAPERS)
def test_an_added_learner_runs_with_the_papers_and_is_marked(paper):
    for run in planned(paper, added=(OWN,)).runs:
        assert [one.label for one in run.spec.learners] == ["zero-shot", "ours"]
        assert run.methods == {"zero-shot": "CLIP", "ours": "ours (added)"}
        assert "ours" in run.name


def test_an_added_learner_is_in_no_table_of_settings_or_gates():
    found = planned("openworldauc", ("2", "11", "13", "17"), (), added=(OWN,))
    numbers = {number for run in found.runs if "ours" in run.methods for number in run.tables}
    assert {"2", "13"} <= numbers and "17" not in numbers
    assert all("ours" not in run.methods for run in found.runs if run.name.startswith("gates"))
    (alone,) = planned("openworldauc", ("11",), (), added=(OWN,)).runs
    assert "ours" not in alone.methods


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize(
    "changes",
    [
        {"added": (OWN,)},
        {"added": (LearnerSpec("CoOp", "ours", {"context_length": 8}),)},
        {"settings": {"CLIP": {"templates": ["{}"]}}},
        {"shots": 4},
        {"precision": "bfloat16"},
        {"views": 2},
        {"views": "fresh"},
        {"draw": "openworldauc"},
        {"published_names": True},
    ],
    ids=lambda told: next(iter(told)),
)
def test_a_changed_run_has_a_folder_of_its_own_and_every_table_says_why(paper, changes):
    as_printed, otherwise = plan_of(paper, PAPERS[paper], learners=("CLIP",)), planned(paper, **changes)
    assert not {run.name for run in as_printed.runs} & {run.name for run in otherwise.runs}
    assert otherwise.remarks == ReproductionSetup(**changes).sentences and len(otherwise.remarks) == 1


def test_names_and_sentences_of_published_runs_reach_the_specs_that_have_them():
    changes = {"published_names": True, "crossing_sentences": "source"}
    runs = {run.name: run.spec for run in planned("openworldauc", ("13", "17"), ("GMoP",), **changes).runs}
    shared = {spec.dataset for spec in runs.values() if getattr(spec, "published_names", False)}
    (crossing,) = (spec for name, spec in runs.items() if name.startswith("generalisation"))
    assert shared == {"imagenet"} and crossing.sentences == "source" and crossing.source.published_names
    assert all(each.published_names for each in crossing.variants)
    assert not any(each.published_names for each in crossing.others)
    with pytest.raises(OpenworldError, match="--sentences is for openworldauc"):
        planned("openpl", crossing_sentences="source")


def test_settings_shots_and_views_reach_the_spec():
    changes = {"settings": {"coop": {"schedule.epochs": 3}}, "shots": 4, "views": 2, "draw": "openworldauc"}
    spec = planned("openworldauc", ("7",), ("CLIP", "CoOp"), **changes).runs[0].spec
    assert (spec.shots, spec.views, spec.draw) == (4, 2, "openworldauc")
    assert [one.settings for one in spec.learners] == [{}, {"schedule": {"epochs": 3}}]
    several = [LearnerSpec("CoOp", "ours", {"context_length": length}) for length in (4, 8)]
    assert len({planned("openpl", ("2",), added=(each,)).runs[0].name for each in several}) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"added": (LearnerSpec("CoOp"),)}, "is called 'CoOp', and so is one of the paper's"),
        ({"added": (LearnerSpec("CoOp", "clip"),)}, "is called 'clip'"),
        ({"settings": {"GMoPs": {"alpha": 1}}}, "unknown method 'GMoPs'.*GMoP"),
        ({"settings": {"GMoP": {"alhpa": 1}}}, "alpha"),
        ({"added": (OWN, OWN)}, "distinct labels"),
        ({"shots": 0}, "shots"),
        ({"precision": "bfloat"}, "precision.*did you mean 'bfloat16'"),
        ({"views": -1}, "views"),
    ],
)
def test_what_cannot_be_changed_is_refused(changes, message):
    with pytest.raises(OpenworldError, match=message):
        planned("openworldauc", ("2",), (), **changes)


@pytest.mark.parametrize("paper", ["frap", "is-ood"])
def test_papers_without_learners_refuse_changes(paper):
    with pytest.raises(OpenworldError, match=f"openworldauc and openpl, which tune learners; {paper}"):
        planned(paper, ("1",), (), shots=4)


def test_learners_are_read_from_a_file_of_learners_and_nothing_else(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[[learners]]\nlearner = "CoOp"\nlabel = "short"\nsettings = { context_length = 4 }\n')
    assert read_added(file) == (LearnerSpec("CoOp", "short", {"context_length": 4}),)
    file.write_text('dataset = "dtd"\n[[learners]]\nlearner = "CoOp"\n')
    with pytest.raises(OpenworldError, match="mine.toml: dataset: unknown key 'dataset'"):
        read_added(file)


@pytest.mark.parametrize("text", ["GMoP", "GMoP.alpha", "GMoP alpha = 1", ".alpha = 1", "GMoP.alpha = one"])
def test_settings_that_say_nothing_are_refused(text):
    with pytest.raises(OpenworldError, match="--settings is .* expected METHOD.SETTING = VALUE"):
        read_settings([text])
    assert read_settings(["GMoP w/o Gate.alpha = 1"]) == {"GMoP w/o Gate": {"alpha": 1}}
