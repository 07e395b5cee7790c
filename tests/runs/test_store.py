import os
from dataclasses import dataclass, replace

import pytest
from example_units import draw, draws

from openworld.core.errors import OpenworldError
from openworld.runs import RunStore, Unit, UnitResult, execute
from openworld.runs import store as store_module


@dataclass(frozen=True)
class Spec:
    epochs: int = 5
    rate: float = 1.0


def test_run_json_holds_the_spec_and_every_provenance_once(tmp_path):
    store = RunStore(tmp_path / "deep" / "run")
    store.create({}, Spec(), {"python": "3.12"})
    before = (store.folder / "run.json").read_bytes()
    store.create({"epochs": 5}, Spec(), {"python": "3.12"})
    assert (store.folder / "run.json").read_bytes() == before
    store.create({}, Spec(), {"python": "3.13"})
    assert store.description() == {
        "given": {},
        "resolved": {"epochs": 5, "rate": 1.0},
        "provenance": [{"python": "3.12"}, {"python": "3.13"}],
    }


def test_another_spec_is_refused_with_what_differs(tmp_path):
    store = RunStore(tmp_path)
    store.create({}, {"learner": Spec(), "shots": [1]}, {})
    message = r"shots is \[1\] there and \[1, 2\] here.*Choose another folder"
    with pytest.raises(OpenworldError, match=r"learner\.epochs is 5 there and 6 here; " + message):
        store.create({}, {"learner": Spec(6), "shots": [1, 2]}, {})
    with pytest.raises(OpenworldError, match=r"more is '\(absent\)' there and 1 here"):
        store.create({}, {"learner": Spec(), "shots": [1], "more": 1}, {})


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(OpenworldError, match=r"holds no run: it has no run\.json"):
        RunStore(tmp_path).description()


NO_SEAL = '{"given": {}, "provenance": [], "resolved": {}}'
KEY = "0" * 64


@pytest.mark.parametrize(
    "change", [('"epochs": 5', '"epochs": 6'), '{"given"', "[]", "null", '{"given": {}}', NO_SEAL, "[" * 100_000]
)
def test_a_run_json_that_was_edited_or_has_another_shape_is_damaged(tmp_path, change):
    store, path = RunStore(tmp_path), tmp_path / "run.json"
    store.create({}, Spec(), {"python": "3.12"})
    path.write_text(change if isinstance(change, str) else path.read_text().replace(*change))
    for read in (store.description, lambda: store.create({}, Spec(), {})):
        with pytest.raises(OpenworldError, match=r"run\.json is damaged .* finished units are kept"):
            read()


@pytest.mark.parametrize(
    "content",
    ['{"a": 1}', "[1]", f'[{{"name": 1, "key": "{KEY}"}}]', '[{"name": "a", "key": "../../../etc"}]', "7"],
)
def test_a_plan_of_another_shape_or_with_keys_that_lead_out_is_damaged(tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    store = RunStore(tmp_path)
    for read in (store.records, store.planned, lambda: store.plan(draws(1))):
        with pytest.raises(OpenworldError, match=r"plan\.json is damaged .* finished units are kept"):
            read()


def test_damaged_records_are_told_from_missing_ones(tmp_path):
    store, units = RunStore(tmp_path), draws(3)
    store.plan(units)
    for unit in units[:2]:
        store.write(unit, unit.run())
    assert store.damaged() == {}
    (store.read(units[0]).folder / "attachments" / "a.png").write_bytes(b"another")
    (name, reason), *others = store.damaged().items()
    assert (name, others) == (units[0].name, []) and "a.png is not the file that was written" in reason


def test_the_first_good_record_stands(tmp_path):
    store, unit = RunStore(tmp_path), Unit("example_units:draw", {"seed": 1})
    assert store.problem(unit) == "this unit has no record yet."
    first = store.write(unit, draw(1), {"seconds": 1})
    second = store.write(unit, draw(1), {"seconds": 2})
    assert store.has(unit) and second.timing["seconds"] == first.timing["seconds"] == 1


def test_every_file_of_a_record_is_guarded(tmp_path, contents):
    """Truncate, change, empty or remove each file in turn: the unit is not done; execute repairs it and says so."""
    store, units = RunStore(tmp_path), draws(1)
    record = execute(units, store)[0]
    whole = contents(tmp_path)
    files = [path for path in record.folder.rglob("*") if path.is_file() and path.name != "timing.json"]
    assert len(files) == 4
    for path in files:
        data = path.read_bytes()
        for damage in (data[:-1], data[:-1] + bytes([data[-1] ^ 1]), data + b" ", b"", None):
            path.unlink() if damage is None else path.write_bytes(damage)
            assert path.name in store.problem(units[0])
            events = []
            execute(units, store, progress=events.append)
            assert [event.state for event in events] == ["started", "finished"]
            assert events[0].detail.startswith("computed again: ") and path.name in events[0].detail
            assert contents(tmp_path) == whole


def test_a_record_in_the_folder_of_another_unit_does_not_count(tmp_path):
    store, (one, two) = RunStore(tmp_path), draws(2)
    record = store.write(one, draw(0))
    record.folder.rename(record.folder.with_name(two.key[:16]))
    assert "holds the record of another unit, 'draw-0'" in store.problem(two)


def test_records_come_in_the_order_of_the_plan_and_never_partly_unasked(tmp_path):
    store, units = RunStore(tmp_path), draws(3)
    store.plan(units)
    store.write(units[2], draw(2))
    store.write(units[0], draw(0))
    with pytest.raises(OpenworldError, match="1 of 3 units of .* are not done, first 'draw-1'"):
        store.records()
    assert [record.name for record in store.records(partial=True)] == ["draw-0", "draw-2"]
    store.write(units[1], draw(1))
    assert [record.name for record in store.records()] == ["draw-0", "draw-1", "draw-2"]


def test_a_new_version_of_a_unit_takes_its_name_over(tmp_path):
    store = RunStore(tmp_path)
    old, new = (Unit("example_units:draw", {"seed": 1}, version=version, name="draw") for version in (1, 2))
    store.plan([old])
    store.plan([new, Unit("example_units:draw", {"seed": 2}, name="other")])
    assert [(entry["name"], entry["key"]) for entry in store.planned()][0] == ("draw", new.key)
    assert len(store.planned()) == 2
    with pytest.raises(OpenworldError, match="2 units are named 'draw'"):
        store.plan([old, new])


def test_sweep_removes_what_the_dead_left_and_spares_the_living(tmp_path):
    store, other, units = RunStore(tmp_path), RunStore(tmp_path), draws(2)
    writing = [tmp_path / ".writing" / unit.key[:16] for unit in units]
    for folder in writing:
        folder.mkdir(parents=True)
        (folder / "half").write_bytes(b"x")
    (tmp_path / ".run.json.writing").write_bytes(b"x")
    with other.claim(units[0]):
        store.sweep()
    assert writing[0].exists() and not writing[1].exists() and not (tmp_path / ".run.json.writing").exists()
    assert store.write(units[0], UnitResult()).metrics == {}
    assert not writing[0].exists()


def test_a_unit_is_taken_over_from_a_run_that_has_it(tmp_path, contents):
    (unit, other), first, second = draws(2), RunStore(tmp_path / "first"), RunStore(tmp_path / "second")
    execute([unit], first)
    assert second.take_over(unit, [RunStore(tmp_path / "nothing"), first])
    assert second.has(unit) and contents(second._folder(unit.key)) == contents(first._folder(unit.key))
    assert second.read(unit).timing == first.read(unit).timing
    assert not second.take_over(unit, [first]) and not second.take_over(other, [first])
    third, named = RunStore(tmp_path / "third"), replace(unit, name="by another name")
    assert named.key == unit.key and not third.take_over(named, [first])
    next(first._folder(unit.key).glob("*.parquet")).write_bytes(b"")  # of a damaged record neither
    assert not third.take_over(unit, [first])


def test_a_pipe_in_place_of_a_record_is_not_waited_for(tmp_path):
    store, units = RunStore(tmp_path), draws(1)
    for name in ("timing.json", "record.json"):
        path = execute(units, store)[0].folder / name
        path.unlink()
        os.mkfifo(path)
    assert "no plain file" in RunStore(tmp_path).problem(units[0])


SHORT = {"learners": [{"label": "a", "settings": {"rate": 1.0}}], "seeds": [1], "shots": 2}
LONG = SHORT | {"learners": [{"label": "b", "settings": {}}, *SHORT["learners"]], "seeds": [1, 2]}


def test_a_run_takes_further_entries_of_its_lists_and_keeps_what_it_was(tmp_path):
    store = RunStore(tmp_path)
    assert store.create({"short": 1}, SHORT, {"python": "3.12"}, draws(1)) == ()
    assert store.create({"long": 1}, LONG, {"python": "3.12"}, draws(3)) == ("learners b", "seeds 2")
    found = store.description()
    assert (found["given"], found["resolved"]) == ({"long": 1}, LONG)
    assert found["history"] == [{"given": {"short": 1}, "resolved": SHORT}] and len(found["provenance"]) == 1
    assert [entry["name"] for entry in store.planned()] == [unit.name for unit in draws(3)]
    assert store.create({"long": 1}, LONG, {"python": "3.12"}, draws(3)) == ()
    assert len(store.description()["history"]) == 1
    inner = RunStore(tmp_path / "inner")
    for names, added in (("a", ()), ("ab", ("models[m].detectors b",))):
        detectors = [{"label": name} for name in names]
        assert inner.create({}, {"models": [{"label": "m", "detectors": detectors}]}, {}) == added


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (SHORT | {"shots": 4}, "shots is 2 there and 4 here"),
        (LONG | {"shots": 4}, "shots is 2 there and 4 here"),
        (SHORT | {"seeds": [2, 3]}, "seeds lacks 1, which is there"),
        (SHORT | {"learners": []}, "learners lacks a, which is there"),
        (
            SHORT | {"learners": [{"label": "a", "settings": {"rate": 2.0}}]},
            r"learners\[a\].settings.rate is 1.0 there",
        ),
    ],
)
def test_any_other_difference_is_refused_and_said(tmp_path, spec, words):
    store = RunStore(tmp_path)
    store.create({}, SHORT, {})
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(OpenworldError, match=words):
        store.create({}, spec, {}, draws(1))
    assert (tmp_path / "run.json").read_bytes() == before and store.planned() == []


def test_a_run_that_dies_while_it_takes_more_is_not_taken_for_finished(tmp_path, monkeypatch):
    store = RunStore(tmp_path)
    store.create({}, SHORT, {}, draws(1))
    execute(draws(1), store)

    def die(path, content, write=store_module.write_file):
        if path.name == "run.json":
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(store_module, "write_file", die)
    with pytest.raises(KeyboardInterrupt):
        store.create({}, LONG, {}, draws(2))
    monkeypatch.undo()
    with pytest.raises(OpenworldError, match="1 of 2 units"):
        store.records()
    assert store.create({}, LONG, {}, draws(2)) == ("learners b", "seeds 2")
    assert len(execute(draws(2), store)) == len(store.records()) == 2


def test_units_that_include_all_known_ones_decide_the_order(tmp_path):
    store = RunStore(tmp_path)
    first, second, third = draws(3)
    store.plan([first, third])
    store.plan([first, second, third])
    assert [entry["name"] for entry in store.planned()] == [unit.name for unit in (first, second, third)]
    store.plan([second])
    assert len(store.planned()) == 3
