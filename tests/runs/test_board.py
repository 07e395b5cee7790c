from dataclasses import replace

from example_units import draws

from openworld.runs.board import Board


def test_every_busy_unit_is_tried_before_one_is_waited_for():
    board = Board(draws(2), None, stop=True)
    seen = []
    for _ in range(3):
        unit, wait = board.take()
        seen.append((unit.name, wait))
        board.put_back(unit)
    assert seen == [("draw-0", False), ("draw-1", False), ("draw-0", True)]


def test_units_of_most_effort_come_first_and_equals_in_their_order():
    efforts = ((1,), (3, 1), (), (3, 2), (1,))
    units = [replace(unit, effort=effort) for unit, effort in zip(draws(5), efforts, strict=True)]
    board = Board(units, None, stop=True)
    board.begin_with_the_longest()
    assert [board.take()[0].name for _ in range(5)] == ["draw-3", "draw-1", "draw-0", "draw-4", "draw-2"]
