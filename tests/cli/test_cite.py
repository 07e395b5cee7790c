"""`openworld cite`, `openworld list --cite`, and a run for the hub on the command line."""

import pytest
from in_process import openworld

import openworld as ow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cited") / "run"
    ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.2, 0.4], "correct": [1, 1, 1]}, folder)
    return folder


def test_a_run_is_cited_as_from_python(run):
    done = openworld("cite", run)
    assert done.returncode == 0 and done.stdout == ow.cite(run)


def test_what_several_runs_share_is_cited_once(run):
    assert openworld("cite", run, run).stdout == openworld("cite", run).stdout
    assert openworld("cite").returncode == 2


def test_methods_are_cited_by_name_and_kind():
    done = openworld("list", "--cite", "CoOp", "detectors")
    assert done.stdout.startswith("@article{zhou2022coop,") and "@inproceedings{hendrycks2017msp," in done.stdout


def test_all_are_cited_where_nothing_is_named():
    assert openworld("list", "--cite").stdout == openworld("list", "all", "--cite").stdout


@pytest.mark.parametrize("command", [("list", "--cite", "Coop"), ("cite", "nowhere")])
def test_what_is_not_known_is_wrong_use(command):
    assert openworld(*command).returncode == 2


@pytest.mark.parametrize(("form", "first"), [("hub", "model-index:\n- name: model\n"), ("card", "## Evaluation: ")])
def test_a_report_is_written_for_the_hub(run, tmp_path, form, first):
    shown = openworld("report", run, "--table", form, "--of", "model")
    assert shown.returncode == 0 and shown.stdout.startswith(first)
    openworld("report", run, "--table", form, "--out", tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text(encoding="utf-8").startswith(first)


@pytest.mark.parametrize("options", [("--table", "csv", "--of", "model"), ("--table", "hub", "--of", "nobody")])
def test_one_learner_alone_goes_with_the_hub_and_must_be_there(run, options):
    assert openworld("report", run, *options).returncode == 2
