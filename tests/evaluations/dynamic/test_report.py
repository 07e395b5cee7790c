"""What a run of dynamic scenarios says: every form, where numbers stand, the verdict, figures, and its page."""

import pytest

from openworld.evaluations.finished_runs import compare_runs, read_report
from openworld.report.layout.layout import REST
from openworld.testing import check_report


@pytest.fixture(scope="module")
def run_story(course_run):
    return read_report(course_run)


@pytest.fixture(scope="module")
def crowded(make_course_run):
    """Five learners, one seed, five runs of a distribution shift."""
    learners = {"zero-shot": 0.4} | {f"learner {place}": 0.1 * place for place in range(1, 5)}
    runs = [("distribution-shift", f"style {place}") for place in range(5)]
    return read_report(make_course_run(learners=learners, seeds=(1,), courses=runs, classes=8, per_class=3))


@pytest.mark.parametrize("kind", ["run_story", "crowded"])
def test_a_run_has_every_form_and_every_number_a_place_of_its_own(kind, request):
    story = request.getfixturevalue(kind)
    check_report(story)
    assert all(section.heading != REST for section in story.page.sections)


def test_two_runs_are_compared_over_the_seeds_that_both_have(course_run, make_course_run):
    other = make_course_run(learners={"zero-shot": 0.4, "CoOp": 1.0, "GMoP": 1.4})
    found = compare_runs(course_run, other)
    assert found.metric.key == "auc"
    gains = {pair.first.entity: pair.comparison.difference for pair in found.pairs if len(pair.first.where) == 3}
    assert gains["zero-shot"] == gains["GMoP"] == 0 < gains["CoOp"]


def test_ranks_are_drawn_where_there_are_runs_enough(run_story, crowded):
    assert "critical-difference" not in run_story.figures
    (chart,) = crowded.figures["critical-difference"].charts
    (p,) = crowded.results.where(metric="friedman_p")
    assert chart.further["friedman_p"] == p.value.value and len(chart.series) == 5
