"""Plans: every table and figure that was printed has its runs, each planned once, and no two share a folder."""

import tomllib

import pytest
from paper_runs import plan_of

from openworld import OpenworldError
from openworld.datasets import PUBLISHED
from openworld.learners import LEARNERS, configure
from openworld.papers import TABLES, published_numbers
from openworld.reproduction.cost import cost
from openworld.reproduction.figures import ABSENT, FIGURES
from openworld.reproduction.plan import PAPERS, find_table
from openworld.reproduction.settings import NAMES, ReproductionSetup, embedded_settings

REAL, EMBEDDED = "data", "embedded"
OF_LEARNERS = ("openworldauc", "openpl")


def tables_of(paper, data):
    """Tables of a paper that data can make; of those that differ in the data set alone, embedded data have one."""
    of_all = paper != "openpl" or data == REAL
    return [number for number in TABLES[paper] if of_all or int(number) < 10]


def figures_of(paper, data):
    setup = ReproductionSetup(data).settled(*PAPERS[paper].DEFAULTS)
    return [number for number, figure in FIGURES[paper].items() if not figure.refused(setup)]


def methods_in(runs):
    return {name for run in runs for name in run.methods.values()}


def titles_in(runs):
    return {title for run in runs for title in run.datasets.values()}


def printed_in(paper, numbers, data):
    named = {one.method for number in numbers for one in published_numbers(paper, number)}
    return {name for name in named if data == REAL or "SigLIP" not in name}


@pytest.mark.parametrize("data", [REAL, EMBEDDED])
@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_table_has_runs_on_all_of_its_data_with_all_of_its_methods(paper, data):
    for number in tables_of(paper, data):
        found, table = plan_of(paper, (number,), data=data), find_table(paper, number)
        assert found.tables == (number,) and not found.left_out and found.runs
        assert all(run.tables == (number,) for run in found.runs)
        assert printed_in(paper, [number], data) <= methods_in(found.runs)
        if data == REAL and set(table.tasks) - {"size", "time"}:
            assert set(table.datasets) <= titles_in(found.runs)


@pytest.mark.parametrize("data", [REAL, EMBEDDED])
@pytest.mark.parametrize("paper", FIGURES)
def test_every_figure_has_runs_on_all_data_that_it_shows_and_shares_them_with_its_tables(paper, data):
    """All figures beside all tables that they are read from need the runs of these tables and their own, no other."""
    setup, numbers = ReproductionSetup(data).settled(*PAPERS[paper].DEFAULTS), figures_of(paper, data)
    figures = {number: FIGURES[paper][number] for number in numbers}
    tables = tuple(dict.fromkeys(table.number for figure in figures.values() for table in figure.tables))
    both = plan_of(paper, tables, ("all",), data)
    assert both.figures == tuple(numbers)
    names = {run.name for run in plan_of(paper, tables, data=data).runs} if tables else set()
    assert {run.name for run in both.runs} == names | {
        run.name for each in figures.values() for run in each.runs(setup)
    }
    for number, figure in figures.items():
        made = plan_of(paper, (), (number,), data)
        assert (made.tables, made.figures, made.figures_left_out) == ((), (number,), {}) and made.runs
        assert all((run.tables, run.figures) == ((), (number,)) for run in made.runs)
        if data == REAL:
            assert {name for table in figure.tables for name in table.datasets} <= titles_in(made.runs)
        assert printed_in(paper, [table.number for table in figure.tables], data) <= methods_in(made.runs)
        read = [set(run.data) for run in both.runs if number in run.figures]
        assert all(any(set(run.data) <= data for data in read) for run in made.runs), number


@pytest.mark.parametrize("data", [REAL, EMBEDDED])
@pytest.mark.parametrize("paper", PAPERS)
def test_a_folder_holds_one_run_whichever_tables_are_asked_for(paper, data):
    numbers = tuple(tables_of(paper, data))
    several = [plan_of(paper, (number,), data=data) for number in numbers]
    several += [plan_of(paper, tables, data=data) for tables in ((), numbers[::-1])]
    several += [plan_of(paper, (), ("all",), data)]
    several += [
        plan_of(paper, data=data, learners=tuple(PAPERS[paper].METHODS)[:2]),
        plan_of(paper, data=data, seeds=(1,)),
    ]
    specs = {}
    for run in (run for one in several for run in one.runs):
        assert specs.setdefault(run.name, run.spec) == run.spec, run.name
    assert len(set(map(repr, specs.values()))) == len(specs)


def test_openworldauc_on_real_data_is_planned_once():
    found = plan_of("openworldauc")
    assert found.downloads == tuple(PUBLISHED) and found.tables == tuple(TABLES["openworldauc"])
    kinds = [run.name.partition("-")[0] for run in found.runs]
    assert {kind: kinds.count(kind) for kind in kinds} == {"recognition": 10, "gates": 11, "generalisation": 1}
    crossing = found.runs[-1]
    assert crossing.spec.source.dataset == "imagenet"
    assert (len(crossing.spec.variants), len(crossing.spec.others), len(crossing.spec.learners)) == (4, 7, 11)
    assert "2" in crossing.tables  # ImageNet's own column: the source is scored as well
    assert all(run.spec.backbone == "openai/clip-vit-base-patch16" for run in found.runs)
    assert all((run.spec.seeds, run.spec.shots) == ((1, 2, 3), 16) for run in found.runs)
    assert plan_of("openworldauc", ("2",)).runs[0].name == "recognition-imagenet", "alone, nothing is generalised"


def test_openpl_on_real_data_is_planned_once():
    found = plan_of("openpl")
    assert [run.name for run in found.runs if not run.name.startswith("classes-")] == ["from-imagenet"]
    assert len(found.runs) == 12 and found.downloads == tuple(PUBLISHED)
    assert all(len(run.spec.learners) == 11 and run.spec.published == "openpl" for run in found.runs)
    assert plan_of("openpl", ("2",)).runs[0].spec == plan_of("openpl", ("12", "23")).runs[0].spec
    for number, variant in (("34", "imagenet-sketch"), ("35", "imagenetv2")):  # which could not be read in the text
        (run,) = plan_of("openpl", (number,)).runs
        assert [each.dataset for each in run.spec.variants] == [variant] and len(run.spec.learners) == 11


def test_every_number_of_shots_is_counted():
    made = plan_of("openworldauc", (), ("6b",), learners=("CoOp",))
    assert cost(made)["units"] == 5 * 3 and cost(made)["units"] == made.units


def test_settings_on_real_data_are_the_published_ones_and_those_on_embedded_data_can_be_configured():
    own = {"DeCoOp": {"classifier_context": 4}, "GMoP, no gate": {"gate": "none"}, "GMoP, gate 0-1": {"gate": "0-1"}}
    for paper in OF_LEARNERS:
        for entry in (entry for run in plan_of(paper).runs for entry in run.spec.learners):
            assert entry.settings == own.get(entry.label, {}), entry.label
        for run in plan_of(paper, data=EMBEDDED).runs:
            assert not run.datasets and run.spec.backbone == "embedded"
            for entry in run.spec.learners:
                configure(LEARNERS[entry.learner], entry.settings, run.data[0].dataset, run.spec.published)


@pytest.mark.parametrize(("task", "example"), [("base-to-new", "all-learners"), ("openpl", "dynamic-all-learners")])
def test_embedded_settings_are_those_of_the_example(task, example, repository):
    given = tomllib.loads((repository / "examples" / f"{example}.toml").read_text(encoding="utf-8"))
    kept = embedded_settings()[task]
    assert kept["views"] == given["views"]
    assert kept["learners"] == {one["learner"]: one["settings"] for one in given["learners"] if "settings" in one}


def test_quick_divides_epochs_of_all_stages_moves_promptsrcs_gaussian_and_says_that_it_does_not_rank():
    def learned(paper, tables, quick, label, data=REAL):
        run = plan_of(paper, tables, data=data, quick=quick, learners=(label,)).runs[0]
        (entry,) = (entry for entry in run.spec.learners if entry.label == label)
        return configure(LEARNERS[entry.learner], entry.settings, run.data[0].dataset, run.spec.published)

    decoop = learned("openworldauc", ("2",), 10, "DeCoOp")
    assert (decoop.detector_schedule.epochs, decoop.schedule.epochs) == (5, 10)
    promptsrc = learned("openworldauc", ("2",), 4, "PromptSRC")
    assert (promptsrc.schedule.epochs, promptsrc.mean, promptsrc.deviation) == (5, 3.75, 0.25)
    assert learned("openpl", ("6",), 100, "VPT", EMBEDDED).schedule.epochs == 2
    assert learned("openpl", ("6",), 1, "VPT", EMBEDDED).schedule.epochs == 50
    (few,) = plan_of("openworldauc", ("2",), quick=10, learners=("DeCoOp",)).remarks
    assert "divided by 10" in few and "not rank" in few and not plan_of("openworldauc", ("2",)).remarks


def test_fewer_methods_leave_tables_and_figures_out_and_say_why():
    found = plan_of("openworldauc", ("2", "17"), learners=("coop", "GalLoP"))
    assert found.tables == ("2",) and found.left_out == {"17": "none of its methods is among those asked for"}
    assert [one.label for one in found.runs[0].spec.learners] == ["CoOp", "GalLoP"]
    both = plan_of("openworldauc", ("2",), ("2",), learners=("CoOp",))
    assert both.figures == () and "Figure 2 is left out: none of its methods is among" in both.sentences[-1]
    curves = plan_of("openpl", ("4",), data=EMBEDDED, learners=("CoOp",))
    assert [one.label for one in curves.runs[0].spec.learners] == ["zero-shot", "CoOp"], "always in openpl's curves"


def test_a_plan_says_which_figures_it_makes_and_a_figure_of_fewer_data_sets_does_not_grow_with_its_table():
    both = plan_of("openpl", ("6",), ("1", "3"))
    assert "Table 6 and Figures 1, 3" in both.headline and len(both.runs) == 12
    assert both.runs[-1].tables == () and both.runs[-1].figures == ("3",)
    assert both.without([both.runs[-1].name]) == ((), ("3",))
    both = plan_of("openworldauc", ("2",), ("2",))
    read = {run.name: run.figures for run in both.runs if run.figures}
    assert read == {"recognition-dtd": ("2",), "recognition-oxford_flowers": ("2",)} and len(both.runs) == 11


@pytest.mark.parametrize(
    ("paper", "tables", "figures", "setup", "message"),
    [
        ("openworldac", (), (), {}, "did you mean 'openworldauc'"),
        ("openworldauc", ("18",), (), {}, "unknown table of openworldauc '18'.* Known: 2, 3"),
        ("openworldauc", ("5",), (), {}, "Table 5 of openworldauc cannot be made: it is a truth table"),
        ("openpl", ("1",), (), {}, "Table 1 of openpl cannot be made: it holds formulas"),
        ("openpl", (), (), {"learners": ("GMoP",)}, "unknown method of openpl 'GMoP'"),
        ("is-ood", ("1",), (), {"learners": ("GradNrm",)}, "did you mean 'GradNorm'"),
        ("openworldauc", ("17",), (), {"learners": ("CoOp",)}, "nothing is left to run: of Table 17, none of its m"),
        ("openworldauc", (), ("2",), {"learners": ("CoOp",)}, "nothing is left to run: of Figure 2, none of its m"),
        ("openworldauc", (), ("99",), {}, "unknown figure of openworldauc '99'.* Known: 2"),
        ("openworldauc", (), ("1",), {}, "Figure 1 of openworldauc cannot be made: it is a drawing"),
        ("openpl", (), ("5",), {}, "unknown figure of openpl '5'.* Known: 1, 2, 3, 4, all"),
        ("is-ood", (), ("generated",), {}, "Figure generated.*no degree of one is a degree of the other"),
        ("openpl", (), (), {"quick": 0}, "quick"),
    ],
)
def test_what_cannot_be_planned_is_refused(paper, tables, figures, setup, message):
    with pytest.raises(OpenworldError, match=message):
        plan_of(paper, tables, figures, **setup)


def test_tables_8_and_9_are_one():
    assert find_table("openworldauc", "9").number == "8-9"
    assert plan_of("openworldauc", ("8", "9")).tables == ("8-9",)


@pytest.mark.parametrize("name", ["ViT-B/16", "ViT-B/32", "ViT-L/14"])
def test_backbones_go_by_the_papers_names(name):
    from openworld.backbones import BACKBONES

    assert ReproductionSetup("data", name).backbone in BACKBONES


def test_every_method_data_set_and_figure_of_the_papers_has_its_counterpart():
    for paper, module in PAPERS.items():
        assert {one.method for one in published_numbers(paper)} == set(module.METHODS)
        assert not set(FIGURES[paper]) & set(ABSENT[paper])
        assert all(figure.number == number and figure.title for number, figure in FIGURES[paper].items())
    for paper in OF_LEARNERS:
        titles = {title for table in TABLES[paper].values() for title in table.datasets}
        assert titles <= set(NAMES) and titles <= set(PAPERS[paper].STAND_INS)
