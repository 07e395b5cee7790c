"""What a run of recognition by shift says: every table in every form, the page, the verdict, two runs compared."""

import io
import re

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.recognition_by_shift.report import compare, story
from openworld.evaluations.stories import read_story
from openworld.report.series_style import series_styles
from openworld.runs import RunStore
from openworld.testing import check_story


@pytest.fixture(scope="module")
def told(shift_run):
    return story(shift_run)


def test_every_form_says_the_same(told, shift_run):
    check_story(told)
    assert read_story(shift_run.folder).results == told.results


def test_the_page_holds_levels_cells_and_estimates(told):
    headings = [section.heading for section in told.page.sections]
    assert headings == [
        "The numbers",
        "How far off in meaning?",
        "How far off in appearance?",
        "When all images change their appearance",
        "Cell by cell",
        "Cell by cell, when all images change their appearance",
        "How accurate, without labels?",
        "How good in an open world, without labels?",
    ]
    page = told.html()
    assert "<b>good" not in page and "&lt;b&gt;good" in page and "cell-none" in page
    assert "FRAP warned in 6 cells" in page and "few images" in page


def test_figures_show_the_results(told):
    figures = {figure.name: figure for section in told.page.sections for figure in section.figures}
    levels = list(figures["levels-same-looks-covariate"].rows())
    assert len(levels) == 4 * 3 * 3 and {"part", "learner", "level", "value", "low", "high"} <= set(levels[0])
    cells = list(figures["cells-near"].rows())
    assert len(cells) == 3 * 9 and sum(row["openworld_auc"] is None for row in cells) == 3
    assert {row["line"] for row in figures["estimates-by-level"].rows()} == {"true accuracy", "AC", "FRAP"}


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
    (figure,) = (one for section in told.page.sections for one in section.figures if one.name == "open-world-by-level")
    assert {row["line"] for row in figure.rows()} == {"true accuracy", "hybrid", "own"}


def test_the_learner_that_tunes_nothing_is_grey(told):
    styles = told.page.styles
    assert styles["zero-shot"] == series_styles(["zero-shot"], ["zero-shot"])["zero-shot"]
    assert all(styles[name].light != styles["zero-shot"].light for name in ("<b>good</b>", "poor", "AC", "FRAP"))


def test_without_estimators_nothing_is_estimated(made_up_run):
    told = story(made_up_run(estimators=()))
    check_story(told)
    assert len(told.tables) == 3 and "without labels" not in told.html()


def test_marks_say_what_is_better_than_the_baseline(told):
    good = next(row for row in told.tables[0].rows if row.label == "<b>good</b>")
    assert [cell.mark for cell in good.cells[1:]] == ["▲"] * 3 and "better than zero-shot" in good.cells[1].note


def test_the_verdict_names_the_leader_and_the_best_estimator(told):
    sentences = told.page.verdict
    assert re.search("<b>good</b> has the highest OpenworldAUC .* better than all 2 others", sentences[0])
    assert any("<b>good</b> is better at 0, 1 and 2" in sentence for sentence in sentences)
    assert any("FRAP has the smallest mean error" in sentence and "is tested" in sentence for sentence in sentences)
    assert "80 base and" in sentences[-1] and "2 seeds" in sentences[-1]


def test_names_are_text_on_a_terminal(made_up_run):
    names = ("crane [/bird]", "[red]")
    learners = {"zero-shot": (0.0, 0.0), **dict.fromkeys(names, (0.1, 0.1))}
    console = Console(width=400, file=io.StringIO(), color_system=None)
    story(made_up_run(learners=learners, estimators=("AC [/x]",), seeds=(1,))).show(console)
    assert all(name in console.file.getvalue() for name in (*names, "AC [/x]"))


def test_runs_with_the_same_levels_are_compared_level_by_level(told, made_up_run):
    pairs = compare(told, story(made_up_run(learners={"zero-shot": (0.5, 0.1)}, estimators=())), "")
    assert len(pairs) == 1 + 3 * 3 and all(pair.second.where == pair.first.where for pair in pairs)


def test_a_folder_of_something_else_is_refused(tmp_path):
    RunStore(tmp_path).create({}, {"protocol": "recognition-by-shift"}, {})
    RunStore(tmp_path).plan([])
    with pytest.raises(OpenworldError, match="no record"):
        read_story(tmp_path)
