"""Intervals and tests of robustness tables, from stored predictions: of a course, and of the means of a scenario."""

import numpy as np
import pytest

from openworld.evaluations.dynamic.comparison import against
from openworld.evaluations.dynamic.courses import load_courses
from openworld.evaluations.dynamic.numbers import LINEAR, NUMBERS, course_numbers, scenario_tables
from openworld.evaluations.dynamic.terminal import of_course, of_scenario
from openworld.metrics import area_test, level_errors, seeds_test


@pytest.fixture(scope="module")
def tables(course_run):
    return load_courses(course_run)


@pytest.fixture(scope="module")
def shifted(tables):
    """The table of means over both variants."""
    return scenario_tables(tables)[1]


def test_stored_predictions_give_back_the_accuracy_of_the_records(tables):
    for table in tables:
        assert table.evidence.errors.accuracy == pytest.approx(table.accuracy)
        assert table.evidence.errors.groups == 12 and table.evidence.pictures == 60


def test_every_number_of_a_course_has_an_interval_that_holds_it_or_a_reason(tables):
    for numbers in (numbers for table in tables for numbers in course_numbers(table).values()):
        for name, number in numbers.items():
            if number.value is None:
                assert "no zero-shot curve" in number.images.reason and number.images.low is None
            elif number.images.low is None:
                assert number.images.reason
            else:
                assert number.images.low <= number.value <= number.images.high, name


def test_numbers_over_seeds_are_those_of_the_seeds_own_curves(tables):
    curve = tables[0].curves[2]
    number = course_numbers(tables[0])["GMoP"]["variation"]
    assert number.seeds.mean == pytest.approx(np.mean([own.variation for own in curve.per_seed]))
    assert number.seeds.n == 2 and number.courses is None


def test_the_tests_are_those_of_the_areas_corrected_by_holm(tables):
    table = tables[0]
    raw = {
        pair: area_test(table.evidence.errors, table.levels, *(table.learners.index(one) for one in pair)).p_value
        for pair in table.comparisons
    }
    assert len(raw) == 3
    for pair, test in table.comparisons.items():
        assert raw[pair] <= test.p <= min(1.0, 3 * raw[pair])
    gain = of_course(table).test("GMoP")
    assert gain.better and gain.words.startswith("better than zero-shot")
    assert against(table.comparisons, "zero-shot", "GMoP").worse
    assert against(table.comparisons, "GMoP", "GMoP") is None


def test_over_seeds_a_learner_is_paired_seed_by_seed(tables):
    table = tables[0]
    areas = [[own.auc for own in curve.per_seed] for curve in table.curves]
    found = of_course(table).test_over_seeds("CoOp")
    assert found.difference == pytest.approx(seeds_test(areas[1], areas[0]).difference)
    assert found.p is not None and not found.differs  # two seeds


def test_means_over_courses_and_their_intervals(tables, shifted):
    numbers = shifted.numbers["GMoP"]
    each = [course_numbers(table)["GMoP"] for table in shifted.courses]
    assert len(each) == 2
    for name in NUMBERS:
        assert numbers[name].value == pytest.approx(np.mean([one[name].value for one in each]))
        assert numbers[name].courses.n == 2 and numbers[name].seeds.n == 2
        assert (numbers[name].images.low is not None) == (name in LINEAR)
    assert "every course has its own" in numbers["worst_accuracy"].images.reason
    assert shifted.title == "distribution shift, mean of 2 courses"


def test_pictures_of_the_source_count_once_over_courses(tables, shifted):
    # Both variants are shown as part 0, the source's: the same drawings stand behind both courses.
    assert shifted.evidence.errors.groups == 12
    answers = [table.answers for table in shifted.courses]
    views = [[one["zero-shot"][seed].groups for one in answers for seed in (1, 2)]]
    correct = [
        [np.stack(level) for level in zip(*(one[name][seed].correct for name in one), strict=True)]
        for one in answers
        for seed in (1, 2)
    ]
    expected = level_errors(views[0], correct)
    assert shifted.evidence.errors.covariance == pytest.approx(expected.covariance)


def test_a_scenario_of_one_course_has_that_courses_numbers(tables):
    alone = scenario_tables(tables)[0]
    assert of_scenario(alone).numbers == course_numbers(tables[0]) and alone.title == tables[0].key.title


def test_other_pictures_or_seeds_are_not_compared(make_course_run):
    from openworld.evaluations.dynamic.answers import Answers, evidence

    one, two = (Answers((np.array(ids),), (np.array(ids),), (np.array([True, False]),)) for ids in ([0, 1], [0, 2]))
    assert "same pictures" in evidence([{"a": {1: one}, "b": {1: two}}]).reason
    assert "same seeds" in evidence([{"a": {1: one}, "b": {2: one}}]).reason
    assert "keep no predictions" in evidence([{"a": {1: one}, "b": {1: None}}]).reason
    assert evidence([{"a": {1: one}, "b": {1: one}}]).errors.groups == 2


def test_one_seed_has_no_interval_over_seeds(make_course_run):
    table = load_courses(make_course_run(seeds=(1,)))[0]
    number = course_numbers(table)["GMoP"]["auc"]
    assert number.seeds.interval() is None and number.over_images is not None
    assert "one seed says nothing" in of_course(table).test_over_seeds("GMoP").reason
