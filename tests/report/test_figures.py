"""Figures: one look per learner everywhere, the numbers behind them, nothing where nothing is defined."""

import csv
import io
from urllib.parse import unquote

import pytest

from openworld.report.figures import FIGURES, miss_hit, points_lost, trade_off
from openworld.report.palette import looks


@pytest.fixture(params=FIGURES, ids=lambda figure: figure.__name__)
def figure(request, small_summary):
    return request.param(small_summary.tables, looks(small_summary.learners, small_summary.yardsticks))


def test_every_learner_is_drawn_in_its_look(figure, small_summary):
    for learner, look in looks(small_summary.learners, small_summary.yardsticks).items():
        for panel in figure.panels:
            assert f'data-learner="{learner}"' in panel.svg and look.css_class in panel.svg


def test_the_download_is_the_data(figure):
    header, *rows = csv.reader(io.StringIO(unquote(figure.download.partition(",")[2])))
    assert tuple(header) == figure.header and len(rows) == len(figure.rows)
    assert all(len(row) == len(header) for row in rows)


def test_two_sentences_of_caption(figure):
    assert all(sentence.endswith(".") and len(sentence) > 40 for sentence in figure.caption)


def test_bars_end_at_a_hundred(small_summary):
    figure = points_lost(small_summary.tables, looks(small_summary.learners))
    assert all(sum(row[2:]) == pytest.approx(1) for row in figure.rows)


def test_one_dot_per_learner_and_seed(small_summary):
    figure = trade_off(small_summary.tables, looks(small_summary.learners))
    assert len(figure.rows) == 8 and figure.panels[0].svg.count("<use") == 8


def test_in_a_crowd_all_but_two_stand_back(summary_of):
    learners = {"zero-shot": (0.5, 0.5, 1.0, 0)} | {f"learner {n}": (1 + n / 9, 0.3, 1.0, 512) for n in range(7)}
    summary = summary_of(learners=learners, names=list("abcdefgh"), seeds=(1,), per_class=4)
    (panel,) = miss_hit(summary.tables, looks(summary.learners)).panels
    assert panel.svg.count(' back"') == 8 - len({summary.tables[0].best, summary.tables[0].yardstick})


def test_no_figure_where_nothing_is_defined(summary_of):
    summary = summary_of(seeds=(1,), names=list("abcd"), per_class=3, sides=("base",))
    assert [figure(summary.tables, looks(summary.learners)) for figure in FIGURES] == [None] * 4
