"""Several runs of one evaluation: means over their data sets, by the command, from Python and from one spec."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from small_specs import SMALL, draw

import openworld as ow
from openworld.cli.app import app
from openworld.cli.in_process import invoke
from openworld.evaluations.finished_runs import expand, means_of_runs
from openworld.results import METRICS, Result, Results, Value

MODELS = {"good": 0.8, "fair": 1.0, "poor": 1.6}
SETS = ("cars", "dogs", "food", "maps", "pets", "toys")


def openworld(*arguments):
    return invoke(app, [*map(str, arguments)], env={"COLUMNS": "160"})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run a data set: three models of one noise each, made by `openworld score`."""
    folder, generator = tmp_path_factory.mktemp("runs"), np.random.default_rng(0)
    for name in SETS:
        columns = {key: [] for key in ("side", "score", "correct", "id", "model")}
        for model, noise in MODELS.items():
            score = np.repeat([1.0, 0.0], 30) + noise * generator.standard_normal(60)
            for number in range(60):
                row = ("base" if number < 30 else "new", score[number], True, number, model)
                for key, value in zip(columns, row, strict=True):
                    columns[key].append(value)
        ow.score({key: np.array(values) for key, values in columns.items()}, out=folder / name)
    return {name: folder / name for name in SETS}


def value(results, entity, metric):
    (row,) = (row for row in results.where(entity=entity, metric=metric) if "data_set" not in row.where)
    return row.value


def test_means_tests_and_ranks_are_those_of_the_runs_numbers(runs, tmp_path):
    report = ow.average(list(runs.values()), of="auroc", out=tmp_path)
    each = {name: ow.open_run(folder).results for name, folder in runs.items()}
    values = {model: [value(results, model, "auroc").value for results in each.values()] for model in MODELS}
    for model, numbers in values.items():
        mean = value(report.results, model, "auroc")
        assert mean.value == pytest.approx(np.mean(numbers))
        over = mean.over("data sets")
        expected = stats.t.interval(0.95, 5, np.mean(numbers), stats.sem(numbers))
        assert (over.low, over.high) == pytest.approx(np.clip(expected, 0, 1)) and over.n == 6
    ranks = stats.rankdata(-np.array(list(values.values())), axis=0).mean(axis=1)
    assert [value(report.results, model, "mean_rank").value for model in MODELS] == pytest.approx(ranks)
    friedman = stats.friedmanchisquare(*values.values())
    assert value(report.results, "", "friedman_p").value == pytest.approx(friedman.pvalue)
    page = (tmp_path / "report.html").read_text()
    assert "good" in page and all(name in page for name in SETS) and (tmp_path / "results.parquet").exists()
    assert "good" in report.page.verdict[0] and "AUROC" in report.page.verdict[0]


def test_where_places_name_the_data_set_each_runs_own_mean_counts():
    def run(name, *numbers):
        rows = [
            Result(
                entity, METRICS["auroc"], Value(value + shift), {"target": f"{name} {place}"}, (1, 2), (value, value)
            )
            for entity, shift in (("CoOp", 0.0), ("GMoP", 0.1))
            for place, value in enumerate(numbers)
        ]
        return Results("generalisation", tuple(rows))

    (means,) = means_of_runs({"a": run("a", 0.2, 0.4), "b": run("b", 0.5)}, "auroc")
    assert means.mean("CoOp").value.value == pytest.approx((0.3 + 0.5) / 2)
    assert means.mean("GMoP").per_seed == pytest.approx((0.4, 0.4)) and means.where == {}


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ([], "expected tables"),
        ([{"dataset": "dtd"}], "has the name None"),
        ([{"name": "../up"}], "'../up'"),
        ([{"name": "a"}, {"name": "a"}], "two tables of each are called 'a'"),
    ],
)
def test_a_spec_with_wrong_tables_is_refused(tables, sentence):
    with pytest.raises(ow.OpenworldError, match=sentence):
        expand({"each": tables})


def test_a_mistake_in_any_table_is_named_before_the_first_run_begins(tmp_path, monkeypatch):
    draw(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENWORLD_DATA", raising=False)
    for wrong, sentence in (("shotz = 2", "'shotz'"), ('dataset = "dtd"', "where the data sets lie")):
        text = f'{SMALL["recognition"]}\n[[each]]\nname = "one"\n[[each]]\nname = "two"\n{wrong}\n'
        Path("spec.toml").write_text(text)
        done = openworld("run", "spec.toml", "--out", "out")
        assert done.exit_code == 2 and "each 'two'" in done.output and sentence in done.output
        assert not Path("out").exists()


def test_one_spec_makes_a_run_for_every_table_and_their_means(tmp_path, monkeypatch):
    draw(tmp_path)
    monkeypatch.chdir(tmp_path)
    tables = "".join(f'[[each]]\nname = "set-{number}"\nseeds = [{number}, 9]\n' for number in (2, 3))
    Path("spec.toml").write_text(SMALL["decomposed-zero-shot"] + tables)
    command = ("run", "spec.toml", "--out", "out", "--device", "cpu", "--cache", "cache", "--workers", 1)
    done = openworld(*command)
    assert done.exit_code == 0, done.output
    specs = [json.loads((tmp_path / "out" / f"set-{number}" / "run.json").read_text()) for number in (2, 3)]
    assert all(first["resolved"] != second["resolved"] for first, second in pairwise(specs))
    assert openworld(*command).exit_code == 0 and (tmp_path / "out" / "report.html").exists()
    report = ow.average([tmp_path / "out" / "set-2", tmp_path / "out" / "set-3"])
    assert report.tables and report.page.verdict
    same = ow.run("spec.toml", "out", device="cpu", cache="cache", workers=1, quiet=True)
    assert same.results.to_json() == report.results.to_json()
