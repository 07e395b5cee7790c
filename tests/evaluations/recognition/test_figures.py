"""Figures: one style per learner everywhere, the numbers behind them, nothing where nothing is defined."""

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
    ranks,
    score_time,
    setting,
    shots,
    trade_off,
)
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.report import styles
from openworld.evaluations.recognition.results import LOSSES, join

SWEEPS = (setting, shots, ranks)  # of what the small run holds still; it has one data set
SHOWN = [figure for figure in FIGURES if figure not in SWEEPS]


@pytest.fixture(params=SHOWN, ids=lambda figure: figure.__name__)
def figure(request, small_results):
    return request.param(small_results.settings, styles(small_results))


def test_every_learner_is_drawn_in_its_style(figure, small_results):
    for learner, style in styles(small_results).items():
        for panel in figure.panels:
            assert f'data-learner="{learner}"' in panel.svg and style.css_class in panel.svg


def test_the_download_is_the_data(figure):
    header, *rows = csv.reader(io.StringIO(unquote(figure.download.partition(",")[2])))
    assert set(header) == set().union(*figure.rows()) and len(rows) == len(figure.rows())
    assert all(len(row) == len(header) for row in rows)


def test_two_sentences_of_caption(figure):
    assert all(sentence.endswith(".") and len(sentence) > 40 for sentence in figure.caption)


def test_bars_end_at_a_hundred(small_results):
    figure = points_lost(small_results.settings, styles(small_results))
    assert all(sum(row[part] for part in ("openworld_auc", *LOSSES)) == pytest.approx(1) for row in figure.rows())


def test_one_dot_per_learner_and_seed(small_results):
    figure = trade_off(small_results.settings, styles(small_results))
    assert len(figure.rows()) == 8 and figure.panels[0].svg.count("<use") == 8


def test_in_a_crowd_all_but_two_stand_back(results_of):
    learners = {"zero-shot": (0.5, 0.5, 1.0, 0)} | {f"learner {n}": (1 + n / 9, 0.3, 1.0, 512) for n in range(7)}
    results = results_of(learners=learners, names=list("abcdefgh"), seeds=(1,), per_class=4)
    (panel,) = miss_hit(results.settings, styles(results)).panels
    assert panel.svg.count(' back"') == 8 - len({results.settings[0].best, results.settings[0].baseline})


def test_no_figure_where_nothing_is_defined(results_of):
    results = results_of(seeds=(1,), names=list("abcd"), per_class=3, sides=("base",))
    assert [figure(results.settings, styles(results)) for figure in FIGURES] == [None] * len(FIGURES)


def drawn(figure, results):
    return figure(results.settings, styles(results))


@pytest.mark.parametrize("figure", [parameters, fit_time, score_time])
def test_one_dot_per_learner_against_its_cost(figure, small_results):
    found = drawn(figure, small_results)
    assert [row["learner"] for row in found.rows()] == list(small_results.learners)
    assert found.panels[0].svg.count("<use") == 4
    (one,) = small_results.settings
    for row in found.rows():
        assert row["lowest_seed"] <= row["openworld_auc"] == one.auc(row["learner"]) <= row["highest_seed"]


@pytest.mark.parametrize(("figure", "parted"), [(parameters, True), (fit_time, True), (score_time, False)])
def test_what_costs_nothing_stands_before_the_break(figure, parted, small_results):
    svg = drawn(figure, small_results).panels[0].svg
    assert (">none</text>" in svg) == ("break-stroke" in svg) == parted


def test_scoring_is_counted_by_the_image(small_results):
    rows = drawn(score_time, small_results).rows()
    assert [row["score_milliseconds"] for row in rows] == pytest.approx([1000 * 0.2 / 192] * 4)


def test_costs_of_many_settings_are_averaged_in_one_plot(many_run):
    results = join(load(many_run))
    found = drawn(parameters, results)
    assert len(found.panels) == 1 and "mean of 3 settings" in found.panels[0].svg
    assert {row["learner"]: row["openworld_auc"] for row in found.rows()} == pytest.approx(results.averages)


def all_outcomes(results):
    return [outcome for one in results.settings for own in one.outcomes.values() for outcome in own]


def without_times(results, learners):
    return join([replace(one, seconds={}) if one.record.learner in learners else one for one in all_outcomes(results)])


def test_learners_whose_times_are_lost_are_named_and_not_guessed(small_results):
    found = drawn(fit_time, without_times(small_results, ["CoOp"]))
    assert [row["learner"] for row in found.rows()] == ["zero-shot", "KgCoOp", "GMoP"]
    assert found.caption[1].endswith("; not drawn, for want of a number: CoOp.")


def test_no_time_no_figure(small_results):
    lost = without_times(small_results, small_results.learners)
    assert drawn(fit_time, lost) is None and drawn(score_time, lost) is None and drawn(parameters, lost) is not None


def test_every_learner_of_a_crowd_is_named_in_every_plot_that_stands_alone(results_of):
    learners = {"zero-shot": (0.5, 0.5, 1.0, 0)}
    learners |= {f"learner {n}": (1 + n / 20, 0.3, 1.0, 512 * n) for n in range(1, 17)}
    results = results_of(learners=learners, names=list("abcdefgh"), seeds=(1, 2, 3), per_class=4)
    for figure in SHOWN:
        for panel in drawn(figure, results).panels:
            assert all(f">{learner}" in panel.svg for learner in learners), figure.__name__


def changed(results, **fields):
    """The outcomes with other fields in their records; a function is asked for each outcome's own."""

    def asked(outcome):
        return {key: value(outcome) if callable(value) else value for key, value in fields.items()}

    return [replace(one, record=replace(one.record, **asked(one))) for one in all_outcomes(results)]


def test_shots_are_drawn_where_a_run_has_several(small_results):
    assert drawn(shots, small_results) is None
    results = join([one for count in (4, 1) for one in changed(small_results, shots=count)])
    found = drawn(shots, results)
    expected = [(learner, count) for learner in results.learners for count in (1, 4)]
    assert [(row["learner"], row["shots"]) for row in found.rows()] == expected
    (panel,) = found.panels
    assert panel.svg.count("<polygon") == 3  # zero-shot is the same in every seed
    assert all(f">{learner}</text>" in panel.svg for learner in results.learners)
    assert "highest of 2 seeds" in found.caption[0] and ">4</text>" in panel.svg
    for row in found.rows():
        own = results.settings[0].value(row["learner"], "openworld_auc")
        assert row["openworld_auc"] == own.value and row["seeds"] == 2
        assert (row["low_over_images"], row["high_over_images"]) == (own.over("images").low, own.over("images").high)
        assert row["lowest_seed"] <= row["openworld_auc"] <= row["highest_seed"]


def test_settings_of_several_tasks_have_a_panel_each(many_run):
    whole = join(load(many_run))
    results = join([one for count in (1, 2) for one in changed(whole, shots=count)])
    assert [panel.title for panel in drawn(shots, results).panels] == [
        f"{task} · twemoji · embedded" for task in ("one", "two", "three")
    ]


ALPHAS = {"CoOp": 0.1, "KgCoOp": 0.5, "GMoP": 2.0}


def entries(results, **others):
    """All but zero-shot as entries of one method that differ in alpha, and in what `others` say by label."""

    def chosen(one):
        label = one.record.learner
        own = {name: values.get(label, 0) for name, values in others.items()}
        return {"chosen": {"alpha": ALPHAS.get(label, 0.1), "gate": "none", "schedule": {"epochs": 10}} | own}

    return join(
        changed(results, detail=chosen, method=lambda one: "GMoP" if one.record.tuned_parameters else "zero-shot")
    )


def test_a_setting_that_alone_varies_is_drawn(small_results):
    assert drawn(setting, small_results) is None
    found = drawn(setting, entries(small_results))
    rows = [(row["setting"], row["value"], row["learner"]) for row in found.rows()]
    assert rows == [("alpha", 0.1, "CoOp"), ("alpha", 0.5, "KgCoOp"), ("alpha", 2.0, "GMoP")]
    assert found.charts[0].title == "GMoP"
    assert found.panels[0].svg.count("spoke") == 3 and "alpha" in found.panels[0].svg


def test_entries_that_differ_in_more_are_no_line(small_results):
    assert drawn(setting, entries(small_results, detectors={"GMoP": 3})) is None  # two entries are left
    assert drawn(setting, entries(small_results, detectors={"CoOp": 1, "KgCoOp": 2, "GMoP": 3})) is None


def test_settings_chosen_by_seed_are_no_line(small_results):
    results = entries(small_results)
    chosen = changed(
        results, detail=lambda one: {"chosen": {"alpha": one.record.seed + ALPHAS.get(one.record.learner, 0)}}
    )
    assert drawn(setting, join(chosen)) is None
