"""Figures of a plan: drawn from the runs that are there, written as files, and had in Python."""

from dataclasses import replace

import pytest

import openworld as ow
from openworld import OpenworldError
from openworld.report.charts import Line, LineChart, Quantity
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.figures import FIGURES
from openworld.reproduction.page import comparison_report, draw_plan, write_figures
from openworld.reproduction.plan import plan
from openworld.reproduction.settings import ReproductionSetup
from openworld.runs import RunStore


def drawing(runs):
    chart = LineChart(
        "", Quantity("x", "x"), Quantity("y", "y"), {run.folder.name: Line([0, 1], [0.0, 0.5]) for run in runs}
    )
    return Figure("", "", ("Lines.",), (chart,), series_styles(list(chart.series)))


@pytest.fixture
def half_failed(tmp_path, monkeypatch):
    """Figures 6b and 11, whose only common run failed, drawn as a line per run."""
    for number in ("6b", "11"):
        known = FIGURES["openworldauc"][number]
        monkeypatch.setitem(FIGURES["openworldauc"], number, replace(known, draw=drawing))
    made = plan("openworldauc", (), ReproductionSetup("data"), figures=["6b", "11"])
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
    monkeypatch.setattr("openworld.reproduction.page.find_spec", lambda name: None)
    assert "pip install 'openworld[plots]'" in write_figures(made, folder / "figures", figures)
    assert [path.name for path in (folder / "figures").iterdir()] == ["figure-11.csv"]


def test_figures_in_python(half_failed):
    _, _, figures = half_failed
    made = comparison_report((), figures)
    assert list(made.figures) == ["figure-11"] and made.figures["figure-11"].rows()[1]["y"] == 0.5
    assert "Figure 11" in repr(made)
    with pytest.raises(OpenworldError, match="unknown figure of openworldauc '99'"):
        ow.reproduce("openworldauc", "embedded", figure=["99"])
