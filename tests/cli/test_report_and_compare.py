"""`openworld report` and `openworld compare` for evaluations that bring a report: every form, files, and refusals."""

import json

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.evaluations.decomposed_zero_shot.results import ANY, PARTS
from openworld.evaluations.rows import rows_of_unit
from openworld.report.report import FORMS
from openworld.results import METRICS, Result, Results, Value
from openworld.runs import RunStore, Unit, UnitResult


def openworld(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def run_in(folder, accuracies):
    store, spec = RunStore(folder), {"protocol": "decomposed-zero-shot", "methods": [{"label": "LAID"}]}
    store.create(spec, spec | {"seeds": list(range(len(accuracies)))}, {"command": []})
    planned = [Unit("math:sqrt", {"x": seed}, name=str(seed)) for seed in range(len(accuracies))]
    store.plan(planned)
    shared = [Result("", METRICS["images"], Value(50)), Result("", METRICS["classes"], Value(4))]
    whole, few = {"part": PARTS["whole"], "images": "clean"}, Value(None, reason="too few classes")
    shared += [Result(ANY, METRICS["top1"], Value(0.5), whole), Result(ANY, METRICS["top5"], few, whole)]
    for seed, (unit, accuracy) in enumerate(zip(planned, accuracies, strict=True)):
        places = [{"part": PARTS[part], "images": "clean"} for part in ("semantic", "covariate")]
        rows = [Result("LAID", METRICS["top1"], Value(accuracy), place) for place in places]
        rows += [Result("LAID", METRICS["top5"], few, place) for place in places]
        kept = rows_of_unit("decomposed-zero-shot", rows, seed=seed, shared=shared)
        store.write(unit, UnitResult(metrics={"backbone": "ViT"}, attachments=kept))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return run_in(folder / "first", (0.5, 0.52, 0.51)), run_in(folder / "second", (0.6, 0.625, 0.62))


def test_the_page_and_all_results_lie_in_the_run_folder(runs):
    done = openworld("report", runs[0])
    assert done.exit_code == 0 and (runs[0] / "report.html").is_file()
    assert len(Results.from_parquet(runs[0] / "results.parquet")) == 3 * 2 + 2


def test_a_page_elsewhere_writes_nothing_else(runs, tmp_path):
    assert openworld("report", runs[0], "--out", tmp_path / "page.html").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("form", ["text", *FORMS])
def test_every_form_is_written_to_a_file(runs, tmp_path, form):
    done = openworld("report", runs[0], "--table", form, "--out", tmp_path / "numbers")
    assert done.exit_code == 0 and "numbers" in done.output
    if form == "parquet":
        assert Results.from_parquet(tmp_path / "numbers").entities == ("", "any", "LAID")
    else:
        assert openworld("report", runs[0], "--table", form).output.strip()


def test_what_cannot_be_shown_is_refused_with_what_to_do(runs):
    assert "--out" in openworld("report", runs[0], "--table", "parquet").output
    refused = openworld("report", runs[0], "--table", "excel")
    assert refused.exit_code and all(form in refused.output for form in ("text", *FORMS))


def test_two_runs_are_compared_over_their_seeds(runs):
    shown = openworld("compare", *runs).output.replace("\xa0", " ")
    assert "better, p" in shown and "over seeds" in shown and "LAID, semantic half, clean" in shown
    told = json.loads(openworld("compare", *runs, "--json").output)
    gains = [test["difference"] for test in told["comparisons"] if test["entity"] == "LAID"]
    assert told["of"] == "top1" and len(gains) == 2 and min(gains) > 0
    assert "top5" in openworld("compare", *runs, "--of", "top").output
