"""IS-OOD's Table 3 from records of decomposed zero-shot accuracy."""

import pytest

from openworld.reproduction.comparison.compare import beside
from openworld.reproduction.comparison.tables import beside_markdown
from openworld.reproduction.comparison.wording import title
from openworld.reproduction.measure import StandsFor, measured


@pytest.fixture
def folder(make_run):
    return make_run()


def find(numbers, *asked):
    (found,) = [one for one in numbers if (one.dataset, one.setting, one.method, one.metric) == asked]
    return found


def test_numbers_of_the_table(folder):
    numbers = measured("is-ood", "3", [StandsFor(folder)])
    assert len(numbers) == 5 * 2 * 2
    whole = find(numbers, "clean", "full features", "CLIP", "Acc@1")
    assert whole.value == pytest.approx(70) and whole.interval == pytest.approx((60, 80)) and whole.over == "images"
    foggy = find(numbers, "foggy", "full features", "CLIP", "Acc@5")
    assert foggy.value == pytest.approx(50) and not foggy.intervals, "two sets of the same pictures"
    laid = find(numbers, "clean", "semantic features", "LAID", "Acc@1")
    assert laid.per_seed == pytest.approx((50, 60)) and laid.over == "seeds"


def test_only_what_was_asked_for_is_read(folder):
    numbers = measured("is-ood", "3", [StandsFor(folder, {}, {"CLIP": "CLIP"})])
    assert {one.method for one in numbers} == {"CLIP"}


def test_the_table_stands_beside_the_printed_one(folder):
    named = StandsFor(folder, {"clean": "ImageNet-1K", "foggy": "ImageNet-C"})
    shown = beside("is-ood", "3", measured("is-ood", "3", [named]))
    assert shown.same_data and "67.49" in beside_markdown(shown)


def test_on_other_data_every_half_has_a_printed_column_of_its_own(folder):
    shown = beside("is-ood", "3", measured("is-ood", "3", [StandsFor(folder)]))
    heads = [title(shown, column) for column in shown.columns if column.printed_only]
    assert len(heads) == 6 and heads[:2] == ["full features Acc@1, printed", "semantic features Acc@1, printed"]
