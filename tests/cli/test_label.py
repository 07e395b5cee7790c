"""`openworld label`: plan, read and a second batch, as people type them."""

import csv
import json

import numpy as np
import pytest
from in_process import refused, told

pytestmark = pytest.mark.base


@pytest.fixture
def truth(tmp_path):
    """The truth of a stream of 200 images, which lies in a CSV file."""
    generator = np.random.default_rng([3, 1])
    lines, truth = ["id,score,base_name,new_name"], {}
    for row, base in enumerate((generator.random(200) < 0.5).tolist()):
        as_base, as_new = f"base {generator.integers(3)}", f"new {generator.integers(3)}"
        right = generator.random() < 0.8
        truth[f"i{row}"] = f"{'base' if base else 'new'} {'right' if right else 'wrong'}"
        lines.append(f"i{row},{base + generator.normal():.4f},{as_base},{as_new}")
    (tmp_path / "stream.csv").write_text("\n".join(lines) + "\n")
    return truth


def fill(file, truth):
    with file.open(newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    with file.open("w", newline="") as sheet:
        writer = csv.DictWriter(sheet, rows[0])
        writer.writeheader()
        writer.writerows(row | {"answer": truth[row["id"]]} for row in rows)


def test_a_worksheet_is_planned_filled_in_read_and_added_to(tmp_path, truth):
    planned = told(tmp_path, "label", "plan", "stream.csv", "--out", "labels", "--n", "60")
    assert "Labels needed" in planned and "±3 points" in planned and "openworld label read labels" in planned
    refused("has an answer", "label", "read", "labels", cwd=tmp_path)
    refused("holds a plan; add a batch", "label", "plan", "stream.csv", "--out", "labels", cwd=tmp_path)
    fill(tmp_path / "labels" / "worksheet.csv", truth)
    found = json.loads(told(tmp_path, "label", "read", "labels", "--json"))
    (auc,) = [row for row in found["results"] if row["metric"] == "openworld_auc"]
    assert auc["low_images"] < auc["low_labels"] < auc["value"] < auc["high_labels"] < auc["high_images"]
    told(tmp_path, "label", "plan", "--add", "labels", "--n", "40", "--quiet")
    fill(tmp_path / "labels" / "worksheet-2.csv", truth)
    both = told(tmp_path, "label", "read", "labels")
    assert "OpenworldAUC on 200 images" in both and "100 labels" in both and "in 2 batches" in both


def test_a_plan_as_json(tmp_path, truth):
    found = json.loads(told(tmp_path, "label", "plan", "stream.csv", "--out", "labels", "--within", "8", "--json"))
    assert found["to_label"] < 200 and found["quantity"] == "openworld_auc" and found["page"] == "label.html"
    worst = found["half_width_at_worst"]
    assert 0.06 < (found["half_width_at_best"] or worst) < 0.09 and worst < 0.2
    assert found["design"] == "random" and found["design_reason"] and found["variance_ratio"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "stream.csv"), "--out DIR"),
        (("plan", "none.csv", "--out", "more"), "there is no file"),
        (("read", "."), "plan.safetensors"),
    ],
)
def test_wrong_use_says_what_to_do(tmp_path, truth, arguments, words):
    refused(words, "label", *arguments, cwd=tmp_path)
