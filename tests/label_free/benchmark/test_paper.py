"""A run of accuracy estimation as FRAP's tables would print it: means by hand, averages, and what is left out."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.label_free.benchmark.arrays import RunArrays
from openworld.papers import AVERAGE, published_numbers
from openworld.papers.results import PaperRun
from openworld.reproduction.comparison.compare import compare_with_paper
from openworld.reproduction.comparison.page import comparison_report
from openworld.reproduction.comparison.table import table_of, write_comparison
from openworld.reproduction.paper_results import paper_results as paper_numbers
from openworld.results import RunFolder
from openworld.testing import check_table

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


@pytest.fixture(scope="module")
def paper_folders(make_estimates_folder):
    """Two runs whose rows are called as the paper's are."""
    return [
        make_estimates_folder(methods=METHODS, silent=(), epochs=(5,), severities=(1,), models=(name,))
        for name in ("convnet", "resnet-8")
    ]


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


def printed(table, dataset, method):
    (found,) = [
        one.in_data for one in published_numbers("frap", table) if (one.dataset, one.method) == (dataset, method)
    ]
    return found


def test_on_other_data_only_the_average_stands_beside_the_printed_one(table_1):
    shown = compare_with_paper("frap", "1", table_1)
    assert not shown.same_data and shown.rows == ("Emoji, natural", "Emoji, synthetic", AVERAGE)
    for (row, column), pair in shown.pairs.items():
        expected = printed("1", AVERAGE, column.method) if row == AVERAGE else None
        assert (pair.printed, pair.difference) == (expected, None)
    assert "Ours are of other data (Emoji, natural; Emoji, synthetic)" in shown.sentences[0]
    assert any("3 methods" in sentence for sentence in shown.sentences)


def test_on_the_same_rows_every_number_is_subtracted(paper_folders):
    named = ({"Emoji, natural": "C10-N", "Emoji, synthetic": "C10-S"}, {"Emoji, natural": "L17-N"})
    runs = [PaperRun(folder, rows, OWN) for folder, rows in zip(paper_folders, named, strict=True)]
    shown = compare_with_paper("frap", "1", paper_numbers("frap", "1", runs))
    assert shown.same_data and len(shown.rows) == 19 and "Emoji, synthetic" not in shown.rows
    cells = {(row, column.method): pair for (row, column), pair in shown.pairs.items()}
    found = cells["C10-N", "AC"]
    assert found.difference == pytest.approx(found.ours.number - printed("1", "C10-N", "AC"))
    assert found.tested
    three = [printed("1", row, "COTT") for row in ("C10-N", "C10-S", "L17-N")]
    assert cells[AVERAGE, "COTT"].printed == pytest.approx(sum(three) / 3), "the mean of the same printed rows"
    assert cells["MNIST", "AC"].ours is None and cells["MNIST", "AC"].printed == printed("1", "MNIST", "AC")


@pytest.mark.parametrize("table", ["2", "3", "7"])
def test_every_table_is_written_in_every_form(folder, table):
    shown = compare_with_paper("frap", table, paper_numbers("frap", table, [PaperRun(folder, methods=OWN)]))
    check_table(table_of(shown))
    for text in (*(write_comparison(shown, form) for form in ("csv", "md", "tex")), comparison_report([shown]).html()):
        assert "CLIP" in text and "nan" not in text.lower().split()
