"""What a run of recognition says: its tables in every form, where points are lost, and what is no run of it."""

import pytest

from openworld import OpenworldError
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.recognition.report import report
from openworld.evaluations.recognition_metrics import LOSSES
from openworld.results import RunFolder
from openworld.runs import RunStore
from openworld.testing import check_report

NAMES = [f"thing {number}" for number in range(8)]


def test_runs_are_told_in_every_form(small_run, small_results, make_run):
    learners = {"zero-shot": (0.5, 0.5, 1.0, 0), "A": (1.1, 0.3, 1.05, 512), "B": (1.2, 0.3, 1.1, 1024)}
    three = make_run(learners=learners, seeds=(1,), tasks=("one", "two", "three"), names=NAMES, per_class=4)
    small, many = read_report(small_run), read_report(three)
    for run in (small, many):
        check_report(run)
    assert [table.name for table in many.terminal_tables][:3] == ["settings", "numbers", "numbers-2"]
    (one,), told = small_results.settings, " ".join(small.page.verdict)
    missing, worst = 1 - one.auc("GMoP"), max(one.value("GMoP", loss).value for loss in LOSSES)
    assert f"Of the {100 * missing:.1f} points that GMoP misses" in told and f"({100 * worst:.1f})" in told
    assert "images of one drawing count together (24)" in small.terminal_tables[0].caption
    assert "shots" not in small.figures and "GMoP" in small.figures["miss-hit"].rows()[0]


def test_a_run_without_new_images_is_described_and_not_guessed(make_run):
    one = read_report(make_run(seeds=(1,), names=NAMES, per_class=3, sides=("base",)))
    check_report(one)
    assert "o learner has OpenworldAUC: there is no new sample" in one.page.verdict[0] and ">nan" not in one.html()


def test_what_is_no_run_of_recognition_is_refused(tmp_path):
    with pytest.raises(OpenworldError, match="run"):
        read_report(tmp_path)
    RunStore(tmp_path).create({}, {}, {})
    with pytest.raises(OpenworldError, match="no record"):
        read_report(tmp_path)
    with pytest.raises(OpenworldError, match="no recognition record"):
        report(RunFolder(tmp_path, "recognition", ()))
