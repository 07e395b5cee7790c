"""FRAP's figures, drawn from runs that nobody ran: the right run of several, printed errors, and what stands in."""

import pytest

from openworld.papers import published_numbers
from openworld.papers.results import PaperRun
from openworld.reproduction.figures import FIGURES, FigureRuns
from openworld.reproduction.settings import ReproductionSetup

REAL = ReproductionSetup("data")


@pytest.fixture(scope="module")
def draw(estimates_folder, make_estimates_folder):
    """A function that draws a figure from two runs, of which the second is on ImageNet."""
    other = PaperRun(make_estimates_folder(references=(), aligned=False), {"mnist": "MNIST"})
    named = PaperRun(estimates_folder, {"emoji-concepts": "ImageNet"})

    def drawn(number, setup=REAL):
        return FIGURES["frap"][number].draw(FigureRuns("frap", setup, (other, named)))

    return drawn


def test_figures_of_one_data_set_are_drawn_from_its_run(draw):
    assert [chart.title for chart in draw("2").charts] == ["CLIP"] and len(draw("2").rows()) == 6
    assert [chart.title for chart in draw("4").charts][:2] == [
        "fused with CLIP, natural shift",
        "fused with CLIP, synthetic shift",
    ]
    assert "Nearness in meaning is that of a tree." in draw("4").caption
    assert "One embedded world stands in for all" in draw("4", ReproductionSetup()).caption[-1]


def test_a_run_without_a_tree_says_so(draw):
    assert draw("5").charts == () and "no tree holds these classes" in draw("5").caption[0]


def test_printed_calibration_errors_are_lines_across(draw):
    figure = draw("3")
    assert [chart.title for chart in figure.charts] == ["ImageNet, CLIP", "ImageNet, dirichlet"]
    printed = {each.method: each.value for each in published_numbers("frap", "2") if each.dataset == "ImageNet"}
    lines = {line.text: line.value for line in figure.charts[0].references}
    assert lines == {"printed TTC": printed["CLIP TTC"], "printed raw": printed["CLIP raw"]}
    assert figure.charts[1].references == () and "Upright lines" in figure.caption[-1]
