"""Plans: every table that was printed has its runs, every run is planned once, and no two runs share a folder."""

import tomllib
from functools import cache

import pytest

from openworld import OpenworldError
from openworld.datasets import PUBLISHED
from openworld.learners import LEARNERS, configure
from openworld.papers import TABLES, published_numbers
from openworld.reproduction.cost import cost
from openworld.reproduction.figures import FIGURES
from openworld.reproduction.plan import PAPERS, find_table, plan
from openworld.reproduction.settings import NAMES, ReproductionSetup, embedded_settings

REAL, EMBEDDED = ReproductionSetup("data"), ReproductionSetup()
OF_LEARNERS = ("openworldauc", "openpl")
OF_GENERATED_IMAGES = {"is-ood": {"2", "5", "7"}}
"""Tables that embedded data do not have; that they are refused is tested with their paper's plan."""


@cache
def plan_of_table(paper, number, embedded):
    return plan(paper, [number], EMBEDDED if embedded else REAL)


def makeable(paper, setup):
    without = OF_GENERATED_IMAGES.get(paper, set()) if setup.embedded else set()
    return [number for number in TABLES[paper] if number not in without]


EVERY = [
    pytest.param(paper, number, setup, id=f"{paper}-{number}-{'embedded' if setup.embedded else 'real'}")
    for setup in (REAL, EMBEDDED)
    for paper in TABLES
    for number in makeable(paper, setup)
]


@pytest.mark.parametrize(("paper", "number", "setup"), EVERY)
def test_every_printed_table_has_runs_on_all_of_its_data_with_all_of_its_methods(paper, number, setup):
    found, table = plan_of_table(paper, number, setup.embedded), find_table(paper, number)
    assert found.tables == (number,) and not found.left_out and found.runs
    assert all(run.tables == (number,) for run in found.runs)
    methods = {name for run in found.runs for name in run.methods.values()}
    printed = {one.method for one in published_numbers(paper, number)}
    assert {name for name in printed if not setup.embedded or "SigLIP" not in name} <= methods
    if not setup.embedded and set(table.tasks) - {"size", "time"}:
        assert set(table.datasets) <= {title for run in found.runs for title in run.datasets.values()}
    assert found.units == sum(run.units for run in found.runs)


@pytest.mark.parametrize("setup", [REAL, EMBEDDED], ids=["real", "embedded"])
@pytest.mark.parametrize("paper", PAPERS)
def test_a_folder_holds_one_run_whichever_tables_are_asked_for(paper, setup):
    numbers = makeable(paper, setup)
    several = [plan_of_table(paper, number, setup.embedded) for number in numbers]
    several += [plan(paper, (), setup), plan(paper, numbers[:3], setup), plan(paper, numbers[::-1], setup)]
    several += [plan(paper, (), setup, figures=["all"])] if FIGURES[paper] else []
    several += [plan(paper, (), ReproductionSetup(setup.data, learners=tuple(PAPERS[paper].METHODS)[:2]))]
    several += [plan(paper, (), ReproductionSetup(setup.data, seeds=(1,)))]
    specs = {}
    for run in (run for one in several for run in one.runs):
        assert specs.setdefault(run.name, run.spec) == run.spec, run.name
    assert len(set(map(repr, specs.values()))) == len(specs)


def test_openworldauc_on_real_data_is_planned_once():
    found = plan("openworldauc", (), REAL)
    assert found.downloads == tuple(PUBLISHED) and found.tables == tuple(TABLES["openworldauc"])
    kinds = [run.name.partition("-")[0] for run in found.runs]
    assert {kind: kinds.count(kind) for kind in kinds} == {"recognition": 10, "gates": 11, "generalisation": 1}
    crossing = found.runs[-1]
    assert crossing.spec.source.dataset == "imagenet"
    assert (len(crossing.spec.variants), len(crossing.spec.others), len(crossing.spec.learners)) == (4, 7, 11)
    assert "2" in crossing.tables  # ImageNet's own column: the source is scored as well
    assert all(run.spec.backbone == "openai/clip-vit-base-patch16" for run in found.runs)
    assert all((run.spec.seeds, run.spec.shots) == ((1, 2, 3), 16) for run in found.runs)


def test_openpl_on_real_data_is_planned_once():
    found = plan("openpl", (), REAL)
    assert [run.name for run in found.runs if not run.name.startswith("classes-")] == ["from-imagenet"]
    assert len(found.runs) == 12 and found.downloads == tuple(PUBLISHED)
    assert all(len(run.spec.learners) == 11 and run.spec.published == "openpl" for run in found.runs)
    assert plan("openpl", ["2"], REAL).runs[0].spec == plan("openpl", ["12", "23"], REAL).runs[0].spec


@pytest.mark.parametrize(("number", "variant"), [("34", "imagenet-sketch"), ("35", "imagenetv2")])
def test_tables_that_could_not_be_read_are_made_of_all_methods(number, variant):
    (run,) = plan("openpl", [number], REAL).runs
    assert [each.dataset for each in run.spec.variants] == [variant] and len(run.spec.learners) == 11


def test_every_number_of_shots_is_counted():
    made = plan("openworldauc", (), ReproductionSetup("data", learners=("CoOp",)), figures=["6b"])
    assert cost(made).units == 5 * 3 and cost(made).units == made.units


def test_imagenet_is_recognised_on_its_own_where_nothing_is_generalised():
    assert [run.name for run in plan("openworldauc", ["2"], REAL).runs][0] == "recognition-imagenet"


def test_settings_on_real_data_are_the_published_ones():
    own = {"DeCoOp": {"classifier_context": 4}, "GMoP, no gate": {"gate": "none"}, "GMoP, gate 0-1": {"gate": "0-1"}}
    for paper in OF_LEARNERS:
        for run in plan(paper, (), REAL).runs:
            for one in run.spec.learners:
                assert one.settings == own.get(one.label, {}), one.label


@pytest.mark.parametrize("paper", OF_LEARNERS)
def test_settings_on_embedded_data_can_be_configured(paper):
    for run in plan(paper, (), EMBEDDED).runs:
        assert not run.datasets and run.spec.backbone == "embedded"
        for one in run.spec.learners:
            configure(LEARNERS[one.learner], one.settings, run.data[0].dataset, run.spec.published)


@pytest.mark.parametrize(("task", "example"), [("base-to-new", "all-learners"), ("openpl", "dynamic-all-learners")])
def test_embedded_settings_are_those_of_the_example(task, example, repository):
    given = tomllib.loads((repository / "examples" / f"{example}.toml").read_text(encoding="utf-8"))
    kept = embedded_settings()[task]
    assert kept["views"] == given["views"]
    assert kept["learners"] == {one["learner"]: one["settings"] for one in given["learners"] if "settings" in one}


def test_quick_divides_epochs_of_all_stages_and_moves_promptsrcs_gaussian():
    def learned(paper, quick, label, data="data"):
        run = plan(paper, (), ReproductionSetup(data, quick=quick)).runs[0]
        one = next(one for one in run.spec.learners if one.label == label)
        return configure(LEARNERS[one.learner], one.settings, run.data[0].dataset, run.spec.published)

    decoop = learned("openworldauc", 10, "DeCoOp")
    assert (decoop.detector_schedule.epochs, decoop.schedule.epochs) == (5, 10)
    promptsrc = learned("openworldauc", 4, "PromptSRC")
    assert (promptsrc.schedule.epochs, promptsrc.mean, promptsrc.deviation) == (5, 3.75, 0.25)
    assert learned("openpl", 100, "VPT", "embedded").schedule.epochs == 2
    assert learned("openpl", 1, "VPT", "embedded").schedule.epochs == 50


def test_quick_says_that_it_does_not_rank():
    (few,) = plan("openworldauc", ["2"], ReproductionSetup("data", quick=8)).remarks
    assert (
        "divided by 8" in few
        and "not rank" in few
        and not plan("openworldauc", ["2"], ReproductionSetup("data")).remarks
    )


def test_fewer_methods_leave_tables_out_and_say_why():
    found = plan("openworldauc", ["2", "17"], ReproductionSetup("data", learners=("coop", "GalLoP")))
    assert found.tables == ("2",) and found.left_out == {"17": "none of its methods is among those asked for"}
    assert [one.label for one in found.runs[0].spec.learners] == ["CoOp", "GalLoP"]
    with pytest.raises(OpenworldError, match="nothing is left to run: of Table 17, none of its methods"):
        plan("openworldauc", ["17"], ReproductionSetup("data", learners=("CoOp",)))


def test_zero_shot_clip_is_always_in_openpls_curves():
    found = plan("openpl", ["4"], ReproductionSetup(learners=("CoOp",)))
    assert [one.label for one in found.runs[0].spec.learners] == ["zero-shot", "CoOp"]


@pytest.mark.parametrize(
    ("paper", "tables", "setup", "message"),
    [
        ("openworldac", (), REAL, "did you mean 'openworldauc'"),
        ("openworldauc", ("18",), REAL, "unknown table of openworldauc '18'.* Known: 2, 3"),
        ("openworldauc", ("5",), REAL, "Table 5 of openworldauc cannot be made: it is a truth table"),
        ("openpl", ("1",), REAL, "Table 1 of openpl cannot be made: it holds formulas"),
        ("openpl", (), ReproductionSetup("data", learners=("GMoP",)), "unknown method of openpl 'GMoP'"),
    ],
)
def test_what_cannot_be_planned_is_refused(paper, tables, setup, message):
    with pytest.raises(OpenworldError, match=message):
        plan(paper, tables, setup)


def test_a_ground_that_makes_no_sense_is_refused():
    with pytest.raises(OpenworldError, match="quick"):
        ReproductionSetup(quick=0)


def test_tables_8_and_9_are_one():
    assert find_table("openworldauc", "9").number == "8-9"
    assert plan("openworldauc", ["8", "9"], REAL).tables == ("8-9",)


@pytest.mark.parametrize("name", ["ViT-B/16", "ViT-B/32", "ViT-L/14"])
def test_backbones_go_by_the_papers_names(name):
    from openworld.backbones import BACKBONES

    assert ReproductionSetup("data", name).backbone in BACKBONES


def test_every_method_and_data_set_of_the_papers_has_its_counterpart():
    for paper, module in PAPERS.items():
        assert {one.method for one in published_numbers(paper)} == set(module.METHODS)
    for paper in OF_LEARNERS:
        titles = {title for table in TABLES[paper].values() for title in table.datasets}
        assert titles <= set(NAMES) and titles <= set(PAPERS[paper].STAND_INS)
