"""IS-OOD's Table 3 from records of decomposed zero-shot accuracy."""

import pytest

from openworld.papers.results import PaperRun
from openworld.reproduction.comparison.compare import compare_with_paper
from openworld.reproduction.comparison.table import write_comparison
from openworld.reproduction.paper_results import paper_results


@pytest.fixture
def folder(make_run):
    return make_run()


def find(numbers, *asked):
    (found,) = [one for one in numbers if (one.dataset, one.setting, one.method, one.metric) == asked]
    return found


def test_numbers_of_the_table(folder):
    numbers = paper_results("is-ood", "3", [PaperRun(folder)])
    assert len(numbers) == 5 * 2 * 2
    whole = find(numbers, "clean", "full features", "CLIP", "Acc@1")
    assert whole.number == pytest.approx(0.7)
    over = whole.value.over("images")
    assert (over.low, over.high) == pytest.approx((0.6, 0.8))
    foggy = find(numbers, "foggy", "full features", "CLIP", "Acc@5")
    assert foggy.number == pytest.approx(0.5) and not foggy.value.intervals, "two sets of the same images"
    laid = find(numbers, "clean", "semantic features", "LAID", "Acc@1")
    assert laid.per_seed == pytest.approx((0.5, 0.6)) and laid.value.over("seeds")


def test_the_table_stands_beside_the_printed_one(folder):
    named = PaperRun(folder, {"clean": "ImageNet-1K", "foggy": "ImageNet-C"})
    shown = compare_with_paper("is-ood", "3", paper_results("is-ood", "3", [named]))
    assert shown.same_data and "67.49" in write_comparison(shown, "md")
