"""What a run of dynamic scenarios says: every form, where numbers stand, the verdict, figures, and its page."""

import re
import shutil
import subprocess

import pytest

from openworld.api.finished_run import open_run
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.core.errors import OpenworldError
from openworld.evaluations.finished_runs import compare_runs, read_report
from openworld.report.layout.layout import REST
from openworld.report.render import as_tex, plain
from openworld.testing import check_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def run_story(course_run):
    return read_report(course_run)


@pytest.fixture(scope="module")
def crowded(make_course_run):
    """Ten learners, three seeds, six runs of a distribution shift."""
    learners = {"zero-shot": 0.4} | {f"learner {place}": 0.1 * place for place in range(1, 10)}
    runs = [("distribution-shift", f"style {place}") for place in range(6)]
    return make_course_run(learners=learners, seeds=(1, 2, 3), courses=runs)


@pytest.mark.parametrize("kind", ["several", "single", "crowded"])
def test_a_run_has_every_form(kind, course_run, crowded, make_course_run):
    single = (("distribution-shift", "clay"),)
    folders = {
        "several": lambda: course_run,
        "single": lambda: make_course_run(courses=single),
        "crowded": lambda: crowded,
    }
    check_report(read_report(folders[kind]()))


def test_every_number_and_test_has_a_place_of_its_own(run_story, crowded):
    for story in (run_story, read_report(crowded)):
        assert all(section.heading != REST for section in story.page.sections)


def test_a_run_has_its_tests_in_columns(run_story):
    table = next(table for table in run_story.papers if "emerging" in table.title)
    heads = [column.heading for column in table.columns]
    cells = {row.label: dict(zip(heads, row.cells, strict=True)) for row in table.rows}
    assert cells["GMoP"]["against zero-shot"].better and cells["zero-shot"]["against GMoP"].worse
    assert "▲" not in str(table.caption) and "Holm over" in table.caption


def test_the_verdict_counts_places_and_tests(run_story):
    *_, against, evidence = run_story.page.verdict
    assert "GMoP has the highest AUC" in run_story.page.verdict[0]
    number = int(re.search(r"of (\d+) tests", against)[1])
    tests = [test for test in run_story.results.comparisons if test.metric.key == "auc"]
    against_zero_shot = [test for test in tests if "zero-shot" in (test.entity, test.other)]
    assert number == sum("over" not in test.where for test in against_zero_shot)
    assert "12 images" in evidence and "2 seeds" in evidence


def test_a_single_learner_is_compared_with_nobody(make_course_run):
    run = make_course_run(learners={"zero-shot": 0.4}, courses=(("emerging-classes", None),))
    assert "nothing was run beside it" in read_report(run).page.verdict[0]


def test_names_that_look_like_markup_come_out_letter_by_letter(make_course_run):
    names = ("crane [/bird]", "crane [bird]", "[red]")
    learners = {"zero-shot": 0.4, **dict.fromkeys(names, 1.0)}
    story = read_report(make_course_run(learners=learners, seeds=(1,), courses=(("distribution-shift", "[red]"),)))
    assert all(name in repr(story) for name in names)
    assert all(plain(name) in story.export("markdown") and as_tex(name) in story.export("latex") for name in names)


def test_the_page_is_escaped_and_has_its_facts(run_story):
    page = run_story.html()
    assert "&lt;b&gt;clay" in page and "<b>clay" not in page
    assert "openworld run mine.toml" in page and "fit 3.0 s, score 1.0 s in all" in page


def test_two_runs_are_compared_over_the_seeds_that_both_have(course_run, make_course_run):
    other = make_course_run(learners={"zero-shot": 0.4, "CoOp": 1.0, "GMoP": 1.4})
    found = compare_runs(course_run, other)
    assert found.metric.key == "auc"
    gains = {pair.first.entity: pair.comparison.difference for pair in found.pairs if len(pair.first.where) == 3}
    assert gains["zero-shot"] == gains["GMoP"] == 0 < gains["CoOp"]


def test_curves_have_a_chart_per_run_and_a_line_per_learner(run_story):
    figure = run_story.figures["ageing"]
    drawn = next(chart for chart in figure.charts if "clay" in chart.title).series["CoOp"]
    rows = list(run_story.results.where(entity="CoOp", metric="accuracy", target="<b>clay</b>"))
    assert drawn.y == [row.value.value for row in rows]
    assert drawn.further["lowest_seed"] == [min(row.per_seed) for row in rows]


def test_ranks_are_drawn_where_there_are_runs_enough(run_story, crowded):
    assert "critical-difference" not in run_story.figures
    many = read_report(crowded)
    (chart,) = many.figures["critical-difference"].charts
    (p,) = many.results.where(metric="friedman_p")
    assert chart.further["friedman_p"] == p.value.value and len(chart.series) == 10


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: the page is not tried in a browser")
def test_in_a_browser_the_console_is_silent_and_pointing_brings_a_learner_forward(crowded, tmp_path):
    import base64
    import hashlib

    script = "document.querySelector('[data-picks=\"learner 3\"]').focus();"
    text = read_report(crowded).html()
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = text.replace("script-src '", f"script-src 'sha256-{known}' '")
    (tmp_path / "page.html").write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --enable-logging=stderr"
    flags += " --disable-background-networking --disable-component-update --virtual-time-budget=3000 --dump-dom"
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert 'class="pointing"' in done.stdout
    pointed = re.findall(r'class="[^"]*\bpointed\b[^"]*" data-learner="([^"]*)"', done.stdout)
    assert len(pointed) >= 6 and set(pointed) == {"learner 3"}


def test_tables_and_figures_are_not_asked_for_at_once(course_run):
    refused = CliRunner().invoke(app, ["report", str(course_run), "--table", "csv", "--figures", "pdf"])
    assert refused.exit_code == 2 and "--table and --figures" in refused.output


def test_a_figure_form_that_does_not_exist_is_refused(course_run, tmp_path):
    with pytest.raises(OpenworldError, match="pdf, svg, png"):
        open_run(course_run).save_figures(tmp_path, "bmp")
    assert not list(tmp_path.iterdir())
