"""What a run of recognition says: its tables in every form, and its page from records alone."""

import io

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.recognition.report import report
from openworld.evaluations.recognition_metrics import LOSSES
from openworld.results import RunFolder
from openworld.runs import RunStore
from openworld.testing import check_report


@pytest.fixture(scope="module")
def small(small_run):
    return read_report(small_run)


def shown(one, width=160):
    out = Console(width=width, file=io.StringIO(), color_system=None)
    one.show(out)
    return out.file.getvalue()


def test_runs_are_told_in_every_form(small, many_run):
    many = read_report(many_run)
    for run in (small, many):
        check_report(run)
    assert [table.name for table in many.terminal_tables][:3] == ["settings", "numbers", "numbers-2"]


def test_the_terminal_shows_the_numbers_and_what_comes_of_them(small, small_results):
    printed = shown(small).replace("\xa0", " ")
    (one,) = small_results.settings
    assert "GMoP has the highest OpenworldAUC" in printed and "images of one drawing count together (24)" in printed
    interval = one.value("GMoP", "openworld_auc").over("images")
    assert f"[{100 * interval.low:.1f} {100 * interval.high:.1f}]" in printed
    missing = 1 - one.auc("GMoP")
    worst = max(one.value("GMoP", loss).value for loss in LOSSES)
    assert f"Of the {100 * missing:.1f} points that GMoP misses" in printed and f"({100 * worst:.1f})" in printed
    narrow = shown(small, 80)
    assert "Too wide to show: " in " ".join(narrow.split()) and max(map(len, narrow.splitlines())) <= 80


def test_a_run_without_new_images_is_described_and_not_guessed(make_run):
    folder = make_run(seeds=(1,), names=[f"thing {n}" for n in range(8)], per_class=3, sides=("base",))
    one = read_report(folder)
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
