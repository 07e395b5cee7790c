"""Units are done in order, by several workers, or fail by name; the longest first; one holder of a lock at a time."""

import re
from dataclasses import replace

import pytest
from example_units import draws

from openworld.core.errors import OpenworldError
from openworld.runs import Event, RunStore, Unit, execute
from openworld.runs.board import Board
from openworld.runs.lock import file_lock


def failing(name="bad", pause=0.0):
    return Unit("example_units:fail", {"message": f"no {name}", "pause": pause}, name=name)


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_gives_the_same_bytes_and_ends_without_a_word(tmp_path, contents, capfd, workers):
    units = [Unit("example_units:slow_to_end", {}, name="slow"), *draws(2)]
    records = execute(units, RunStore(tmp_path / "run"), workers=workers)
    assert [record.name for record in records] == ["slow", "draw-0", "draw-1"] and capfd.readouterr().err == ""
    execute(units, RunStore(tmp_path / "whole"))
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_events_tell_every_step_and_a_second_call_computes_nothing(tmp_path):
    events, store, units = [], RunStore(tmp_path), draws(2)
    execute(units[:1], store, progress=events.append)
    records = execute([units[1], units[0], units[0]], store, progress=events.append)
    assert [record.name for record in records] == ["draw-1", "draw-0", "draw-0"]
    assert events == [
        Event("draw-0", "started", 0, 1),
        Event("draw-0", "finished", 1, 1),
        Event("draw-0", "kept", 1, 2),
        Event("draw-1", "started", 1, 2),
        Event("draw-1", "finished", 2, 2),
    ]


def test_the_first_failure_stops_and_names_its_unit_and_keeps_the_rest(tmp_path):
    store, units = RunStore(tmp_path), draws(4)
    with pytest.raises(OpenworldError, match="unit 'bad' failed with KeyError: 'no bad'") as caught:
        execute([units[0], failing(), *units[1:]], store)
    assert caught.value.__cause__ is not None
    assert store.has(units[0])
    assert not store.has(units[1])


@pytest.mark.parametrize("workers", [1, 2])
def test_finish_does_the_others_and_lists_all_failures_in_order(tmp_path, workers):
    """With several workers also that of a unit which kills whoever begins it."""
    store, units = RunStore(tmp_path / "run"), draws(2)
    deadly = [Unit("example_units:die", {"times": 99}, name="deadly", resources={"folder": str(tmp_path)})]
    bad = [failing(pause=0.3), failing("worse"), *deadly * (workers > 1)]
    sentences = ["no bad", "no worse", r"'deadly': its process died 3 times \(exit code -9\)"][: len(bad)]
    with pytest.raises(OpenworldError, match=f"{len(bad)} units failed; the others are kept.\n.*unit 'bad'") as caught:
        execute([*bad, *units], store, workers=workers, on_failure="finish")
    assert re.search(".*\n.*".join(sentences), str(caught.value))
    assert all(map(store.has, units)) and len(list(tmp_path.glob("death-*"))) == 3 * (workers > 1)


def test_what_cannot_be_run_is_refused(tmp_path):
    with pytest.raises(OpenworldError, match="^unit 'lost': cannot import no_such_module"):
        execute([Unit("no_such_module:draw", name="lost")], RunStore(tmp_path))
    with pytest.raises(OpenworldError, match="unknown engine 'Local'; did you mean 'local'"):
        execute([], RunStore(tmp_path), engine="Local")
    with pytest.raises(OpenworldError, match="workers is 0, expected 1 or more"):
        execute([], RunStore(tmp_path), workers=0)


def test_an_interrupt_leaves_a_clean_folder(tmp_path, contents):
    store, units = RunStore(tmp_path), draws(2)

    def interrupt(event):
        if event.done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(units, store, progress=interrupt)
    assert store.has(units[0]) and not list((tmp_path / ".writing").iterdir())
    execute(units, store)
    execute(units, RunStore(tmp_path / "whole"))
    whole = contents(tmp_path / "whole")
    assert {name: data for name, data in contents(tmp_path).items() if not name.startswith("whole")} == whole


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


def test_one_holder_at_a_time(tmp_path):
    path = tmp_path / "deep" / "a.lock"
    with file_lock(path) as held:
        assert held
        with file_lock(path, wait=False) as second:
            assert not second
        with file_lock(tmp_path / "b.lock", wait=False) as other:
            assert other
    with file_lock(path, wait=False) as again:
        assert again
