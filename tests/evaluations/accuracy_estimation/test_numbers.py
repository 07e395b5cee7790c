"""Mean absolute errors by line and method: a case by hand, a brute-force twin, and what is missing."""

import numpy as np
import pytest

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable


@pytest.fixture(scope="module")
def table(estimates):
    return ErrorTable(estimates)


def test_a_case_by_hand(handmade):
    run = handmade(
        {
            "a": ("one", 0.8, {"AC": 0.1, "COT": 0.2}),  # off by +.1 and 0
            "b": ("one", 0.5, {"AC": 0.2, "COT": 0.6}),  # off by +.3 and -.1
            "c": ("two", 0.4, {"AC": 0.6, "COT": 0.3}),  # off by 0 and +.3
        }
    )
    table = ErrorTable(run)
    ac = table.cells["one"]["AC"]
    assert (ac.mean, ac.bias, ac.worst, ac.count, ac.asked) == pytest.approx((0.2, 0.2, 0.3, 2, 2))
    assert ac.spread == pytest.approx(np.std([0.1, 0.3], ddof=1)) and table.cells["two"]["AC"].spread is None
    assert table.cells["one"]["COT"].bias == pytest.approx(-0.05)
    assert table.cells[AVERAGE]["AC"].mean == pytest.approx((0.2 + 0.0) / 2)  # of lines, not of conditions
    assert table.best == {"one": {"COT"}, "two": {"AC"}, AVERAGE: {"AC"}}
    assert table.leader == "AC" and table.firsts("AC") == table.firsts("COT") == 1


def test_a_brute_force_twin(table, estimates):
    for row in estimates.rows:
        for label in estimates.labels:
            sizes = [
                abs((1 - one["estimates"][label]["error"]) - one["accuracy"])
                for told in estimates.told
                for one in told["targets"]
                if one["row"] == row and one["estimates"][label]["error"] is not None
            ]
            cell = table.cells[row][label]
            assert (cell.mean, cell.median, cell.worst) == pytest.approx((np.mean(sizes), np.median(sizes), max(sizes)))
            assert cell.count == len(sizes)


def test_a_method_that_was_silent_is_never_the_best(table):
    silent = table.cells["Emoji, synthetic"]["ALine-S"]
    assert not silent.whole and silent.count < silent.asked == 96 and silent.mean is not None
    assert "ALine-S" not in table.best["Emoji, synthetic"] | table.best[AVERAGE]


def test_a_method_that_never_spoke_has_no_number(handmade):
    table = ErrorTable(handmade({"a": ("one", 0.8, {"AC": 0.1, "ALine-S": None})}))
    cell = table.cells["one"]["ALine-S"]
    assert (cell.mean, cell.bias, cell.count, cell.asked) == (None, None, 0, 1)
    assert table.cells[AVERAGE]["ALine-S"].mean is None and table.leader == "AC"
    assert table.tests[AVERAGE]["ALine-S"].reason == "one of the two gave no estimate"


def test_equal_errors_share_the_first_place(handmade):
    table = ErrorTable(handmade({"a": ("one", 0.8, {"AC": 0.1, "COT": 0.1})}))
    assert table.best["one"] == {"AC", "COT"} and table.leader == "AC"


def test_lines_end_with_the_average_of_several(table, smallest):
    assert table.lines == ("Emoji, natural", "Emoji, synthetic", AVERAGE)
    assert ErrorTable(smallest).lines == ("Emoji, natural",)
