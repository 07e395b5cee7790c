"""`openworld check`: the exit code says whether a run is good enough."""

import pytest
from in_process import openworld

import openworld as ow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checked") / "run"
    rows = 60
    columns = {
        "side": ["base"] * rows + ["new"] * rows,
        "score": [*range(40, 100), *range(60)],
        "correct": [1] * 2 * rows,
    }
    ow.score(columns, folder)
    return folder


@pytest.mark.parametrize(("bound", "code"), [("50 %", 0), ("0.99", 3), ("0.94", 4)])
def test_three_answers_are_three_exit_codes(run, bound, code):
    done = openworld("check", run, "--require", f"openworld_auc >= {bound}")
    assert done.returncode == code and ("more images" in done.stdout) == (code == 4)


def test_a_run_replaces_itself(run):
    assert openworld("check", run, "--against", run, "--margin", "0").returncode == 0


def test_a_pipeline_gets_junit_and_a_summary(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    done = openworld("check", run, "--require", "auroc >= 0.5", "--junit", tmp_path / "junit.xml")
    assert done.returncode == 0
    assert "<testsuite" in (tmp_path / "junit.xml").read_text()
    assert "AUROC ≥ 50.0" in (tmp_path / "summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [(), ("--require", "auroc"), ("--require", "auroc >= 0.5", "--where", "level")])
def test_what_is_not_understood_is_wrong_use(run, options):
    assert openworld("check", run, *options).returncode == 2
