"""A plan of some of a paper's data sets: what is planned, what it needs on disk, and what is said of the rest."""

import pytest
from paper_runs import plan_of

from openworld import OpenworldError
from openworld.datasets import DATASETS, PUBLISHED
from openworld.papers import TABLES
from openworld.papers.numbers import COOP_DATASETS
from openworld.reproduction.plan import PAPERS
from openworld.reproduction.series import plan_what_is_there
from openworld.reproduction.settings import ReproductionSetup


def chosen(paper, *names, tables=(), data="data", **setup):
    return plan_of(paper, tuple(tables), data=data, datasets=names, **setup)


@pytest.mark.parametrize("paper", ["openworldauc", "openpl"])
def test_a_data_set_alone_needs_no_other(paper):
    whole = {run.name: run.spec for run in plan_of(paper).runs}
    cards = {card.title: name for name, card in PUBLISHED.items()}
    for title in COOP_DATASETS:
        found = chosen(paper, title)
        assert title == "ImageNet" or found.downloads == (cards[title],)
        assert not found.left_out
        shared = [run for run in found.runs if run.name in whole]
        assert shared and all(run.spec == whole[run.name] for run in shared)
    assert chosen(paper, "dtd").runs == chosen(paper, "DTD").runs


def test_tables_from_imagenet_need_it_unless_they_are_named():
    assert "13" not in chosen("openworldauc", "DTD").tables
    for found in (chosen("openworldauc", "DTD", "imagenet"), chosen("openworldauc", "dtd", tables=["13"])):
        assert "13" in found.tables and set(found.downloads) == {"imagenet", "dtd"}
    assert chosen("openpl", "ImageNetV2", tables=["8"]).runs[0].name == "from-imagenet-imagenetv2"


def test_a_table_that_is_named_and_has_no_such_data_set_is_left_out():
    found = chosen("openpl", "dtd", tables=["6", "10"])
    assert found.tables == ("6",) and "none of the data sets" in found.left_out["10"]
    assert any("of DTD alone" in sentence for sentence in found.sentences)


def test_a_number_of_parameters_is_of_any_data_set_asked_for():
    assert [run.name for run in chosen("openworldauc", "eurosat", tables=["7", "16"]).runs] == ["recognition-eurosat"]


def test_a_source_of_frap_has_its_rows_and_a_row_its_own_conditions():
    whole = chosen("frap", "cifar10")
    assert [run.name for run in whole.runs] == ["cifar10"] and whole.downloads == ("cifar10", "cifar10.2")
    (row,) = chosen("frap", "C10-S").runs
    assert (row.name, row.spec.targets, len(row.spec.conditions)) == ("cifar10-c10-s", (), 95)
    (row,) = chosen("frap", "C10-N").runs
    assert [each.row for each in row.spec.conditions] == ["C10-N"] and row.tables == tuple(TABLES["frap"])
    (breeds,) = chosen("frap", "L17-N").runs
    assert breeds.spec == chosen("frap", "living17").runs[0].spec


def test_rows_of_a_source_whose_data_are_not_on_disk_are_left_out(tmp_path):
    place(tmp_path, "cifar10")
    setup = ReproductionSetup(str(tmp_path), datasets=("cifar10",))
    found = plan_what_is_there("frap", (), setup)
    assert found.downloads == ("cifar10",) and [run.name for run in found.runs] == ["cifar10-c10-s"]
    assert any("C10-N" in sentence and "not on disk: cifar10.2" in sentence for sentence in found.sentences)
    named = plan_what_is_there("frap", (), ReproductionSetup(str(tmp_path), datasets=("C10-N",)))
    assert set(named.downloads) == {"cifar10", "cifar10.2"}
    place(tmp_path, "cifar10.2")
    assert [run.name for run in plan_what_is_there("frap", (), setup).runs] == ["cifar10"]


def place(root, name):
    """Folder and lists of a data set, without images."""
    DATASETS[name].folder_in(root).mkdir(parents=True)


def test_checkpoints_are_those_of_frap():
    (run,) = chosen("frap", "cifar100", checkpoints=("200",)).runs
    assert [model.checkpoints for model in run.spec.models] == [(200,)] * 2 and run.name == "cifar100-epochs-200"
    (last,) = chosen("frap", "cifar100", checkpoints=("last",)).runs
    assert [model.checkpoints for model in last.spec.models] == [(300,)] * 2


@pytest.mark.parametrize(
    ("paper", "dataset", "setup", "message"),
    [
        *((paper, "nothing", {}, f"unknown data set of {paper} 'nothing'") for paper in PAPERS),
        ("frap", "cifar100", {"checkpoints": ("7",)}, "judged after epochs 100, 200 and 300"),
        ("frap", "cifar100", {"checkpoints": ("first",)}, "'first'"),
        ("openpl", "dtd", {"checkpoints": ("7",)}, "openpl has none"),
        ("openworldauc", "ImageNetV2", {}, "tuned on ImageNet, which is not among"),
    ],
)
def test_what_a_paper_does_not_have_is_refused(paper, dataset, setup, message):
    with pytest.raises(OpenworldError, match=message):
        chosen(paper, dataset, **setup)


def test_imagenet_teaches_whichever_row_of_is_ood_is_asked_for():
    (run,) = chosen("is-ood", "imagenet-c").runs
    assert [each.row for each in run.spec.sets] == ["ImageNet-1K", "ImageNet-C"] and run.tables == ("3",)
    assert [run.name for run in chosen("is-ood", "imagenet21k").runs] == ["imagenet21k"]


def test_stand_ins_are_chosen_by_the_papers_names_and_frap_s_by_their_own():
    (run,) = chosen("openpl", "dtd", tables=["6"], data="embedded").runs
    assert run.spec.datasets[0].dataset == "emoji-subgroups"
    (run,) = chosen("frap", "Emoji, other styles", data="embedded").runs
    assert {each.row for each in run.spec.conditions} == {"Emoji, other styles"}
