"""`openworld label`: plan, read and a second batch, as people type them."""

import csv
import json

import numpy as np
import pytest
from in_process import openworld, told


@pytest.fixture
def stream(tmp_path):
    """A stream of 200 images as CSV, and the truth."""
    generator = np.random.default_rng([3, 1])
    base = generator.random(200) < 0.5
    lines, truth = ["id,score,base_name,new_name"], {}
    for row, own in enumerate(base.tolist()):
        as_base, as_new = f"base {generator.integers(3)}", f"new {generator.integers(3)}"
        right = generator.random() < 0.8
        truth[f"i{row}"] = f"{'base' if own else 'new'} {'right' if right else 'wrong'}"
        lines.append(f"i{row},{own + generator.normal():.4f},{as_base},{as_new}")
    (tmp_path / "stream.csv").write_text("\n".join(lines) + "\n")
    return truth


def fill(folder, truth, name="worksheet.csv"):
    with (folder / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"answer": truth[row["id"]]} for row in rows)


def test_a_worksheet_is_planned_filled_in_read_and_added_to(tmp_path, stream):
    planned = told(tmp_path, "label", "plan", "stream.csv", "--out", "labels", "--n", "60")
    assert "Labels needed" in planned and "±3 points" in planned and "openworld label read labels" in planned
    fill(tmp_path / "labels", stream)
    found = json.loads(told(tmp_path, "label", "read", "labels", "--json"))
    (auc,) = [row for row in found["results"] if row["metric"] == "openworld_auc"]
    assert auc["low_images"] < auc["low_labels"] < auc["value"] < auc["high_labels"] < auc["high_images"]
    told(tmp_path, "label", "plan", "--add", "labels", "--n", "40", "--quiet")
    fill(tmp_path / "labels", stream, "worksheet-2.csv")
    both = told(tmp_path, "label", "read", "labels")
    assert "OpenworldAUC on 200 images" in both and "100 labels" in both and "in 2 batches" in both


def test_a_plan_as_json(tmp_path, stream):
    found = json.loads(told(tmp_path, "label", "plan", "stream.csv", "--out", "labels", "--within", "8", "--json"))
    assert found["to_label"] < 200 and found["quantity"] == "openworld_auc" and found["page"] == "label.html"
    worst = found["half_width_at_worst"]
    assert 0.06 < (found["half_width_at_best"] or worst) < 0.09 and worst < 0.2
    assert found["design"] == "random" and found["design_reason"] and found["variance_ratio"] is None


def test_refusals_end_with_2_and_say_what_to_do(tmp_path, stream):
    told(tmp_path, "label", "plan", "stream.csv", "--out", "labels", "--quiet")
    for arguments, message in (
        (("plan", "stream.csv", "--out", "labels"), "holds a plan; add a batch"),
        (("plan", "stream.csv"), "--out DIR"),
        (("plan", "none.csv", "--out", "more"), "there is no file"),
        (("read", "labels"), "has an answer"),
        (("read", "."), "plan.safetensors"),
    ):
        done = openworld("label", *arguments, cwd=tmp_path)
        assert done.returncode == 2 and message in done.stderr, done.stderr
