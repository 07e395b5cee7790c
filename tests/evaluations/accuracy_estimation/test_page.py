"""The page of estimated accuracies: verdict from the tests, a figure of every kind, its size, silence in a browser."""

import base64
import hashlib
import re
import shutil
import subprocess

import pytest

from openworld.evaluations.accuracy_estimation.figures import (
    BUDGET,
    alignment_gap,
    averaged,
    error_time,
    estimated,
    severity,
)
from openworld.evaluations.accuracy_estimation.numbers import ErrorTable
from openworld.evaluations.accuracy_estimation.page import build_estimates, render_estimates
from openworld.evaluations.accuracy_estimation.verdict import estimate_verdict
from openworld.report.series_style import looks

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def table(estimates):
    return ErrorTable(estimates)


@pytest.fixture(scope="module")
def page(estimates_folder):
    return render_estimates(estimates_folder)


@pytest.fixture(scope="module")
def crowded(crowd, tmp_path_factory):
    """The page of the crowd, as text."""
    return render_estimates(tmp_path_factory.mktemp("crowd"), crowd)


def test_three_sentences(table):
    leader, yardstick, evidence = estimate_verdict(table)
    assert (
        leader.startswith("FRAP's estimates lie nearest to the truth, off by 1.9") and "best in 1 of 2 lines" in leader
    )
    assert "shown to err less than" in leader and "cannot be told apart from" in leader
    assert yardstick.startswith("AC is off by 17.0 points, on balance too hopeful by 17.0")
    assert "mostly too hopeful" in yardstick
    assert "15 conditions (3 natural, 12 synthetic) of 1,000 pictures" in evidence
    assert "2 models × 2 seeds × 2 checkpoints" in evidence and "which flatters it" in evidence


def test_nothing_to_compare_is_said(smallest):
    leader, _, evidence = estimate_verdict(smallest)
    assert leader.endswith("nothing was run beside it.") and "no interval and no test" in evidence


def test_no_whole_method_is_said(handmade):
    run = handmade({"a": ("one", 0.8, {"ALine-S": None})})
    leader, yardstick, _ = estimate_verdict(run)
    assert leader.startswith("No method gave an estimate for every condition")
    assert yardstick.startswith("ALine-S gave no estimate")


def test_the_page_is_whole_and_escaped(page, estimates_folder):
    assert page == render_estimates(estimates_folder)
    assert "&lt;b&gt;clay" in page and "<b>clay" not in page
    for heading in ("follow the truth?", "as the shift grows?", "a smaller error cost?", "confidence right?"):
        assert heading in page
    for heading in ("threshold good for?", "Which reference", "nearer in meaning", "What the methods cost"):
        assert heading in page
    assert "openworld run mine.toml" in page and "Methods: choose some" in page


def test_the_smallest_run_has_a_page(smallest, tmp_path):
    page = render_estimates(tmp_path, smallest)
    assert "follow the truth?" in page
    for heading in ("as the shift grows?", "a smaller error cost?", "Which reference", "nearer in meaning"):
        assert heading not in page


def test_every_figure_has_two_sentences_and_its_data(table, estimates):
    chosen = looks(estimates.labels, ["AC"])
    figures = [estimated(table), severity(table, chosen), error_time(table, chosen), alignment_gap(estimates)]
    assert len({figure.name for figure in figures}) == 4
    for figure in figures:
        assert len(figure.caption) == 2 and all(sentence.endswith(".") for sentence in figure.caption)
        assert figure.rows() and figure.csv.count("\n") == 1 + len(figure.rows())


def test_a_plot_per_method_on_one_range(table, estimates):
    figure = estimated(table)
    assert [panel.title for panel in figure.panels] == list(estimates.labels)
    assert len({tuple(re.findall(r'class="tick end">(\d+)<', str(panel.svg))) for panel in figure.panels}) == 1
    assert "off by 1.8*" in figure.panels[estimates.labels.index("ALine-S")].svg
    assert {text for _, text in figure.key} == {"natural shift", "synthetic shift", "convnet", "resnet-8"}


def test_dots_are_averaged_only_as_far_as_the_page_needs(estimates, crowd):
    assert averaged(estimates).text == "" and len(averaged(estimates).groups) == 8
    cells = averaged(crowd)
    assert cells.text == ", mean over its seeds" and len(cells.groups) == 9 and cells.estimates.size <= BUDGET
    first = [place for place, one in enumerate(crowd.models) if one.title == crowd.models[0].title]
    assert cells.accuracy[0, 0] == pytest.approx(crowd.accuracy[first, 0].mean())


def test_shapes_tell_checkpoints_where_there_is_one_model(estimates_of):
    figure = estimated(ErrorTable(estimates_of(models=("convnet",))))
    assert {"convnet, epoch 5", "convnet, epoch 10"} <= {text for _, text in figure.key}


def test_one_severity_draws_no_line(estimates_of):
    run = estimates_of(severities=(3,))
    assert severity(ErrorTable(run), looks(run.labels, ["AC"])) is None


def test_a_method_without_a_number_at_some_severity_is_not_drawn(table, estimates):
    figure = severity(table, looks(estimates.labels, ["AC"]))
    drawn = {row["method"] for row in figure.rows()}
    assert "ALine-S" not in drawn and "FRAP" in drawn


def test_thirty_methods_fit_into_the_page(crowded):
    assert len(crowded.encode()) < 1_300_000
    assert crowded.count('data-picks="method') == 30


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: the page is not tried in a browser")
def test_in_a_browser_the_console_is_silent_and_a_method_is_picked_out(estimates_folder, tmp_path):
    script = "document.querySelector('[data-picks=\"COTT\"]').click();"
    text = build_estimates(estimates_folder, output=tmp_path / "page.html").read_text(encoding="utf-8")
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = text.replace("script-src '", f"script-src 'sha256-{known}' '")
    (tmp_path / "page.html").write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --enable-logging=stderr"
    flags += " --disable-background-networking --disable-component-update --virtual-time-budget=3000 --dump-dom"
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    chosen = re.findall(
        r'data-learner="([^"]*)" class="[^"]*chosen|class="[^"]*chosen[^"]*" data-learner="([^"]*)"', done.stdout
    )
    assert len(chosen) >= 5 and {name for pair in chosen for name in pair if name} == {"COTT"}
