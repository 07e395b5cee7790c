"""What the command line tells of runs: whatever tells of an evaluation, all of it looks alike."""

import pytest

from openworld import OpenworldError
from openworld.cli._telling import comparing, report_run, telling, telling_of
from openworld.evaluations import EVALUATIONS, FORMER_NAMES
from openworld.runs import RunStore


def run_of(folder, protocol):
    RunStore(folder).create({}, {} if protocol is None else {"protocol": protocol}, {})
    return folder


NAMES = (*EVALUATIONS, *FORMER_NAMES)


@pytest.mark.parametrize("protocol", NAMES)
def test_all_files_offer_the_same(protocol, tmp_path):
    told = telling(protocol)
    assert all(callable(getattr(told, name)) for name in ("load", "build", "say", "export"))
    assert "text" in told.TABLES and "{}" not in told.MORE.format(folder="runs/one")
    assert telling_of(run_of(tmp_path, protocol)) is told


def test_predictions_that_were_scored_are_told_of_as_recognition(tmp_path):
    assert telling_of(run_of(tmp_path, None)) is telling("recognition")


def test_a_run_of_another_version_is_refused_by_the_name_of_its_protocol(tmp_path):
    with pytest.raises(OpenworldError, match="recogniton.*recognition"):
        telling_of(run_of(tmp_path, "recogniton"))


def test_two_runs_are_compared_by_their_protocol_if_it_can(tmp_path):
    names = ("incremental-shift", "recognition", "generalisation")
    shifted, recognised, generalised = (run_of(tmp_path / name, name) for name in names)
    scored = run_of(tmp_path / "scored", None)
    assert comparing(shifted, shifted) is telling("incremental-shift")
    assert comparing(generalised, generalised) is telling("generalisation")
    for pair in ((recognised, recognised), (recognised, scored), (scored, generalised)):
        assert hasattr(comparing(*pair), "compare")


@pytest.mark.parametrize("protocol", NAMES)
def test_every_run_has_its_tables_as_text_csv_json_markdown_and_latex(protocol):
    told = telling(protocol)
    assert {"text", "csv", "json", "markdown", "latex"} <= {*told.TABLES, *told.FORMS}


@pytest.mark.parametrize("protocol", NAMES)
def test_another_form_is_refused_with_all_that_there_are(protocol, tmp_path):
    told = telling(protocol)
    with pytest.raises(OpenworldError) as refused:
        report_run(run_of(tmp_path, protocol), None, "excel", None)
    assert all(form in str(refused.value) for form in (*told.TABLES, *told.FORMS))
