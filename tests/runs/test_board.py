from dataclasses import replace

from example_units import draws

from openworld.core.errors import OpenworldError
from openworld.runs.board import ATTEMPTS, Board


def test_every_busy_unit_is_tried_before_one_is_waited_for():
    board = Board(draws(2), None, stop=True)
    seen = []
    for _ in range(3):
        unit, wait = board.take()
        seen.append((unit.name, wait))
        board.put_back(unit)
    assert seen == [("draw-0", False), ("draw-1", False), ("draw-0", True)]


def test_units_of_most_effort_come_first_and_equals_in_their_order():
    efforts = ((1,), (3, 1), (), (3, 2))
    units = [replace(unit, effort=effort) for unit, effort in zip(draws(4), efforts, strict=True)]
    board = Board(units, None, stop=True)
    board.begin_with_the_longest()
    assert [board.take()[0].name for _ in range(4)] == ["draw-3", "draw-1", "draw-0", "draw-2"]
    board = Board(draws(3), None, stop=True)
    board.begin_with_the_longest()
    assert [board.take()[0].name for _ in range(3)] == ["draw-0", "draw-1", "draw-2"]


def test_a_failure_stops_or_not():
    for stop, expected in ((True, None), (False, "draw-1")):
        board = Board(draws(2), None, stop=stop)
        board.failed(board.take()[0], OpenworldError("no"))
        taken = board.take()
        assert (taken and taken[0].name) == expected


def test_a_lost_unit_comes_first_again_until_it_counts_as_failed():
    events = []
    board = Board(draws(2), events.append, stop=True)
    for _ in range(ATTEMPTS):
        unit, _ = board.take()
        assert unit.name == "draw-0"
        board.lost(unit, "exit code -9")
    assert [event.state for event in events] == ["lost"] * (ATTEMPTS - 1) + ["failed"]
    assert "died 3 times (exit code -9)" in str(board.failures[0])
