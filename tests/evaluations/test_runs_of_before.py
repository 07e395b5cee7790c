"""A run and a cache that an earlier version wrote are read, and what is done in them is not done again."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openworld._units import FUNCTIONS
from openworld.cli.app import app
from openworld.runs import RunStore, Unit


@pytest.fixture
def before(repository, tmp_path, monkeypatch):
    """The folder as it was written, where names of its parts lead nowhere else; the present one."""
    folder = tmp_path / "before"
    shutil.copytree(repository / "tests" / "data" / "before", folder)
    monkeypatch.chdir(folder)
    return folder


def openworld(*arguments):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.output


def test_its_record_is_read_and_reported(before):
    (record,) = RunStore("run").records()
    assert record.name == "zero-shot, seed 1" and record.metrics["openworld_auc"]["value"] == 0.25
    assert '"zero-shot"' in openworld("report", "run", "--table", "json")


def test_its_finished_unit_is_finished(before):
    (old,) = RunStore("run").records()
    openworld("run", "spec.toml", "--out", "run", "--cache", "cache", "--device", "cpu")
    (new,) = RunStore("run").records()
    assert new.unit.function == "recognition" and new.unit.key != old.unit.key
    assert new.files == old.files and new.metrics == old.metrics
    assert not new.timing  # which a unit that is computed leaves


def test_its_encoded_images_are_not_encoded_again(before):
    def sets():
        return {
            path: path.read_bytes() for path in Path("cache").rglob("*") if path.name != "in-use" and path.is_file()
        }

    found = sets()
    openworld("run", "spec.toml", "--out", "another", "--cache", "cache", "--device", "cpu")
    assert sets() == found and len(found) == 6


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_name_of_a_unit_leads_to_its_function(name):
    assert callable(Unit(name).resolve())
