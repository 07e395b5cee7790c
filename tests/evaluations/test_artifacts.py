"""Stages: every protocol has some, what is missing is done once, and a failure leaves what is done and no notes."""

import json
from pathlib import Path

import pytest

from openworld import OpenworldError
from openworld.evaluations import read_protocol, stages_of
from openworld.evaluations.artifacts import Crew, work_off
from openworld.evaluations.runtime import Machine
from openworld.runs import Unit, UnitResult

EXAMPLES = {
    "all-learners": ["encoding"],
    "generalisation-embedded": ["encoding"],
    "openpl-embedded": ["encoding"],
    "accuracy-embedded": ["training", "looking"],
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_protocol_has_its_stages(name, repository, tmp_path):
    spec = read_protocol(repository / "examples" / f"{name}.toml")
    assert [one.doing for one in stages_of(spec, Machine(cache=str(tmp_path)))] == EXAMPLES[name]


def make(number: int, folder: str) -> UnitResult:
    """The unit of these tests: a file; number 13 fails."""
    if number == 13:
        raise OpenworldError("unlucky")
    Path(folder, f"{number}.json").write_text(json.dumps(number))
    return UnitResult()


def missing(folder, numbers):
    return {
        Unit(f"{__name__}:make", {"number": one}, name=f"number {one}", resources={"folder": str(folder)}): one
        for one in numbers
        if not (folder / f"{one}.json").exists()
    }


def test_what_is_missing_is_done_once(tmp_path):
    crew, told = Crew("local", 1, tmp_path / "run"), []
    first = work_off("making", lambda: missing(tmp_path, (1, 2, 3)), crew, lambda *done: told.append(done))
    again = work_off("making", lambda: missing(tmp_path, (1, 2, 3, 4)), crew, lambda *done: told.append(done))
    assert (first, again) == (6, 4) and told == [(1, 6), (3, 6), (6, 6), (4, 4)]
    assert not (tmp_path / "run" / ".making").exists()


def test_a_failure_keeps_what_is_done_and_no_notes(tmp_path):
    crew = Crew("local", 1, tmp_path / "run")
    with pytest.raises(OpenworldError, match="unit 'number 13': unlucky"):
        work_off("making", lambda: missing(tmp_path, (5, 13, 6)), crew)
    assert (tmp_path / "5.json").exists() and not (tmp_path / "6.json").exists()
    assert not (tmp_path / "run" / ".making").exists()
    assert work_off("making", lambda: missing(tmp_path, (5, 6)), crew) == 6
