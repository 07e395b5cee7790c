"""What a run of accuracy estimation shows: every form, where numbers stand, marks, the verdict, and its own charts."""

from types import SimpleNamespace

import numpy as np
import pytest

from openworld.evaluations.finished_runs import compare_runs, read_report
from openworld.label_free.benchmark import figures
from openworld.label_free.benchmark.arrays import RunArrays
from openworld.label_free.benchmark.figures import ModelGroups, alignment_gap
from openworld.label_free.benchmark.report import report
from openworld.report.layout.layout import REST
from openworld.results import RunFolder
from openworld.testing import check_report
from openworld.testing._reports import _shows_every_number_once

SMALL = {"models": ("convnet",), "epochs": (5,), "corruptions": ("fog",), "severities": (1, 5)}
SMALL |= {"methods": {name: (name, None, {}, seen, 0.02) for name, seen in (("AC", 0.3), ("COTT", 0.9), ("DoC", 0.35))}}


@pytest.fixture(scope="module")
def run_story(estimates_folder):
    return read_report(estimates_folder)


def table_of(story, name):
    """A table of the page."""
    sections = [part for section in story.page.sections for part in (section, *section.folded)]
    return next(table for section in sections for table in section.tables if table.name == name)


def cells_of(story, name):
    """{row: {column: what is in the cell}} of a table."""
    table = table_of(story, name)
    heads = [column.heading for column in table.columns]
    return {row.label: dict(zip(heads, row.cells, strict=True)) for row in table.rows}


def headings(story):
    return [section.heading for section in story.page.sections]


@pytest.fixture(scope="module")
def small_folder(make_estimates_folder):
    return make_estimates_folder(**SMALL)


def test_every_form_can_be_made(small_folder):
    check_report(read_report(small_folder))


@pytest.mark.parametrize(
    "options",
    [{"intervals": True, "epochs": (5,)}, {"aligned": False, "models": ("convnet",), "corruptions": ()}],
)
def test_every_number_and_test_stands_once(options, make_estimates):
    story = report(make_estimates(**options))
    _shows_every_number_once(story)
    assert REST not in headings(story)
    unknown = ("nearness in meaning", "not known: no tree holds these classes") in story.page.facts
    assert unknown is ("Near in meaning" not in headings(story)) is ("aligned" in options)


def test_so_does_that_of_the_smallest_run_which_has_no_more_than_it_measured(smallest):
    story = report(smallest)
    _shows_every_number_once(story)
    absent = {REST, "What happens as the shift grows?", "Near in meaning", "Which temperature calibrates a reference?"}
    assert not absent & {*headings(story)}
    assert "nothing is there to compare it with" in story.page.verdict[0]


def test_the_verdict_counts_methods_and_tests(run_story):
    best, baseline, direction, conditions, _ = run_story.page.verdict
    assert best.startswith("FRAP has the lowest mean absolute error, 1.9") and "better than ATC-MC" in best
    tests = [test for test in run_story.results.comparisons if not test.where and "AC" in (test.entity, test.other)]
    worse = [test for test in tests if (test.better if test.other == "AC" else test.worse)]
    assert 0 < len(worse) < 10 and (f"{len(worse)} methods are better" in baseline or worse[0].entity in baseline)
    biased = [row for row in run_story.results.where(metric="bias") if not row.where and row.entity]
    errors = {row.entity: row.value.value for row in run_story.results.where(metric="absolute_error") if not row.where}
    over = sum(row.value.value > errors[row.entity] / 2 for row in biased)
    assert direction.startswith(f"Of 11 methods {over} mostly overestimate")
    assert "15 conditions (3 natural, 12 synthetic) of 1,000 images" in conditions


def test_no_complete_method_is_said(handmade):
    best = report(handmade({"a": ("one", 0.8, {"ALine-S": None})})).page.verdict[0]
    assert "ALine-S" in best and "no estimate was given" in best


def test_a_method_without_some_estimates_is_marked_and_never_bold(run_story):
    cells = cells_of(run_story, "errors")
    assert "ALine-S *" in cells and "estimates are missing" in table_of(run_story, "errors").caption
    assert cells["ALine-S *"]["mean absolute error"].bold is False and cells["FRAP"]["mean absolute error"].bold is None
    assert "ALine-S *" in [column.heading for column in table_of(run_story, "shifts").columns]
    assert cells["AC"]["against AC"] is None and cells["FRAP"]["against AC"].better


def test_a_threshold_s_cost_stands_beside_its_twin(run_story):
    assert "FRAP, no threshold, against FRAP" in cells_of(run_story, "threshold")


def test_two_runs_are_compared_by_seed(small_folder, make_estimates_folder):
    found = compare_runs(small_folder, make_estimates_folder(**SMALL | {"epochs": (10,)}))
    assert {pair.first.metric.key for pair in found.pairs} == {"absolute_error"} and len(found.pairs) == 3 * 3
    assert all(pair.comparison.p is not None for pair in found.pairs)


def test_a_chart_per_line_of_calibration_errors_by_temperature(run_story, arrays, targets):
    figure = run_story.figures["temperatures"]
    titles = [f"{name}, {line}" for name in ("CLIP", "dirichlet") for line in arrays.lines]
    assert [chart.title for chart in figure.charts] == titles
    for row in figure.rows():
        name, line = row["line"].split(", ", 1)
        means = [
            np.mean([target.ece[name][row["temperature"]] for of_model in targets
                     for target in of_model if target.condition.row == each])
            for each in ([line] if line in arrays.rows else arrays.rows)
        ]  # fmt: skip
        assert row["expected_calibration_error"] == pytest.approx(np.mean(means))
    for chart in figure.charts:
        (ringed,) = [row.value for row in chart.series.values() if row.ringed]
        assert ringed == min(row.value for row in chart.series.values())


def test_example_images_with_what_a_reference_says_of_them(run_story):
    figure = run_story.figures["examples"]
    (chart,) = figure.charts
    assert len(chart.cells) == 2 * (6 + 1) and [len(chart.cells[6, place].images) for place in (0, 1)] == [1, 1]
    assert [chart.cells[row, 0].text for row in range(6)] == ["15.0", "80.0", "30.0", "60.0", "33.5", "34.0"]
    first, rows = figure.rows()[0], figure.rows()
    assert len(rows) == 2 * 3 and (first["class"], first["raw"], first["calibrated"]) == ("<i>crane</i>", 0.34, 0.8)


def test_nearness_in_meaning_by_kind_of_shift(arrays, targets):
    whole, apart = alignment_gap(arrays), alignment_gap(arrays, by_kind=True)
    titles = [f"fused with CLIP, {kind} shift" for kind in ("natural", "synthetic")]
    assert [chart.title for chart in apart.charts[:2]] == titles
    natural, synthetic = ([dot for cloud in chart.series.values() for dot in cloud.dots] for chart in apart.charts[:2])
    assert sorted(natural + synthetic) == sorted(dot for cloud in whole.charts[0].series.values() for dot in cloud.dots)
    near = [target.alignment for unit in targets for target in unit if target.condition.kind == "natural"]
    fused, alone = (np.array([each[name] for each in near]) for name in ("fused with CLIP", "classifiers"))
    expected = zip(fused - alone, fused - 0.6, strict=True)
    assert np.array(sorted(natural)) == pytest.approx(np.array(sorted(expected)))
    assert apart.rows() == whole.rows()


def test_a_chart_per_method_on_one_range(run_story, arrays, make_estimates):
    figure = run_story.figures["estimated"]
    assert [title for title, _ in figure.panels] == list(arrays.labels)
    assert len({chart.x.covers for chart in figure.charts}) == 1
    assert figure.charts[arrays.labels.index("ALine-S")].note == "off by 1.8*"
    words = {f"{kind} shift · {name}" for kind in ("natural", "synthetic") for name in ("convnet", "resnet-8")}
    assert {text for _, text in figure.key} == words
    alone = ModelGroups.within(RunArrays(make_estimates(models=("convnet",))), 1)
    assert alone.shapes == ("convnet, epoch 5", "convnet, epoch 10")  # of one model its checkpoints


def test_dots_are_averaged_only_as_far_as_the_page_needs(arrays, monkeypatch):
    single = ModelGroups.within(arrays, len(arrays.methods))
    assert single.text == "" and len(single.places) == 8
    monkeypatch.setattr(figures, "BUDGET", 2 * 15 * len(arrays.methods))
    groups = ModelGroups.within(arrays, len(arrays.methods))
    assert groups.text == ", mean over its seeds and checkpoints" and len(groups.places) == 2
    first = [place for place, model in enumerate(arrays.models) if model.name == arrays.models[0].name]
    assert groups.mean(arrays.accuracy)[0, 0] == pytest.approx(arrays.accuracy[first, 0].mean())


@pytest.fixture(scope="module")
def seen(estimates_folder):
    return SimpleNamespace(source=RunArrays(RunFolder.read(estimates_folder)))


def test_every_condition_is_shown_with_what_is_right_there(seen, arrays):
    (album,) = figures.albums(seen)
    natural, synthetic = album.parts
    assert (natural[0], len(natural[1]), len(synthetic[1])) == ("Emoji, natural", 3, 12)
    first = natural[1][0]
    assert first.name == "twemoji" and first.caption == f"{100 * arrays.accuracy[:, 0].mean():.1f}\u00a0% right"
    assert first.address.startswith("data:image/png;base64,") and "severity" not in album.caption


@pytest.mark.parametrize(("room", "shown", "said"), [(15, 15, ""), (14, 7, "severity 5 is shown"), (6, 3, "none")])
def test_severities_are_left_out_where_images_weigh_too_much(seen, monkeypatch, room, shown, said):
    size = len(figures.albums(seen)[0].parts[0][1][0].address)
    monkeypatch.setattr(figures, "BYTES", size * room)
    (album,) = figures.albums(seen)
    assert sum(len(images) for _, images in album.parts) == shown and said in album.caption


def test_a_run_without_images_has_no_album(estimates):
    assert figures.albums(SimpleNamespace(source=RunArrays(estimates))) == ()
