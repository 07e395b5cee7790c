"""`openworld reproduce frap`: its plan, and its tables from records that nobody measured."""

import importlib.util
from pathlib import Path

import pytest
from in_process import openworld

from openworld.reproduction import series

MADE_UP = Path(__file__).parents[1] / "label_free" / "benchmark" / "conftest.py"


@pytest.fixture
def reproduce(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def ask(*arguments):
        done = openworld("reproduce", "frap", *arguments, cache=tmp_path / "cache", columns=100)
        assert done.exit_code == 0, done.output
        return done.output

    return ask


@pytest.fixture
def performed(monkeypatch):
    """Runs are not carried out: records of the right shape stand in for what they would give."""
    spec = importlib.util.spec_from_file_location("made_up_estimates", MADE_UP)
    made_up = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made_up)

    def carry_out_runs(plan, options, observer):
        for run in plan.runs:
            labels = [each.label for each in run.spec.estimators]
            methods = {label: ("AC", None, {}, 0.1 + 0.05 * place, 0.02) for place, label in enumerate(labels)}
            names = [each.name for each in run.spec.references]
            made_up.write_estimates(options.folder / run.name, methods=methods, references=names, silent=())
        return {}

    monkeypatch.setattr(series, "carry_out_runs", carry_out_runs)


def test_every_table_stands_beside_the_printed_one(reproduce, performed):
    shown = reproduce("--data", "embedded", "--out", "run")
    names = {path.name for path in Path("run/tables").iterdir()}
    assert names == {f"table-{number}.{form}" for number in "123467" for form in ("csv", "md", "tex")}
    (average, *_) = (line for line in shown.splitlines() if line.startswith("Average"))
    assert "13.8" in average, "the printed average beside ours"
    shown = " ".join(shown.split())
    assert all(f"FRAP, Table {number}: " in shown for number in "123467")
    assert "Ours are of other data (Emoji, natural; Emoji, synthetic)" in shown
    assert "IM's average error is printed as 13.76" in shown
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "FRAP, Table 7" in page and "printed 6.5" in page
