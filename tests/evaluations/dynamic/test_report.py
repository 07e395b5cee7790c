"""What a run of dynamic scenarios says: tables, the verdict from the tests, figures of every kind, and its page."""

import io
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from openworld._errors import OpenworldError
from openworld.api.finished_run import open_run
from openworld.cli.app import app
from openworld.evaluations.dynamic.averages import Average
from openworld.evaluations.dynamic.figures import curve_figure, parts_figure, rank_figure
from openworld.evaluations.dynamic.results import read_results
from openworld.evaluations.dynamic.tables import overview_table, robustness_table
from openworld.evaluations.dynamic.verdict import verdict
from openworld.evaluations.stories import compare_runs, read_story
from openworld.report.render import as_tex, plain, terminal_table
from openworld.report.series_style import series_styles
from openworld.results import RunFolder
from openworld.testing import check_story

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
STYLES = series_styles(("zero-shot", "CoOp", "GMoP"), ["zero-shot"])


@pytest.fixture(scope="module")
def run_story(course_run):
    return read_story(course_run)


@pytest.fixture(scope="module")
def found(course_run):
    return read_results(RunFolder.read(course_run))


@pytest.fixture(scope="module")
def crowded(make_course_run):
    """Ten learners, three seeds, six runs of a distribution shift."""
    learners = {"zero-shot": 0.4} | {f"learner {place}": 0.1 * place for place in range(1, 10)}
    runs = [("distribution-shift", f"style {place}") for place in range(6)]
    return make_course_run(learners=learners, seeds=(1, 2, 3), courses=runs)


def printed(table, width):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(terminal_table(table))
    return console.file.getvalue()


def section(story, heading):
    return next(one for one in story.page.sections if one.heading.startswith(heading))


@pytest.mark.parametrize("kind", ["several", "single", "crowded"])
def test_a_run_has_every_form(kind, course_run, crowded, make_course_run):
    single = (("distribution-shift", "clay"),)
    folders = {
        "several": lambda: course_run,
        "single": lambda: make_course_run(courses=single),
        "crowded": lambda: crowded,
    }
    check_story(read_story(folders[kind]()))


def test_a_terminal_shows_a_table_per_scenario_run_and_of_many_one_per_scenario(run_story, crowded):
    assert len(run_story.terminal_tables) == 3 and len(run_story.papers) == 1 + 3, "one mean over two runs"
    many = read_story(crowded)
    assert len(many.tables) == 1 and len(many.papers) == 1 + 6 and "6 scenario runs" in many.text[-1]
    assert "Friedman's test over 6 scenario runs: p" in many.tables[0].caption


def test_the_table_says_over_what_and_ends_in_a_verdict(run_story):
    text = printed(run_story.terminal_tables[0], 200)
    head, zero_shot, _, gmop = text.splitlines()[1:5]
    assert head.split()[:11] == ["learner", "Acc(0)", "AUC", "WA", "EVM", "VS", "PA", "NA", "ΔAUC", "rank", "place"]
    assert "[" in gmop and "better, p" in gmop and "–" in zero_shot
    caption = run_story.terminal_tables[0].caption
    assert all(fact in caption for fact in ("n = 12", "given the seeds", "Holm over 3 pairs", "mean curve of 2 seeds"))


def test_a_narrow_terminal_keeps_whole_numbers_and_says_what_it_left_out(run_story):
    text = printed(run_story.terminal_tables[0], 80)
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    assert "ΔAUC" in text and "For want of room without" in " ".join(text.split()) and " VS" not in text.splitlines()[1]


def test_papers_have_every_interval_over_images_and_mark_those_over_seeds(run_story):
    mean, run = run_story.papers[0], run_story.papers[1]
    gmop = next(place for place, row in enumerate(mean.rows) if row.label == "GMoP")
    titles = [column.heading for column in mean.columns]
    marked = {title for title, at in zip(titles, range(len(titles)), strict=True) if mean.cell(gmop, at).mark}
    assert marked == {"WA", "EVM", "VS", "PA"} and "over seeds" in mean.caption
    assert "NA" in titles, "0 with every seed: no interval is made up"
    assert not any(run.cell(gmop, at).mark for at in range(len(titles))) and "ΔPN" in titles
    assert all("over seeds: " in row.cells[-1].note for row in run.rows[1:])


def test_the_note_of_a_number_has_the_seeds_and_their_mean_where_it_is_another(found):
    table = robustness_table(found[0], found[1].runs[0], "zero-shot", "t")
    notes = {column.heading: table.cell(2, at).note for at, column in enumerate(table.columns)}
    assert "(seed 1)" in notes["AUC"] and "(seed 2)" in notes["AUC"] and "mean of the seeds" not in notes["AUC"]
    own = [found[0].result("GMoP", name, **found[1].runs[0].where) for name in ("variation", "worst_accuracy")]
    for row in own:
        other = row.metric.write(sum(row.per_seed) / 2) != row.metric.write(row.value.value)
        assert ("mean of the seeds' own curves" in notes[row.metric.title]) == other


def test_the_overview_has_a_gain_with_its_test_and_a_rank_by_scenario(found):
    table = overview_table(*found)
    assert [row.label for row in table.rows] == ["zero-shot", "CoOp", "GMoP"] and len(table.columns) == 4
    gain, rank = table.cell(2, 0), table.cell(2, 1)
    assert gain.under.startswith("better, p") and gain.bold and rank.under == "1"
    assert table.cell(0, 0).content.value is None and "2 runs" in table.columns[2].heading


def test_accuracy_by_level_stands_over_its_parts(run_story):
    (levels,) = [part for part in section(run_story, "The numbers").folded if part.heading == "Accuracy by level"]
    assert len(levels.tables) == 3
    first, shift = levels.tables[:2]
    assert [column.heading for column in first.columns] == ["t = 0", "t = 0.5", "t = 1"]
    assert first.cell(2, 0).under == "" and first.cell(2, 1).under.count(" / ") == 2 and "AUROC" in first.caption
    assert not shift.cell(2, 1).under and "60 of 12" in shift.caption


def test_three_sentences_of_several_scenario_runs(run_story):
    leader, tuning, evidence = run_story.page.verdict
    assert leader.startswith("Over 3 scenario runs GMoP has the largest mean area under the curves")
    assert "is shown to be better than it in 3 and worse in none" in leader
    assert tuning.startswith("Against zero-shot, which tunes nothing, 3 of 6 curves have a larger area")
    assert "in 12 groups" in evidence and "2 seeds" in evidence and "no scenario has runs enough" in evidence


def test_three_sentences_of_a_single_one(make_course_run):
    leader, tuning, evidence = read_story(make_course_run(courses=(("emerging-classes", None),))).page.verdict
    assert leader.startswith("Emerging new classes: things, photos: GMoP has the largest area under the curve")
    assert "better than" in leader and "GMoP (+" in tuning and evidence.startswith("This rests on views")


def test_nothing_to_test_is_said(make_course_run):
    run = make_course_run(learners={"zero-shot": 0.4}, courses=(("emerging-classes", None),))
    leader, tuning, _ = read_story(run).page.verdict
    assert "nothing was run beside it" in leader and "nothing was run beside it" in tuning


def test_where_nobody_took_part_in_all_runs_nobody_leads(found):
    results, facts = found
    first, second, _ = (run.first for run in facts.runs)
    apart = ((first, ("zero-shot",)), (second, ("CoOp", "GMoP")))
    runs = (replace(run, curves={name: run.curves[name] for name in names}) for run, names in apart)
    leader, *_ = verdict(results, replace(facts, runs=tuple(Average((run,)) for run in runs)))
    assert "none leads" in leader and "2 scenario runs" in leader


def test_names_that_look_like_markup_come_out_letter_by_letter(make_course_run):
    names = ("crane [/bird]", "crane [bird]", "[red]")
    learners = {"zero-shot": 0.4, **dict.fromkeys(names, 1.0)}
    story = read_story(make_course_run(learners=learners, seeds=(1,), courses=(("distribution-shift", "[red]"),)))
    assert all(name in printed(story.terminal_tables[0], 400) for name in names)
    assert all(plain(name) in story.export("markdown") and as_tex(name) in story.export("latex") for name in names)


def test_the_page_is_escaped_and_has_its_facts(run_story):
    page = run_story.html()
    assert "&lt;b&gt;clay" in page and "<b>clay" not in page
    for heading in ("Emerging new classes", "Distribution shift", "What is lost, the old or the new?", "Which ranks"):
        assert heading in page
    assert "openworld run mine.toml" in page and "fit 3.0 s, score 1.0 s in all" in page


def test_two_runs_are_compared_over_the_seeds_that_both_have(course_run, make_course_run):
    other = make_course_run(learners={"zero-shot": 0.4, "CoOp": 1.0, "GMoP": 1.4})
    found = compare_runs(course_run, other)
    assert found.metric.key == "auc"
    gains = {pair.first.entity: pair.comparison.difference for pair in found.pairs if len(pair.first.where) == 3}
    assert gains["zero-shot"] == gains["GMoP"] == 0 < gains["CoOp"]


def test_a_report_needs_no_torch(course_run):
    code = (
        "import sys; from openworld.evaluations.stories import read_story; "
        "read_story(sys.argv[1]).write(); assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code, course_run]).returncode == 0


def test_curves_have_a_chart_per_run_a_line_per_learner_and_a_row_per_level(found):
    results, facts = found
    figure = curve_figure(results, facts.runs[1:], "zero-shot", STYLES)
    assert [chart.title for chart in figure.charts] == ["→ sketch", "→ <b>clay</b>"]
    assert all("<b>" not in panel.svg and panel.svg.count("<polyline") == 3 for panel in figure.panels)
    rows = figure.rows()
    assert len(rows) == 2 * 3 * 3
    (row,) = [row for row in rows[:9] if (row["learner"], row["level"]) == ("CoOp", 1.0)]
    expected = results.result("CoOp", "accuracy", **facts.runs[1].where, level=1.0)
    ends = (min(expected.per_seed), max(expected.per_seed))
    assert (row["accuracy"], row["lowest_seed"], row["highest_seed"]) == (expected.value.value, *ends)
    ticks = [re.findall(r'class="tick end">(\d+)<', str(panel.svg)) for panel in figure.panels]
    assert len(ticks) == 2 and ticks[0] == ticks[1], "charts of a scenario share their range"


def test_among_many_lines_all_but_two_stand_back(crowded):
    found, facts = read_results(RunFolder.read(crowded))
    (panel, *_) = curve_figure(found, facts.runs, "zero-shot", series_styles(facts.learners, ["zero-shot"])).panels
    assert panel.svg.count(" back") == 8 and panel.svg.count('class="band"') == 10


def test_parts_are_drawn_where_there_are_both_kinds(found, make_course_run):
    results_of, facts = found
    figure = parts_figure(results_of, facts, STYLES)
    assert len(figure.charts) == 3 and all("emerging" in chart.title for chart in figure.charts)
    rows = [row for row in figure.rows() if (row["learner"], row["level"]) == ("GMoP", 0.5)]
    parts = ("base_accuracy", "new_accuracy", "auroc")
    expected = [results_of.value("GMoP", part, **facts.runs[0].where, level=0.5).value for part in parts]
    assert [row[part] for row, part in zip(rows, parts, strict=True)] == expected
    shift = read_results(RunFolder.read(make_course_run(courses=(("distribution-shift", "clay"),))))
    assert parts_figure(*shift, STYLES) is None


def test_ranks_are_drawn_where_there_are_runs_enough(found, crowded):
    few = rank_figure(*found, STYLES)
    assert few.charts == () and few.caption[0].startswith("No diagram is drawn for emerging new classes (1 data")
    many, facts = read_results(RunFolder.read(crowded))
    figure = rank_figure(many, facts, series_styles(facts.learners, ["zero-shot"]))
    (chart,), (row, *_) = figure.charts, figure.rows()
    assert (
        row["scenario_runs"] == 6
        and row["friedman_p"] == many.value("", "friedman_p", scenario="distribution-shift").value
    )
    assert chart.title == "distribution shift" and "Nemenyi" in figure.caption[1]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: the page is not tried in a browser")
def test_in_a_browser_the_console_is_silent_and_pointing_brings_a_learner_forward(crowded, tmp_path):
    import base64
    import hashlib

    script = "document.querySelector('[data-picks=\"learner 3\"]').focus();"
    text = read_story(crowded).html()
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


def test_every_figure_is_saved_for_a_paper(course_run, tmp_path):
    arguments = ["report", str(course_run), "--figures", "svg", "--output", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    figures = read_story(course_run).figures
    assert figures and {path.stem for path in tmp_path.iterdir()} == set(figures)
    assert all("<svg" in path.read_text() for path in tmp_path.iterdir())


def test_tables_and_figures_are_not_asked_for_at_once(course_run):
    refused = CliRunner().invoke(app, ["report", str(course_run), "--table", "csv", "--figures", "pdf"])
    assert refused.exit_code == 2 and "--table and --figures" in refused.output


def test_a_figure_form_that_does_not_exist_is_refused(course_run, tmp_path):
    with pytest.raises(OpenworldError, match="pdf, svg, png"):
        open_run(course_run).save_figures(tmp_path, "bmp")
    assert not list(tmp_path.iterdir())
