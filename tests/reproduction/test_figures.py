"""Figures of the papers: every one is planned for both kinds of data, shares its runs with tables, and is known."""

from dataclasses import replace

import pytest

import openworld as ow
from openworld import OpenworldError
from openworld.papers import published_numbers
from openworld.report.charts import Line, LineChart, Quantity
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.comparison.page import comparison_report, draw_plan, write_figures
from openworld.reproduction.figures import ABSENT, FIGURES, find_figures
from openworld.reproduction.plan import PAPERS, plan
from openworld.reproduction.settings import ReproductionSetup
from openworld.runs import RunStore

REAL, EMBEDDED = ReproductionSetup("data"), ReproductionSetup()
EVERY = [
    pytest.param(paper, number, setup, id=f"{paper}-{number}-{'embedded' if setup.embedded else 'real'}")
    for setup in (REAL, EMBEDDED)
    for paper in FIGURES
    for number, figure in FIGURES[paper].items()
    if not figure.refused(setup.settled(PAPERS[paper].DEFAULTS))
]


@pytest.mark.parametrize(("paper", "number", "setup"), EVERY)
def test_every_figure_has_runs_on_all_data_that_it_shows(paper, number, setup):
    made, figure = plan(paper, (), setup, figures=[number]), FIGURES[paper][number]
    assert (made.tables, made.figures, made.figures_left_out) == ((), (number,), {}) and made.runs
    assert all((run.tables, run.figures) == ((), (number,)) for run in made.runs)
    if not setup.embedded:
        titles = {title for run in made.runs for title in run.datasets.values()}
        assert {name for table in figure.tables for name in table.datasets} <= titles
    methods = {name for run in made.runs for name in run.methods.values()}
    printed = {each.method for table in figure.tables for each in published_numbers(paper, table.number)}
    assert {name for name in printed if not setup.embedded or "SigLIP" not in name} <= methods


@pytest.mark.parametrize("setup", [REAL, EMBEDDED], ids=["real", "embedded"])
@pytest.mark.parametrize("paper", [paper for paper in FIGURES if FIGURES[paper]])
def test_a_figure_shares_the_runs_of_its_tables(paper, setup):
    """All figures beside all tables that they are read from need the runs of these tables and their own, no other."""
    figures = [
        figure for figure in find_figures(paper, "all") if not figure.refused(setup.settled(PAPERS[paper].DEFAULTS))
    ]
    tables = dict.fromkeys(table.number for figure in figures for table in figure.tables)
    both = plan(paper, tuple(tables), setup, figures=["all"])
    assert both.figures == tuple(figure.number for figure in figures)
    names = {run.name for run in plan(paper, tuple(tables), setup).runs} if tables else set()
    own = {run.name for figure in figures for run in figure.runs(setup.settled(PAPERS[paper].DEFAULTS))}
    assert {run.name for run in both.runs} == names | own
    for figure in figures:
        alone = {run.data for run in plan(paper, (), setup, figures=[figure.number]).runs}
        read = [run for run in both.runs if figure.number in run.figures]
        assert all(any(set(data) <= set(run.data) for run in read) for data in alone), figure.number


def test_a_figure_of_fewer_data_sets_does_not_grow_with_its_table():
    both = plan("openworldauc", ["2"], REAL, figures=["2"])
    read = {run.name: run.figures for run in both.runs if run.figures}
    assert read == {"recognition-dtd": ("2",), "recognition-oxford_flowers": ("2",)} and len(both.runs) == 11


def test_a_plan_says_which_figures_it_makes():
    both = plan("openpl", ["6"], REAL, figures=["1", "3"])
    assert "Table 6 and Figures 1, 3" in both.headline and len(both.runs) == 12
    assert both.runs[-1].tables == () and both.runs[-1].figures == ("3",)
    assert both.without([both.runs[-1].name]) == ((), ("3",))


def test_methods_that_a_figure_does_not_have_leave_it_out():
    both = plan("openworldauc", ["2"], ReproductionSetup("data", learners=("CoOp",)), figures=["2"])
    assert both.figures == () and "Figure 2 is left out: none of its methods is among" in both.sentences[-1]
    with pytest.raises(OpenworldError, match="nothing is left to run: of Figure 2, none of its methods"):
        plan("openworldauc", (), ReproductionSetup("data", learners=("CoOp",)), figures=["2"])


@pytest.mark.parametrize(
    ("paper", "number", "message"),
    [
        ("openworldauc", "99", r"unknown figure of openworldauc '99'.* Known: 2"),
        ("openworldauc", "1", "Figure 1 of openworldauc cannot be made: it is a drawing"),
        ("openpl", "5", r"unknown figure of openpl '5'.* Known: 1, 2, 3, 4, all"),
    ],
)
def test_figures_that_there_are_not_are_refused(paper, number, message):
    with pytest.raises(OpenworldError, match=message):
        plan(paper, (), EMBEDDED, figures=[number])


@pytest.mark.parametrize("paper", FIGURES)
def test_no_figure_is_both_made_and_absent(paper):
    assert not set(FIGURES[paper]) & set(ABSENT[paper])
    assert all(figure.number == number and figure.title for number, figure in FIGURES[paper].items())


def drawing(runs):
    chart = LineChart(
        "", Quantity("x", "x"), Quantity("y", "y"), {run.folder.name: Line([0, 1], [0.0, 0.5]) for run in runs.runs}
    )
    return Figure("", "", ("Lines.",), (chart,), series_styles(list(chart.series)))


@pytest.fixture
def half_failed(tmp_path, monkeypatch):
    """Figures 6b and 11, whose only common run failed, drawn as a line per run."""
    for number in ("6b", "11"):
        known = FIGURES["openworldauc"][number]
        monkeypatch.setitem(FIGURES["openworldauc"], number, replace(known, draw=drawing))
    made = plan("openworldauc", (), REAL, figures=["6b", "11"])
    for run in made.runs:
        RunStore(tmp_path / run.name).create({}, {"backbone": "embedded"}, {})
    return made, tmp_path, draw_plan(made, tmp_path, ["shots-dtd"])


def test_a_figure_without_a_run_is_not_made_and_others_say_what_they_lack(half_failed):
    _, _, (figure,) = half_failed
    assert figure.number == "11" and list(figure.figure.styles) == ["shots-oxford_pets"]
    assert figure.figure.title.startswith("Figure 11: ") and figure.backbones == ("embedded",)
    assert "Missing here, because their runs failed: shots-dtd." in figure.sentences
    assert figure.datasets == ("OxfordPets",)


def test_files_of_a_figure_that_could_not_be_made_are_removed(half_failed, monkeypatch):
    made, folder, figures = half_failed
    (folder / "figures").mkdir()
    (folder / "figures" / "figure-6b.csv").write_text("of an earlier call")
    assert write_figures(made, folder / "figures", figures) == ""
    assert {path.name for path in (folder / "figures").iterdir()} == {
        f"figure-11.{form}" for form in ("csv", "svg", "pdf")
    }
    monkeypatch.setattr("openworld.reproduction.comparison.page.find_spec", lambda name: None)
    assert "pip install 'openworld[plots]'" in write_figures(made, folder / "figures", figures)
    assert [path.name for path in (folder / "figures").iterdir()] == ["figure-11.csv"]


def test_figures_in_python(half_failed):
    _, _, figures = half_failed
    made = comparison_report((), figures)
    assert list(made.figures) == ["figure-11"] and made.figures["figure-11"].rows()[1]["y"] == 0.5
    assert "Figure 11" in repr(made)
    with pytest.raises(OpenworldError, match="unknown figure of openworldauc '99'"):
        ow.reproduce("openworldauc", "embedded", figure=["99"])
