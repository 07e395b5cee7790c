"""`openworld reproduce frap`: its plan, and its tables from records that nobody measured; one short run for real."""

import importlib.util
import json
from pathlib import Path

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.reproduction import series

MADE_UP = Path(__file__).parents[1] / "label_free" / "benchmark" / "conftest.py"


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENWORLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *arguments: CliRunner().invoke(app, ["reproduce", "frap", *arguments])


@pytest.fixture
def performed(monkeypatch):
    """Runs are not carried out: records of the right shape stand in for what they would give."""
    spec = importlib.util.spec_from_file_location("made_up_estimates", MADE_UP)
    made_up = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made_up)

    def carry_out_runs(plan, options, observer):
        for run in plan.runs:
            labels = [one.label for one in run.spec.estimators]
            methods = {label: ("AC", None, {}, 0.1 + 0.05 * place, 0.02) for place, label in enumerate(labels)}
            names = [one.name for one in run.spec.references]
            made_up.write_estimates(options.folder / run.name, methods=methods, references=names, silent=())
        return {}

    monkeypatch.setattr(series, "carry_out_runs", carry_out_runs)


def test_a_plan_of_the_papers_data_needs_none(ask):
    done = ask("--data", "elsewhere", "--plan")
    assert done.exit_code == 0, done.output
    assert "FRAP · Tables 1 to 4, 6, 7 · data in elsewhere" in done.output and "seeds 0 1 10" in done.output
    told = " ".join(done.output.split())
    assert "In all 276 units (one checkpoint of a classifier)" in told
    assert "are made here from test images" in told and "It must hold 18 data set(s)" in told
    assert not Path("runs").exists()


def test_a_plan_as_json_holds_specs_remarks_and_cost(ask):
    done = ask("--data", "embedded", "--plan", "--json", "--learners", "AC, FRAP (CLIP)")
    told = json.loads(done.output)
    (run,) = told["runs"]
    assert run["name"] == "emoji-ac-frap-clip" and run["spec"]["protocol"] == "accuracy-estimation"
    assert told["cost"]["units"] == 27
    assert "stand for none of the paper's" in told["remarks"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--table", "5"), "Table 5 of frap cannot be made"),
        (("--learners", "FRAP (CLP)"), "did you mean 'FRAP (CLIP)'"),
    ],
)
def test_wrong_use_is_refused(ask, arguments, message):
    done = ask("--data", "embedded", *arguments)
    assert done.exit_code == 2 and message in done.output


def test_every_table_stands_beside_the_printed_one(ask, performed):
    done = ask("--data", "embedded", "--out", "run")
    assert done.exit_code == 0, done.output
    names = {path.name for path in Path("run/tables").iterdir()}
    assert names == {f"table-{number}.{form}" for number in "123467" for form in ("csv", "md", "tex")}
    told = " ".join(done.output.split())
    for number in "123467":
        assert f"FRAP, Table {number}: " in told
    assert "Ours are of other data (Emoji, natural; Emoji, synthetic)" in told
    assert "IM's average error is printed as 13.76" in told
    average = next(line for line in done.output.splitlines() if line.startswith("Average"))
    assert "13.8" in average, "the printed average beside ours"
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "FRAP, Table 7" in page and "printed 6.5" in page


@pytest.mark.slow
def test_a_short_run_for_real_is_continued_where_it_was(ask):
    short = ("--data", "embedded", "--quick", "100", "--learners", "AC, FRAP (CLIP), CLIP raw", "--seeds", "0")
    first = ask(*short, "--out", "run")
    assert first.exit_code == 0, first.output
    assert "FRAP, Table 2" in first.output and "–" not in Path("run/tables/table-2.md").read_text(encoding="utf-8")
    timings = {path: path.read_bytes() for path in Path("run").glob("*/units/*/timing.json")}
    again = ask(*short, "--out", "run")
    assert again.exit_code == 0 and timings
    assert {path: path.read_bytes() for path in timings} == timings, "nothing was computed again"
