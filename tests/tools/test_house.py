"""The house grows no larger unseen: every room has a limit of lines, and what scatters it is counted."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import house


def test_no_room_has_more_lines_than_its_limit():
    sizes = {room: size["lines"] for room, size in house.rooms().items()}
    assert set(sizes) == set(house.LINES)
    assert {room: lines for room, lines in sizes.items() if lines > house.LINES[room]} == {}


def test_files_classes_small_pieces_and_participles_do_not_become_more():
    counts = house.totals()
    assert set(counts) == set(house.MOST)
    assert {name: count for name, count in counts.items() if count > house.MOST[name]} == {}


def test_the_table_names_every_room(capsys):
    house.main()
    table = capsys.readouterr().out
    assert all(f"\n{room} " in table for room in house.LINES) and "\nall " in table
