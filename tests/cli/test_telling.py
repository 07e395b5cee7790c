"""What the command line tells of runs: every protocol has a file of its own, and all of these look alike."""

import pytest

from openworld.cli._telling import TOLD_BY, comparing, telling, telling_of
from openworld.protocols import PROTOCOLS
from openworld.runs import RunStore


def run_of(folder, protocol):
    RunStore(folder).create({}, {} if protocol is None else {"protocol": protocol}, {})
    return folder


def test_every_protocol_is_told_of():
    assert TOLD_BY.keys() == PROTOCOLS.keys() and len(set(TOLD_BY.values())) == len(TOLD_BY)


@pytest.mark.parametrize("protocol", TOLD_BY)
def test_all_files_offer_the_same(protocol, tmp_path):
    told = telling(protocol)
    assert all(callable(getattr(told, name)) for name in ("load", "build", "say", "export"))
    assert "text" in told.TABLES and "{}" not in told.MORE.format(folder="runs/one")
    assert telling_of(run_of(tmp_path, protocol)) is told


@pytest.mark.parametrize("protocol", [None, "of another version"])
def test_a_run_of_no_known_protocol_is_told_of_as_recognition(protocol, tmp_path):
    assert telling_of(run_of(tmp_path, protocol)) is telling("recognition")


def test_two_runs_are_compared_by_their_protocol_if_it_can(tmp_path):
    names = ("incremental-shift", "recognition", "generalisation", "dynamic")
    shifted, recognised, generalised, dynamic = (run_of(tmp_path / name, name) for name in names)
    assert comparing(shifted, shifted) is telling("incremental-shift")
    for pair in ((shifted, recognised), (recognised, generalised), (dynamic, dynamic)):
        assert comparing(*pair) is telling("recognition")
