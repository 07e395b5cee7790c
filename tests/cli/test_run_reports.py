"""What the command line shows of runs: the same of every evaluation, and refusals that say what there is."""

from importlib import import_module

import pytest

import openworld
from openworld import OpenworldError
from openworld.api.reporting import report
from openworld.evaluations import EVALUATIONS, report_of
from openworld.report.report import FORMS
from openworld.runs import RunStore


def run_of(folder, protocol):
    RunStore(folder).create({}, {} if protocol is None else {"protocol": protocol}, {})
    return folder


@pytest.mark.parametrize("protocol", EVALUATIONS)
def test_every_evaluation_tells_a_story(protocol):
    module = import_module(report_of(protocol))
    assert callable(module.report)


def test_every_run_has_its_tables_as_csv_json_parquet_markdown_and_latex():
    assert {*FORMS} == {"csv", "json", "parquet", "markdown", "latex"}


@pytest.mark.parametrize("protocol", [*EVALUATIONS, None])
def test_another_form_is_refused_with_all_that_there_are(protocol, tmp_path):
    with pytest.raises(OpenworldError, match=protocol or "recognition") as refused:
        report(run_of(tmp_path, protocol), table="excel")
    assert all(form in str(refused.value) for form in ("text", *FORMS))


@pytest.mark.parametrize(
    "show",
    [
        report,
        lambda folder: report(folder, table="csv"),
        lambda folder: report(folder, figures="pdf"),
        lambda folder: openworld.compare(folder, folder),
    ],
)
def test_a_run_of_another_version_is_refused_by_the_name_of_its_evaluation(show, tmp_path):
    with pytest.raises(OpenworldError, match="recogniton.*recognition"):
        show(run_of(tmp_path, "recogniton"))


def test_runs_of_two_evaluations_are_compared_if_they_pair_in_one_way(tmp_path):
    recognition, generalisation, shift = (
        import_module(report_of(name)) for name in ("recognition", "generalisation", "ood-detection")
    )
    assert recognition.compare is generalisation.compare is not shift.compare
