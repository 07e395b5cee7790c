"""The page of dynamic scenarios: verdict from the tests, figures of every kind, silence in a browser, and its size."""

import re
import shutil
import subprocess

import pytest

from openworld.evaluations.dynamic.courses import Ranking, load_courses
from openworld.evaluations.dynamic.figures import critical_difference, curves, split
from openworld.evaluations.dynamic.numbers import scenario_tables
from openworld.evaluations.dynamic.page import build_courses, render_courses
from openworld.evaluations.dynamic.verdict import course_verdict
from openworld.metrics import friedman_test, nemenyi
from openworld.report.charts.ranks import groups
from openworld.report.series_style import looks

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LEARNERS = ("zero-shot", "CoOp", "GMoP")


@pytest.fixture(scope="module")
def tables(course_run):
    return load_courses(course_run)


@pytest.fixture(scope="module")
def page(course_run):
    return render_courses(course_run)


@pytest.fixture(scope="module")
def crowded(make_course_run):
    learners = {"zero-shot": 0.4} | {f"learner {place}": 0.1 * place for place in range(1, 10)}
    courses = [("distribution-shift", f"style {place}") for place in range(6)]
    return make_course_run(learners=learners, seeds=(1, 2, 3), courses=courses)


def test_three_sentences_of_many_courses(tables):
    leader, tuning, evidence = course_verdict(tables, scenario_tables(tables))
    assert leader.startswith("Over 3 courses GMoP has the largest mean area under its curves")
    assert "better than zero-shot in 3 and worse in none" in leader
    assert tuning.startswith("Against zero-shot, which tunes nothing, 3 of 6 curves have a larger area")
    assert "in 12 groups" in evidence and "2 seeds" in evidence and "no scenario has courses enough" in evidence


def test_three_sentences_of_one_course(tables):
    leader, tuning, evidence = course_verdict(tables[:1], scenario_tables(tables[:1]))
    assert leader.startswith("Emerging new classes: things, photos: GMoP has the largest area under its curve")
    assert "better than" in leader and "GMoP (+" in tuning and evidence.startswith("This rests on views")


def test_nothing_to_test_is_said(make_course_run):
    tables = load_courses(make_course_run(learners={"zero-shot": 0.4}))
    leader, tuning, _ = course_verdict(tables[:1], scenario_tables(tables[:1]))
    assert "nothing was run beside it" in leader and "nothing was run beside it" in tuning


def test_the_page_is_whole_and_escaped(page, course_run):
    assert page == render_courses(course_run)
    assert "&lt;b&gt;clay" in page and "<b>clay" not in page
    for heading in ("Emerging new classes", "Distribution shift", "What is lost, the old or the new?", "Which ranks"):
        assert heading in page
    assert "openworld run mine.toml" in page and "fit 3.0 s, score 1.0 s in all" in page
    assert "95 % over pictures, clustered by group (n = 12)" in page


def test_every_figure_has_two_sentences_and_its_data(tables):
    chosen, means = looks(LEARNERS, ["zero-shot"]), scenario_tables(tables)
    figures = [curves(mean.courses, chosen) for mean in means]
    figures += [split(tables, chosen), critical_difference([mean.ranking for mean in means], chosen)]
    assert len({figure.name for figure in figures}) == 4
    for figure in figures:
        assert len(figure.caption) == 2 and all(sentence.endswith(".") for sentence in figure.caption)
        assert bool(figure.rows()) == bool(figure.charts)


def test_plots_of_a_scenario_share_their_range(tables):
    figure = curves(tables[1:], looks(LEARNERS, ["zero-shot"]))
    ticks = [re.findall(r'class="tick end">(\d+)<', str(panel.svg)) for panel in figure.panels]
    assert len(ticks) == 2 and ticks[0] == ticks[1]


def test_among_many_lines_all_but_two_stand_back(crowded):
    tables = load_courses(crowded)
    (panel, *_) = curves(tables, looks(tables[0].learners, ["zero-shot"])).panels
    assert panel.svg.count(" back") == 8 and panel.svg.count('class="band"') == 10


def test_the_split_is_drawn_where_there_are_both_kinds(tables):
    figure = split(tables, looks(LEARNERS, ["zero-shot"]))
    assert len(figure.panels) == 3 and all("emerging" in panel.title for panel in figure.panels)
    by_hand = tables[0].curves[2]
    rows = [row for row in figure.rows() if (row["learner"], row["level"]) == ("GMoP", 0.5)]
    values = [row[part] for row, part in zip(rows, ("base", "new", "auroc"), strict=True)]
    assert values == pytest.approx((by_hand.base[1], by_hand.new[1], by_hand.auroc[1]))
    assert split(tables[1:], looks(LEARNERS, ["zero-shot"])) is None


def test_too_few_courses_are_refused_in_a_sentence(tables):
    figure = critical_difference([mean.ranking for mean in scenario_tables(tables)], looks(LEARNERS))
    assert figure.panels == () and figure.caption[0].startswith("No diagram is drawn for emerging new classes (1 data")


def test_the_diagram_joins_what_does_not_differ():
    areas = [[0.9, 0.8, 0.7, 0.9, 0.8, 0.7], [0.8, 0.9, 0.8, 0.7, 0.7, 0.6], [0.1] * 6]
    names = ("A", "B<b>", "C")
    ranks = nemenyi(areas).mean_ranks
    ranking = Ranking("co-evolution", names, ranks, (1.0, 2.0, 3.0), 6, friedman_test(areas), nemenyi(areas))
    (panel,) = critical_difference([ranking], looks(names)).panels
    assert panel.svg.count('class="bar"') == 1 + len(groups(ranks, ranking.difference.value))
    assert "CD = 1.35" in panel.svg and "B&lt;b&gt;" in panel.svg and "<b>" not in panel.svg
    joined = [(one, two) for one in ranks for two in ranks if one < two and two - one < ranking.difference.value]
    for pair in joined:
        assert any(low <= pair[0] and pair[1] <= high for low, high in groups(ranks, ranking.difference.value))


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: the page is not tried in a browser")
def test_in_a_browser_the_console_is_silent_and_pointing_brings_a_learner_forward(crowded, tmp_path):
    import base64
    import hashlib

    script = "document.querySelector('[data-picks=\"learner 3\"]').focus();"
    text = build_courses(crowded, output=tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 1_500_000
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = text.replace("script-src '", f"script-src 'sha256-{known}' '")
    (tmp_path / "page.html").write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --enable-logging=stderr"
    flags += " --disable-background-networking --disable-component-update --virtual-time-budget=3000 --dump-dom"
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert 'class="pointing"' in done.stdout
    pointed = re.findall(r'class="[^"]*\bpointed\b[^"]*" data-learner="([^"]*)"', done.stdout)
    assert len(pointed) >= 6 and set(pointed) == {"learner 3"}
