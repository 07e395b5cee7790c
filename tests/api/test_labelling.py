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
    shares = np.exp(given["logits"]) / np.exp(given["logits"]).sum(axis=1, keepdims=True)
    closed = [{"logits": given["logits"]}, {"probabilities": shares}]
    plans = [ow.label_plan(table, tmp_path / f"{at}", n=40, quiet=True).found for at, table in enumerate(closed)]
    assert all(planned.kept.closed and planned.plan.of == "overall_accuracy" for planned in plans)
    best, as_shares = (planned.promised.at_best for planned in plans)
    assert best == pytest.approx(as_shares) and best < plans[0].promised.at_worst
