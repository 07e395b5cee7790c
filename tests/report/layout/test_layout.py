"""Layouts on rows made by hand: which rows stand where, and that captions, marks and sentences say what these hold."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.report.layout import (
    BASELINE,
    ENTITY,
    METRIC,
    Bars,
    Brief,
    Layout,
    Lines,
    Map,
    Mark,
    Own,
    Pivot,
    Ranks,
    Scatter,
)
from openworld.report.layout import Tests as Differences
from openworld.report.layout.layout import CELLS_ON_PAGE, ON_PAGE
from openworld.report.layout.tables import DOWN, UP
from openworld.report.series_style import series_styles
from openworld.report.table import Column, Row, Table
from openworld.results import METRICS, TEXT, Comparison, Interval, Metric, Result, Results, Value

AREA, ERROR, FIT = METRICS["auroc"], METRICS["absolute_error"], METRICS["fit_seconds"]
COUNT = METRICS["images"]
OTHER = Metric("other", "another", "number", 3, 0, (None, None))


def row(entity, metric, value, half=0.0, seeds=(), **where):
    spans = (Interval(value - half, value + half, "images", 80),) if half else ()
    per_seed = tuple(value + 0.01 * place for place in range(len(seeds)))
    return Result(entity, metric, Value(value, spans, "not measured" if value is None else ""), where, seeds, per_seed)


def compared(entity, other, difference, p, metric=AREA, **where):
    return Comparison(
        entity, other, metric, difference, p, "", Interval(difference - 0.1, difference + 0.1, "images"), where
    )


ROWS = (
    row("zero-shot", AREA, 0.6, 0.05, (1, 2)), row("CoOp", AREA, 0.8, 0.05, (1, 2)),
    row("GMoP", AREA, 0.9, 0.02, (1, 2)),
    row("zero-shot", ERROR, 0.2), row("CoOp", ERROR, 0.1), row("GMoP", ERROR, 0.3), row("CoOp", FIT, 3.0),
    row("", COUNT, 80, side="base"), row("", COUNT, 40, side="new"),
    *(row(name, AREA, 0.5 + 0.1 * level * (name == "CoOp"), level=level) for name in ("zero-shot", "CoOp")
      for level in (10, 9, 0)), row("CoOp", OTHER, 1.5, style="clay"),
)  # fmt: skip
TESTS = (
    compared("CoOp", "zero-shot", 0.2, 0.01), compared("GMoP", "zero-shot", 0.3, 0.001),
    compared("GMoP", "CoOp", 0.1, 0.4),
    compared("CoOp", "zero-shot", 0.9, 0.01, level=9), compared("CoOp", "zero-shot", -0.9, 0.01, level=10),
)  # fmt: skip
BRIEF = Brief(Results("demo", ROWS, TESTS), "zero-shot", subtitle=("here",))
MAIN = Pivot(name="main", title="The numbers", metrics=("absolute_error", "auroc"))
LEVELS = Pivot(name="levels", title="By level", metrics=("auroc",), columns=("level",))


def tables(*parts, brief=BRIEF):
    report = Layout("?", "auroc", parts).report(brief)
    found, sections = {}, list(report.page.sections)
    while sections:
        section = sections.pop(0)
        found |= {table.name: table for table in section.tables}
        sections += section.folded
    return found, report


def texts(table):
    return {
        line.label: [getattr(getattr(cell, "content", cell), "value", cell) for cell in line.cells]
        for line in table.rows
    }


def test_a_table_has_entities_by_metrics_in_the_order_of_the_part_and_nothing_of_other_places():
    table = tables(replace(MAIN, metrics=("auroc", "absolute_error")))[0]["main"]
    assert [column.heading for column in table.columns] == [
        "AUROC", "mean absolute error", "against zero-shot", "against GMoP"]  # fmt: skip
    assert {label: cells[:2] for label, cells in texts(table).items()} == {
        "zero-shot": [0.6, 0.2], "CoOp": [0.8, 0.1], "GMoP": [0.9, 0.3]}  # fmt: skip
    assert table.columns[0].headline and table.label == "learner" and table.rows[1].series == "CoOp"
    against = dict(zip(texts(table), (line.cells[2] for line in table.rows), strict=True))
    assert against["zero-shot"] is None and against["CoOp"].p == 0.01 and table.rows[1].cells[3].difference == -0.1


def test_the_caption_says_units_seeds_over_what_intervals_are_and_which_way_is_better():
    table = tables(replace(MAIN, note="A note."), brief=replace(BRIEF, notes={"main": "Another."}))[0]["main"]
    for words in ("Percent", "means of 2 seeds", "[95 % over images, 80 of them]",
                  "Lower is better: mean absolute error",                   "Another. A note."):  # fmt: skip
        assert words in table.caption
    alone = tables(Pivot(name="fit", title="t", metrics=("fit_seconds",)))[0]["fit"]
    assert "95 %" not in alone.caption and "seeds" not in alone.caption and "Lower is better." in alone.caption


def test_levels_stand_in_order_with_marks_where_a_difference_from_the_baseline_is_shown():
    table = tables(LEVELS)[0]["levels"]
    assert [column.heading for column in table.columns] == ["level 0", "level 9", "level 10"]
    cells = {line.label: line.cells for line in table.rows}
    assert [cell.mark for cell in cells["CoOp"]] == ["", UP, DOWN] and "better than zero-shot" in cells["CoOp"][1].note
    assert UP in table.caption and "zero-shot" in table.caption
    assert UP not in tables(LEVELS, brief=replace(BRIEF, baseline=""))[0]["levels"].caption


def test_what_no_part_takes_is_shown_at_the_end_with_its_tests():
    found, report = tables(MAIN)
    assert report.page.sections[-1].heading == "Every other number"
    rest = [table for name, table in found.items() if name.startswith("rest")]
    assert {label for table in rest for label in texts(table)} >= {"base", "new", "CoOp, clay", "CoOp, level 9", "CoOp"}
    assert sum(len(table.rows) for name, table in found.items() if name.startswith("rest-tests")) == 5
    whole, _ = tables(replace(MAIN, metrics=("auroc",)), LEVELS, Differences(name="tests", title="t"))
    assert not any(name.startswith("rest-tests") for name in whole) and len(whole["tests"].rows) == 3


def test_keys_of_a_part_make_tables_of_their_own_the_most_general_first():
    rows = [row("a", AREA, 0.1 * place, setting=setting) for place, setting in enumerate(("x", "y"))] + [
        row("a", AREA, 0.9)
    ]
    found, _ = tables(replace(MAIN, per=("setting",)), brief=Brief(Results("demo", tuple(rows))))
    assert [(name, table.title) for name, table in found.items()] == [
        ("main", "The numbers"), ("main-2", "The numbers: x"), ("main-3", "The numbers: y")]  # fmt: skip
    found, _ = tables(replace(MAIN, of={"setting": "y"}), brief=Brief(Results("demo", tuple(rows))))
    assert texts(found["main"]) == {"a": [0.1]}


def test_rows_are_sorted_by_a_metric_and_cut_where_there_are_very_many():
    table = tables(replace(MAIN, sort="auroc"))[0]["main"]
    assert [line.label for line in table.rows] == ["GMoP", "CoOp", "zero-shot"]
    assert [line.label for line in tables(replace(MAIN, sort="absolute_error"))[0]["main"].rows][0] == "CoOp"
    many = Brief(Results("demo", tuple(row(f"e{place}", AREA, 0.5) for place in range(ON_PAGE + 5))))
    found, report = tables(MAIN, brief=many)
    table = found["main"]
    assert len(table.rows) == ON_PAGE and f"The first {ON_PAGE} of {ON_PAGE + 5}" in table.caption
    assert list(found) == ["main"] and len(report.results) == ON_PAGE + 5
    wide = [row(f"e{place}", AREA, 0.5, chunk=chunk) for place in range(60) for chunk in range(60)]
    part = Pivot(name="wide", title="t", rows=("chunk",), columns=(ENTITY,))
    assert len(tables(part, brief=Brief(Results("demo", tuple(wide))))[0]["wide"].rows) == CELLS_ON_PAGE // 60


def test_a_terminal_shows_the_first_part_and_says_what_it_leaves_out():
    many = Brief(Results("demo", tuple(row(f"e{place}", AREA, 0.5) for place in range(40))))
    report = tables(MAIN, brief=many)[1]
    (table,) = report.terminal_tables
    assert len(table.rows) == 30 and "30 of 40" in table.caption and len(report.papers[0].rows) == 40
    names = [table.name for table in tables(MAIN, replace(LEVELS, terminal=True))[1].terminal_tables]
    assert names == ["main", "levels"] and len(tables(MAIN, LEVELS)[1].terminal_tables) == 1


def test_marks_words_and_places_as_rows():
    brief = replace(BRIEF, words={"main": {"what it is": {"CoOp": "prompts"}}},
                    marks={"GMoP": Mark("†", "it saw the test images", may_be_best=False)})  # fmt: skip
    table, report = tables(MAIN, brief=brief)[0]["main"], tables(MAIN, brief=brief)[1]
    assert table.rows[2].label == "GMoP †" and "†: it saw the test images." in table.caption
    assert table.rows[1].cells[-1] == "prompts" and (1, 1) in table.bold and (2, 1) not in table.bold
    assert report.verdict[0].startswith("CoOp has the highest AUROC")
    across = tables(Pivot(name="across", title="t", rows=(METRIC,), columns=(ENTITY,)), brief=brief)[0]["across"]
    assert "GMoP †" in [column.heading for column in across.columns] and across.rows[0].label == "AUROC"
    assert across.cell(0, [column.heading for column in across.columns].index("GMoP †")).bold is False
    named = [row("q", AREA, 0.5, chunk=place, chunk_name=name) for place, name in enumerate(("May", "June"))]
    part = Pivot(name="time", title="t", rows=("chunk",), columns=(ENTITY, METRIC))
    table = tables(part, brief=Brief(Results("demo", tuple(named))))[0]["time"]
    assert [line.label for line in table.rows] == ["May", "June"] and table.columns[0].heading == "q"


def test_own_parts_and_parts_of_one_title_share_a_section():
    mine = Table("mine", "Mine", "c", "l", (Column(TEXT, "w"),), (Row("r", ("x",)),))
    own = Own(name="own", title="The numbers", draw=lambda brief: [mine, None])
    report = tables(MAIN, own, replace(LEVELS, title="The numbers", folded=True))[1]
    assert [len(section.tables) for section in report.page.sections][0] == 2
    assert [section.tables[0].name for section in report.page.sections[0].folded] == ["levels"]


def test_the_verdict_names_the_best_the_baseline_and_what_it_rests_on():
    verdict = tables(MAIN)[1].verdict
    assert verdict[0].startswith("GMoP has the highest AUROC, 90.0 [88.0 92.0]; it is better than zero-shot")
    assert "no difference is shown from CoOp" in verdict[0]
    assert verdict[1] == "Against zero-shot, CoOp and GMoP are better (Holm, 5\u00a0%)."
    assert verdict[-1] == "This rests on 80 base images, 40 new images and 2 seeds."
    own = tables(MAIN, brief=replace(BRIEF, sentences=("Own.",), warnings=("Note.",)))[1].verdict
    assert own[2] == "Own." and own[-1] == "Note." and own[3].startswith("This rests on")


def test_many_places_are_counted_and_few_told_one_by_one():
    def brief(count):
        rows = [row(name, AREA, value, 0.05, setting=f"s{place}") for place in range(count)
                for name, value in (("a", 0.7), ("b", 0.8 if place else 0.6))]  # fmt: skip
        tests = [compared("b", "a", 0.1, 0.01, setting=f"s{place}") for place in range(1, 3)]
        return Brief(Results("demo", tuple(rows), tuple(tests)), "a")

    layout = Layout("?", "auroc", (replace(MAIN, per=("setting",)),), ("setting",))
    few, many = layout.report(brief(3)).verdict, layout.report(brief(6)).verdict
    assert [sentence.partition(":")[0] for sentence in few[:3]] == ["S0", "S1", "S2"]
    assert "b comes first in 5 of 6 places" in many[0] and "better than every other learner in 2" in many[0]
    assert many[1] == "Against a, of 2 tests 2 are better (Holm, 5\u00a0% in each place)."


def test_below_chance_is_asked_about_and_nobody_is_the_best_of_noise():
    below = Brief(Results("demo", (row("a", AREA, 0.3, 0.05), row("b", AREA, 0.7, 0.05))), label="detector")
    sentences = " ".join(tables(MAIN, brief=below)[1].verdict)
    assert "a (30.0) is below chance" in sentences and "in-distribution" in sentences
    generator, claims = np.random.default_rng(0), 0
    for _ in range(80):
        areas = 0.5 + 0.05 * generator.standard_normal(12)
        rows = tuple(row(f"d{place}", AREA, area, 1.96 * 0.05) for place, area in enumerate(areas.tolist()))
        verdict = tables(MAIN, brief=Brief(Results("demo", rows), label="detector"))[1].verdict
        claims += not verdict[0].startswith("No detector is shown to be above chance")
    assert claims <= 8, "of 80 tables of pure noise, 5 % of two sides and what chance adds"


def test_the_best_is_held_by_the_test_that_knows_it_was_chosen():
    """Of one pair that is tested from both sides the verdict takes the best's, a column that of its own family."""
    rows = (row("a", AREA, 0.6, 0.05), row("b", AREA, 0.9, 0.05))
    both = (compared("b", "a", 0.3, 0.01), compared("a", "b", -0.3, 0.4))
    found, report = tables(MAIN, brief=Brief(Results("demo", rows, both), "a"))
    assert report.verdict[0].startswith("b has the highest AUROC") and "not shown to differ from a" in report.verdict[0]
    assert found["main"].rows[1].cells[1].better and found["main"].rows[0].cells[2].p == 0.4


def test_a_deviation_is_not_taken_for_an_interval_and_a_pair_says_against_whom():
    value = Value(0.5, (Interval(0.4, 0.6, "images"),), "", 0.1)
    spread = Brief(Results("demo", (Result("a", AREA, value), row("a", OTHER, 0.1, baseline="b"))))
    assert "95 %" not in tables(replace(MAIN, show="deviation"), brief=spread)[0]["main"].caption
    pairs = Pivot(name="pairs", title="t", metrics=("other",), rows=(ENTITY, BASELINE))
    assert tables(pairs, brief=spread)[0]["pairs"].rows[0].label == "a, against b"


def test_lower_is_better_is_said_of_errors():
    verdict = Layout("?", "absolute_error", (MAIN,)).report(BRIEF).verdict
    assert verdict[0].startswith("CoOp has the lowest mean absolute error, 10.0")
    assert Layout("?", "other", (MAIN,)).report(BRIEF).verdict == (
        "This rests on 80 base images, 40 new images and 2 seeds.",
    )


LINES = Lines(name="lines", title="t", metrics=("auroc",), along="level")


def drawn(part, brief=BRIEF):
    return Layout("?", "", (MAIN, part)).report(brief).figures.get(part.name)


def test_lines_have_bands_seeds_and_the_truth_beside_them():
    rows = [row(name, AREA, 0.1 * level, 0.02, (1, 2), level=level) for name in "ab" for level in (2, 1)]
    truth = [row("", Metric("true", "truth"), 0.5, level=level) for level in (1, 2)]
    figure = drawn(replace(LINES, truth="true"), Brief(Results("demo", (*rows, *truth))))
    line = figure.charts[0].series["a"]
    assert list(line.x) == [1, 2] and list(line.y) == [0.1, 0.2] and line.low[0] == pytest.approx(0.08)
    assert line.further["highest_seed"] == pytest.approx([0.11, 0.21])
    assert list(figure.charts[0].series["true truth"].y) == [0.5, 0.5]
    assert "bands: 95 % over images" in figure.caption[0]
    words = [row("a", AREA, 0.1 * place, when=name) for place, name in enumerate(("May", "June"))]
    chart = drawn(replace(LINES, along="when"), Brief(Results("demo", tuple(words)))).charts[0]
    assert chart.x.labels == ("May", "June") and list(chart.series["a"].x) == [0, 1]


def test_the_truth_of_an_estimate_is_that_of_whom_its_place_names():
    said = Metric("said", "estimate")
    rows = [row(name, AREA, 0.2 + 0.1 * level + 0.3 * (name == "b"), level=level) for name in "ab" for level in (0, 1)]
    rows += [row("est", said, 0.9, learner=name, level=level) for name in "ab" for level in (0, 1)]
    part = replace(LINES, metrics=("said",), per=("learner",), truth="auroc")
    charts = drawn(part, Brief(Results("demo", tuple(rows)))).charts
    true = {chart.title: list(chart.series["true AUROC"].y) for chart in charts}
    assert true == {"a": pytest.approx([0.2, 0.3]), "b": pytest.approx([0.5, 0.6])}


def test_the_best_is_followed_along_the_key_of_its_chart_and_tests_of_levels_share_a_table():
    part, brief = Differences(name="tests", title="t", rows=("level",)), replace(BRIEF, label="learner")
    rows = tuple(row("GMoP", AREA, value, level=level) for level, value in ((0, 0.9), (10, 0.7), (9, 0.8)))
    brief = replace(brief, results=Results("demo", (*ROWS, *rows), TESTS))
    found, report = tables(MAIN, LINES, part, brief=brief)
    along = next(sentence for sentence in report.verdict if "goes" in sentence)
    assert along == "AUROC of GMoP goes from 90.0 at level 0 to 70.0 at level 10."
    by_level = next(sentence for sentence in report.verdict if sentence.startswith("By level"))
    assert "of 2 tests 1 is better and 1 is worse" in by_level
    assert [line.label for line in found["tests"].rows] == [f"CoOp − zero-shot, level {level}" for level in (9, 10)]


def test_bars_stack_or_stand_with_intervals():
    chart = drawn(Bars(name="bars", title="t", metrics=("auroc",))).charts[0]
    assert chart.series["GMoP"].interval == pytest.approx((0.88, 0.92))
    figure = drawn(Bars(name="bars", title="t", metrics=("auroc", "absolute_error"), stacked=True))
    (chart,), parts = figure.charts, [text for _, text in figure.key]
    assert "colour" in parts[0] and parts[1:] == [METRICS["absolute_error"].title]
    assert chart.series["CoOp"] == [0.8, 0.1] and [part.key for part in chart.parts] == ["auroc", "absolute_error"]


def test_scatter_draws_the_first_metric_over_each_other():
    figure = drawn(Scatter(name="dots", title="t", metrics=("auroc", "absolute_error", "fit_seconds")))
    assert [chart.x.key for chart in figure.charts] == ["absolute_error", "fit_seconds"]
    assert figure.charts[0].series["GMoP"].dots == [(0.3, 0.9)] and list(figure.charts[1].series) == ["CoOp"]


def test_maps_share_a_scale_and_say_what_is_not_known():
    rows = [row("a", ERROR, value, row=place, column=0) for place, value in enumerate((0.2, 0.4))]
    rows += [row("b", ERROR, None, row=0, column=0), row("b", ERROR, 0.3, row=1, column=0)]
    figure = drawn(
        Map(name="map", title="t", metrics=("absolute_error",), rows="row", columns="column"),
        Brief(Results("d", tuple(rows))),
    )
    first, second = (chart.cells for chart in figure.charts)
    assert [first[place, 0].shade for place in (0, 1)] == [0.0, 1.0] and second[1, 0].shade == pytest.approx(0.5)
    assert second[0, 0].shade is None and second[0, 0].text == "N/A" and second[0, 0].hint == "not measured"


def test_maps_of_aurocs_start_at_chance_and_dash_what_may_be_chance():
    sure, unsure = (Value(0.75, (Interval(low, 0.9, "images"),)) for low in (0.6, 0.5))
    places = ({"row": 0, "column": column} for column in (0, 1))
    rows = [Result("a", AREA, value, place) for value, place in zip((sure, unsure), places, strict=True)]
    rows.append(row("a", AREA, 0.25, row=1, column=0))
    part = Map(name="map", title="t", metrics=("auroc",), rows="row", columns="column")
    results = Results("d", tuple(rows))
    cells = drawn(part, Brief(results)).charts[0].cells
    assert [(cell.shade, cell.dashed) for cell in cells.values()] == [(0.5, False), (0.5, True), (-0.5, False)]
    layout = Layout("?", "auroc", (part,))
    assert [section.heading for section in layout.report(Brief(results)).page.sections] == ["t"], "a map prints numbers"


def test_ranks_are_drawn_or_it_is_said_why_not():
    distance = Metric("critical_difference", "critical difference", "fraction", 2, 0, (0.0, None))
    rank = Metric("mean_rank", "mean rank", "fraction", 2, -1, (1.0, None))
    rows = (row("a", rank, 1.2), row("b", rank, 1.8))
    part = Ranks(name="ranks", title="t", metrics=("mean_rank",))
    chart = drawn(part, Brief(Results("d", (*rows, row("", distance, 0.5))))).charts[0]
    assert chart.series == {"a": 1.2, "b": 1.8} and chart.difference == 0.5
    missing = Result("", distance, Value(None, reason="two data sets are too few"))
    report = Layout("?", "", (MAIN, part)).report(Brief(Results("d", (*rows, missing))))
    figure = next(figure for section in report.page.sections for figure in section.figures)
    assert not figure.charts and "two data sets are too few" in figure.caption[0]


def test_keys_beside_others_tell_nothing_apart_and_means_are_told_before_what_they_are_of():
    rows, checks = [], []
    for place in range(6):
        where = {"setting": f"set {place}", "task": f"set {place}"}
        rows += [row("a", AREA, 0.5, **where), row("b", AREA, 0.6 if place else 0.4, **where)]
        checks.append(compared("b", "a", 0.1 if place else -0.1, 0.01, **where))
    whole = {"setting": "mean of 6"}
    rows = [row("a", AREA, 0.5, **whole), row("b", AREA, 0.57, **whole), *rows]
    brief = Brief(Results("demo", tuple(rows), (compared("b", "a", 0.07, 0.2, **whole), *checks)), "a")
    part = replace(MAIN, metrics=("auroc",), per=("setting",))
    report = Layout(
        "?",
        "auroc",
        (part, Differences(name="tests", title="Pairs", per=("setting",))),
        ("setting",),
        ("task", "setting"),
    ).report(brief)
    tables = [
        table
        for section in report.page.sections
        for table in (*section.tables, *(each for inner in section.folded for each in inner.tables))
    ]
    assert [table.title for table in tables[:2]] == ["The numbers: mean of 6", "The numbers: set 0"]
    assert len([table for table in tables if table.name.startswith("tests")]) == 7
    first, many, against, *_ = report.verdict
    assert "57.0" in first and "p = .20" in first.replace("\u00a0", " ") or "p .20" in first.replace("\u00a0", " ")
    assert "b comes first in 5 of 6 places" in many and many.endswith("in 5.")
    assert "of 6 tests" in against


def test_columns_of_entities_and_metrics_are_named_by_what_tells_them_apart():
    named = [
        each
        for place, name in enumerate([f"day {day}" for day in range(40)])
        for each in (
            row("", COUNT, 80, chunk=place, chunk_name=name),
            row("q", AREA, 0.5, 0.1, chunk=place, chunk_name=name),
            row("p", AREA, 0.6, 0.1, chunk=place, chunk_name=name),
            row("q", OTHER, 1.5, chunk=place, chunk_name=name),
        )
    ]
    part = Pivot(name="time", title="t", metrics=("images", "auroc", "other"), rows=("chunk",),
                 columns=(METRIC, ENTITY))  # fmt: skip
    lines = Lines(name="lines", title="l", metrics=("images", "other"), along="chunk", series=METRIC)
    found, report = tables(part, lines, brief=Brief(Results("demo", tuple(named))))
    assert [column.heading for column in found["time"].columns] == ["images", "q", "p", "another"]
    priorities = [column.priority for column in found["time"].columns]
    assert priorities[2] == min(priorities) and len(set(priorities)) == 4
    (table,) = report.terminal_tables
    assert [line.label for line in table.rows][::29] == ["day 10", "day 39"] and "The last 30 of 40" in table.caption
    (chart,) = report.figures["lines"].charts
    assert set(chart.lines) == {"images", "another"} and chart.x.labels[:2] == ("day 0", "day 1")
    both = (*named, row("p", OTHER, 1.0, chunk=0, chunk_name="day 0"))
    table = tables(part, brief=Brief(Results("demo", both)))[0]["time"]
    assert {"AUROC, q", "another, p"} <= {column.heading for column in table.columns}


def chart_of(part, rows, baseline=""):
    return part.figure(Brief(Results("demo", tuple(rows)), baseline), series_styles(["a", "b"]))


def test_dots_are_seeds_or_one_with_a_line_through_its_seeds():
    rows = [row(name, metric, 0.5, seeds=(1, 2, 3)) for name in "ab" for metric in (AREA, ERROR)]
    each = chart_of(Scatter(name="s", title="t", metrics=("auroc", "absolute_error"), dots=("seed",)), rows)
    assert [len(cloud.dots) for cloud in each.charts[0].series.values()] == [3, 3]
    assert each.charts[0].series["a"].dots[2] == pytest.approx((0.52, 0.52)) and "seeds" not in each.caption[0]
    (one,) = chart_of(Scatter(name="s", title="t", metrics=("auroc", "absolute_error")), rows).charts
    assert one.series["a"].dots == [(0.5, 0.5)] and one.series["a"].spread == ((0.5, 0.5), (0.5, 0.52))


def test_dots_along_a_key_are_joined_in_order():
    rows = [row("a", metric, place / 10, bin=place) for place in (1, 2, 3) for metric in (AREA, ERROR)]
    (chart,) = chart_of(Scatter(name="s", title="t", metrics=("auroc", "absolute_error"), dots=("bin",)), rows).charts
    cloud = chart.series["a"]
    assert cloud.dots == [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)]
    assert cloud.lines(cloud.dots, ()) == [((0.1, 0.1), (0.2, 0.2)), ((0.2, 0.2), (0.3, 0.3))]


def test_numbers_that_grow_by_a_factor_and_costs_stand_on_logarithmic_axes():
    def axis(*ticks, key="shots"):
        part = Lines(name="l", title="t", metrics=("auroc",), along=key)
        return chart_of(part, [row("a", AREA, 0.5, **{key: tick}) for tick in ticks]).charts[0].x

    assert axis(1, 2, 4, 8, 16).log and axis(0.1, 0.3, 1.0, 3.0, 10.0).log
    assert not any(axis(*ticks).log for ticks in ((0, 1, 2, 4, 8, 16), range(1, 30), (1, 2, 4), (1, 8)))
    assert axis(0.1, 0.5, key="new_share").unit == "percent" and not axis(0.01, 0.1, 1.0, key="new_share").log
    for tuned, log in (((0, 512), True), ((100, 512), False), ((10, 512), True)):
        rows = [row(name, metric, value) for name, cost in zip("ab", tuned, strict=True)
                for metric, value in ((AREA, 0.5), (METRICS["tuned_parameters"], cost))]  # fmt: skip
        part = Scatter(name="s", title="t", metrics=("auroc", "tuned_parameters"))
        assert chart_of(part, rows).charts[0].x.log == log


def test_bands_may_be_deviations_and_bars_that_lack_a_part_are_not_drawn():
    rows = [replace(row("a", AREA, 0.5, 0.2, level=level), value=Value(0.5, (), deviation=0.1)) for level in (1, 2)]
    part = Lines(name="l", title="t", metrics=("auroc",), along="level", show="deviation")
    drawn = chart_of(part, rows)
    assert (drawn.charts[0].series["a"].low, drawn.charts[0].series["a"].high) == ([0.4, 0.4], [0.6, 0.6])
    assert "95 %" not in drawn.caption[0]
    bars = Bars(name="b", title="t", metrics=("auroc", "absolute_error"), per=("place",), stacked=True)
    whole, lacking = (row("a", metric, 0.5, place="x") for metric in (AREA, ERROR)), row("a", AREA, 0.5, place="y")
    assert [chart.title for chart in chart_of(bars, (*whole, lacking)).charts] == ["x"]


def test_charts_and_tables_stand_in_the_order_of_metrics_and_what_lacks_all_keys_is_all():
    rows = [
        row("a", metric, 0.5, **where) for metric in (ERROR, AREA) for where in ({}, {"place": "x"}, {"place": "y"})
    ]
    part = Bars(name="b", title="t", metrics=("auroc", "absolute_error"), per=("place",))
    titles = [chart.title for chart in chart_of(part, rows).charts]
    assert [title.split(", ")[0] for title in titles] == ["all", "all", "x", "x", "y", "y"]
    assert [title.split(", ")[1] for title in titles] == ["AUROC", "mean absolute error"] * 3


def test_a_figure_has_as_many_charts_as_its_marks_have_room_for(monkeypatch):
    rows = [row(name, AREA, 0.5, level=level, set=at) for name in "ab" for level in (0, 1) for at in ("x", "y", "z")]
    part = Lines(name="l", title="t", metrics=("auroc",), along="level", per=("set",))
    assert len(chart_of(part, rows).charts) == 3
    monkeypatch.setattr("openworld.report.layout.charts.MARKS", 8)
    fewer = chart_of(part, rows)
    assert len(fewer.charts) == 2 and "The first 2 of 3 charts" in " ".join(fewer.caption)
