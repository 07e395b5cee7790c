"""What a run of recognition by shift says: every table in every form, the page, the verdict, two runs compared."""

import io
import re

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.recognition_by_shift.quantities import AUC, SAME
from openworld.evaluations.recognition_by_shift.report import compare, report
from openworld.report.layout.layout import REST
from openworld.runs import RunStore
from openworld.testing import check_report


@pytest.fixture(scope="module")
def told(shift_run):
    return report(shift_run)


def test_every_form_says_the_same(told, shift_run):
    check_report(told)
    assert read_report(shift_run.folder).results == told.results


def test_the_page_holds_names_as_text_and_warnings(told):
    page = told.html()
    assert "<b>good" not in page and "&lt;b&gt;good" in page and "cell-none" in page
    assert "FRAP warned in 6 cells" in page and "few images" in page


def test_every_number_has_a_place_of_its_own(told):
    assert all(section.heading != REST for section in told.page.sections)


def test_estimates_are_drawn_beside_what_is_true_of_their_learner(told):
    figures = {figure.name: figure for section in told.page.sections for figure in section.figures}
    for name, truth, metric in (
        ("estimates-by-level", "true accuracy", "accuracy"),
        ("open-world-by-level", "true OpenworldAUC", "openworld_auc"),
    ):
        charts = [chart for chart in figures[name].charts if "poor" in chart.title and "semantic" not in chart.title]
        true = told.results.where(entity="poor", metric=metric, axis="covariate")
        true = [row for row in true if row.where.get("view", SAME) == SAME]
        assert charts[0].series[truth].y == [row.value.value for row in true], name


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


def test_the_verdict_names_the_leader_how_it_fares_by_level_and_the_best_estimator(told):
    leader, _, along, by_level, estimator, _, evidence = told.page.verdict
    assert re.search("<b>good</b> has the highest OpenworldAUC, .* better than both others", leader)
    rows = [*told.results.where(entity="<b>good</b>", metric="openworld_auc", view=SAME, axis="covariate")]
    assert all(AUC.write(row.value.value) in along for row in (rows[0], rows[-1]))
    better = sum(test.better for test in told.results.comparisons if "level" in test.where)
    assert f"{better} are better" in by_level
    assert "FRAP has the lowest mean absolute error" in estimator and "is tested" in estimator
    assert "80 base images" in evidence and "2 seeds" in evidence


def test_names_are_text_on_a_terminal(made_up_run):
    names = ("crane [/bird]", "[red]")
    learners = {"zero-shot": (0.0, 0.0), **dict.fromkeys(names, (0.1, 0.1))}
    console = Console(width=400, file=io.StringIO(), color_system=None)
    report(made_up_run(learners=learners, estimators=("AC [/x]",), seeds=(1,))).show(console)
    assert all(name in console.file.getvalue() for name in (*names, "AC [/x]"))


def test_runs_with_the_same_levels_are_compared_level_by_level(told, made_up_run):
    pairs = compare(told, report(made_up_run(learners={"zero-shot": (0.5, 0.1)}, estimators=())), "")
    assert len(pairs) == 1 + 3 * 3 and all(pair.second.where == pair.first.where for pair in pairs)


def test_a_folder_of_something_else_is_refused(tmp_path):
    RunStore(tmp_path).create({}, {"protocol": "recognition-by-shift"}, {})
    RunStore(tmp_path).plan([])
    with pytest.raises(OpenworldError, match="no record"):
        read_report(tmp_path)
