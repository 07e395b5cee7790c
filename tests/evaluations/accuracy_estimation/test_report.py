"""What a run of accuracy estimation says: verdict, tables in every form, figures, and the page in a browser."""

import base64
import hashlib
import io
import re
import shutil
import subprocess

import numpy as np
import pytest
from rich.console import Console

from openworld.evaluations.accuracy_estimation.figures import (
    BUDGET,
    ModelGroups,
    error_time,
    estimated_and_true,
    severity,
)
from openworld.evaluations.accuracy_estimation.measurements import read_measurements
from openworld.evaluations.accuracy_estimation.reference_figures import alignment_gap, temperatures_figure
from openworld.evaluations.accuracy_estimation.report import story
from openworld.evaluations.accuracy_estimation.results import read_results
from openworld.evaluations.accuracy_estimation.tables import count_models
from openworld.evaluations.accuracy_estimation.verdict import verdict
from openworld.evaluations.stories import compare_runs, read_story
from openworld.report.render import latex_table, terminal_table, texts
from openworld.report.series_style import series_styles
from openworld.testing import check_story, check_table

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NAMES = ("crane [/bird]", "crane [bird]", "[red]")


@pytest.fixture(scope="module")
def run_story(estimates_folder):
    return read_story(estimates_folder)


def tables_of(story):
    """Every table by its name."""
    sections = [part for section in story.page.sections for part in (section, *section.folded)]
    return {table.name: table for section in sections for table in section.tables}


def cells_of(table):
    """{row: {column: its text}}; the last of several rows or columns of one name."""
    heads = [column.heading for column in table.columns]
    return {row.label: dict(zip(heads, cells, strict=True)) for row, cells in texts(table)}


def printed(table, width):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(terminal_table(table))
    return console.file.getvalue()


def test_every_form_can_be_made(run_story):
    check_story(run_story)
    for table in run_story.papers:
        check_table(table)


def test_so_can_those_of_the_smallest_run_which_has_no_more_than_it_measured(smallest):
    small = story(smallest)
    for table in tables_of(small).values():
        check_table(table)
    assert list(tables_of(small)) == ["overview", "bias", "shifts", "models", "calibration", "times"]
    headings = [section.heading for section in small.page.sections]
    assert not {"What happens as the shift grows?", "What does a smaller error cost?"} & set(headings)


def test_names_of_methods_are_text(make_estimates):
    methods = {name: ("AC" if place == 0 else "DoC", None, {}, 0.03, 0.03) for place, name in enumerate(NAMES)}
    (table,) = story(make_estimates(methods=methods, references=())).tables
    assert all(name in printed(table, 400) for name in NAMES)


def test_three_sentences(run_story):
    best, baseline, evidence = run_story.page.verdict
    assert best.startswith("FRAP has the smallest mean error, 1.9") and "in 1 of 2 lines" in best
    assert "it is better than ATC-MC, but no difference is shown from" in best
    assert baseline.startswith("AC is off by 17.0 points, on balance overestimating by 17.0")
    assert "mostly overestimate" in baseline
    assert "15 conditions (3 natural, 12 synthetic) of 1,000 images" in evidence
    assert "2 models × 2 seeds × 2 checkpoints" in evidence and "which flatters it" in evidence
    assert run_story.text == (best,)


def test_nothing_to_compare_is_said(smallest):
    best, _, evidence = verdict(*read_results(smallest))
    assert best.endswith("nothing was run beside it.") and "no interval and no test" in evidence


def test_no_complete_method_is_said(handmade):
    best, baseline, _ = verdict(*read_results(handmade({"a": ("one", 0.8, {"ALine-S": None})})))
    assert best.startswith("No method gave an estimate for every condition")
    assert baseline.startswith("ALine-S gave no estimate")


def test_models_that_are_no_product_are_counted(handmade, measured):
    assert count_models(measured) == "2 models × 2 seeds × 2 checkpoints"
    assert (
        count_models(read_measurements(handmade({"a": ("one", 0.8, {"AC": 0.1})}))) == "1 model × 1 seed × 1 checkpoint"
    )


def test_the_overview_marks_the_best_and_the_incomplete(run_story):
    rows = cells_of(run_story.terminal_tables[0])
    assert rows["FRAP"]["average"].bold and not rows["AC"]["average"].bold
    assert rows["ALine-S"]["average"].text.endswith("*") and "n 88 · 120 expected" in rows["ALine-S"]["average"].note
    assert rows["FRAP"]["Emoji, natural"].faint.startswith("±") and rows["AC"]["Emoji, natural"].text == "13.2"
    assert rows["AC"]["against AC"].text == "" and rows["FRAP"]["against AC"].text.startswith("−")
    caption = run_story.terminal_tables[0].caption
    assert "standard deviation of the absolute errors" in caption and "never marked as the best" in caption
    assert "bootstrap over 7 shifts within their lines and 4 trainings" in caption


def test_a_narrow_terminal_keeps_the_average_and_names_what_it_leaves_out(run_story):
    text = printed(run_story.terminal_tables[0], 80)
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    assert re.search(r"17\.0 +\[", text) and "without Emoji, natural" in " ".join(text.split())


def test_the_paper_has_lines_down_and_methods_across(run_story, measured):
    table = tables_of(run_story)["paper"]
    assert [column.heading for column in table.columns] == list(measured.labels)
    assert [row.label for row in table.rows] == list(measured.lines) and not any(row.series for row in table.rows)
    assert r"13.20 {\small $\pm$~5.74}" in latex_table(table) or "5.74" in latex_table(table)


def test_every_shift_has_a_row(run_story):
    table = tables_of(run_story)["shifts"]
    assert len(table.rows) == 3 + 4 and {row.label for row in table.rows} >= {"fog", "gaussian noise", "twemoji"}


def test_intervals_are_in_the_table_where_there_are_any(make_estimates, run_story):
    cells = cells_of(tables_of(story(make_estimates(intervals=True)))["bias"])["AC"]
    assert cells["their width"].text == "6.0" and "their width" not in cells_of(tables_of(run_story)["bias"])["AC"]


def test_the_threshold_and_the_uses_of_a_reference(run_story):
    tables, chapters = tables_of(run_story), {section.heading: section for section in run_story.page.sections}
    threshold = cells_of(tables["threshold"])
    assert all(cells["without − with"].text.startswith("+") and cells["FRAP"].bold for cells in threshold.values())
    (sentence,) = chapters["What is the threshold good for?"].text
    assert "errs more in 2 of 2 lines" in sentence
    uses = cells_of(tables["references"])
    assert list(uses["CLIP"]) == ["answers taken for labels", "raw (RAP)", "τ = 0.01", "TTC"]
    assert uses["CLIP"]["TTC"].bold and [cell.text for cell in uses["dirichlet"].values()][:3] == ["–"] * 3


def test_calibration_and_alignment(run_story):
    tables, chapters = tables_of(run_story), {section.heading: section for section in run_story.page.sections}
    calibration = cells_of(tables["calibration"])
    assert calibration["Average"]["CLIP, TTC"].bold and calibration["Average"]["τ of CLIP"].text == "–"
    assert "CLIP's calibration error goes from 40.0" in chapters["Is their confidence right?"].text[0]
    assert "similarity in meaning by a tree of a class" in tables["alignment"].caption
    assert "than the classifier's in" in chapters["Near in meaning"].text[0]


def test_why_alignment_is_not_known_is_said(make_estimates):
    unknown = story(make_estimates(aligned=False))
    chapters = {section.heading: section for section in unknown.page.sections}
    assert chapters["Near in meaning"].text == ("Semantic alignment is not known: no tree holds these classes.",)
    assert "alignment" not in tables_of(unknown)


def test_two_runs_are_compared_by_seed(estimates_folder, make_estimates_folder):
    found = compare_runs(estimates_folder, make_estimates_folder(seeds=(0, 1), epochs=(5,)))
    assert {pair.first.metric.key for pair in found.pairs} == {"absolute_error"} and len(found.pairs) == 3 * 11
    assert all(pair.comparison.p is not None for pair in found.pairs)


def test_every_figure_has_two_sentences_and_its_data(found, measured):
    chosen = series_styles(measured.labels, ["AC"])
    figures = [
        estimated_and_true(found, measured),
        severity(found, measured, chosen),
        error_time(found, measured, chosen),
        alignment_gap(measured),
    ]
    for figure in figures:
        assert len(figure.caption) == 2 and all(sentence.endswith(".") for sentence in figure.caption)
        assert figure.rows() and figure.csv.count("\n") == 1 + len(figure.rows())


def test_a_chart_per_line_of_calibration_errors_by_temperature(found, measured):
    figure = temperatures_figure(found, measured)
    assert [chart.title for chart in figure.charts] == [
        f"{name}, {line}" for name in ("CLIP", "dirichlet") for line in measured.lines
    ]
    kinds = {"τ = 0.1": "tau 0.1", "τ = 0.05": "tau 0.05", "τ = 0.01": "tau 0.01", "TTC": "ttc"}
    for row in figure.rows():
        name, line = row["line"].split(", ", 1)
        means = [
            np.mean([target.ece[name][kinds[row["temperature"]]] for record in measured.records
                     for target in record.targets if target.row == each])
            for each in ([line] if line in measured.rows else measured.rows)
        ]  # fmt: skip
        assert row["expected_calibration_error"] == pytest.approx(np.mean(means))
    for chart in figure.charts:
        (ringed,) = [row.value for row in chart.series.values() if row.ringed]
        assert ringed == min(row.value for row in chart.series.values())


def test_example_images_with_what_a_reference_says_of_them(run_story, estimates_folder):
    figure = run_story.figures["examples"]
    (chart,) = figure.charts
    assert len(chart.cells) == 2 * (6 + 1) and [len(chart.cells[6, place].images) for place in (0, 1)] == [1, 1]
    assert [chart.cells[row, 0].text for row in range(6)] == ["15.0", "80.0", "30.0", "60.0", "33.5", "34.0"]
    assert len(figure.rows()) == 2 * 3
    first = figure.rows()[0]
    assert (first["class"], first["named"], first["raw"], first["calibrated"]) == ("<i>crane</i>",) * 2 + (0.34, 0.8)
    assert "<i>crane" not in run_story.html()


def test_nearness_in_meaning_by_kind_of_shift(measured):
    whole, apart = alignment_gap(measured), alignment_gap(measured, by_kind=True)
    assert [chart.title for chart in apart.charts[:2]] == [
        "fused with CLIP, natural shift",
        "fused with CLIP, synthetic shift",
    ]
    natural, synthetic = ([dots for group in chart.groups for dots in group.points] for chart in apart.charts[:2])
    assert sorted(natural + synthetic) == sorted(dots for group in whole.charts[0].groups for dots in group.points)
    expected = [
        (target.alignment["fused with CLIP"] - target.alignment["base"], target.alignment["fused with CLIP"] - 0.6)
        for record in measured.records for target in record.targets if target.kind == "natural"
    ]  # fmt: skip
    assert np.array(sorted(natural)) == pytest.approx(np.array(sorted(expected)))
    assert apart.rows() == whole.rows()


def test_a_chart_per_method_on_one_range(found, measured):
    figure = estimated_and_true(found, measured)
    assert [panel.title for panel in figure.panels] == list(measured.labels)
    assert len({tuple(re.findall(r'class="tick end">(\d+)<', str(panel.svg))) for panel in figure.panels}) == 1
    assert "off by 1.8*" in figure.panels[measured.labels.index("ALine-S")].svg
    assert {text for _, text in figure.key} == {"natural shift", "synthetic shift", "convnet", "resnet-8"}


def test_dots_are_averaged_only_as_far_as_the_page_needs(measured, crowd):
    single = ModelGroups.within(measured, len(measured.methods))
    assert single.text == "" and len(single.places) == 8
    many = read_measurements(crowd)
    groups = ModelGroups.within(many, len(many.methods))
    means = groups.mean(many.accuracy)
    assert groups.text == ", mean over its seeds" and len(groups.places) == 9
    assert means.size * len(many.methods) <= BUDGET
    first = [place for place, model in enumerate(many.models) if model.title == many.models[0].title]
    assert means[0, 0] == pytest.approx(many.accuracy[first, 0].mean())


def test_shapes_tell_checkpoints_where_there_is_one_model(make_estimates):
    figure = estimated_and_true(*read_results(make_estimates(models=("convnet",))))
    assert {"convnet, epoch 5", "convnet, epoch 10"} <= {text for _, text in figure.key}


def test_one_severity_draws_no_line(make_estimates):
    assert severity(*read_results(make_estimates(severities=(3,))), {}) is None


def test_a_method_without_a_number_at_some_severity_is_not_drawn(found, measured):
    figure = severity(found, measured, series_styles(measured.labels, ["AC"]))
    drawn = {row["method"] for row in figure.rows()}
    assert "ALine-S" not in drawn and "FRAP" in drawn


def test_the_page_is_whole_and_escaped(run_story):
    page = run_story.html()
    assert "&lt;b&gt;clay" in page and "<b>clay" not in page
    for heading in ("follow the truth?", "as the shift grows?", "a smaller error cost?", "confidence right?"):
        assert heading in page
    for heading in ("threshold good for?", "Which reference", "nearer in meaning", "What the methods cost"):
        assert heading in page
    assert "openworld run mine.toml" in page and "Methods: choose some" in page


@pytest.mark.slow
def test_thirty_methods_fit_into_the_page(crowd):
    page = story(crowd).html()
    assert len(page.encode()) < 1_500_000
    assert page.count('data-picks="method') == 30


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: the page is not tried in a browser")
def test_in_a_browser_the_console_is_silent_and_a_method_is_picked_out(run_story, tmp_path):
    script = "document.querySelector('[data-picks=\"COTT\"]').click();"
    text = run_story.write(tmp_path / "page.html").read_text(encoding="utf-8")
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = text.replace("script-src '", f"script-src 'sha256-{known}' '")
    (tmp_path / "page.html").write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --enable-logging=stderr"
    flags += " --disable-background-networking --disable-component-update --virtual-time-budget=3000 --dump-dom"
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    chosen = re.findall(
        r'data-learner="([^"]*)" class="[^"]*chosen|class="[^"]*chosen[^"]*" data-learner="([^"]*)"', done.stdout
    )
    assert len(chosen) >= 5 and {name for pair in chosen for name in pair if name} == {"COTT"}
