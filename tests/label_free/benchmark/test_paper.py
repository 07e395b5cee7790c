"""A run of accuracy estimation as FRAP's tables would print it: means by hand, averages, and what is left out."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.label_free.benchmark.arrays import RunArrays
from openworld.papers import AVERAGE, published_numbers
from openworld.papers.results import PaperRun
from openworld.papers.results import paper_results as paper_numbers
from openworld.reproduction.figures import FIGURES
from openworld.results import RunFolder

METHODS = {
    "AC": ("AC", None, {}, 0.3, 0.02),
    "COTT": ("COTT", None, {}, 0.9, 0.03),
    "clip": ("FRAP", "CLIP", {}, 0.97, 0.02),
    "FRAP (CLIP) tau 0.05": ("FRAP", "CLIP", {"tau": 0.05}, 0.9, 0.03),
    "Base (CLIP)": ("FRAP", "CLIP", {"reference": "pseudo-labels"}, 1.2, 0.05),
    "mine": ("AC", None, {}, 0.3, 0.02),
}
OWN = {"clip": "FRAP (CLIP)"}


@pytest.fixture(scope="module")
def folder(make_estimates_folder):
    return make_estimates_folder(methods=METHODS, silent=(), epochs=(5,), severities=(1, 5))


@pytest.fixture(scope="module")
def table_1(folder):
    return paper_numbers("frap", "1", [PaperRun(folder, methods=OWN)])


def of(numbers, dataset, method):
    (found,) = [one for one in numbers if (one.dataset, one.method) == (dataset, method)]
    return found


def test_a_row_is_the_mean_of_absolute_errors_as_a_fraction(folder, table_1):
    assert {one.method for one in table_1} == {"AC", "COTT", "FRAP (CLIP)"}, "methods of this table alone"
    run = RunArrays(RunFolder.read(folder))
    of_row = [place for place, one in enumerate(run.conditions) if one.row == "Emoji, natural"]
    sizes = np.abs(run.signed_error[run.labels.index("clip")])[:, of_row]
    found = of(table_1, "Emoji, natural", "FRAP (CLIP)")
    assert found.number == pytest.approx(sizes.mean())
    own = [sizes[[place for place, one in enumerate(run.models) if one.seed == seed]].mean() for seed in (0, 1)]
    assert found.per_seed == pytest.approx(own)
    interval = found.value.over("pairs of a shift and a training")
    assert interval.low < found.number < interval.high


def test_the_average_is_the_unweighted_mean_of_the_rows(folder, table_1):
    rows = [of(table_1, row, "AC").number for row in ("Emoji, natural", "Emoji, synthetic")]
    assert of(table_1, AVERAGE, "AC").number == pytest.approx(sum(rows) / 2)
    assert {one.dataset for one in paper_numbers("frap", "4", [PaperRun(folder, methods=OWN)])} == {AVERAGE}


def test_a_missing_estimate_leaves_no_number(make_estimates_folder):
    silent = make_estimates_folder(methods={"AC": METHODS["AC"], "COTT": METHODS["COTT"]}, silent=("AC",))
    numbers = paper_numbers("frap", "1", [PaperRun(silent)])
    assert of(numbers, "Emoji, synthetic", "AC").number is None and of(numbers, AVERAGE, "AC").number is None
    assert of(numbers, "Emoji, synthetic", "COTT").number is not None


def test_calibration_is_of_the_references_whose_name_methods_begin_with(folder):
    numbers = paper_numbers("frap", "2", [PaperRun(folder, datasets={"emoji-concepts": "CIFAR-10"})])
    assert {(one.dataset, one.method) for one in numbers} == {("CIFAR-10", "CLIP TTC"), ("CIFAR-10", "CLIP raw")}
    assert of(numbers, "CIFAR-10", "CLIP raw").number == pytest.approx(0.6)


def test_runs_without_a_method_of_the_table_are_refused(make_estimates_folder):
    alone = make_estimates_folder(methods={"mine": METHODS["mine"]}, silent=(), severities=(1,))
    with pytest.raises(OpenworldError, match="Table 3: .* holds accuracy estimation of RAP"):
        paper_numbers("frap", "3", [PaperRun(alone)])


@pytest.fixture(scope="module")
def draw(estimates_folder, make_estimates_folder):
    """A function that draws a figure from two runs, of which the second is on ImageNet."""
    other = PaperRun(make_estimates_folder(references=(), aligned=False), {"mnist": "MNIST"})
    named = PaperRun(estimates_folder, {"emoji-concepts": "ImageNet"})

    def drawn(number, runs=(other, named)):
        return FIGURES["frap"][number].draw(runs)

    return drawn


def test_figures_of_one_data_set_are_drawn_from_its_run(draw, estimates_folder):
    assert [chart.title for chart in draw("2").charts] == ["CLIP"] and len(draw("2").rows()) == 6
    assert [chart.title for chart in draw("4").charts][:2] == [
        "fused with CLIP, natural shift",
        "fused with CLIP, synthetic shift",
    ]
    assert "Nearness in meaning is that of a tree." in draw("4").caption
    assert "One embedded world stands in for all" in draw("4", (PaperRun(estimates_folder),)).caption[-1]


def test_a_run_without_a_tree_says_so(draw):
    assert draw("5").charts == () and "no tree holds these classes" in draw("5").caption[0]


def test_printed_calibration_errors_are_lines_across(draw):
    figure = draw("3")
    assert [chart.title for chart in figure.charts] == ["ImageNet, CLIP", "ImageNet, dirichlet"]
    printed = {each.method: each.value for each in published_numbers("frap", "2") if each.dataset == "ImageNet"}
    lines = {line.text: line.value for line in figure.charts[0].references}
    assert lines == {"printed TTC": printed["CLIP TTC"], "printed raw": printed["CLIP raw"]}
    assert figure.charts[1].references == () and "Upright lines" in figure.caption[-1]
