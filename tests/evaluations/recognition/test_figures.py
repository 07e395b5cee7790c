"""Figures: one look per learner everywhere, the numbers behind them, nothing where nothing is defined."""

import csv
import io
from dataclasses import replace
from urllib.parse import unquote

import pytest

from openworld.evaluations.recognition.figures import (
    FIGURES,
    fit_time,
    miss_hit,
    parameters,
    points_lost,
    score_time,
    setting,
    shots,
    trade_off,
)
from openworld.evaluations.recognition.figures.learners import LOSSES
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.summary import summarise
from openworld.report.series_style import looks

SWEEPS = (setting, shots)  # of what the small run holds still
SHOWN = [figure for figure in FIGURES if figure not in SWEEPS]


@pytest.fixture(params=SHOWN, ids=lambda figure: figure.__name__)
def figure(request, small_summary):
    return request.param(small_summary.tables, looks(small_summary.learners, small_summary.yardsticks))


def test_every_learner_is_drawn_in_its_look(figure, small_summary):
    for learner, look in looks(small_summary.learners, small_summary.yardsticks).items():
        for panel in figure.panels:
            assert f'data-learner="{learner}"' in panel.svg and look.css_class in panel.svg


def test_the_download_is_the_data(figure):
    header, *rows = csv.reader(io.StringIO(unquote(figure.download.partition(",")[2])))
    assert set(header) == set().union(*figure.rows()) and len(rows) == len(figure.rows())
    assert all(len(row) == len(header) for row in rows)


def test_two_sentences_of_caption(figure):
    assert all(sentence.endswith(".") and len(sentence) > 40 for sentence in figure.caption)


def test_bars_end_at_a_hundred(small_summary):
    figure = points_lost(small_summary.tables, looks(small_summary.learners))
    assert all(sum(row[part] for part in ("openworld_auc", *LOSSES)) == pytest.approx(1) for row in figure.rows())


def test_one_dot_per_learner_and_seed(small_summary):
    figure = trade_off(small_summary.tables, looks(small_summary.learners))
    assert len(figure.rows()) == 8 and figure.panels[0].svg.count("<use") == 8


def test_in_a_crowd_all_but_two_stand_back(summary_of):
    learners = {"zero-shot": (0.5, 0.5, 1.0, 0)} | {f"learner {n}": (1 + n / 9, 0.3, 1.0, 512) for n in range(7)}
    summary = summary_of(learners=learners, names=list("abcdefgh"), seeds=(1,), per_class=4)
    (panel,) = miss_hit(summary.tables, looks(summary.learners)).panels
    assert panel.svg.count(' back"') == 8 - len({summary.tables[0].best, summary.tables[0].yardstick})


def test_no_figure_where_nothing_is_defined(summary_of):
    summary = summary_of(seeds=(1,), names=list("abcd"), per_class=3, sides=("base",))
    assert [figure(summary.tables, looks(summary.learners)) for figure in FIGURES] == [None] * len(FIGURES)


def drawn(figure, summary):
    return figure(summary.tables, looks(summary.learners, summary.yardsticks))


@pytest.mark.parametrize("figure", [parameters, fit_time, score_time])
def test_one_dot_per_learner_against_its_cost(figure, small_summary):
    found = drawn(figure, small_summary)
    assert [row["learner"] for row in found.rows()] == list(small_summary.learners)
    assert found.panels[0].svg.count("<use") == 4
    by_learner = {row.learner: row.openworld_auc for row in small_summary.tables[0].rows}
    for row in found.rows():
        assert row["lowest_seed"] <= row["openworld_auc"] == by_learner[row["learner"]] <= row["highest_seed"]


@pytest.mark.parametrize(("figure", "parted"), [(parameters, True), (fit_time, True), (score_time, False)])
def test_what_costs_nothing_stands_before_the_break(figure, parted, small_summary):
    svg = drawn(figure, small_summary).panels[0].svg
    assert (">none</text>" in svg) == ("break-stroke" in svg) == parted


def test_scoring_is_counted_by_the_image(small_summary):
    rows = drawn(score_time, small_summary).rows()
    assert [row["score_milliseconds"] for row in rows] == pytest.approx([1000 * 0.2 / 192] * 4)


def test_costs_of_many_settings_are_averaged_in_one_plot(many_run):
    summary = summarise(load(many_run).outcomes)
    found = drawn(parameters, summary)
    assert len(found.panels) == 1 and "mean of 3 settings" in found.panels[0].svg
    assert {row["learner"]: row["openworld_auc"] for row in found.rows()} == pytest.approx(summary.averages)


def without_times(summary, learners):
    outcomes = [outcome for row in summary.tables[0].rows for outcome in row.outcomes]
    lost = [replace(one, seconds={}) if one.metrics["learner"] in learners else one for one in outcomes]
    return summarise(lost)


def test_learners_whose_times_are_lost_are_named_and_not_guessed(small_summary):
    found = drawn(fit_time, without_times(small_summary, ["CoOp"]))
    assert [row["learner"] for row in found.rows()] == ["zero-shot", "KgCoOp", "GMoP"]
    assert found.caption[1].endswith("; not drawn, for want of a number: CoOp.")


def test_no_time_no_figure(small_summary):
    lost = without_times(small_summary, small_summary.learners)
    assert drawn(fit_time, lost) is None and drawn(score_time, lost) is None and drawn(parameters, lost) is not None


def test_every_learner_of_a_crowd_is_named_in_every_plot_that_stands_alone(summary_of):
    learners = {"zero-shot": (0.5, 0.5, 1.0, 0)}
    learners |= {f"learner {n}": (1 + n / 20, 0.3, 1.0, 512 * n) for n in range(1, 17)}
    summary = summary_of(learners=learners, names=list("abcdefgh"), seeds=(1, 2, 3), per_class=4)
    for figure in SHOWN:
        for panel in drawn(figure, summary).panels:
            assert all(f">{learner}" in panel.svg for learner in learners), figure.__name__


def told_as(summary, **told):
    """The outcomes of a summary with other metrics; a function is asked for each outcome's own."""
    outcomes = [one for table in summary.tables for row in table.rows for one in row.outcomes]
    return [
        replace(one, metrics={**one.metrics, **{key: ask(one) if callable(ask) else ask for key, ask in told.items()}})
        for one in outcomes
    ]


def test_shots_are_drawn_where_a_run_has_several(small_summary):
    assert drawn(shots, small_summary) is None
    summary = summarise([one for count in (4, 1) for one in told_as(small_summary, shots=count)])
    found = drawn(shots, summary)
    expected = [(learner, count) for learner in summary.learners for count in (1, 4)]
    assert [(row["learner"], row["shots"]) for row in found.rows()] == expected
    (panel,) = found.panels
    assert panel.svg.count("<polygon") == 3  # zero-shot is the same in every seed
    assert all(f">{learner}</text>" in panel.svg for learner in summary.learners)
    assert "highest of 2 seeds" in found.caption[0] and ">4</text>" in panel.svg
    by_row = {row.learner: row for row in summary.tables[0].rows}
    for row in found.rows():
        own = by_row[row["learner"]]
        assert row["openworld_auc"] == own.openworld_auc and row["seeds"] == 2
        assert (row["low_over_images"], row["high_over_images"]) == own.over_images
        assert row["lowest_seed"] <= row["openworld_auc"] <= row["highest_seed"]


def test_settings_of_several_tasks_have_a_panel_each(many_run):
    whole = summarise(load(many_run).outcomes)
    summary = summarise([one for count in (1, 2) for one in told_as(whole, shots=count)])
    assert [panel.title for panel in drawn(shots, summary).panels] == [
        f"{task} · twemoji · embedded" for task in ("one", "two", "three")
    ]


ALPHAS = {"CoOp": 0.1, "KgCoOp": 0.5, "GMoP": 2.0}


def entries(summary, **others):
    """All but zero-shot as entries of one method that differ in alpha, and in what `others` say by label."""

    def chosen(one):
        label = one.metrics["learner"]
        own = {name: values.get(label, 0) for name, values in others.items()}
        return {"chosen": {"alpha": ALPHAS.get(label, 0.1), "gate": "none", "schedule": {"epochs": 10}} | own}

    return summarise(
        told_as(summary, detail=chosen, method=lambda one: "GMoP" if one.metrics["tuned_parameters"] else "zero-shot")
    )


def test_a_setting_that_alone_varies_is_drawn(small_summary):
    assert drawn(setting, small_summary) is None
    found = drawn(setting, entries(small_summary))
    rows = [(row["setting"], row["value"], row["learner"]) for row in found.rows()]
    assert rows == [("alpha", 0.1, "CoOp"), ("alpha", 0.5, "KgCoOp"), ("alpha", 2.0, "GMoP")]
    assert found.charts[0].title == "GMoP"
    assert found.panels[0].svg.count("spoke") == 3 and "alpha" in found.panels[0].svg


def test_entries_that_differ_in_more_are_no_line(small_summary):
    assert drawn(setting, entries(small_summary, detectors={"GMoP": 3})) is None  # two entries are left
    assert drawn(setting, entries(small_summary, detectors={"CoOp": 1, "KgCoOp": 2, "GMoP": 3})) is None


def test_settings_chosen_by_seed_are_no_line(small_summary):
    summary = entries(small_summary)
    chosen = told_as(
        summary, detail=lambda one: {"chosen": {"alpha": one.metrics["seed"] + ALPHAS.get(one.metrics["learner"], 0)}}
    )
    assert drawn(setting, summarise(chosen)) is None
