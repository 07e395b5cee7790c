"""What a run of recognition by shift says: every table in every form, the page, the verdict, two runs compared."""

import pytest

from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.recognition_by_shift.report import compare, report
from openworld.report.layout.layout import REST
from openworld.testing import check_report


@pytest.fixture(scope="module")
def told(shift_run):
    return report(shift_run)


def test_every_form_says_the_same(told, shift_run):
    check_report(told)
    assert read_report(shift_run.folder).results == told.results


def test_every_number_has_a_place_of_its_own(told):
    assert all(section.heading != REST for section in told.page.sections)


def test_open_world_estimates_stand_beside_what_is_true(told):
    rows = told.results.where(view="appearance of the new images", axis="covariate")
    (said,) = rows.where(entity="own", metric="estimated_openworld_auc", learner="poor", level=1)
    (true,) = rows.where(entity="poor", metric="openworld_auc", level=1)
    assert said.value.value == 0.5 and true.value.value != 0.5
    (refused,) = rows.where(entity="hybrid", metric="estimated_auroc", learner="poor", level=2)
    assert refused.value.value is None and "look new" in refused.value.reason
    known = [rows.where(entity=name, metric="openworld_auc") for name in ("zero-shot", "<b>good</b>", "poor")]
    off = [abs(0.5 - row.value.value) for levels in known for row in levels]
    (error,) = told.results.where(entity="own", metric="openworld_auc_error")
    assert error.value.value == pytest.approx(sum(off) / len(off))
    (alarm,) = rows.where(entity="poor", metric="alarm", level=2)
    assert alarm.value.value == 1.0


def test_without_estimators_nothing_is_estimated(made_up_run):
    told = report(made_up_run(estimators=()))
    check_report(told)
    assert "without labels" not in told.html()


def test_runs_with_the_same_levels_are_compared_level_by_level(told, made_up_run):
    pairs = compare(told, report(made_up_run(learners={"zero-shot": (0.5, 0.1)}, estimators=())), "")
    assert len(pairs) == 1 + 3 * 3 and all(pair.second.where == pair.first.where for pair in pairs)
