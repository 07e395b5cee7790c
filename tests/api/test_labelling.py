"""`ow.label_plan` and `ow.label_read`: parameters of their commands, streams as columns."""

import csv

import numpy as np
import pytest

import openworld as ow

pytestmark = pytest.mark.base


def columns(count=120):
    generator = np.random.default_rng([1, 1])
    logits = generator.normal(size=(count, 6))
    return {"logits": logits, "classnames": [f"class {place}" for place in range(6)], "n_base": 3}


def test_arrays_are_planned_and_read(tmp_path):
    report = ow.label_plan(columns(), tmp_path / "plan", n=60, quiet=True)
    assert len(report.found.plan.chosen) == 60 and "Labels needed" in repr(report)
    with (tmp_path / "plan" / "worksheet.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"label": f"class {place % 6}"} for place, row in enumerate(rows))
    found = ow.label_read(tmp_path / "plan", answers=tmp_path / "mine.csv", out=tmp_path / "out", quiet=True)
    assert found.results.where(metric="overall_accuracy").rows[0].value.value is not None
    assert (tmp_path / "out" / "report.html").is_file() and not (tmp_path / "plan" / "report.html").exists()


def test_base_names_may_be_names(tmp_path):
    given = {name: column for name, column in columns().items() if name != "n_base"}
    report = ow.label_plan(given, tmp_path / "plan", n=20, base_names=["class 4", "class 5"], quiet=True)
    assert report.found.kept.base_names == ("class 4", "class 5") and not report.found.kept.closed
    assert ow.label_plan(given, tmp_path / "closed", n=20, quiet=True).found.kept.closed


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_a_table_of_predictions_is_planned_in_one_call(tmp_path, kind):
    logits = columns()["logits"]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    planned = ow.label_plan({kind: logits if kind == "logits" else shares}, tmp_path / "plan", n=40, quiet=True).found
    assert planned.plan.of == "overall_accuracy" and planned.kept.closed and planned.file("worksheet.csv").is_file()
    assert planned.promised.at_best < planned.promised.at_worst
