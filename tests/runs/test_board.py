from example_units import draws

from openworld._errors import OpenworldError
from openworld.runs.board import ATTEMPTS, Board


def test_every_busy_unit_is_tried_before_one_is_waited_for():
    board = Board(draws(2), None, stop=True)
    seen = []
    for _ in range(3):
        unit, wait = board.take()
        seen.append((unit.name, wait))
        board.put_back(unit)
    assert seen == [("draw-0", False), ("draw-1", False), ("draw-0", True)]


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
