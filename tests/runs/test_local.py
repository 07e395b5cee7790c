import pytest
from example_units import draws

from openworld._errors import OpenworldError
from openworld.runs import RunStore, Unit, execute


def deadly(folder, times):
    return Unit("example_units:die", {"times": times}, name="deadly", resources={"folder": str(folder)})


def test_a_killed_worker_costs_one_unit_which_is_begun_again(tmp_path):
    events, store = [], RunStore(tmp_path / "run")
    records = execute([deadly(tmp_path, 1), *draws(2)], store, workers=2, progress=events.append)
    assert records[0].metrics == {"died": True}
    assert [event.unit for event in events if event.state == "lost"] == ["deadly"]
    assert sum(event.state == "finished" for event in events) == events[-1].done == 3
    assert "exit code -9" in next(event.detail for event in events if event.state == "lost")


def test_a_unit_that_always_kills_its_worker_fails_and_the_others_are_kept(tmp_path):
    store, units = RunStore(tmp_path / "run"), draws(2)
    with pytest.raises(OpenworldError, match=r"unit 'deadly': its process died 3 times \(exit code -9\)"):
        execute([deadly(tmp_path, 99), *units], store, workers=2, on_failure="finish")
    assert all(map(store.has, units))
    assert len(list(tmp_path.glob("death-*"))) == 3


def test_an_interrupt_ends_the_workers(tmp_path):
    store = RunStore(tmp_path)

    def interrupt(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(draws(2, pause=30.0), store, workers=2, progress=interrupt)
    assert not list((tmp_path / "units").glob("*/record.json"))
    with store.claim(draws(1)[0], wait=False) as held:
        assert held
